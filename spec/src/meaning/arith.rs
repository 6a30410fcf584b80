//! The only integer semantics of Roundel.
//!
//! The evaluator, the generated code and the proofs all use *these* functions. Division and remainder are Euclidean, so
//! that `-1 % p` is `p - 1`: ranks and blocks wrap around, which is also what papers mean by `%`. Logarithms are
//! computed with integers, because `ceil(log n / log b)` in floating point is wrong at (125, 5), (216, 6) and
//! elsewhere.
//!
//! Every function comes in two forms. The `checked_*` form returns `None` where the mathematical value does not exist
//! or does not fit `i64`; the evaluator uses it and reports `None` as a domain error that names the expression.
//! Generated code calls the plain form: it expects arguments that the checker has seen, and panics on others.
//!
//! ```
//! use roundel_spec::arith::*;
//! assert_eq!(rem(-1, 5), 4);
//! assert_eq!(ceil_log(5, 125), 3);
//! assert_eq!(checked_div(1, 0), None);
//! ```

/// The largest p, and the largest parameter, for which index arithmetic is proved to fit the machine. Larger values are
/// refused.
pub const MAX_P: i64 = (1 << 31) - 1;

/// Euclidean quotient; `None` when the divisor is zero or the result does not fit.
pub const fn checked_div(a: i64, b: i64) -> Option<i64> {
    a.checked_div_euclid(b)
}

/// Euclidean remainder, in `0..|b|`; `None` when the divisor is zero.
pub const fn checked_rem(a: i64, b: i64) -> Option<i64> {
    if b == -1 { Some(0) } else { a.checked_rem_euclid(b) }
}

/// `base` to the power `exponent`; `None` for a negative exponent or a result that does not fit.
pub const fn checked_pow(base: i64, exponent: i64) -> Option<i64> {
    if exponent < 0 || exponent > u32::MAX as i64 {
        return None;
    }
    if base == 2 {
        return if exponent < 63 { Some(1 << exponent) } else { None };
    }
    base.checked_pow(exponent as u32)
}

/// The smallest `k` with `base^k >= n`; `None` for a base below 2.
pub const fn checked_ceil_log(base: i64, n: i64) -> Option<i64> {
    if base < 2 { None } else { Some(ceil_log(base, n)) }
}

/// The largest `k` with `base^k <= n`; `None` for a base below 2 or `n` below 1.
pub const fn checked_floor_log(base: i64, n: i64) -> Option<i64> {
    if base < 2 || n < 1 { None } else { Some(floor_log(base, n)) }
}

/// The quotient rounded up, for a positive divisor; `None` otherwise.
pub const fn checked_ceil_div(a: i64, b: i64) -> Option<i64> {
    if b < 1 { None } else { Some(ceil_div(a, b)) }
}

/// Digit `position` of `n` written in `base`; `None` for a base below 2 or a negative `n` or position.
pub const fn checked_digit(n: i64, base: i64, position: i64) -> Option<i64> {
    if base < 2 || n < 0 || position < 0 { None } else { Some(digit(n, base, position)) }
}

/// The sum of the digits of `n`; `None` where [`digit`] is not defined.
pub const fn checked_digit_sum(n: i64, base: i64) -> Option<i64> {
    if n < 0 || base < 2 { None } else { Some(digit_sum(n, base)) }
}

/// The size of part `s`; `None` unless there are parts and `s` is one of them.
pub const fn checked_part_size(n: i64, parts: i64, s: i64) -> Option<i64> {
    if n < 0 || s < 0 || s >= parts { None } else { Some(part_size(n, parts, s)) }
}

/// The number of things before part `s`; `None` unless there are parts and `s` is one of them, or one past the last.
pub const fn checked_part_begin(n: i64, parts: i64, s: i64) -> Option<i64> {
    if n < 0 || parts < 1 || s < 0 || s > parts { None } else { Some(part_begin(n, parts, s)) }
}

/// The part of thing number `x`; `None` unless there are parts and it is one of the `n`.
pub const fn checked_part_of(n: i64, parts: i64, x: i64) -> Option<i64> {
    if parts < 1 || x < 0 || x >= n { None } else { Some(part_of(n, parts, x)) }
}

/// The greatest common divisor, never negative; `None` when it does not fit.
pub const fn checked_gcd(a: i64, b: i64) -> Option<i64> {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    if a > i64::MAX as u64 { None } else { Some(a as i64) }
}

/// `a << b`; `None` for a shift outside `0..63` or bits lost.
pub const fn checked_shl(a: i64, b: i64) -> Option<i64> {
    if b < 0 || b > 62 { None } else { a.checked_mul(1 << b) }
}

/// `a >> b`, rounding down; `None` for a shift outside `0..64`.
pub const fn checked_shr(a: i64, b: i64) -> Option<i64> {
    if b < 0 || b > 63 { None } else { Some(a >> b) }
}

/// The product of the first `n` numbers of a list, each with `plus` added to it; empty for a negative `n`. `None` when
/// the product does not fit.
pub fn checked_product(list: &[i64], plus: i64, n: i64) -> Option<i64> {
    let mut first = list.iter().take(n.max(0) as usize);
    first.try_fold(1i64, |product, &number| product.checked_mul(number.checked_add(plus)?))
}

/// The number of steps (values of an index, calls of a definition) that one rank of `p` may take at one point. A rank
/// receives fewer than p blocks, so no collective needs that many. The limit stops mistakes like `0..pow(10, 12)`,
/// which would otherwise keep a compiler busy for days.
pub const fn budget(p: i64) -> i64 {
    (1i64 << 20).saturating_add(p.saturating_mul(p).saturating_mul(64))
}

/// Takes one step from the budget; `None` when it is used up.
pub const fn step(steps: i64) -> Option<i64> {
    if steps > 0 { Some(steps - 1) } else { None }
}

/// The number of the block that `source` has for `destination`, among `p` ranks; both wrap around.
#[inline(always)]
pub const fn pair(source: i64, destination: i64, p: i64) -> i64 {
    wrap(source, p) * p + wrap(destination, p)
}

/// Euclidean quotient.
#[inline(always)]
pub const fn div(a: i64, b: i64) -> i64 {
    if b == 2 { a >> 1 } else { a.div_euclid(b) }
}

/// Euclidean remainder.
#[inline(always)]
pub const fn rem(a: i64, b: i64) -> i64 {
    if b == 2 { a & 1 } else { a.rem_euclid(b) }
}

/// `x` brought into `0..modulus`. Schedules mostly produce arguments within one modulus of the range; these cost a
/// comparison and an addition instead of a division.
#[inline(always)]
pub const fn wrap(x: i64, modulus: i64) -> i64 {
    if x < 0 {
        if x >= -modulus { x + modulus } else { x.rem_euclid(modulus) }
    } else if x < modulus {
        x
    } else if x - modulus < modulus {
        x - modulus
    } else {
        x.rem_euclid(modulus)
    }
}

/// `base` to the power `exponent`.
#[inline]
pub const fn pow(base: i64, exponent: i64) -> i64 {
    if base == 2 { 1 << exponent } else { base.pow(exponent as u32) }
}

/// The smallest `k` with `base^k >= n`.
#[inline]
pub const fn ceil_log(base: i64, n: i64) -> i64 {
    if n <= 1 {
        return 0;
    }
    if base == 2 {
        return 64 - (n - 1).leading_zeros() as i64;
    }
    let (mut power, mut k) = (1i64, 0);
    while power < n {
        power = power.saturating_mul(base);
        k += 1;
    }
    k
}

/// The largest `k` with `base^k <= n`.
#[inline]
pub const fn floor_log(base: i64, n: i64) -> i64 {
    if base == 2 {
        return 63 - n.leading_zeros() as i64;
    }
    let (mut rest, mut k) = (n, 0);
    while rest >= base {
        rest /= base;
        k += 1;
    }
    k
}

/// The quotient rounded up, for a positive divisor.
#[inline]
pub const fn ceil_div(a: i64, b: i64) -> i64 {
    a.div_euclid(b) + (a.rem_euclid(b) != 0) as i64
}

/// Digit `position` of `n` written in `base`.
#[inline]
pub const fn digit(n: i64, base: i64, position: i64) -> i64 {
    let (mut rest, mut k) = (n, position);
    while k > 0 && rest > 0 {
        rest /= base;
        k -= 1;
    }
    rest % base
}

/// The size of part `s` if `n` things are divided into parts. If they cannot be equal, the first ones have one more.
#[inline]
pub const fn part_size(n: i64, parts: i64, s: i64) -> i64 {
    n / parts + (s < n % parts) as i64
}

/// The number of things in the parts before part `s`.
#[inline]
pub const fn part_begin(n: i64, parts: i64, s: i64) -> i64 {
    let larger = n % parts;
    s * (n / parts) + if s < larger { s } else { larger }
}

/// The part that thing number `x` is in.
#[inline]
pub const fn part_of(n: i64, parts: i64, x: i64) -> i64 {
    let (least, larger) = (n / parts, n % parts);
    let large = larger * (least + 1);
    if x < large { x / (least + 1) } else { larger + (x - large) / least }
}

/// The sum of the digits of `n`: with base 2, the number of set bits.
#[inline]
pub const fn digit_sum(n: i64, base: i64) -> i64 {
    let (mut rest, mut sum) = (n, 0);
    while rest > 0 {
        sum += rest % base;
        rest /= base;
    }
    sum
}

/// The greatest common divisor.
#[inline]
pub const fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The smaller of two numbers.
#[inline(always)]
pub const fn min(a: i64, b: i64) -> i64 {
    if a < b { a } else { b }
}

/// The larger of two numbers.
#[inline(always)]
pub const fn max(a: i64, b: i64) -> i64 {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn logarithms_at_the_points_where_floating_point_fails() {
        for base in 2i64..40 {
            let mut power = 1i64;
            let mut k = 0;
            while let Some(next) = power.checked_mul(base) {
                assert_eq!(ceil_log(base, power), k);
                assert_eq!(floor_log(base, power), k);
                if power > 1 {
                    assert_eq!(ceil_log(base, power - 1), if power == 2 { 0 } else { k });
                    assert_eq!(floor_log(base, power - 1), k - 1);
                }
                (power, k) = (next, k + 1);
            }
            assert_eq!((ceil_log(base, i64::MAX), floor_log(base, i64::MAX)), (k + 1, k));
        }
    }

    #[test]
    fn what_does_not_exist_is_none() {
        assert_eq!(checked_div(1, 0), None);
        assert_eq!(checked_div(i64::MIN, -1), None);
        assert_eq!(checked_rem(1, 0), None);
        assert_eq!(checked_pow(2, -1), None);
        assert_eq!(checked_pow(2, 63), None);
        assert_eq!(checked_ceil_log(1, 8), None);
        assert_eq!(checked_floor_log(2, 0), None);
        assert_eq!(checked_ceil_div(1, 0), None);
        assert_eq!(checked_digit(-1, 2, 0), None);
        for (n, parts) in [(1, 1), (7, 3), (3, 7), (12, 4), (0, 2), (41, 6)] {
            let sizes: Vec<i64> = (0..parts).map(|s| checked_part_size(n, parts, s).expect("is a part")).collect();
            assert!(sizes.is_sorted_by(|a, b| a >= b) && sizes[0] - sizes[sizes.len() - 1] <= 1);
            let owners = sizes.iter().enumerate().flat_map(|(s, size)| (0..*size).map(move |_| s as i64));
            assert!(owners.eq((0..n).map(|x| checked_part_of(n, parts, x).expect("is a thing"))));
            for s in 0..=parts {
                assert_eq!(checked_part_begin(n, parts, s), Some(sizes[..s as usize].iter().sum()));
            }
            assert_eq!((checked_part_size(n, parts, parts), checked_part_size(n, parts, -1)), (None, None));
            assert_eq!((checked_part_begin(n, parts, parts + 1), checked_part_of(n, parts, n)), (None, None));
        }
        assert_eq!(
            (checked_part_size(3, 0, 0), checked_part_begin(3, 0, 0), checked_part_of(3, 0, 0)),
            (None, None, None)
        );
        assert_eq!(checked_digit_sum(-1, 2), None);
        assert_eq!(checked_digit_sum(1, 1), None);
        assert_eq!(checked_gcd(i64::MIN, 0), None);
        assert_eq!(checked_shl(1, 63), None);
        assert_eq!(checked_shr(1, 64), None);
    }

    proptest! {
        #[test]
        fn wrap_is_the_euclidean_remainder(x in -1_000_000i64..1_000_000, m in 1i64..5000) {
            prop_assert_eq!(wrap(x, m), rem(x, m));
        }

        #[test]
        fn ceil_div_is_the_least_multiple(a in -10_000i64..10_000, b in 1i64..500) {
            let q = ceil_div(a, b);
            prop_assert!(q * b >= a && (q - 1) * b < a);
        }

        #[test]
        fn digits_add_up(n in 0i64..1_000_000, base in 2i64..20) {
            let sum: i64 = (0..=ceil_log(base, n + 1)).map(|k| digit(n, base, k) * pow(base, k)).sum();
            prop_assert_eq!(sum, n);
            prop_assert_eq!(digit_sum(n, base), (0..=ceil_log(base, n + 1)).map(|k| digit(n, base, k)).sum::<i64>());
            prop_assert_eq!(digit_sum(n, 2), i64::from(n.count_ones()));
        }

        #[test]
        fn plain_and_checked_agree(a in -10_000i64..10_000, b in 1i64..300, k in 0i64..6) {
            prop_assert_eq!(checked_div(a, b), Some(div(a, b)));
            prop_assert_eq!(checked_rem(a, b), Some(rem(a, b)));
            prop_assert_eq!(checked_pow(b, k), Some(pow(b, k)));
            prop_assert_eq!(checked_gcd(a, b), Some(gcd(a, b)));
            prop_assert_eq!(checked_shr(a, k), Some(a >> k));
            prop_assert_eq!(checked_shl(a, k), Some(a << k));
        }
    }
}

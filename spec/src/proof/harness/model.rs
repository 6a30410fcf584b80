//! Models of division for Kani; `kani::stub` at each harness names them.
//!
//! A 64-bit divider costs a bit-level model checker minutes. Each function here *asserts* the range in which it is
//! correct, so that leaving the range fails the harness instead of giving a wrong proof. `exact_*` functions have the
//! same value as the originals, `any_*` functions may return any value that the original could. The harnesses at the
//! end compare them with the originals.

use crate::meaning::arith;

/// [`arith::wrap`] for numbers from two moduli below zero to four above.
pub fn exact_wrap(x: i64, modulus: i64) -> i64 {
    assert!(0 < modulus && modulus < 1 << 40, "the model of wrap is for moduli below 2^40");
    if x < 0 {
        let once = x.wrapping_add(modulus);
        if once >= 0 {
            return once;
        }
        let twice = once.wrapping_add(modulus);
        assert!(twice >= 0, "the model of wrap is for numbers from two moduli below");
        twice
    } else {
        if x < modulus {
            return x;
        }
        let once = x.wrapping_sub(modulus);
        if once < modulus {
            return once;
        }
        let twice = once.wrapping_sub(modulus);
        if twice < modulus {
            return twice;
        }
        let thrice = twice.wrapping_sub(modulus);
        assert!(thrice < modulus, "the model of wrap is for numbers below four moduli");
        thrice
    }
}

/// Quotient and remainder of 16-bit numbers: the only two with `a = q b + r` and `0 <= r < b`.
fn divide(a: i64, b: i64) -> (i64, i64) {
    assert!(0 <= a && a < 1 << 16, "the model of division is for dividends of 16 bits");
    assert!(0 < b && b < 1 << 16, "the model of division is for divisors of 16 bits");
    let (q, r) = (kani::any::<u16>() as u32, kani::any::<u16>() as u32);
    let (a, b) = (a as u32, b as u32);
    // q <= a keeps the product below 2^32.
    kani::assume(q <= a && r < b && q.wrapping_mul(b).wrapping_add(r) == a);
    (q as i64, r as i64)
}

/// [`arith::div`].
pub fn exact_div(a: i64, b: i64) -> i64 {
    if b == 2 { a >> 1 } else { divide(a, b).0 }
}

/// [`arith::rem`].
pub fn exact_rem(a: i64, b: i64) -> i64 {
    if b == 2 { a & 1 } else { divide(a, b).1 }
}

/// [`arith::ceil_div`].
pub fn exact_ceil_div(a: i64, b: i64) -> i64 {
    let (q, r) = divide(a, b);
    q + (r != 0) as i64
}

/// A number of 7 bits.
fn small(x: i64) -> u8 {
    assert!(0 <= x && x < 1 << 7, "the small models are for numbers of 7 bits");
    x as u8
}

/// [`arith::div`] of numbers of 7 bits; also of others, if the divisor is a power of two.
pub fn small_div(a: i64, b: i64) -> i64 {
    if b > 0 && b & (b - 1) == 0 {
        return a >> b.trailing_zeros();
    }
    assert!(b > 0, "the small models are for positive divisors");
    (small(a) / small(b)) as i64
}

/// [`arith::rem`] of numbers of 7 bits; also of others, if the divisor is a power of two.
pub fn small_rem(a: i64, b: i64) -> i64 {
    if b > 0 && b & (b - 1) == 0 {
        return a & (b - 1);
    }
    assert!(b > 0, "the small models are for positive divisors");
    (small(a) % small(b)) as i64
}

/// [`arith::ceil_div`] of numbers of 7 bits.
pub fn small_ceil_div(a: i64, b: i64) -> i64 {
    small_div(a, b) + (small_rem(a, b) != 0) as i64
}

/// Quotient and remainder of numbers of 7 bits. Few steps and no divider, because collectives on nodes divide a lot.
fn divide_small(a: i64, b: i64) -> (i64, i64) {
    assert!(0 <= a && a < 1 << 7 && 0 < b && b < 1 << 7, "the small models are for numbers of 7 bits");
    let (a, b, q, r) = (a as u16, b as u16, kani::any::<u8>() as u16, kani::any::<u8>() as u16);
    kani::assume(q.wrapping_mul(b).wrapping_add(r) == a && r < b);
    (q as i64, r as i64)
}

/// [`arith::wrap`] for numbers from one modulus below zero to two above.
pub fn few_wrap(x: i64, modulus: i64) -> i64 {
    assert!(0 < modulus && modulus < 1 << 7, "the small models are for numbers of 7 bits");
    let wrapped = x.wrapping_add(if x < 0 { modulus } else { 0 }).wrapping_sub(if x < modulus { 0 } else { modulus });
    assert!(0 <= wrapped && wrapped < modulus, "the small model of wrap is for numbers within one modulus");
    wrapped
}

/// [`arith::div`] of numbers of 7 bits.
pub fn few_div(a: i64, b: i64) -> i64 {
    divide_small(a, b).0
}

/// [`arith::rem`] of numbers of 7 bits.
pub fn few_rem(a: i64, b: i64) -> i64 {
    divide_small(a, b).1
}

/// [`arith::ceil_div`] of numbers of 7 bits.
pub fn few_ceil_div(a: i64, b: i64) -> i64 {
    let (q, r) = divide_small(a, b);
    q.wrapping_add((r != 0) as i64)
}

/// [`arith::pow`] of numbers below 8, to the third at most, or of 2.
pub fn few_pow(base: i64, exponent: i64) -> i64 {
    assert!(0 <= base && base < 8 && 0 <= exponent && exponent < 7, "the model of a power is for small numbers");
    if base == 2 {
        return 1 << (exponent as u8 & 7);
    }
    assert!(exponent < 4, "the model of a power is for exponents below 4");
    let (first, square, cube) = (base, base.wrapping_mul(base), base.wrapping_mul(base).wrapping_mul(base));
    match exponent {
        0 => 1,
        1 => first,
        2 => square,
        _ => cube,
    }
}

/// [`arith::ceil_log`] where the base is below 8 and the number has 7 bits.
pub fn few_ceil_log(base: i64, n: i64) -> i64 {
    assert!(2 <= base && base < 8 && n < 1 << 7, "the model of a logarithm is for small numbers");
    let (mut power, mut k) = (1i64, 0i64);
    // As many steps as 2 needs for 7 bits; a loop would have to be unwound.
    macro_rules! step {
        () => {
            k = k.wrapping_add((power < n) as i64);
            power = power.wrapping_mul(base);
        };
    }
    step!();
    step!();
    step!();
    step!();
    step!();
    step!();
    k.wrapping_add((power < n) as i64)
}

/// [`arith::part_size`] of numbers of 7 bits.
pub fn few_part_size(n: i64, parts: i64, s: i64) -> i64 {
    let (least, larger) = divide_small(n, parts);
    least.wrapping_add((s < larger) as i64)
}

/// [`arith::part_begin`] of numbers of 7 bits.
pub fn few_part_begin(n: i64, parts: i64, s: i64) -> i64 {
    let (least, larger) = divide_small(n, parts);
    assert!(0 <= s && s < 1 << 7, "the small models are for numbers of 7 bits");
    let before = (s as u16).wrapping_mul(least as u16) as i64;
    before.wrapping_add(if s < larger { s } else { larger })
}

/// [`arith::part_of`] of numbers of 7 bits.
pub fn few_part_of(n: i64, parts: i64, x: i64) -> i64 {
    let (least, larger) = divide_small(n, parts);
    let large = (larger as u16).wrapping_mul(least as u16 + 1) as i64;
    let early = x < large;
    let (from, by) = if early { (x, least.wrapping_add(1)) } else { (x.wrapping_sub(large), least) };
    divide_small(from, by).0.wrapping_add(if early { 0 } else { larger })
}

/// A number in `0..below`; `below` must be at most 2^32.
fn any_below(below: i64) -> i64 {
    assert!(0 < below && below <= 1 << 32, "the model is for results below 2^32");
    let x = kani::any::<u32>() as i64;
    kani::assume(x < below);
    x
}

/// Any result of [`arith::wrap`].
pub fn any_wrap(_x: i64, modulus: i64) -> i64 {
    any_below(modulus)
}

/// Any result of [`arith::div`].
pub fn any_div(a: i64, b: i64) -> i64 {
    if b == 2 {
        return a >> 1;
    }
    assert!(0 < b, "the model of division is for positive divisors");
    if a < 0 { -1 - any_below(-a) } else { any_below(a + 1) }
}

/// Any result of [`arith::rem`].
pub fn any_rem(a: i64, b: i64) -> i64 {
    if b == 2 { a & 1 } else { any_below(b) }
}

/// Any result of [`arith::ceil_div`].
pub fn any_ceil_div(a: i64, b: i64) -> i64 {
    assert!(0 < b && 0 <= a, "the model of division is for a positive divisor and a dividend that is not negative");
    any_below(a + 1)
}

/// Any result of [`arith::ceil_log`]; exact for base 2.
pub fn any_ceil_log(base: i64, n: i64) -> i64 {
    if base != 2 {
        assert!(2 < base, "a logarithm has a base of at least 2");
        return any_below(64);
    }
    if n <= 1 { 0 } else { 64 - (n - 1).leading_zeros() as i64 }
}

/// Any result of [`arith::pow`] that fits 62 bits; exact for base 2. Only for facts, because it hides overflows.
pub fn any_pow(base: i64, exponent: i64) -> i64 {
    if base == 2 {
        return 1 << exponent;
    }
    let x = kani::any::<u64>() as i64;
    kani::assume(0 < x && x < 1 << 62);
    x
}

#[kani::proof]
fn model_of_wrap_is_wrap() {
    let modulus = kani::any::<u8>() as i64;
    let x = kani::any::<i16>() as i64;
    kani::assume(0 < modulus && -2 * modulus <= x && x < 4 * modulus);
    kani::cover!(x < -modulus && x % modulus != 0, "two additions");
    assert!(exact_wrap(x, modulus) == arith::wrap(x, modulus));
    assert!(arith::wrap(x, modulus) < modulus && arith::wrap(x, modulus) >= 0);
}

#[kani::proof]
fn model_of_division_is_division() {
    let (a, b) = (kani::any::<u8>() as i64, kani::any::<u8>() as i64);
    kani::assume(b > 0);
    kani::cover!(a % b > 0 && a > b, "a remainder");
    assert!(exact_div(a, b) == arith::div(a, b));
    assert!(exact_rem(a, b) == arith::rem(a, b));
    assert!(exact_ceil_div(a, b) == arith::ceil_div(a, b));
}

#[kani::proof]
fn model_of_small_division_is_division() {
    let (a, b) = ((kani::any::<u8>() & 127) as i64, (kani::any::<u8>() & 127) as i64);
    kani::assume(b > 0);
    kani::cover!(a % b > 0 && a > b, "a remainder");
    assert!(small_div(a, b) == arith::div(a, b));
    assert!(small_rem(a, b) == arith::rem(a, b));
    assert!(small_ceil_div(a, b) == arith::ceil_div(a, b));
}

#[kani::proof]
fn model_of_few_wraps_is_wrap() {
    let modulus = (kani::any::<u8>() & 127) as i64;
    let x = kani::any::<i16>() as i64;
    kani::assume(0 < modulus && -modulus <= x && x < 2 * modulus);
    kani::cover!(x < 0, "an addition");
    assert!(few_wrap(x, modulus) == arith::wrap(x, modulus));
}

#[kani::proof]
#[kani::unwind(9)]
fn model_of_few_powers_is_power() {
    let (base, exponent) = ((kani::any::<u8>() & 3) as i64, (kani::any::<u8>() & 3) as i64);
    kani::cover!(base == 3 && exponent == 3, "a power");
    assert!(few_pow(base, exponent) == arith::pow(base, exponent));
    let n = (kani::any::<u8>() & 127) as i64;
    kani::cover!(n > 81, "a large number");
    assert!(few_ceil_log(2, n) == arith::ceil_log(2, n));
    assert!(few_ceil_log(3, n) == arith::ceil_log(3, n));
    assert!(few_ceil_log(4, n) == arith::ceil_log(4, n));
}

#[kani::proof]
fn model_of_few_parts_is_parts() {
    let (n, parts, s) = (kani::any::<u8>() & 63, kani::any::<u8>() & 63, kani::any::<u8>() & 63);
    kani::assume(0 < parts && s < parts);
    let (n, parts, s) = (n as i64, parts as i64, s as i64);
    kani::cover!(n % parts > 0 && n > parts, "parts of two sizes");
    assert!(few_div(n, parts) == arith::div(n, parts) && few_rem(n, parts) == arith::rem(n, parts));
    assert!(few_ceil_div(n, parts) == arith::ceil_div(n, parts));
    assert!(few_part_size(n, parts, s) == arith::part_size(n, parts, s));
    assert!(few_part_begin(n, parts, s) == arith::part_begin(n, parts, s));
    let x = (kani::any::<u8>() & 63) as i64;
    kani::assume(x < n);
    assert!(few_part_of(n, parts, x) == arith::part_of(n, parts, x));
}

/// No path is lost: every quotient exists.
#[kani::proof]
fn model_of_few_divisions_has_the_true_result() {
    let (a, b) = ((kani::any::<u8>() & 127) as i64, (kani::any::<u8>() & 127) as i64);
    kani::assume(b > 0);
    let (q, r) = (arith::div(a, b), arith::rem(a, b));
    assert!(0 <= q && q < 1 << 8 && 0 <= r && r < b && q * b + r == a);
}

/// No path is lost: the true quotient and remainder are among those that the model draws.
#[kani::proof]
fn model_of_division_has_the_true_result() {
    let (a, b) = (kani::any::<u8>() as i64, kani::any::<u8>() as i64);
    kani::assume(b > 0);
    let (q, r) = (arith::div(a, b), arith::rem(a, b));
    assert!(0 <= q && q <= a && 0 <= r && r < b && q * b + r == a);
    assert!(arith::ceil_div(a, b) <= a);
    kani::cover!(any_wrap(a - 2 * b, b) == arith::wrap(a - 2 * b, b), "the true result of wrap");
}

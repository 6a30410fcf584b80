//! Logarithms to base 2 and their inverse, with the same result on every machine: those of a system library may
//! differ in the last bit, and ranks that disagree in one bit may choose differently.
//!
//! Digits of a logarithm come from squaring: if the square of a number in 1..2 reaches 2, the next binary digit is 1.
//! The way back multiplies square roots of 2. Only multiplications, halvings and square roots are needed, which IEEE
//! 754 defines to the last bit.

/// The number of binary digits after the point. Errors double with every squaring, so more digits would be wrong.
const DIGITS: usize = 26;

const EXPONENT: u64 = 0x7ff << 52;
const ONE: u64 = 1023 << 52;

/// The logarithm of a positive number that is not subnormal, rounded down to [`DIGITS`] digits.
pub(super) fn log2(x: f64) -> f64 {
    let bits = x.to_bits();
    let whole = ((bits & EXPONENT) >> 52) as f64 - 1023.0;
    let mut rest = f64::from_bits(bits & !EXPONENT | ONE);
    let (mut sum, mut digit) = (whole, 0.5);
    for _ in 0..DIGITS {
        rest *= rest;
        if rest >= 2.0 {
            rest /= 2.0;
            sum += digit;
        }
        digit /= 2.0;
    }
    sum
}

/// Two to a power in -1000..1000, with [`DIGITS`] binary digits of precision.
pub(super) fn exp2(x: f64) -> f64 {
    let x = x.clamp(-1000.0, 1000.0);
    let whole = x.floor();
    let (mut rest, mut root, mut product) = (x - whole, 2.0f64, 1.0);
    for _ in 0..DIGITS {
        (rest, root) = (rest * 2.0, root.sqrt());
        if rest >= 1.0 {
            rest -= 1.0;
            product *= root;
        }
    }
    product * f64::from_bits(((whole as i64 + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_to_those_of_the_library() {
        for i in 1..4000 {
            let x = f64::from(i) * 0.37e-3;
            assert!((log2(x) - x.log2()).abs() < 1e-7, "{x}");
            let y = f64::from(i - 2000) * 0.0173;
            assert!((exp2(y) / y.exp2() - 1.0).abs() < 1e-7, "{y}");
        }
    }

    #[test]
    fn powers_of_two_are_exact() {
        for exponent in -300..300 {
            let power = 2f64.powi(exponent);
            assert_eq!((log2(power), exp2(f64::from(exponent))), (f64::from(exponent), power));
        }
    }
}

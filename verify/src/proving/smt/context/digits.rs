//! Sums of binary digits, for counts that follow the bits of p.
//!
//! `digit_sum(x, 2)` is an uninterpreted function. Besides small values, its only laws say how it grows from the lowest
//! bits of a number to one bit more, at the powers of two and the remainders that occur.

use super::{Context, NoEncoding};
use crate::proving::smt::term::{Term, add, and, eq, ge, implies, le, mul};

/// The symbol of digit sums; no constant has this name.
pub(super) const DIGIT_SUM: &str = "digit_sum";

impl Context<'_> {
    /// `digit_sum(x, 2)`
    pub(super) fn digit_sum(&mut self, x: &str, base: &str) -> Result<Term, NoEncoding> {
        if base != "2" {
            return Err(NoEncoding::new(format!("a sum of digits to the base {base}")));
        }
        self.must(ge(x, "0"));
        self.declarations.insert(DIGIT_SUM.into(), format!("(declare-fun {DIGIT_SUM} (Int) Int)"));
        let sum = digits(x);
        self.law(implies(&ge(x, "0"), &and([ge(&sum, "0"), le(&sum, x)])));
        self.law(implies(&eq(x, "1"), &eq(&sum, "1")));
        self.digit_sums.insert(x.into());
        Ok(sum)
    }

    /// The lowest bits of a number, and one bit more.
    pub(super) fn digit_laws(&self) -> Vec<Term> {
        let mut laws = Vec::new();
        let counted = |remainder: &Term| self.digit_sums.contains(remainder);
        for low in self.quotients.iter().filter(|q| counted(&q.remainder) && self.two_powers.contains(&q.divisor)) {
            for high in self.quotients.iter().filter(|q| counted(&q.remainder) && q.dividend == low.dividend) {
                let one_more = and([ge(&low.dividend, "0"), eq(&high.divisor, &mul("2", &low.divisor))]);
                let bit = format!("(mod {} 2)", low.quotient);
                let sum = add(&digits(&low.remainder), &bit);
                laws.push(implies(&one_more, &eq(&digits(&high.remainder), &sum)));
            }
        }
        laws
    }
}

fn digits(x: &str) -> Term {
    format!("({DIGIT_SUM} {x})")
}

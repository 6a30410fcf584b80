//! Bits of numbers, for trees and for groups that split repeatedly.
//!
//! `x & -x`, the lowest bit of a number, and the size of `x ^ y` tell in which step two ranks end up in different
//! groups. Each is a new number. Its only laws are about powers of two and quotients by them, at the terms that occur.

use super::{Context, NoEncoding, Quotient, is_literal};
use crate::proving::smt::numbering::Numbering;
use crate::proving::smt::term::{Term, add, and, eq, ge, implies, int, le, lt, mul, sub, within};
use roundel_spec::expr::{Expr, Unary};

impl Context<'_> {
    /// `x & -x`
    pub(super) fn bit_and(&mut self, whole: &Expr, a: &Expr, b: &Expr, x: &str) -> Result<Term, NoEncoding> {
        if *b != Expr::Unary(Unary::Neg, Box::new(a.clone())) {
            return Err(NoEncoding::of(whole, format!("the bit operation `{whole}`")));
        }
        self.must(ge(x, "0"));
        Ok(self.memo(format!("lowest {x}"), |cx| {
            let bit = cx.fresh("lowest");
            cx.law(implies(&ge(x, "1"), &and([ge(&bit, "1"), le(&bit, x)])));
            cx.law(implies(&eq(x, "0"), &eq(&bit, "0")));
            cx.lowest.push((x.into(), bit.clone()));
            bit
        }))
    }

    /// `x ^ y` of any two numbers that are not negative.
    pub(super) fn any_xor(&mut self, x: &str, y: &str) -> Term {
        self.must(and([ge(x, "0"), ge(y, "0")]));
        self.memo(format!("xor {x} {y}"), |cx| {
            let xor = cx.fresh("xor");
            let same = and([eq(&eq(x, y), &eq(&xor, "0")), ge(&xor, "0")]);
            cx.law(implies(&and([ge(x, "0"), ge(y, "0")]), &same));
            cx.xors.push((x.into(), y.into(), xor.clone()));
            xor
        })
    }

    /// The laws of bits at the powers of two and the quotients that occur, and that equal numbers have equal lowest
    /// bits.
    pub(super) fn bit_laws(&self) -> Vec<Term> {
        let mut laws = Vec::new();
        for (i, (x, bit)) in self.lowest.iter().enumerate() {
            laws.extend(self.lowest[..i].iter().map(|(y, other)| implies(&eq(x, y), &eq(bit, other))));
        }
        for power in &self.two_powers {
            for (x, bit) in &self.lowest {
                for q in self.quotients.iter().filter(|q| q.dividend == *x && !is_literal(&q.divisor)) {
                    // If the remainder is half the divisor, it is the lowest bit of the number.
                    let half = and([ge(x, "0"), eq(&q.divisor, &mul("2", power)), eq(&q.remainder, power)]);
                    laws.push(implies(&half, &eq(bit, power)));
                }
            }
            for power in [power.clone(), mul("2", power)] {
                self.xors.iter().for_each(|xor| laws.extend(self.parting(&power, xor)));
            }
        }
        laws
    }

    /// `x ^ y` is less than a power of two if and only if the quotients of x and y by it are equal.
    fn parting(&self, power: &str, (x, y, xor): &(Term, Term, Term)) -> Vec<Term> {
        let of =
            |n: &Term| self.quotients.iter().filter(|q| q.dividend == *n && q.divisor == power).collect::<Vec<_>>();
        let (of_x, of_y) = (of(x), of(y));
        let pairs = of_x.into_iter().flat_map(|a| of_y.iter().map(move |b| (a, *b)));
        let same = |(a, b): (&Quotient, &Quotient)| eq(&lt(xor, power), &eq(&a.quotient, &b.quotient));
        pairs.map(|pair| implies(&and([ge(x, "0"), ge(y, "0")]), &same(pair))).collect()
    }

    /// Quotients of one number by divisors that are equal but written differently.
    pub(super) fn equal_divisors(&self) -> Vec<Term> {
        let mut laws = Vec::new();
        if !self.has_bits() {
            return laws;
        }
        for (i, a) in self.quotients.iter().enumerate() {
            let alike = self.quotients[i + 1..].iter().filter(|b| b.dividend == a.dividend && b.divisor != a.divisor);
            for b in alike.filter(|b| !is_literal(&a.divisor) || !is_literal(&b.divisor)) {
                let same = and([eq(&a.quotient, &b.quotient), eq(&a.remainder, &b.remainder)]);
                laws.push(implies(&and([ge(&a.divisor, "1"), eq(&a.divisor, &b.divisor)]), &same));
            }
        }
        laws
    }

    /// What a number near `0..p` wraps to, and that a number below the divisor is its own remainder. Both follow from
    /// the definition of quotient and remainder, but through a product with an unknown, which takes solvers long to
    /// find.
    pub(super) fn near(&mut self, a: &str, b: &str, quotient: &str, remainder: &str) {
        if !(self.has_bits() || self.schedule.kind.moves()) || is_literal(b) {
            return;
        }
        let turns: &[i64] = match (b, self.schedule.kind.moves()) {
            ("p", _) => &[-1, 0, 1],
            ("nodes", _) if self.wheel == Numbering::Nodes => &[-1, 0, 1],
            (_, true) => &[0, 1],
            (_, false) => &[0],
        };
        for turn in turns {
            let start = mul(&int(*turn), b);
            let there = within(a, &start, &add(&start, b));
            let meaning = and([eq(quotient, &int(*turn)), eq(remainder, &sub(a, &start))]);
            self.law(implies(&and([ge(b, "1"), there]), &meaning));
        }
    }
}

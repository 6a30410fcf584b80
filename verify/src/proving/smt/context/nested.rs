//! Digits of numbers, for all-to-alls that select blocks by digits: quotients by products, and quotients of `n + 1`.
//!
//! `a / (c * b)` is `(a / b) / c`, and `a % (c * b)` is `(a / b) % c * b + a % b`, for positive b and c. So all
//! quotients of one number by `X` and by `radix * X`, and its digit, which is `(a / X) % radix`, are one decomposition
//! of that number.

use super::{Context, POW, Quotient, is_literal};
use crate::proving::smt::term::{Term, add, and, eq, ge, implies, le, lt, mul, sub, within};

/// The factors of a product of two.
fn factors(term: &str) -> Option<(&str, &str)> {
    let inside = term.strip_prefix("(* ")?.strip_suffix(')')?;
    let mut depth = 0;
    let mut cut = None;
    for (i, c) in inside.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ' ' if depth == 0 && cut.is_some() => return None,
            ' ' if depth == 0 => cut = Some(i),
            _ => {}
        }
    }
    cut.map(|i| (&inside[..i], &inside[i + 1..]))
}

impl Context<'_> {
    /// The quotient by a product, of an all-to-all.
    pub(super) fn nested_quotient(&mut self, a: &str, b: &str) -> Option<(Term, Term)> {
        if !self.schedule.kind.moves() {
            return None;
        }
        let (first, second) = factors(b)?;
        // Divides by the power first, or by a divisor that the number already has a quotient for.
        let known = |d: &str| self.quotients.iter().any(|q| q.dividend == a && q.divisor == d);
        let power = |d: &str| d.starts_with(&format!("({POW} "));
        let swap = (known(first) && !known(second)) || (power(first) && !power(second));
        let (outer, inner) = if swap { (second, first) } else { (first, second) };
        let (q, r) = self.quotient(a, inner);
        let (u, v) = self.quotient(&q, outer);
        let high = self.product(&v, inner);
        Some((u, add(&high, &r)))
    }

    /// The quotient by a product, of a reduction that also divides by one of the factors.
    pub(super) fn quotient_by_product(&mut self, a: &str, b: &str, quotient: &str, remainder: &str) {
        let Some((first, second)) = factors(b).filter(|_| self.schedule.kind.reduces()) else { return };
        let known = |d: &str| self.quotients.iter().any(|q| q.dividend == a && q.divisor == d);
        let (outer, inner) = match (known(first), known(second)) {
            (true, false) => (second, first),
            (false, true) => (first, second),
            _ => return,
        };
        if is_literal(outer) || is_literal(inner) {
            return;
        }
        let (q, r) = self.quotient(a, inner);
        let (u, v) = self.quotient(&q, outer);
        let low = add(&self.product(&v, inner), &r);
        let same = and([eq(quotient, &u), eq(remainder, &low)]);
        self.law(implies(&and([ge(outer, "1"), ge(inner, "1")]), &same));
    }

    /// Digit `position` of a number.
    pub(super) fn digit(&mut self, n: &str, base: &str, position: &str) -> Term {
        self.must(and([ge(base, "2"), ge(n, "0"), ge(position, "0")]));
        let weight = self.pow(base, position);
        // The weight of a digit is positive where the digit is defined, which is claimed above.
        self.law(implies(&and([ge(base, "2"), ge(position, "0")]), &ge(&weight, "1")));
        let must = self.defined.len();
        let (q, _) = self.quotient(n, &weight);
        let (_, digit) = self.quotient(&q, base);
        self.defined.truncate(must);
        digit
    }

    /// Quotients of one number by powers of one base: by equal powers, by one and the next, by one and any higher one
    /// without a remainder. The digit is that of the lower power.
    fn power_quotient_laws(&self) -> Vec<Term> {
        let mut laws = Vec::new();
        let power = |q: &Quotient| self.powers.iter().find(|(b, e)| q.divisor == format!("({POW} {b} {e})"));
        let powers: Vec<_> = self.quotients.iter().filter_map(|q| power(q).map(|(b, e)| (q, b, e))).collect();
        for (a, b, e) in &powers {
            for (other, _, f) in powers.iter().filter(|(q, c, _)| c == b && q.divisor != a.divisor) {
                laws.push(implies(&and([ge(b, "2"), eq(e, f)]), &one_more(a, other)));
            }
            // If the sum of two numbers is a multiple of the divisor, both have remainder 0 or neither does.
            for (other, _, _) in powers.iter().filter(|(q, _, _)| q.divisor == a.divisor && q.dividend < a.dividend) {
                let together = eq(&add(&a.dividend, &other.dividend), &mul(b, &a.divisor));
                let nothing = eq(&eq(&a.remainder, "0"), &eq(&other.remainder, "0"));
                laws.push(implies(&and([ge(&a.divisor, "1"), together]), &nothing));
            }
        }
        for (low, b, e) in &powers {
            let digit = self.quotients.iter().find(|q| q.dividend == low.quotient && q.divisor == **b);
            for (high, _, f) in
                powers.iter().filter(|(q, c, _)| q.dividend == low.dividend && c == b && q.divisor != low.divisor)
            {
                let valid = and([ge(b, "2"), ge(e, "0"), ge(f, "0")]);
                let same = and([eq(&high.quotient, &low.quotient), eq(&high.remainder, &low.remainder)]);
                laws.push(implies(&and([valid.clone(), eq(e, f)]), &same));
                let multiple = and([valid.clone(), le(e, f), eq(&high.remainder, "0")]);
                laws.push(implies(&multiple, &eq(&low.remainder, "0")));
                let Some(digit) = digit else { continue };
                let value = add(&mul(&digit.remainder, &low.divisor), &low.remainder);
                let next = and([eq(&high.quotient, &digit.quotient), eq(&high.remainder, &value)]);
                laws.push(implies(&and([valid.clone(), eq(f, &add(e, "1"))]), &next));
                laws.push(implies(&and([valid, lt(e, f), eq(&high.remainder, "0")]), &eq(&digit.remainder, "0")));
            }
        }
        laws
    }

    /// A quotient by a power is the largest digit, or the one before it, if the number is in that range.
    fn top_quotient_laws(&self) -> Vec<Term> {
        let mut laws = Vec::new();
        for (b, e) in &self.powers {
            let power = format!("({POW} {b} {e})");
            for q in self.quotients.iter().filter(|q| q.divisor == power && q.dividend.contains(POW)) {
                for digit in [sub(b, "1"), sub(b, "2")] {
                    let start = mul(&digit, &power);
                    let there = within(&q.dividend, &start, &add(&start, &power));
                    let meaning = and([eq(&q.quotient, &digit), eq(&q.remainder, &sub(&q.dividend, &start))]);
                    laws.push(implies(&and([ge(&power, "1"), there]), &meaning));
                }
            }
        }
        laws
    }

    /// Monotonicity of products with digits: of two products with a common factor, of which one is by a digit, the one
    /// with the larger other factor is larger.
    fn digit_product_laws(&self) -> Vec<Term> {
        let mut laws = Vec::new();
        let digit = |x: &Term| {
            let of_quotient = |q: &Quotient| self.quotients.iter().any(|a| a.quotient == q.dividend);
            self.quotients.iter().any(|q| q.remainder == *x && of_quotient(q))
        };
        for (common, v) in self.products.iter().filter(|(_, x)| digit(x)) {
            for (_, y) in self.products.iter().filter(|(other, y)| other == common && y != v && !digit(y)) {
                for (low, high) in [(v, y), (y, v)] {
                    let next = le(&add(&mul(common, low), common), &mul(common, high));
                    laws.push(implies(&and([ge(common, "0"), lt(low, high)]), &next));
                }
            }
        }
        laws
    }

    /// Quotients of n and n + 1 by the same divisor, and by powers.
    pub(super) fn one_more_laws(&self) -> Vec<Term> {
        let mut laws = Vec::new();
        if !self.schedule.kind.moves() {
            return laws;
        }
        for a in &self.quotients {
            for b in self.quotients.iter().filter(|b| b.divisor == a.divisor && b.dividend != a.dividend) {
                laws.push(one_more(a, b));
            }
        }
        laws.extend(self.power_quotient_laws());
        laws.extend(self.top_quotient_laws());
        laws.extend(self.digit_product_laws());
        laws
    }
}

/// The remainder is one more, or it is 0 and the quotient is one more.
fn one_more(a: &Quotient, b: &Quotient) -> Term {
    let next = add(&a.remainder, "1");
    let inside = and([lt(&next, &a.divisor), eq(&b.quotient, &a.quotient), eq(&b.remainder, &next)]);
    let full = and([eq(&next, &a.divisor), eq(&b.quotient, &add(&a.quotient, "1")), eq(&b.remainder, "0")]);
    let either = crate::proving::smt::term::or([inside, full]);
    let same = eq(&a.divisor, &b.divisor);
    implies(&and([ge(&a.divisor, "1"), same, eq(&b.dividend, &add(&a.dividend, "1"))]), &either)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_two_have_factors() {
        assert_eq!(factors("(* radix (pow radix x))"), Some(("radix", "(pow radix x)")));
        assert_eq!(factors("(* (+ a b) (* 2 c))"), Some(("(+ a b)", "(* 2 c)")));
        assert_eq!(factors("(* a b c)"), None);
        assert_eq!(factors("(+ a b)"), None);
        assert_eq!(factors("a"), None);
    }
}

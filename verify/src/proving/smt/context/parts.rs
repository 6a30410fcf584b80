//! Things divided into parts that differ by at most one: `part_size`, `part_begin` and `part_of`.
//!
//! n things in q parts: the first `n % q` parts have `n / q + 1` of them, the others `n / q`. Where a part begins, and
//! which part a thing is in, are uninterpreted functions, so that no product reaches the solver. What is known of them,
//! at the terms that occur, is that parts follow each other from 0 to n, and that a thing is in the part that it lies
//! in. That this follows from the definition is proved with every collective that uses it
//! ([`divided_into_parts`](crate::proving::smt::obligations)).

use super::{Context, Quotient};
use crate::proving::smt::term::{Term, add, and, eq, ge, implies, ite, le, lt, within};

/// The symbol of where a part begins; no constant has it.
pub(super) const PART_BEGIN: &str = "part_begin";
/// The symbol of the part that something is in; no constant has it.
pub(super) const PART_OF: &str = "part_of";

/// How many things, in how many parts; and a part, or a thing.
pub(super) type Part = (Term, Term, Term);

impl Context<'_> {
    /// `part_size(n, q, s)`
    pub(super) fn part_size(&mut self, n: &str, q: &str, s: &str) -> Term {
        self.must(and([ge(n, "0"), within(s, "0", q)]));
        self.quotient(n, q);
        let size = self.size_of_part(n, q, s);
        self.computed(size)
    }

    /// `part_begin(n, q, s)`
    pub(super) fn part_begin(&mut self, n: &str, q: &str, s: &str) -> Term {
        self.must(and([ge(n, "0"), ge(q, "1"), le("0", s), le(s, q)]));
        self.quotient(n, q);
        let begin = self.begin(n, q, s);
        self.computed(begin)
    }

    /// `part_of(n, q, x)`
    pub(super) fn part_of(&mut self, n: &str, q: &str, x: &str) -> Term {
        self.must(and([ge(q, "1"), within(x, "0", n)]));
        self.quotient(n, q);
        self.declarations.insert(PART_OF.into(), format!("(declare-fun {PART_OF} (Int Int Int) Int)"));
        self.parted.insert((n.into(), q.into(), x.into()));
        let part = format!("({PART_OF} {n} {q} {x})");
        self.begin(n, q, &part);
        self.computed(part)
    }

    fn begin(&mut self, n: &str, q: &str, s: &str) -> Term {
        self.declarations.insert(PART_BEGIN.into(), format!("(declare-fun {PART_BEGIN} (Int Int Int) Int)"));
        self.begun.insert((n.into(), q.into(), s.into()));
        begin(n, q, s)
    }

    /// The quotient of a division into parts.
    fn division(&self, n: &str, q: &str) -> Option<&Quotient> {
        self.quotients.iter().find(|known| known.dividend == n && known.divisor == q)
    }

    fn size_of_part(&self, n: &str, q: &str, s: &str) -> Term {
        let (least, larger) = match self.division(n, q) {
            Some(division) => (division.quotient.clone(), division.remainder.clone()),
            // A number divided by its own multiple has no quotient of its own.
            None => (format!("(div {n} {q})"), format!("(mod {n} {q})")),
        };
        ite(&lt(s, &larger), &add(&least, "1"), &least)
    }

    /// What is known of the parts that occur.
    pub(super) fn part_laws(&self) -> Vec<Term> {
        let mut laws = Vec::new();
        for (n, q, s) in &self.begun {
            let valid = and([ge(n, "0"), ge(q, "1")]);
            let (here, size) = (begin(n, q, s), self.size_of_part(n, q, s));
            let ends = [implies(&eq(s, "0"), &eq(&here, "0")), implies(&eq(s, q), &eq(&here, n))];
            let last = implies(&eq(&add(s, "1"), q), &eq(&add(&here, &size), n));
            let range = [le("0", &here), le(&here, n), implies(&lt(s, q), &le(&add(&here, &size), n)), last];
            let there = and([valid.clone(), le("0", s), le(s, q)]);
            laws.push(implies(&there, &and(ends.into_iter().chain(range))));
            if let Some(division) = self.division(n, q) {
                let single = and([eq(&division.quotient, "1"), eq(&division.remainder, "0")]);
                laws.push(implies(&and([there.clone(), single]), &eq(&here, s)));
                laws.push(implies(&valid, &small(n, q, division)));
            }
            for (m, r, t) in self.begun.iter().filter(|other| (n, q, s) != (&other.0, &other.1, &other.2)) {
                let same = and([eq(n, m), eq(q, r), there.clone(), le("0", t), le(t, q), lt(s, t)]);
                let next = implies(&eq(t, &add(s, "1")), &eq(&begin(m, r, t), &add(&here, &size)));
                laws.push(implies(&same, &and([le(&add(&here, &size), &begin(m, r, t)), next])));
            }
        }
        for (n, q, x) in &self.parted {
            let part = format!("({PART_OF} {n} {q} {x})");
            let (from, size) = (begin(n, q, &part), self.size_of_part(n, q, &part));
            let inside = [within(&part, "0", q), le(&from, x), lt(x, &add(&from, &size))];
            laws.push(implies(&and([ge(q, "1"), within(x, "0", n)]), &and(inside)));
        }
        laws.extend(self.equal_divisions());
        laws
    }

    /// Divisions of equal numbers, though they do not read alike.
    fn equal_divisions(&self) -> Vec<Term> {
        let mut laws = Vec::new();
        if self.begun.is_empty() {
            return laws;
        }
        for (i, (n, b, x)) in self.ceilings.iter().enumerate() {
            for (m, c, y) in self.ceilings[i + 1..].iter().filter(|(_, c, _)| c == b) {
                laws.push(implies(&and([ge(c, "1"), eq(n, m)]), &eq(x, y)));
            }
        }
        for (i, a) in self.quotients.iter().enumerate() {
            for b in self.quotients[i + 1..].iter().filter(|b| b.divisor != a.divisor && b.dividend != a.dividend) {
                let alike = and([ge(&a.divisor, "1"), eq(&a.divisor, &b.divisor), eq(&a.dividend, &b.dividend)]);
                let same = and([eq(&a.quotient, &b.quotient), eq(&a.remainder, &b.remainder)]);
                laws.push(implies(&alike, &same));
            }
        }
        laws
    }
}

fn begin(n: &str, q: &str, s: &str) -> Term {
    format!("({PART_BEGIN} {n} {q} {s})")
}

/// Divisions that have one thing in each part, or one part, or more parts than things.
fn small(n: &str, q: &str, division: &Quotient) -> Term {
    let (least, larger) = (&division.quotient, &division.remainder);
    let each = implies(&and([eq(n, q), ge(n, "1")]), &and([eq(least, "1"), eq(larger, "0")]));
    let one = implies(&eq(q, "1"), &and([eq(least, n), eq(larger, "0")]));
    and([each, one, implies(&le(q, n), &ge(least, "1")), ge(least, "0")])
}

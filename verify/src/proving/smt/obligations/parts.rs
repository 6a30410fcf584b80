//! What is known of things divided into parts follows from the definition.
//!
//! With `c = n / q` and `l = n % q`, part s begins at `s c + min(s, l)` and has `c + 1` things where `s < l`, else `c`;
//! thing x is in part `x / (c + 1)` where `x < l (c + 1)`, else in `l + (x - l (c + 1)) / c`.

use super::{Prover, Step};
use crate::proving::smt::query::Property;
use crate::proving::smt::term::{Term, add, and, eq, ge, implies, ite, le, lt, mul, sub, within};
use roundel_spec::expr::{Builtin, Expr};

impl Prover<'_> {
    /// The laws of parts, where a schedule divides anything.
    pub(super) fn divided_into_parts(&mut self) {
        let mut divides = false;
        let parts =
            |e: &Expr| matches!(e, Expr::Builtin(Builtin::PartSize | Builtin::PartBegin | Builtin::PartOf, _));
        self.schedule.for_each_expr(&mut |_, e| e.walk(&mut |e| divides |= parts(e)));
        if divides {
            self.attempt(Property::Hints, |prover| {
                prover.parts_follow_each_other()?;
                prover.things_are_in_their_parts()
            });
        }
    }

    fn parts_follow_each_other(&mut self) -> Step<()> {
        let mut frame = self.base()?;
        let [n, q, c, l, s, t] = ["n!", "q!", "c!", "l!", "s!", "t!"].map(|name| frame.cx.constant(name));
        frame.assume(division(&n, &q, &c, &l));
        frame.assume(and([le("0", &s), le(&s, &q)]));
        let begin = |s: &str| add(&mul(s, &c), &ite(&lt(s, &l), s, &l));
        let size = ite(&lt(&s, &l), &add(&c, "1"), &c);
        let end = add(&begin(&s), &size);
        let ends = [implies(&eq(&s, "0"), &eq(&begin(&s), "0")), implies(&eq(&s, &q), &eq(&begin(&s), &n))];
        monotone(&mut frame.hypotheses, &c, [(&s, &q), ("0", &s)]);
        let last = implies(&eq(&add(&s, "1"), &q), &eq(&end, &n));
        let inside = [le("0", &begin(&s)), le(&begin(&s), &n), implies(&lt(&s, &q), &le(&end, &n)), last];
        let claim = "parts begin at 0 and end at n";
        let goal = and(ends.into_iter().chain(inside));
        self.prove(&frame, Property::Hints, "parts-ends", claim, goal);
        frame.assume(and([lt(&s, &t), le(&t, &q)]));
        monotone(&mut frame.hypotheses, &c, [(&s, &t), (&s, &t)]);
        let next = implies(&eq(&t, &add(&s, "1")), &eq(&begin(&t), &end));
        let claim = "a part ends where the next one begins, or before a later one";
        self.prove(&frame, Property::Hints, "parts-order", claim, and([le(&end, &begin(&t)), next]));
        Ok(())
    }

    fn things_are_in_their_parts(&mut self) -> Step<()> {
        let mut frame = self.base()?;
        let [n, q, c, l, x, u, r] = ["n!", "q!", "c!", "l!", "x!", "u!", "r!"].map(|name| frame.cx.constant(name));
        frame.assume(division(&n, &q, &c, &l));
        frame.assume(within(&x, "0", &n));
        let larger = add(&c, "1");
        let large = mul(&l, &larger);
        let inside = |s: &str| {
            let (begin, size) = (add(&mul(s, &c), &ite(&lt(s, &l), s, &l)), ite(&lt(s, &l), &larger, &c));
            and([within(s, "0", &q), le(&begin, &x), lt(&x, &add(&begin, &size))])
        };
        let mut early = frame.clone();
        early.assume(lt(&x, &large));
        early.assume(divided(&x, &larger, &u, &r));
        monotone(&mut early.hypotheses, &larger, [(&l, &u), (&u, &l)]);
        early.assume(implies(&le(&l, &u), &le(&large, &mul(&u, &larger))));
        let claim = "a thing lies in its part, if that is one of the larger ones";
        self.prove(&early, Property::Hints, "parts-larger", claim, inside(&u));
        frame.assume(le(&large, &x));
        frame.assume(divided(&sub(&x, &large), &c, &u, &r));
        let rest = sub(&q, &l);
        frame.assume(implies(&le(&rest, &u), &le(&mul(&rest, &c), &mul(&u, &c))));
        let claim = "a thing lies in its part, if that is one of the others";
        self.prove(&frame, Property::Hints, "parts-smaller", claim, inside(&add(&l, &u)));
        let goal = implies(&le(&q, &n), &ge(&c, "1"));
        self.prove(&frame, Property::Hints, "parts-filled", "with as many things as parts, no part is empty", goal);
        Ok(())
    }
}

/// `n = q c + l`
fn division(n: &str, q: &str, c: &str, l: &str) -> Term {
    and([ge(n, "0"), ge(q, "1"), ge(c, "0"), eq(n, &add(&mul(q, c), l)), within(l, "0", q)])
}

/// `x = d u + r`, for a positive d.
fn divided(x: &str, d: &str, u: &str, r: &str) -> Term {
    implies(&ge(d, "1"), &and([eq(x, &add(&mul(d, u), r)), within(r, "0", d)]))
}

/// Instances of the lemma `law-monotone`.
fn monotone<'t, const N: usize>(hypotheses: &mut Vec<Term>, c: &str, pairs: [(&'t str, &'t str); N]) {
    for (x, y) in pairs {
        let next = le(&add(&mul(c, x), c), &mul(c, y));
        hypotheses.push(implies(&and([ge(c, "0"), lt(x, y)]), &next));
    }
}

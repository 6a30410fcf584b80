//! Affine expressions, `base + step * k`: they turn a comprehension into an arithmetic progression.
//!
//! The Rust back end turns such a comprehension into one stripe, the prover into a progression whose membership needs
//! no quantifier. [`Progression`] defines what a stripe computes: generated code computes exactly that, and the prover
//! shows that it fits the machine. The item at some index may fit even where the base, at index zero, does not.

use crate::schedule::Function;
use crate::schedule::blocks::Comprehension;
use crate::schedule::expr::{Binary, Builtin, Expr, Unary};

/// What generated code computes for the last index of a comprehension that is one stripe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progression {
    /// The number of blocks; a negative number counts as zero. Always computed.
    pub count: Expr,
    /// The first block.
    pub first: Expr,
    /// The distance between consecutive blocks.
    pub step: Expr,
    /// Whether first block and step are computed only if there is a block, since they may have no value otherwise.
    pub lazy: bool,
}

impl Progression {
    /// The last index of `part` as a progression; `None` without an index, or if the item is not affine in it.
    pub fn of(part: &Comprehension, functions: &[Function]) -> Option<Self> {
        let index = part.over.last()?;
        let (base, step) = affine(&part.item, index.var.slot)?;
        Some(Progression {
            count: sub(index.hi.clone(), index.lo.clone()),
            first: add(base, mul(step.clone(), index.lo.clone())),
            step,
            lazy: !always_has_a_value(&part.item, functions),
        })
    }
}

/// Whether `e` has a value for all values of its variables. (Whether it fits 64 bits is a separate question.)
pub fn always_has_a_value(e: &Expr, functions: &[Function]) -> bool {
    let mut total = true;
    e.walk(&mut |e| {
        total &= match e {
            Expr::Binary(Binary::Div | Binary::Rem, _, divisor) => matches!(**divisor, Expr::Int(n) if n != 0),
            Expr::Binary(Binary::Shl | Binary::Shr, ..) | Expr::Element(..) => false,
            Expr::Builtin(function, args) => function_is_total(*function, args),
            Expr::Call(_, index, _) => always_has_a_value(&functions[*index].body, functions),
            _ => true,
        }
    });
    total
}

fn function_is_total(function: Builtin, args: &[Expr]) -> bool {
    let constant = |i: usize, least: i64| matches!(args[i], Expr::Int(n) if n >= least);
    match function {
        Builtin::Min | Builtin::Max | Builtin::Gcd | Builtin::FirstRank | Builtin::NodeSize | Builtin::Pair => true,
        Builtin::CeilDiv => constant(1, 1),
        Builtin::CeilLog => constant(0, 2),
        Builtin::Pow | Builtin::FloorLog | Builtin::Digit | Builtin::DigitSum => false,
        Builtin::PartSize | Builtin::PartBegin | Builtin::PartOf => false,
    }
}

/// `e` as `base + step * k`, where neither part mentions `k`.
pub fn affine(e: &Expr, k: usize) -> Option<(Expr, Expr)> {
    if !e.mentions(k) {
        return Some((e.clone(), Expr::Int(0)));
    }
    match e {
        Expr::Var(_) => Some((Expr::Int(0), Expr::Int(1))),
        Expr::Unary(Unary::Neg, a) => {
            let (base, step) = affine(a, k)?;
            Some((sub(Expr::Int(0), base), sub(Expr::Int(0), step)))
        }
        Expr::Binary(Binary::Add, a, b) => {
            let ((a, m), (b, n)) = (affine(a, k)?, affine(b, k)?);
            Some((add(a, b), add(m, n)))
        }
        Expr::Binary(Binary::Sub, a, b) => {
            let ((a, m), (b, n)) = (affine(a, k)?, affine(b, k)?);
            Some((sub(a, b), sub(m, n)))
        }
        Expr::Binary(Binary::Mul, a, b) if !a.mentions(k) => {
            let (base, step) = affine(b, k)?;
            Some((mul((**a).clone(), base), mul((**a).clone(), step)))
        }
        Expr::Binary(Binary::Mul, a, b) if !b.mentions(k) => {
            let (base, step) = affine(a, k)?;
            Some((mul(base, (**b).clone()), mul(step, (**b).clone())))
        }
        _ => None,
    }
}

/// Whether [`affine`] finds a base and a step, without making them: evaluation asks this in every round.
pub fn is_affine(e: &Expr, k: usize) -> bool {
    degree(e, k).is_some()
}

/// The degree of `e` in `k`; `None` if it is above one or cannot be told.
fn degree(e: &Expr, k: usize) -> Option<u32> {
    match e {
        Expr::Int(_) => Some(0),
        Expr::Var(var) => Some(u32::from(var.slot == k)),
        Expr::Unary(Unary::Neg, a) => degree(a, k),
        Expr::Binary(Binary::Add | Binary::Sub, a, b) => Some(degree(a, k)?.max(degree(b, k)?)),
        Expr::Binary(Binary::Mul, a, b) => Some(degree(a, k)? + degree(b, k)?).filter(|&sum| sum <= 1),
        other => (!other.mentions(k)).then_some(0),
    }
}

/// The sum, with trivial operands removed.
pub fn add(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(a), Expr::Int(b)) if a.checked_add(b).is_some() => Expr::Int(a + b),
        (Expr::Int(0), e) | (e, Expr::Int(0)) => e,
        (a, Expr::Unary(Unary::Neg, b)) => Expr::binary(Binary::Sub, a, *b),
        (a, b) => Expr::binary(Binary::Add, a, b),
    }
}

/// The difference, with trivial operands removed.
pub fn sub(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(a), Expr::Int(b)) if a.checked_sub(b).is_some() => Expr::Int(a - b),
        (e, Expr::Int(0)) => e,
        (Expr::Int(0), Expr::Unary(Unary::Neg, e)) => *e,
        (Expr::Int(0), e) => Expr::Unary(Unary::Neg, Box::new(e)),
        (a, b) => Expr::binary(Binary::Sub, a, b),
    }
}

/// The product, with trivial operands removed.
pub fn mul(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(a), Expr::Int(b)) if a.checked_mul(b).is_some() => Expr::Int(a * b),
        (Expr::Int(0), _) | (_, Expr::Int(0)) => Expr::Int(0),
        (Expr::Int(1), e) | (e, Expr::Int(1)) => e,
        (Expr::Unary(Unary::Neg, a), b) => Expr::Unary(Unary::Neg, Box::new(mul(*a, b))),
        (a, b) => Expr::binary(Binary::Mul, a, b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expressions over `k` (slot 0) and `n` (slot 1), made of those of one level less.
    fn expressions(depth: usize) -> Vec<Expr> {
        let mut all = vec![Expr::Int(2), Expr::var("k", 0), Expr::var("n", 1)];
        if depth == 0 {
            return all;
        }
        let smaller = expressions(depth - 1);
        for a in &smaller {
            all.push(Expr::Unary(Unary::Neg, Box::new(a.clone())));
            for b in &smaller {
                for binary in [Binary::Add, Binary::Sub, Binary::Mul, Binary::Rem] {
                    all.push(Expr::binary(binary, a.clone(), b.clone()));
                }
            }
        }
        all
    }

    #[test]
    fn what_is_affine_has_a_base_and_a_step() {
        let all = expressions(2);
        assert!(all.len() > 5000, "{}", all.len());
        for e in &all {
            assert_eq!(is_affine(e, 0), affine(e, 0).is_some(), "{e}");
        }
        let affine = all.iter().filter(|e| is_affine(e, 0)).count();
        assert!(affine > 100 && affine < all.len() - 100, "{affine} of {}", all.len());
    }
}

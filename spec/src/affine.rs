//! Expressions as `base + step * k`: the shape that makes a comprehension a progression.
//!
//! The Rust back end turns such a comprehension into one stripe, the prover into a progression whose membership needs no
//! quantifier.

use crate::expr::{Binary, Expr, Unary};

/// `e` as `base + step * k`, with `k` in neither of them.
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

/// The sum, without what is trivial.
pub fn add(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(a), Expr::Int(b)) if a.checked_add(b).is_some() => Expr::Int(a + b),
        (Expr::Int(0), e) | (e, Expr::Int(0)) => e,
        (a, Expr::Unary(Unary::Neg, b)) => Expr::binary(Binary::Sub, a, *b),
        (a, b) => Expr::binary(Binary::Add, a, b),
    }
}

/// The difference, without what is trivial.
pub fn sub(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(a), Expr::Int(b)) if a.checked_sub(b).is_some() => Expr::Int(a - b),
        (e, Expr::Int(0)) => e,
        (Expr::Int(0), Expr::Unary(Unary::Neg, e)) => *e,
        (Expr::Int(0), e) => Expr::Unary(Unary::Neg, Box::new(e)),
        (a, b) => Expr::binary(Binary::Sub, a, b),
    }
}

/// The product, without what is trivial.
pub fn mul(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Int(a), Expr::Int(b)) if a.checked_mul(b).is_some() => Expr::Int(a * b),
        (Expr::Int(0), _) | (_, Expr::Int(0)) => Expr::Int(0),
        (Expr::Int(1), e) | (e, Expr::Int(1)) => e,
        (Expr::Unary(Unary::Neg, a), b) => Expr::Unary(Unary::Neg, Box::new(mul(*a, b))),
        (a, b) => Expr::binary(Binary::Mul, a, b),
    }
}

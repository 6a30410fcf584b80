//! Two by two matrices modulo a prime: their product is associative, and does not commute.

use mpi::datatype::{Equivalence, UserDatatype};
use roundel::operation::{Operation, ordered};

const PRIME: u32 = 65_521;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Matrix([u32; 4]);

impl Matrix {
    /// The contribution of a rank.
    pub(crate) fn sample(rank: usize, i: usize) -> Self {
        Matrix([1, 2, 3, 4].map(|k| ((rank + 2) * (i + 5) * k + rank * rank) as u32 % PRIME))
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0.map(u64::from), other.0.map(u64::from));
        Matrix([a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h].map(|x| (x % u64::from(PRIME)) as u32))
    }
}

// SAFETY: four numbers without gaps.
unsafe impl Equivalence for Matrix {
    type Out = UserDatatype;

    fn equivalent_datatype() -> UserDatatype {
        UserDatatype::contiguous(4, &u32::equivalent_datatype())
    }
}

/// The product, whose operands stay in the order of ranks.
pub(crate) fn product() -> impl Operation<Matrix> + 'static {
    ordered(Matrix::times)
}

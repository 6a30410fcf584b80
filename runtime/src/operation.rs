//! The operations of reductions.
//!
//! An operation takes two elements and gives one. It must be associative; a collective decides the brackets. It need
//! not commute, if the collective keeps the order of ranks, and needs no neutral element.

use std::ops::{Add, BitAnd, BitOr, BitXor, Mul};

/// An associative operation on elements of type `T`.
///
/// ```
/// use roundel::operation::{Operation, Sum, commutative};
/// assert_eq!(Sum.combine(&2, &3), 5);
/// let longer = commutative(|a: &&str, b: &&str| if b.len() > a.len() { *b } else { *a });
/// assert_eq!(longer.combine(&"two", &"three"), "three");
/// ```
pub trait Operation<T> {
    /// Whether the two operands may be swapped.
    const COMMUTES: bool;

    /// Whether the result is the same for all brackets if the elements are integers. Of other elements, such as floats,
    /// it says nothing.
    const EXACT_ON_INTEGERS: bool = false;

    /// The operation.
    fn combine(&self, left: &T, right: &T) -> T;
}

impl<T, O: Operation<T>> Operation<T> for &O {
    const COMMUTES: bool = O::COMMUTES;
    const EXACT_ON_INTEGERS: bool = O::EXACT_ON_INTEGERS;

    #[inline]
    fn combine(&self, left: &T, right: &T) -> T {
        (**self).combine(left, right)
    }
}

macro_rules! operators {
    ($($(#[$doc:meta])* $name:ident: $bound:ident, $method:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name;

        impl<T: Clone + $bound<Output = T>> Operation<T> for $name {
            const COMMUTES: bool = true;
            const EXACT_ON_INTEGERS: bool = true;

            #[inline]
            fn combine(&self, left: &T, right: &T) -> T {
                left.clone().$method(right.clone())
            }
        }
    )*};
}

operators! {
    /// The sum. Integers that overflow panic in debug builds and wrap in release builds, as in all of Rust.
    Sum: Add, add;
    /// The product.
    Product: Mul, mul;
    /// Bits that are set in both.
    And: BitAnd, bitand;
    /// Bits that are set in one or both.
    Or: BitOr, bitor;
    /// Bits that are set in one only.
    Xor: BitXor, bitxor;
}

macro_rules! extremes {
    ($($(#[$doc:meta])* $name:ident: $take_right:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name;

        impl<T: Clone + PartialOrd> Operation<T> for $name {
            const COMMUTES: bool = true;
            const EXACT_ON_INTEGERS: bool = true;

            #[inline]
            fn combine(&self, left: &T, right: &T) -> T {
                let take_right: fn(&T, &T) -> bool = $take_right;
                if take_right(left, right) { right.clone() } else { left.clone() }
            }
        }
    )*};
}

extremes! {
    /// The smaller one.
    Min: |left, right| right < left;
    /// The larger one.
    Max: |left, right| right > left;
}

/// An operation of the user, which commutes.
#[derive(Clone, Copy, Debug)]
pub struct Commutative<F>(F);

/// An operation of the user, whose operands must stay in the order of ranks.
#[derive(Clone, Copy, Debug)]
pub struct Ordered<F>(F);

/// A function that is associative and commutes.
pub fn commutative<T, F: Fn(&T, &T) -> T>(function: F) -> Commutative<F> {
    Commutative(function)
}

/// A function that is associative and does not commute, such as a product of matrices.
pub fn ordered<T, F: Fn(&T, &T) -> T>(function: F) -> Ordered<F> {
    Ordered(function)
}

impl<T, F: Fn(&T, &T) -> T> Operation<T> for Commutative<F> {
    const COMMUTES: bool = true;

    #[inline]
    fn combine(&self, left: &T, right: &T) -> T {
        (self.0)(left, right)
    }
}

impl<T, F: Fn(&T, &T) -> T> Operation<T> for Ordered<F> {
    const COMMUTES: bool = false;

    #[inline]
    fn combine(&self, left: &T, right: &T) -> T {
        (self.0)(left, right)
    }
}

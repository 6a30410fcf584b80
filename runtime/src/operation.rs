//! The operations of reductions.
//!
//! An operation combines two elements into one. It must be associative, because a collective decides the grouping. It
//! need not commute if the collective keeps the order of ranks, and needs no identity element.

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

    /// Whether the result on integers does not depend on the grouping. This says nothing about other elements, such
    /// as floats.
    const EXACT_ON_INTEGERS: bool = false;

    /// Combines two elements.
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
    /// The sum. Integer overflow panics in debug builds and wraps in release builds, as always in Rust.
    Sum: Add, add;
    /// The product.
    Product: Mul, mul;
    /// Bitwise and.
    And: BitAnd, bitand;
    /// Bitwise or.
    Or: BitOr, bitor;
    /// Bitwise exclusive or.
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
    /// The minimum.
    Min: |left, right| right < left;
    /// The maximum.
    Max: |left, right| right > left;
}

/// A user's operation that commutes.
#[derive(Clone, Copy, Debug)]
pub struct Commutative<F>(F);

/// A user's operation whose operands must stay in the order of ranks.
#[derive(Clone, Copy, Debug)]
pub struct Ordered<F>(F);

/// An operation from a function that is associative and commutes.
pub fn commutative<T, F: Fn(&T, &T) -> T>(function: F) -> Commutative<F> {
    Commutative(function)
}

/// An operation from a function that is associative and does not commute, such as a product of matrices.
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

//! Blocks as a round hands them to a [`Sink`](crate::Sink): progressions that wrap around the number of blocks.
//!
//! Generated code turns a comprehension whose item is affine in its last index into *one* stripe, so that a range of a
//! thousand blocks costs four integers instead of a thousand.

use crate::meaning::arith;

/// The blocks `first`, `first + step`, …, `count` of them, each wrapped into `0..modulus`.
///
/// ```
/// use roundel_spec::Stripe;
/// let stripe = Stripe::new(3, 2, 4, 7);
/// assert_eq!(stripe.iter().collect::<Vec<_>>(), [3, 5, 0, 2]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripe {
    first: i64,
    step: i64,
    count: i64,
    modulus: i64,
}

impl Stripe {
    /// A progression; `first` and `step` may be any numbers, and a negative count gives an empty one.
    #[inline]
    pub const fn new(first: i64, step: i64, count: i64, modulus: i64) -> Self {
        Stripe {
            first: arith::wrap(first, modulus),
            step: arith::wrap(step, modulus),
            count: if count < 0 { 0 } else { count },
            modulus,
        }
    }

    /// Like [`new`](Stripe::new), for a first block and a step that have no value if there is no block.
    #[inline]
    pub fn lazy(count: i64, modulus: i64, first_and_step: impl FnOnce() -> (i64, i64)) -> Self {
        if count <= 0 {
            return Stripe { first: 0, step: 0, count: 0, modulus };
        }
        let (first, step) = first_and_step();
        Stripe::new(first, step, count, modulus)
    }

    /// One block.
    #[inline]
    pub const fn one(block: i64, modulus: i64) -> Self {
        Stripe { first: arith::wrap(block, modulus), step: 1, count: 1, modulus }
    }

    /// The first block.
    #[inline]
    pub const fn first(&self) -> usize {
        self.first as usize
    }

    /// The distance from one block to the next, in `0..modulus`.
    #[inline]
    pub const fn step(&self) -> usize {
        self.step as usize
    }

    /// The number of blocks.
    #[inline]
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is no block.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The blocks, one by one.
    #[inline]
    pub fn iter(&self) -> StripeIter {
        StripeIter { next: self.first, left: self.count, step: self.step, modulus: self.modulus }
    }
}

/// The blocks of a [`Stripe`].
#[derive(Clone, Debug)]
pub struct StripeIter {
    next: i64,
    left: i64,
    step: i64,
    modulus: i64,
}

impl Iterator for StripeIter {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.left == 0 {
            return None;
        }
        let block = self.next;
        self.left -= 1;
        self.next = arith::wrap(block + self.step, self.modulus);
        Some(block as usize)
    }
}

/// The blocks of one message: a few stripes, computed on demand and never stored.
///
/// A [`Stripe`] implements it, and so does any iterator of stripes, which generated code uses for nested
/// comprehensions.
pub trait Blocks: Clone {
    /// The stripes, in the order in which they are sent.
    fn into_stripes(self) -> impl Iterator<Item = Stripe> + Clone;

    /// The stripes, in the order in which they are sent.
    #[inline]
    fn stripes(&self) -> impl Iterator<Item = Stripe> + Clone {
        self.clone().into_stripes()
    }

    /// Every block, one by one.
    #[inline]
    fn into_each(self) -> impl Iterator<Item = usize> + Clone {
        self.into_stripes().flat_map(|stripe| stripe.iter())
    }

    /// Whether there is no block at all, and therefore no message.
    #[inline]
    fn none(&self) -> bool {
        // A loop, because every adapter of an iterator would be compiled again for each type of blocks.
        for stripe in self.stripes() {
            if !stripe.is_empty() {
                return false;
            }
        }
        true
    }

    /// Appends the stripes to a list.
    fn append_to(&self, list: &mut Vec<Stripe>) {
        for stripe in self.stripes() {
            list.push(stripe);
        }
    }

    /// The number of blocks.
    #[inline]
    fn count(&self) -> usize {
        self.stripes().map(|stripe| stripe.len()).sum()
    }

    /// Every block, one by one.
    #[inline]
    fn each(&self) -> impl Iterator<Item = usize> + Clone {
        self.stripes().flat_map(|stripe| stripe.iter())
    }

    /// The single stripe, if the type guarantees that there is exactly one.
    #[inline]
    fn as_stripe(&self) -> Option<Stripe> {
        None
    }

    /// Calls `visit` with every stripe, until the first error.
    #[inline]
    fn try_each_stripe<E>(&self, visit: impl FnMut(Stripe) -> Result<(), E>) -> Result<(), E> {
        self.stripes().try_for_each(visit)
    }
}

impl Blocks for Stripe {
    #[inline]
    fn into_stripes(self) -> impl Iterator<Item = Stripe> + Clone {
        std::iter::once(self)
    }

    #[inline]
    fn none(&self) -> bool {
        self.is_empty()
    }

    #[inline]
    fn append_to(&self, list: &mut Vec<Stripe>) {
        list.push(*self);
    }

    #[inline]
    fn as_stripe(&self) -> Option<Stripe> {
        Some(*self)
    }

    #[inline]
    fn try_each_stripe<E>(&self, mut visit: impl FnMut(Stripe) -> Result<(), E>) -> Result<(), E> {
        visit(*self)
    }
}

/// An iterator of stripes, as [`Blocks`].
#[derive(Clone, Debug)]
pub struct Stripes<I>(pub I);

impl<I: Iterator<Item = Stripe> + Clone> Blocks for Stripes<I> {
    #[inline]
    fn into_stripes(self) -> impl Iterator<Item = Stripe> + Clone {
        self.0
    }
}

/// Stripes in a list. Sinks that pass rounds on use it, so that the next sink is compiled for one type of blocks.
#[derive(Clone, Copy, Debug)]
pub struct StripeList<'a>(pub &'a [Stripe]);

impl Blocks for StripeList<'_> {
    #[inline]
    fn into_stripes(self) -> impl Iterator<Item = Stripe> + Clone {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_stripe_is_its_definition(first in -50i64..50, step in -50i64..50, count in -2i64..40, p in 1i64..20) {
            let expected: Vec<usize> = (0..count).map(|i| (first + i * step).rem_euclid(p) as usize).collect();
            let stripe = Stripe::new(first, step, count, p);
            prop_assert_eq!(stripe.iter().collect::<Vec<_>>(), expected.clone());
            prop_assert_eq!(stripe.len(), expected.len());
            prop_assert_eq!(stripe.none(), expected.is_empty());
        }
    }
}

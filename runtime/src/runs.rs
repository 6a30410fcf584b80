//! From blocks to memory: the contiguous runs of elements of a message, in the order in which they travel.

use crate::call::geometry::Geometry;
use roundel_spec::{Blocks, Stripe};

/// A contiguous piece of a buffer, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its beginning.
    pub start: usize,
    /// Its length.
    pub len: usize,
}

/// Calls `visit` with every run of `blocks`. Blocks that are adjacent in memory and consecutive in the message form
/// one run; empty blocks form none. A range of equal blocks takes two steps, not one per block.
#[inline]
pub fn for_each_run<B: Blocks, G: Geometry>(blocks: &B, geometry: &G, p: usize, mut visit: impl FnMut(Run)) {
    let mut open = Run { start: 0, len: 0 };
    let mut push = |start: usize, len: usize| {
        if len == 0 {
            return;
        }
        if open.len > 0 && open.start + open.len == start {
            open.len += len;
        } else {
            if open.len > 0 {
                visit(open);
            }
            open = Run { start, len };
        }
    };
    for stripe in blocks.stripes() {
        match geometry.uniform() {
            Some(count) if is_range(&stripe) => {
                for_each_piece(slot(&stripe, geometry, p), stripe.len(), p, |at, n| {
                    push(at * count, n * count);
                })
            }
            _ => stripe.iter().for_each(|b| push(geometry.offset(b), geometry.len(b))),
        }
    }
    if open.len > 0 {
        visit(open);
    }
}

/// Whether the blocks of the stripe are consecutive.
#[inline(always)]
fn is_range(stripe: &Stripe) -> bool {
    stripe.step() == 1 || stripe.len() == 1
}

/// The position of the first block of a stripe among uniform blocks.
#[inline(always)]
fn slot<G: Geometry>(stripe: &Stripe, geometry: &G, p: usize) -> usize {
    let (block, first) = (stripe.first(), geometry.first());
    if block >= first { block - first } else { block + p - first }
}

/// The pieces of a range of `n` slots that begins at `slot` and wraps around `p`.
#[inline(always)]
fn for_each_piece(slot: usize, n: usize, p: usize, mut piece: impl FnMut(usize, usize)) {
    let mut rest = n;
    let mut slot = slot;
    while rest > 0 {
        let n = rest.min(p - slot);
        piece(slot, n);
        rest -= n;
        slot = 0;
    }
}

/// The number of runs and elements of a message, from which a [`Policy`](crate::Policy) chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageShape {
    /// The number of runs.
    pub runs: usize,
    /// The number of elements.
    pub elements: usize,
    /// The beginning of the first run.
    pub start: usize,
}

impl MessageShape {
    /// The shape of `blocks`: the same as from [`for_each_run`], without a step per block for uniform blocks.
    #[inline]
    pub fn of<B: Blocks, G: Geometry>(blocks: &B, geometry: &G, p: usize) -> Self {
        let mut outline = Outline::default();
        for stripe in blocks.stripes() {
            match geometry.uniform() {
                Some(count) if is_range(&stripe) => {
                    for_each_piece(slot(&stripe, geometry, p), stripe.len(), p, |at, n| {
                        outline.add(at * count, n * count);
                    });
                }
                Some(count) => outline.scatter(slot(&stripe, geometry, p), &stripe, p, count),
                None => stripe.iter().for_each(|b| outline.add(geometry.offset(b), geometry.len(b))),
            }
        }
        outline.shape
    }
}

/// A [`MessageShape`] under construction.
#[derive(Default)]
struct Outline {
    shape: MessageShape,
    /// The end of the last run.
    end: usize,
}

impl Outline {
    /// Adds a piece, which may continue the last run.
    #[inline(always)]
    fn add(&mut self, start: usize, len: usize) {
        if len == 0 {
            return;
        }
        if self.shape.runs == 0 {
            self.shape.start = start;
        }
        self.shape.runs += (self.shape.runs == 0 || start != self.end) as usize;
        self.shape.elements += len;
        self.end = start + len;
    }

    /// Adds uniform blocks, none of which follows the one before it: one run each, except that the first may continue
    /// the last run.
    #[inline(always)]
    fn scatter(&mut self, slot: usize, stripe: &Stripe, p: usize, count: usize) {
        if stripe.is_empty() || count == 0 {
            return;
        }
        let rest = stripe.len() - 1;
        self.add(slot * count, count);
        self.shape.runs += rest;
        self.shape.elements += rest * count;
        self.end = ((slot + rest * stripe.step()) % p + 1) * count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::geometry::{Moved, Rotated, Uniform, Varying};
    use proptest::prelude::*;
    use roundel_spec::Stripes;

    /// Every element of the message, one by one, by definition.
    fn elements<B: Blocks>(blocks: &B, geometry: &impl Geometry) -> Vec<usize> {
        blocks.each().flat_map(|b| geometry.offset(b)..geometry.offset(b) + geometry.len(b)).collect()
    }

    fn through_runs<B: Blocks>(blocks: &B, geometry: &impl Geometry, p: usize) -> (Vec<usize>, MessageShape) {
        let mut all = Vec::new();
        for_each_run(blocks, geometry, p, |run| all.extend(run.start..run.start + run.len));
        let mut runs = 0;
        for_each_run(blocks, geometry, p, |_| runs += 1);
        let shape = MessageShape::of(blocks, geometry, p);
        assert_eq!((shape.runs, shape.elements), (runs, all.len()));
        assert!(all.first().is_none_or(|&first| first == shape.start));
        (all, shape)
    }

    proptest! {
        #[test]
        fn runs_cover_exactly_the_blocks(
            p in 1usize..12, first in 0i64..12, step in 0i64..12, n in 0i64..24,
            count in 0usize..4, counts in prop::collection::vec(0usize..4, 12), gap in 0usize..2,
        ) {
            let stripe = Stripe::new(first, step, n, p as i64);
            let displs: Vec<usize> =
                (0..p).map(|b| counts[..b].iter().map(|c| c + gap).sum()).collect();
            let varying = Varying::new(&counts[..p], &displs);
            let uniform = Uniform { count };
            let rotated = Rotated { count, by: first as usize % p, p };
            prop_assert_eq!(through_runs(&stripe, &uniform, p).0, elements(&stripe, &uniform));
            prop_assert_eq!(through_runs(&stripe, &varying, p).0, elements(&stripe, &varying));
            prop_assert_eq!(through_runs(&stripe, &rotated, p).0, elements(&stripe, &rotated));
            let moved = Moved { lengths: varying, offsets: &displs };
            prop_assert_eq!(through_runs(&stripe, &moved, p).0, elements(&stripe, &moved));
        }

        #[test]
        fn runs_of_several_stripes_cover_exactly_the_blocks(
            p in 1usize..12, count in 0usize..4, by in 0usize..12,
            parts in prop::collection::vec((0i64..12, 0i64..12, 0i64..8), 0..4),
        ) {
            let stripes: Vec<Stripe> = parts.iter().map(|&(f, s, n)| Stripe::new(f, s, n, p as i64)).collect();
            let blocks = Stripes(stripes.iter().copied());
            let uniform = Uniform { count };
            let rotated = Rotated { count, by: by % p, p };
            prop_assert_eq!(through_runs(&blocks, &uniform, p).0, elements(&blocks, &uniform));
            prop_assert_eq!(through_runs(&blocks, &rotated, p).0, elements(&blocks, &rotated));
        }
    }

    #[test]
    fn a_wrapped_range_is_two_runs() {
        let shape = MessageShape::of(&Stripe::new(6, 1, 5, 8), &Uniform { count: 3 }, 8);
        assert_eq!(shape, MessageShape { runs: 2, elements: 15, start: 18 });
    }

    #[test]
    fn a_range_is_one_run_in_the_layout_that_begins_with_it() {
        let shape = MessageShape::of(&Stripe::new(6, 1, 5, 8), &Rotated { count: 3, by: 6, p: 8 }, 8);
        assert_eq!(shape, MessageShape { runs: 1, elements: 15, start: 0 });
    }
}

//! Where each block lies in a buffer, in elements.

use crate::call::rooted_layout::RootedLayout;
use crate::error::Error;
use roundel_spec::Place;

/// The positions of blocks. A trait, so that the arithmetic for equal blocks is inlined into the loop that uses it.
pub trait Geometry {
    /// Where block `b` begins.
    fn offset(&self, b: usize) -> usize;
    /// How long block `b` is.
    fn len(&self, b: usize) -> usize;
    /// The length that all blocks share when they lie one after the other without gaps, in the order of their
    /// numbers, beginning with [`first`](Geometry::first) and wrapping around.
    fn uniform(&self) -> Option<usize>;
    /// The block that lies first where blocks are [`uniform`](Geometry::uniform).
    #[inline(always)]
    fn first(&self) -> usize {
        0
    }
}

impl<G: Geometry> Geometry for &G {
    #[inline(always)]
    fn offset(&self, b: usize) -> usize {
        (*self).offset(b)
    }

    #[inline(always)]
    fn len(&self, b: usize) -> usize {
        (*self).len(b)
    }

    #[inline(always)]
    fn uniform(&self) -> Option<usize> {
        (*self).uniform()
    }

    #[inline(always)]
    fn first(&self) -> usize {
        (*self).first()
    }
}

/// The blocks of a call, kept to compare them with those of the next call.
#[derive(Debug, Default)]
pub struct Blocking {
    pub(crate) form: Option<BlockForm>,
    pub(crate) counts: Vec<usize>,
    displs: Vec<usize>,
}

/// How blocks are described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockForm {
    Uniform(usize),
    Varying,
    Even,
    Elsewhere,
    Equal,
    Counts,
    Rooted(RootedLayout),
}

/// A description of the blocks of a call that can be compared with an earlier one.
pub trait Recognised {
    /// Whether the blocks are as in `blocking`.
    fn is(&self, blocking: &Blocking) -> bool;
    /// Stores the blocks in `blocking`.
    fn remember(&self, blocking: &mut Blocking);
}

impl Blocking {
    pub(crate) fn set(&mut self, form: BlockForm, counts: &[usize], displs: &[usize]) {
        self.form = Some(form);
        for (kept, list) in [(&mut self.counts, counts), (&mut self.displs, displs)] {
            kept.clear();
            kept.extend_from_slice(list);
        }
    }
}

/// Blocks as a user's call describes them. They are not trusted before [`validate`](Described::validate).
pub trait Described: Geometry + Recognised {
    /// Returns an error if the blocks do not match each other or the `send` and `recv` elements of the buffers of the
    /// rank at `at`. If the rank has no send buffer, its own block lies in the receive buffer.
    fn validate(&self, at: &Place, send: Option<usize>, recv: usize) -> Result<(), Error>;
}

/// Blocks of the same length, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Uniform {
    /// The length of a block.
    pub count: usize,
}

impl Geometry for Uniform {
    #[inline(always)]
    fn offset(&self, b: usize) -> usize {
        b * self.count
    }

    #[inline(always)]
    fn len(&self, _b: usize) -> usize {
        self.count
    }

    #[inline(always)]
    fn uniform(&self) -> Option<usize> {
        Some(self.count)
    }
}

impl Described for Uniform {
    fn validate(&self, at: &Place, send: Option<usize>, recv: usize) -> Result<(), Error> {
        if let Some(found) = send.filter(|&send| send != self.count) {
            let reason = "the length of a block";
            return Err(Error::Length { what: "the send buffer", expected: self.count, found, reason });
        }
        let expected = self.count.checked_mul(at.p as usize).filter(|&n| n <= isize::MAX as usize);
        let Some(expected) = expected else {
            let limit = isize::MAX as usize / at.p as usize;
            return Err(Error::TooLarge { what: "the send buffer", elements: self.count, limit });
        };
        if recv != expected {
            let reason = match send {
                Some(_) => "the send buffer's length times the number of ranks",
                None => "a block of the same length for each rank",
            };
            return Err(Error::Length { what: "the receive buffer", expected, found: recv, reason });
        }
        Ok(())
    }
}

impl Recognised for Uniform {
    #[inline(always)]
    fn is(&self, blocking: &Blocking) -> bool {
        // Not `==` on the whole value: that call is not inlined.
        matches!(blocking.form, Some(BlockForm::Uniform(count)) if count == self.count)
    }

    fn remember(&self, blocking: &mut Blocking) {
        blocking.set(BlockForm::Uniform(self.count), &[], &[]);
    }
}

/// Blocks with individual counts and displacements, as in the v-variants.
#[derive(Clone, Copy, Debug)]
pub struct Varying<'a> {
    pub(crate) counts: &'a [usize],
    pub(crate) displs: &'a [usize],
}

/// The names of a call's lists and of their buffer in error messages.
pub(crate) struct Names {
    pub(crate) counts: &'static str,
    pub(crate) displs: &'static str,
    pub(crate) buffer: &'static str,
}

impl Names {
    /// For calls with one pair of lists.
    pub(crate) const ONLY: Names = Names { counts: "counts", displs: "displacements", buffer: "the receive buffer" };
}

impl<'a> Varying<'a> {
    /// Block `b` has `counts[b]` elements, from `displs[b]` on.
    pub fn new(counts: &'a [usize], displs: &'a [usize]) -> Self {
        Varying { counts, displs }
    }

    /// Returns an error for lists of a wrong length, and for blocks outside a buffer of `len` elements.
    pub(crate) fn validate_lists(&self, p: usize, len: usize, names: &Names) -> Result<(), Error> {
        for (what, list) in [(names.counts, self.counts), (names.displs, self.displs)] {
            if list.len() != p {
                let reason = "one entry for each rank";
                return Err(Error::Length { what, expected: p, found: list.len(), reason });
            }
        }
        for (&count, &displ) in self.counts.iter().zip(self.displs) {
            let end = displ.checked_add(count).filter(|&end| end <= isize::MAX as usize);
            let Some(end) = end else {
                let limit = isize::MAX as usize;
                return Err(Error::TooLarge { what: "a block's end", elements: usize::MAX, limit });
            };
            if count > 0 && end > len {
                let reason = "every block must lie inside it";
                return Err(Error::Length { what: names.buffer, expected: end, found: len, reason });
            }
        }
        Ok(())
    }

    /// Returns an error if blocks overlap; the lists must be valid.
    pub(crate) fn reject_overlap(&self) -> Result<(), Error> {
        reject_overlap(self.counts, self.displs)
    }
}

/// Up to this many blocks are compared in pairs. More blocks are sorted first, which needs memory.
const PAIRS: usize = 64;

/// Returns an error if two blocks share an element. Displacements are usually ascending, so that is tested first.
fn reject_overlap(counts: &[usize], displs: &[usize]) -> Result<(), Error> {
    let full = || (0..counts.len()).filter(|&b| counts[b] > 0);
    let mut end = 0;
    let ascending = full().all(|b| {
        let follows = end <= displs[b];
        end = displs[b] + counts[b];
        follows
    });
    if ascending {
        return Ok(());
    }
    if counts.len() <= PAIRS {
        let overlap =
            |&(a, b): &(usize, usize)| displs[a] < displs[b] + counts[b] && displs[b] < displs[a] + counts[a];
        let mut pairs =
            full().flat_map(|first| full().filter(move |&b| b > first).map(move |second| (first, second)));
        return pairs.find(overlap).map_or(Ok(()), |(first, second)| Err(Error::Overlap { first, second }));
    }
    let mut sorted: Vec<usize> = full().collect();
    sorted.sort_unstable_by_key(|&b| (displs[b], b));
    match sorted.windows(2).find(|pair| displs[pair[1]] < displs[pair[0]] + counts[pair[0]]) {
        Some(pair) => Err(Error::Overlap { first: pair[0].min(pair[1]), second: pair[0].max(pair[1]) }),
        None => Ok(()),
    }
}

impl Geometry for Varying<'_> {
    #[inline]
    fn offset(&self, b: usize) -> usize {
        self.displs[b]
    }

    #[inline]
    fn len(&self, b: usize) -> usize {
        self.counts[b]
    }

    #[inline]
    fn uniform(&self) -> Option<usize> {
        None
    }
}

impl Described for Varying<'_> {
    fn validate(&self, at: &Place, send: Option<usize>, recv: usize) -> Result<(), Error> {
        self.validate_lists(at.p as usize, recv, &Names::ONLY)?;
        self.reject_overlap()?;
        let expected = self.counts[at.rank as usize];
        if let Some(found) = send.filter(|&send| send != expected) {
            let reason = "this rank's entry in the counts";
            return Err(Error::Length { what: "the send buffer", expected, found, reason });
        }
        Ok(())
    }
}

impl Recognised for Varying<'_> {
    fn is(&self, blocking: &Blocking) -> bool {
        let same = || blocking.counts == self.counts && blocking.displs == self.displs;
        blocking.form == Some(BlockForm::Varying) && same()
    }

    fn remember(&self, blocking: &mut Blocking) {
        blocking.set(BlockForm::Varying, self.counts, self.displs);
    }
}

/// Blocks of the same length in the rotated layout: block `b` at place `wrap(b - by)`.
#[derive(Clone, Copy, Debug)]
pub struct Rotated {
    /// The length of a block.
    pub count: usize,
    /// The block that comes first.
    pub by: usize,
    /// The number of blocks.
    pub p: usize,
}

impl Geometry for Rotated {
    #[inline(always)]
    fn offset(&self, b: usize) -> usize {
        let place = if b >= self.by { b - self.by } else { b + self.p - self.by };
        place * self.count
    }

    #[inline(always)]
    fn len(&self, _b: usize) -> usize {
        self.count
    }

    #[inline(always)]
    fn uniform(&self) -> Option<usize> {
        Some(self.count)
    }

    #[inline(always)]
    fn first(&self) -> usize {
        self.by
    }
}

/// Blocks with the lengths of another geometry, at their own offsets: the rotated layout of the v-variants.
#[derive(Clone, Copy, Debug)]
pub struct Moved<'a, G> {
    /// The geometry that has the lengths.
    pub lengths: G,
    /// Where each block begins.
    pub offsets: &'a [usize],
}

impl<G: Geometry> Geometry for Moved<'_, G> {
    #[inline]
    fn offset(&self, b: usize) -> usize {
        self.offsets[b]
    }

    #[inline]
    fn len(&self, b: usize) -> usize {
        self.lengths.len(b)
    }

    #[inline]
    fn uniform(&self) -> Option<usize> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Few blocks and many, in any order, with empty ones anywhere: overlap is reported if and only if two blocks
        /// share an element.
        #[test]
        fn what_overlaps_is_found(
            blocks in prop::collection::vec((0usize..4, 0usize..400), 0..90), apart in any::<bool>()
        ) {
            let mut blocks = blocks;
            if apart {
                blocks.iter_mut().for_each(|(_, at)| *at *= 4);
                blocks.sort_by_key(|&(_, at)| at);
                blocks.dedup_by_key(|&mut (_, at)| at);
                blocks.reverse();
            }
            let (counts, displs): (Vec<usize>, Vec<usize>) = blocks.into_iter().unzip();
            let elements = |b: usize| displs[b]..displs[b] + counts[b];
            let share = |a: usize, b: usize| elements(a).any(|element| elements(b).contains(&element));
            let expected = (0..counts.len()).any(|b| (0..b).any(|a| share(a, b)));
            match reject_overlap(&counts, &displs) {
                Ok(()) => prop_assert!(!expected),
                Err(Error::Overlap { first, second }) => prop_assert!(first < second && share(first, second)),
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }
}

//! Allocates scratch while a plan is made: parts are freed as soon as nothing in them is needed, and reused.

use std::ops::Range;

/// Parts of scratch are aligned to this, as scratch itself is.
const ALIGNMENT: usize = size_of::<u128>();

/// Allocates parts of scratch while a plan is made.
#[derive(Default)]
pub(crate) struct Space {
    /// The free parts, in order, none of which are adjacent.
    free: Vec<Range<usize>>,
    end: usize,
}

impl Space {
    /// The highest number of bytes in use.
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// A part of `bytes` bytes, the first that fits.
    pub(crate) fn take(&mut self, bytes: usize) -> Range<usize> {
        let bytes = bytes.next_multiple_of(ALIGNMENT);
        if bytes == 0 {
            return 0..0;
        }
        if let Some(i) = self.free.iter().position(|part| part.len() >= bytes) {
            let begin = self.free[i].start;
            self.free[i].start += bytes;
            if self.free[i].is_empty() {
                self.free.remove(i);
            }
            return begin..begin + bytes;
        }
        // Extends a free part at the end instead of taking new memory behind it.
        let begin = self.free.pop_if(|part| part.end == self.end).map_or(self.end, |part| part.start);
        self.end = begin + bytes;
        begin..self.end
    }

    /// Frees a part that [`take`](Space::take) returned.
    pub(crate) fn give(&mut self, part: Range<usize>) {
        if part.is_empty() {
            return;
        }
        let i = self.free.partition_point(|free| free.start < part.start);
        self.free.insert(i, part);
        self.join(i + 1);
        self.join(i);
    }

    /// Merges free part `i` with the one before it if they are adjacent.
    fn join(&mut self, i: usize) {
        if i > 0 && i < self.free.len() && self.free[i - 1].end == self.free[i].start {
            self.free[i - 1].end = self.free[i].end;
            self.free.remove(i);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_in_use_never_overlap(turns in prop::collection::vec((0usize..200, any::<bool>()), 1..60)) {
            let (mut space, mut used) = (Space::default(), Vec::<Range<usize>>::new());
            for (n, take) in turns {
                if take || used.is_empty() {
                    let part = space.take(n);
                    prop_assert!(part.len() >= n && part.start % ALIGNMENT == 0 && part.end <= space.end());
                    let apart = |other: &Range<usize>| other.end <= part.start || part.end <= other.start;
                    prop_assert!(part.is_empty() || used.iter().all(apart));
                    used.push(part);
                } else {
                    space.give(used.swap_remove(n % used.len()));
                }
                prop_assert!(space.free.windows(2).all(|two| two[0].end < two[1].start));
            }
            used.into_iter().for_each(|part| space.give(part));
            prop_assert!(space.free.len() <= 1 && space.free.iter().all(|free| *free == (0..space.end)));
        }
    }

    #[test]
    fn what_was_given_back_is_used_again() {
        let mut space = Space::default();
        let (a, b) = (space.take(32), space.take(16));
        space.give(a.clone());
        assert_eq!(space.take(20), a);
        space.give(b);
        assert_eq!(space.take(48), 32..80);
        assert_eq!(space.end(), 80);
    }
}

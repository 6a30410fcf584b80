//! The rotated layout: block `by` first, the others after it, without gaps.

use crate::call::geometry::{Geometry, Varying};
use std::ops::Range;

/// The position of each block in the scratch buffer of a rotated run. Blocks may differ in length.
pub(super) struct Rotation {
    /// The blocks in the order of the scratch buffer.
    order: Vec<usize>,
    counts: Vec<usize>,
    displs: Vec<usize>,
}

impl Rotation {
    /// The `p` blocks of `geometry`, with block `b` at place `wrap(b - by)`.
    pub(super) fn new(geometry: &impl Geometry, by: usize, p: usize) -> Self {
        let order: Vec<usize> = (0..p).map(|place| (place + by) % p).collect();
        let counts = (0..p).map(|b| geometry.len(b)).collect();
        let (mut displs, mut end) = (vec![0; p], 0);
        for &b in &order {
            displs[b] = end;
            end += geometry.len(b);
        }
        Rotation { order, counts, displs }
    }

    /// The positions of the blocks in the scratch buffer.
    pub(super) fn geometry(&self) -> Varying<'_> {
        Varying::new(&self.counts, &self.displs)
    }

    /// A scratch buffer, filled with the elements of `recv`, because the element type may have no default.
    pub(super) fn copy_out<T: Clone>(&self, recv: &[T], geometry: &impl Geometry) -> Vec<T> {
        self.places(geometry).flat_map(|place| &recv[place]).cloned().collect()
    }

    /// Moves the blocks to their destinations.
    pub(super) fn put_in_place<T>(&self, scratch: Vec<T>, recv: &mut [T], geometry: &impl Geometry) {
        let mut elements = scratch.into_iter();
        for place in self.places(geometry) {
            recv[place].iter_mut().zip(elements.by_ref()).for_each(|(old, new)| *old = new);
        }
    }

    /// The places of the blocks in the receive buffer, in scratch order. Empty blocks are skipped: they may lie
    /// outside it.
    fn places(&self, geometry: &impl Geometry) -> impl Iterator<Item = Range<usize>> {
        self.order.iter().map(|&b| geometry.offset(b)..geometry.offset(b) + geometry.len(b)).filter(|r| !r.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::geometry::{Rotated, Uniform};

    #[test]
    fn equal_blocks_lie_where_the_layout_says() {
        for (p, by) in (1..9).flat_map(|p| (0..p).map(move |by| (p, by))) {
            let (rotation, expected) = (Rotation::new(&Uniform { count: 3 }, by, p), Rotated { count: 3, by, p });
            assert!((0..p).all(|b| rotation.geometry().offset(b) == expected.offset(b)), "p = {p}, by = {by}");
        }
    }

    #[test]
    fn out_and_back_changes_nothing() {
        let geometry = Varying::new(&[2, 0, 1, 3], &[4, 99, 0, 7]);
        let rotation = Rotation::new(&geometry, 2, 4);
        let mut recv: Vec<usize> = (0..11).collect();
        let scratch = rotation.copy_out(&recv, &geometry);
        assert_eq!(scratch, [0, 7, 8, 9, 4, 5]);
        rotation.put_in_place(scratch, &mut recv, &geometry);
        assert!(recv.into_iter().eq(0..11));
    }
}

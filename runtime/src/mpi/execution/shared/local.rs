//! What one rank of each node does alone, between messages and shared memory.

use super::StageBuffers;
use crate::mpi::execution::Combine;
use std::ptr::copy_nonoverlapping;

/// A stage without other ranks.
#[derive(Clone, Debug)]
pub(crate) enum LocalStage {
    /// Reduces the vectors of all nodes.
    Reduce(NodeVectors),
    /// Sorts the blocks of this node's ranks by the node to which they go.
    Pack(NodeBlocks),
    /// Sorts the blocks from all nodes by the rank of this node to which they go.
    Unpack(NodeBlocks),
}

/// The vectors of all nodes, one after the other. They are reduced in this order: with the same tree on all nodes, and
/// in the order of ranks if these are numbered node by node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeVectors {
    /// The number of vectors, at least two.
    pub(crate) vectors: usize,
    /// The elements of each.
    pub(crate) elements: usize,
    /// The bytes of an element.
    pub(crate) size: usize,
}

/// The blocks of an all-to-all that one node sends, or those that it receives. Ranks are numbered node by node.
#[derive(Clone, Debug)]
pub(crate) struct NodeBlocks {
    /// The ranks of each node.
    pub(crate) sizes: Vec<usize>,
    /// The ranks of this node.
    pub(crate) own: usize,
    /// The bytes of a block.
    pub(crate) bytes: usize,
}

impl LocalStage {
    /// Runs the stage.
    ///
    /// # Safety
    /// The input is complete, the output has room for the result, and they do not overlap.
    pub(crate) unsafe fn run<C: Combine>(&self, buffers: StageBuffers, lead: isize, combine: &C) {
        let StageBuffers { input, output } = buffers;
        // SAFETY: the caller guarantees it.
        unsafe {
            match self {
                LocalStage::Reduce(vectors) => vectors.reduce(buffers, lead, combine),
                LocalStage::Pack(blocks) => blocks.runs(|row, run, bytes| {
                    copy_nonoverlapping(input.wrapping_add(row), output.wrapping_add(run), bytes)
                }),
                LocalStage::Unpack(blocks) => blocks.cells(|cell, run, bytes| {
                    copy_nonoverlapping(input.wrapping_add(run), output.wrapping_add(cell), bytes)
                }),
            }
        }
    }
}

impl NodeVectors {
    unsafe fn reduce<C: Combine>(&self, StageBuffers { input, output }: StageBuffers, lead: isize, combine: &C) {
        let NodeVectors { vectors, elements, size } = *self;
        let (first, into) = (input.wrapping_offset(-lead), output.wrapping_offset(-lead));
        let vector = |number: usize| first.wrapping_add(number * elements * size);
        // The last ones come first, so that the target is never an operand on the left.
        // SAFETY: the caller guarantees it.
        unsafe { combine.combine(vector(vectors - 2), vector(vectors - 1), into, elements) };
        for number in (0..vectors - 2).rev() {
            // SAFETY: as above.
            unsafe { combine.combine(vector(number), into, into, elements) };
        }
    }
}

impl NodeBlocks {
    /// The bytes of one rank's blocks, one for each rank of all nodes.
    fn row(&self) -> usize {
        self.sizes.iter().sum::<usize>() * self.bytes
    }

    /// The blocks of one rank of this node for one node: where they are in that rank's row, where they are sorted by
    /// node, and how long they are.
    fn runs(&self, mut run: impl FnMut(usize, usize, usize)) {
        let (mut before, mut sorted) = (0, 0);
        for size in &self.sizes {
            let length = size * self.bytes;
            for rank in 0..self.own {
                run(rank * self.row() + before, sorted, length);
                sorted += length;
            }
            before += length;
        }
    }

    /// The block of one rank for one rank of this node: where it is in that rank's row, where it is sorted by node, and
    /// how long it is.
    fn cells(&self, mut cell: impl FnMut(usize, usize, usize)) {
        let (mut source, mut sorted) = (0, 0);
        for _ in 0..self.sizes.iter().sum() {
            for rank in 0..self.own {
                cell(rank * self.row() + source, sorted, self.bytes);
                sorted += self.bytes;
            }
            source += self.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::execution::Nothing;

    /// The block of a rank for a rank.
    fn block(from: usize, to: usize) -> [u8; 2] {
        [from as u8, to as u8]
    }

    #[test]
    fn blocks_are_sorted_by_node_and_then_by_rank() {
        let sizes = vec![2, 1, 3];
        let p = 6;
        let run = |stage: LocalStage, mut input: Vec<u8>| {
            let mut output = vec![0; input.len()];
            let buffers = StageBuffers { input: input.as_mut_ptr(), output: output.as_mut_ptr() };
            // SAFETY: both have all blocks of the node.
            unsafe { stage.run(buffers, 0, &Nothing) };
            output
        };
        for (node, first) in [0, 2, 3].into_iter().enumerate() {
            let (own, members) = (sizes[node], first..first + sizes[node]);
            let blocks = NodeBlocks { sizes: sizes.clone(), own, bytes: 2 };
            let rows: Vec<u8> = members.clone().flat_map(|rank| (0..p).flat_map(move |to| block(rank, to))).collect();
            let of_node = |other: usize| sizes[..other].iter().sum()..sizes[..=other].iter().sum();
            let sorted: Vec<u8> = (0..3)
                .flat_map(|other| members.clone().map(move |rank| (other, rank)))
                .flat_map(|(other, rank)| of_node(other).flat_map(move |to: usize| block(rank, to)))
                .collect();
            assert_eq!(run(LocalStage::Pack(blocks.clone()), rows), sorted, "node {node}");
            let arrived: Vec<u8> =
                (0..p).flat_map(|from| members.clone().flat_map(move |to| block(from, to))).collect();
            let rows: Vec<u8> = members.flat_map(|to| (0..p).flat_map(move |from| block(from, to))).collect();
            assert_eq!(run(LocalStage::Unpack(blocks), arrived), rows, "node {node}");
        }
    }
}

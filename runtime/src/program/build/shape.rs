//! Assigns the elements of a vector to ranks, nodes, blocks and lanes.
//!
//! Between nodes a vector is *arranged*: the elements of one lane are contiguous, and within them block follows
//! block, so that a message of neighbouring blocks is contiguous. This is invisible to users: their vectors have the
//! blocks of ranks in the order of ranks. [`ArrangedRun`]s translate. A vector that is not divided among ranks is the
//! same in both.

use std::ops::Range;

use roundel_spec::Kind;

use super::{BuildError, ProgramSpec};
use crate::program::{MemoryRegion, RegionOffset};

/// Elements that are contiguous both in the user's vector and in the arranged one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ArrangedRun {
    user: usize,
    arranged: usize,
    length: usize,
}

/// Elements that are contiguous in memory. Offsets count elements here, and are converted to bytes at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VectorPiece {
    pub(super) spot: RegionOffset,
    pub(super) length: usize,
}

/// The memory layout of a line of the part.
#[derive(Clone, Copy, Debug)]
pub(super) enum LineLayout {
    /// In the arranged order, from element `from` on.
    Arranged { spot: RegionOffset, from: usize },
    /// In the user's order.
    User { spot: RegionOffset },
    /// Only the block of this node, its ranks one after the other.
    Own { spot: RegionOffset },
}

/// The geometry of one call from the point of view of one node.
pub(super) struct NodeGeometry<'a> {
    pub(super) job: &'a ProgramSpec<'a>,
    /// The number of nodes.
    pub(super) nodes: usize,
    /// This node.
    pub(super) node: usize,
    /// The number of this process on the node.
    pub(super) local: usize,
    /// The number of processes on this node.
    pub(super) n: usize,
    /// The number of processes that send and receive.
    pub(super) lanes: usize,
    /// The length of the whole vector.
    pub(super) length: usize,
    /// The number of elements in a whole number of cache lines.
    pub(super) stride: usize,
    /// The beginning of each rank's block; empty if the vector is not divided among ranks.
    begins: Vec<usize>,
    /// The number of elements of each node.
    blocks: Vec<usize>,
    /// The range of each lane in the arranged vector.
    areas: Vec<Range<usize>>,
    /// Sorted by position in the arranged vector.
    runs: Vec<ArrangedRun>,
}

/// Part `index` of `total` elements that are divided evenly.
pub(super) fn even(total: usize, parts: usize, index: usize) -> Range<usize> {
    let (each, more) = (total / parts, total % parts);
    let begin = index * each + index.min(more);
    begin..begin + each + usize::from(index < more)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl<'a> NodeGeometry<'a> {
    /// The geometry of a valid call.
    pub(super) fn new(job: &'a ProgramSpec<'a>, rank: usize) -> Result<Self, BuildError> {
        let length = validate(job, rank)?;
        let place = job.placement.place(rank);
        let nodes = place.nodes as usize;
        let lanes = if nodes == 1 { 1 } else { job.lanes.clamp(1, place.lanes as usize) };
        let shape = NodeGeometry {
            job,
            nodes,
            node: place.node as usize,
            local: place.local as usize,
            n: place.ppn as usize,
            lanes,
            length,
            stride: 64 / gcd(64, job.size),
            begins: Vec::new(),
            blocks: Vec::new(),
            areas: Vec::new(),
            runs: Vec::new(),
        };
        Ok(if job.kind == Kind::Allreduce { shape.undivided() } else { shape.divided() })
    }

    /// Gives every lane one contiguous share of the vector.
    fn undivided(mut self) -> Self {
        self.areas = (0..self.lanes).map(|lane| even(self.length, self.lanes, lane)).collect();
        self.runs = vec![ArrangedRun { user: 0, arranged: 0, length: self.length }];
        self
    }

    /// Gives every lane a slice of the block of every node.
    fn divided(mut self) -> Self {
        self.begins =
            self.job.counts.iter().scan(0, |end, count| Some(std::mem::replace(end, *end + count))).collect();
        self.blocks =
            (0..self.nodes).map(|node| self.members(node).iter().map(|&rank| self.job.counts[rank]).sum()).collect();
        let mut end = 0;
        for lane in 0..self.lanes {
            let begin = end;
            for node in 0..self.nodes {
                let slice = even(self.blocks[node], self.lanes, lane);
                self.arrange(node, &slice, end);
                end += slice.len();
            }
            self.areas.push(begin..end);
        }
        self
    }

    /// Places a slice of a node's block in the arranged vector.
    fn arrange(&mut self, node: usize, slice: &Range<usize>, arranged: usize) {
        let mut begin = 0;
        for index in 0..self.members(node).len() {
            let rank = self.members(node)[index];
            let own = begin..begin + self.job.counts[rank];
            let (first, last) = (own.start.max(slice.start), own.end.min(slice.end));
            if first < last {
                let user = self.begins[rank] + (first - begin);
                self.add_run(ArrangedRun { user, arranged: arranged + (first - slice.start), length: last - first });
            }
            begin = own.end;
        }
    }

    fn add_run(&mut self, run: ArrangedRun) {
        match self.runs.last_mut() {
            Some(last) if last.user + last.length == run.user && last.arranged + last.length == run.arranged => {
                last.length += run.length;
            }
            _ => self.runs.push(run),
        }
    }

    /// The ranks of a node.
    pub(super) fn members(&self, node: usize) -> &'a [usize] {
        let regions = self.job.placement.regions();
        let first = regions.first(node as i64) as usize;
        &self.job.placement.order()[first..first + regions.size(node as i64) as usize]
    }

    /// The rank of a process of this node.
    pub(super) fn rank(&self, local: usize) -> usize {
        self.members(self.node)[local]
    }

    /// The number of elements of this node's ranks.
    pub(super) fn node_block(&self) -> usize {
        self.blocks.get(self.node).copied().unwrap_or(self.length)
    }

    /// The range of a process's block in the block of this node.
    pub(super) fn own(&self, local: usize) -> Range<usize> {
        let before = self.members(self.node)[..local].iter().map(|&rank| self.job.counts[rank]).sum();
        before..before + self.job.counts[self.rank(local)]
    }

    /// The range of a lane in the arranged vector.
    pub(super) fn area(&self, lane: usize) -> Range<usize> {
        self.areas[lane].clone()
    }

    /// A lane's slice of each block in the arranged vector, if the vector has this many blocks.
    pub(super) fn slices(&self, lane: usize, blocks: usize) -> Vec<Range<usize>> {
        let area = self.area(lane);
        if self.blocks.is_empty() {
            let slice = |block| even(area.len(), blocks, block);
            return (0..blocks).map(slice).map(|slice| area.start + slice.start..area.start + slice.end).collect();
        }
        let lengths = self.blocks.iter().map(|&length| even(length, self.lanes, lane).len());
        lengths.scan(area.start, |end, length| Some(std::mem::replace(end, *end + length)..*end)).collect()
    }

    /// The place of a range of the arranged vector in a vector of the user.
    pub(super) fn user(&self, spot: RegionOffset, arranged: &Range<usize>) -> Vec<VectorPiece> {
        let first = self.runs.partition_point(|run| run.arranged + run.length <= arranged.start);
        let touched = self.runs[first..].iter().take_while(|run| run.arranged < arranged.end);
        touched
            .map(|run| {
                let begin = run.arranged.max(arranged.start);
                let end = (run.arranged + run.length).min(arranged.end);
                VectorPiece { spot: spot.after(run.user + (begin - run.arranged)), length: end - begin }
            })
            .filter(|piece| piece.length > 0)
            .collect()
    }

    /// The place of a lane's slice of a block in a line, if it is there.
    pub(super) fn place(
        &self,
        line: LineLayout,
        lane: usize,
        block: usize,
        slice: &Range<usize>,
    ) -> Option<Vec<VectorPiece>> {
        match line {
            LineLayout::Arranged { spot, from } => Some(piece(spot, slice.start - from..slice.end - from)),
            LineLayout::User { spot } => Some(self.user(spot, slice)),
            LineLayout::Own { spot } if block == self.node => {
                Some(piece(spot, even(self.node_block(), self.lanes, lane)))
            }
            LineLayout::Own { .. } => None,
        }
    }

    /// All pieces of a line that belong to a lane.
    pub(super) fn lane(&self, line: LineLayout, lane: usize) -> Vec<VectorPiece> {
        match line {
            LineLayout::Own { spot } => piece(spot, even(self.node_block(), self.lanes, lane)),
            _ => self.place(line, lane, 0, &self.area(lane)).unwrap_or_default(),
        }
    }
}

/// A range of memory as a single piece, or no piece if it is empty.
pub(super) fn piece(spot: RegionOffset, range: Range<usize>) -> Vec<VectorPiece> {
    let whole = VectorPiece { spot: spot.after(range.start), length: range.len() };
    if range.is_empty() { Vec::new() } else { vec![whole] }
}

impl RegionOffset {
    /// The beginning of a region.
    pub(super) fn start(region: MemoryRegion) -> Self {
        RegionOffset { region, offset: 0 }
    }

    /// An offset further on.
    pub(super) fn after(self, distance: usize) -> Self {
        RegionOffset { offset: self.offset + distance, ..self }
    }
}

/// The length of the whole vector, if the call is valid.
fn validate(job: &ProgramSpec, rank: usize) -> Result<usize, BuildError> {
    let p = job.placement.p();
    let expected = match job.kind {
        Kind::Allreduce => 1,
        Kind::ReduceScatter | Kind::Allgather => p,
        kind => return Err(BuildError::Kind { kind }),
    };
    if rank >= p {
        return Err(BuildError::Rank { rank, p });
    }
    if job.size == 0 {
        return Err(BuildError::Size);
    }
    if job.counts.len() != expected {
        return Err(BuildError::Counts { kind: job.kind, expected, found: job.counts.len() });
    }
    let length = job.counts.iter().try_fold(0_usize, |sum, &count| sum.checked_add(count));
    let fits = |length: &usize| length.checked_mul(job.size).is_some_and(|bytes| bytes <= isize::MAX as usize);
    length.filter(fits).ok_or(BuildError::TooLarge { what: "the vector" })
}

//! The part between nodes for one lane: slots become addresses, and every message becomes contiguous.
//!
//! A message whose blocks are not adjacent is packed into working memory before it is sent, or unpacked after it has
//! arrived. Empty messages are omitted; both of their ends know that they are empty.

use std::collections::BTreeMap;
use std::ops::Range;

use roundel_spec::Kind;

use super::BuildError;
use super::shape::{LineLayout, NodeGeometry, VectorPiece, piece};
use super::step_list::StepList;
use crate::plan::part::{self, INPUT, Local, OUTPUT, RankPlan, Slot, Turn};
use crate::program::{MemoryRegion, MessageDirection, Op, ProgramMessage, RegionOffset};

/// The steps of a lane between nodes. Offsets count elements.
pub(super) struct Course {
    pub(super) ops: Vec<Op>,
    pub(super) messages: Vec<ProgramMessage>,
    /// The number of elements of working memory in use.
    pub(super) scratch: usize,
}

/// Where the lines of a lane lie.
#[derive(Clone, Copy)]
pub(super) struct LaneLines {
    pub(super) input: LineLayout,
    pub(super) output: LineLayout,
    /// The beginning of free working memory.
    pub(super) scratch: usize,
}

/// A message whose blocks are not contiguous.
struct Packed {
    /// The contiguous memory that it is sent from or received into.
    whole: Vec<VectorPiece>,
    /// The places of its blocks.
    pieces: Vec<VectorPiece>,
}

struct LaneBuilder<'a> {
    shape: &'a NodeGeometry<'a>,
    part: &'a RankPlan,
    lines: LaneLines,
    /// This lane's slice of each block.
    slices: Vec<Range<usize>>,
    /// The offsets of slots in working memory.
    slots: BTreeMap<Slot, usize>,
    /// The beginning of memory for packed messages.
    packs: usize,
    tape: StepList,
    messages: Vec<ProgramMessage>,
    scratch: usize,
}

/// Assigns addresses to the part of this node, for this process's lane.
pub(super) fn course(shape: &NodeGeometry, part: &RankPlan, lines: LaneLines) -> Result<Course, BuildError> {
    let (node, nodes) = (shape.node, shape.nodes);
    let &RankPlan { rank, p, kind, blocks, .. } = part;
    let divided = if kind == Kind::Allreduce { blocks > 0 } else { blocks == nodes };
    if (rank, p, kind) != (node, nodes, shape.job.kind) || !divided {
        return Err(BuildError::Part { node, nodes, rank, p, kind, blocks });
    }
    let slices = shape.slices(shape.local, blocks);
    let tape = StepList::default();
    let mut lane = LaneBuilder {
        shape,
        part,
        lines,
        slices,
        slots: BTreeMap::new(),
        packs: 0,
        tape,
        messages: Vec::new(),
        scratch: 0,
    };
    lane.allocate()?;
    for (round, turn) in part.turns.iter().enumerate() {
        lane.turn(round, turn)?;
    }
    Ok(Course { ops: lane.tape.ops, messages: lane.messages, scratch: lane.scratch })
}

impl LaneBuilder<'_> {
    /// Allocates memory for used slots that have no other place; neighbouring blocks of a line stay neighbours.
    fn allocate(&mut self) -> Result<(), BuildError> {
        for (round, turn) in self.part.turns.iter().enumerate() {
            for (slot, written) in slots(turn) {
                self.admit(round, slot, written)?;
            }
        }
        let mut end = self.lines.scratch;
        for (slot, offset) in &mut self.slots {
            *offset = end;
            end = add(end, self.slices[slot.block as usize].len())?;
        }
        (self.packs, self.scratch) = (end, end);
        Ok(())
    }

    /// Returns an error for a slot that does not exist; registers one of working memory.
    fn admit(&mut self, round: usize, slot: Slot, written: bool) -> Result<(), BuildError> {
        let what = if written { "writes" } else { "reads" };
        let refused = BuildError::Slot { node: self.shape.node, round, what, slot };
        let there = (slot.line as usize) < self.part.lines && (slot.block as usize) < self.part.blocks;
        if !there || (slot.line == INPUT && (written || self.fixed(slot).is_none())) {
            return Err(refused);
        }
        if self.fixed(slot).is_none() {
            self.slots.insert(slot, 0);
        }
        Ok(())
    }

    /// The place of a slot of the input or of the result outside working memory, if it has one.
    fn fixed(&self, slot: Slot) -> Option<Vec<VectorPiece>> {
        let line = match slot.line {
            INPUT => self.lines.input,
            OUTPUT => self.lines.output,
            _ => return None,
        };
        let block = slot.block as usize;
        self.shape.place(line, self.shape.local, block, &self.slices[block])
    }

    /// The place of a slot.
    fn pieces(&self, slot: Slot) -> Vec<VectorPiece> {
        let length = self.slices[slot.block as usize].len();
        let scratch = |&offset: &usize| piece(RegionOffset::start(MemoryRegion::Scratch), offset..offset + length);
        self.fixed(slot).unwrap_or_else(|| self.slots.get(&slot).map(scratch).unwrap_or_default())
    }

    /// Runs all messages of a round at the same time, then the local steps.
    fn turn(&mut self, round: usize, turn: &Turn) -> Result<(), BuildError> {
        let first = self.messages.len();
        let mut packs = self.packs;
        let mut unpack = StepList::default();
        for message in &turn.receives {
            if let Some(packed) = self.message(round, message, MessageDirection::In, &mut packs)? {
                unpack.copy(&packed.whole, &packed.pieces);
            }
        }
        for message in &turn.sends {
            if let Some(packed) = self.message(round, message, MessageDirection::Out, &mut packs)? {
                self.tape.copy(&packed.pieces, &packed.whole);
            }
        }
        self.scratch = self.scratch.max(packs);
        let count = self.messages.len() - first;
        if count > 0 {
            self.tape.ops.extend([Op::Post { first, count }, Op::Complete { first, count }]);
        }
        self.tape.ops.append(&mut unpack.ops);
        turn.locals.iter().for_each(|local| self.local(local));
        Ok(())
    }

    /// Adds a message if it is not empty; returns how to pack it if necessary.
    fn message(
        &mut self,
        round: usize,
        message: &part::SlotMessage,
        direction: MessageDirection,
        packs: &mut usize,
    ) -> Result<Option<Packed>, BuildError> {
        let peer = self.peer(round, message.peer)?;
        let pieces = merged(message.slots.iter().flat_map(|&slot| self.pieces(slot)));
        let elements = pieces.iter().try_fold(0, |sum, piece| add(sum, piece.length))?;
        let limit = i32::MAX as usize;
        if elements > limit {
            return Err(BuildError::TooLong { peer, elements, limit });
        }
        let Some(&first) = pieces.first() else { return Ok(None) };
        if pieces.len() == 1 {
            self.messages.push(ProgramMessage { direction, peer, spot: first.spot, elements });
            return Ok(None);
        }
        let spot = RegionOffset { region: MemoryRegion::Scratch, offset: *packs };
        *packs = add(*packs, elements)?;
        self.messages.push(ProgramMessage { direction, peer, spot, elements });
        Ok(Some(Packed { whole: piece(spot, 0..elements), pieces }))
    }

    /// The rank of the same lane on another node.
    fn peer(&self, round: usize, peer: usize) -> Result<usize, BuildError> {
        let (node, nodes) = (self.shape.node, self.shape.nodes);
        if peer >= nodes || peer == node {
            return Err(BuildError::Peer { node, round, peer, nodes });
        }
        Ok(self.shape.members(peer)[self.shape.local])
    }

    fn local(&mut self, local: &Local) {
        match *local {
            Local::Copy { from, to } => self.tape.copy(&self.pieces(from), &self.pieces(to)),
            Local::Combine { left, right, into } => {
                self.tape.combine(&self.pieces(left), &self.pieces(right), &self.pieces(into));
            }
        }
    }
}

/// The slots of a round, and whether they are written.
fn slots(turn: &Turn) -> impl Iterator<Item = (Slot, bool)> + '_ {
    let of = |messages: &'_ [part::SlotMessage], written| {
        messages.iter().flat_map(|message| message.slots.clone()).map(move |slot| (slot, written)).collect::<Vec<_>>()
    };
    let locals = turn.locals.iter().flat_map(|local| match *local {
        Local::Copy { from, to } => vec![(from, false), (to, true)],
        Local::Combine { left, right, into } => vec![(left, false), (right, false), (into, true)],
    });
    of(&turn.sends, false).into_iter().chain(of(&turn.receives, true)).chain(locals)
}

/// Merges adjacent pieces.
fn merged(pieces: impl Iterator<Item = VectorPiece>) -> Vec<VectorPiece> {
    let mut all: Vec<VectorPiece> = Vec::new();
    for piece in pieces {
        match all.last_mut() {
            Some(last) if last.spot.after(last.length) == piece.spot => last.length += piece.length,
            _ => all.push(piece),
        }
    }
    all
}

fn add(a: usize, b: usize) -> Result<usize, BuildError> {
    a.checked_add(b).ok_or(BuildError::TooLarge { what: "the working memory" })
}

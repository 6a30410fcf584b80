//! The part between nodes as one lane runs it: slots become addresses, and every message is in one piece.
//!
//! A message whose blocks do not lie side by side is packed into working memory before it leaves, or unpacked after it
//! has arrived. Empty messages are left out; both of their ends know that they are empty.

use std::collections::BTreeMap;
use std::ops::Range;

use roundel_spec::Kind;

use super::BuildError;
use super::shape::{LineLayout, NodeGeometry, VectorPiece, piece};
use super::step_list::StepList;
use crate::plan::part::{self, INPUT, Local, OUTPUT, RankPlan, Slot, Turn};
use crate::program::{MemoryRegion, MessageDirection, Op, ProgramMessage, RegionOffset};

/// What a lane does between nodes. Spots count elements.
pub(super) struct Course {
    pub(super) ops: Vec<Op>,
    pub(super) messages: Vec<ProgramMessage>,
    /// How many elements of working memory are in use.
    pub(super) scratch: usize,
}

/// Where a lane finds its lines.
#[derive(Clone, Copy)]
pub(super) struct LaneLines {
    pub(super) input: LineLayout,
    pub(super) output: LineLayout,
    /// Where working memory is free.
    pub(super) scratch: usize,
}

/// A message that is not in one piece where it belongs.
struct Packed {
    /// Where it travels from or to.
    whole: Vec<VectorPiece>,
    /// Where it belongs.
    pieces: Vec<VectorPiece>,
}

struct LaneBuilder<'a> {
    shape: &'a NodeGeometry<'a>,
    part: &'a RankPlan,
    lines: LaneLines,
    /// What this lane has of each block.
    slices: Vec<Range<usize>>,
    /// Where slots of working memory lie.
    slots: BTreeMap<Slot, usize>,
    /// Where packed messages go.
    packs: usize,
    tape: StepList,
    messages: Vec<ProgramMessage>,
    scratch: usize,
}

/// Gives the part of this node addresses, for the lane that this process is.
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
    /// Finds room for the slots that are in use and lie nowhere else; neighbouring blocks of a line stay neighbours.
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

    /// Refuses a slot that is not there; notes one of working memory.
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

    /// Where a slot of the input or of the result lies, if it has a place outside of working memory.
    fn fixed(&self, slot: Slot) -> Option<Vec<VectorPiece>> {
        let line = match slot.line {
            INPUT => self.lines.input,
            OUTPUT => self.lines.output,
            _ => return None,
        };
        let block = slot.block as usize;
        self.shape.place(line, self.shape.local, block, &self.slices[block])
    }

    /// Where a slot lies.
    fn pieces(&self, slot: Slot) -> Vec<VectorPiece> {
        let length = self.slices[slot.block as usize].len();
        let scratch = |&offset: &usize| piece(RegionOffset::start(MemoryRegion::Scratch), offset..offset + length);
        self.fixed(slot).unwrap_or_else(|| self.slots.get(&slot).map(scratch).unwrap_or_default())
    }

    /// All messages of a round at the same time, then what the rank does by itself.
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

    /// Adds a message, if it is not empty; says how it is packed, if it must be.
    fn message(
        &mut self,
        round: usize,
        message: &part::SlotMessage,
        way: MessageDirection,
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
            self.messages.push(ProgramMessage { way, peer, spot: first.spot, elements });
            return Ok(None);
        }
        let spot = RegionOffset { region: MemoryRegion::Scratch, offset: *packs };
        *packs = add(*packs, elements)?;
        self.messages.push(ProgramMessage { way, peer, spot, elements });
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

/// Pieces that lie side by side become one.
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

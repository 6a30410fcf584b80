//! A plan as a program: each step becomes the operations that have the same effect.

use crate::mpi::lowering::areas::{Area, AreaOffset};
use crate::mpi::lowering::plan::{
    Combination, Exchange, ExtraMessage, MessageForm, MessagePlan, MovedPiece, PlanStep, PlannedMessage,
};
use crate::program::{
    CombineStep, CopyStep, MemoryRegion, MessageDirection, Op, Program, ProgramMessage, RegionOffset,
};
use std::ops::Range;

/// A plan that becomes a program.
pub(super) struct Lowered {
    size: usize,
    program: Program,
    /// Pieces of one round that overlap.
    overlap: Option<String>,
}

impl Lowered {
    pub(super) fn new(size: usize, plan: &MessagePlan) -> Self {
        let scratch = plan.scratch.next_multiple_of(size);
        Lowered { size, program: Program { scratch, ..Program::default() }, overlap: None }
    }

    pub(super) fn program(mut self, plan: &MessagePlan, ppn: usize) -> Result<Program, String> {
        for step in &plan.steps {
            self.step(plan, step);
        }
        self.program.signals = vec![0; ppn];
        self.overlap.map_or(Ok(self.program), Err)
    }

    fn step(&mut self, plan: &MessagePlan, step: &PlanStep) {
        let whole = |&message: &PlannedMessage| ExtraMessage { message, form: MessageForm::Whole };
        match step {
            PlanStep::Exchange(Exchange { out, into }) => self.round(plan, &[whole(out)], &[whole(into)]),
            PlanStep::Send(message) => self.round(plan, &[whole(message)], &[]),
            PlanStep::Receive(message) => self.round(plan, &[], &[whole(message)]),
            PlanStep::Round { departures, arrivals } => {
                self.round(plan, &plan.departures[departures.clone()], &plan.arrivals[arrivals.clone()]);
            }
            PlanStep::Move(piece) => self.copy(piece),
            PlanStep::Copy { pieces } | PlanStep::Arrived { pieces } => {
                plan.pieces[pieces.clone()].iter().for_each(|piece| self.copy(piece));
            }
            PlanStep::CombineOne(combination) => self.combine(combination),
            PlanStep::Combine { combinations } => {
                plan.combinations[combinations.clone()].iter().for_each(|combination| self.combine(combination));
            }
        }
    }

    fn copy(&mut self, &MovedPiece { from, to, bytes }: &MovedPiece) {
        let elements = bytes / self.size;
        self.program.ops.push(Op::Copy(CopyStep { from: region(from), to: region(to), elements }));
    }

    fn combine(&mut self, &Combination { left, right, into, elements }: &Combination) {
        let (left, right, into) = (region(left), region(right), region(into));
        self.program.ops.push(Op::Combine(CombineStep { left, right, into, elements }));
    }

    fn round(&mut self, plan: &MessagePlan, departures: &[ExtraMessage], arrivals: &[ExtraMessage]) {
        self.note_overlaps(plan, departures, arrivals);
        let out: Vec<ProgramMessage> = departures.iter().map(|parcel| self.packed(plan, parcel)).collect();
        let into: Vec<(ProgramMessage, Vec<CopyStep>)> =
            arrivals.iter().map(|parcel| self.unpacked(plan, parcel)).collect();
        let first = self.program.messages.len();
        let (messages, unpacks): (Vec<_>, Vec<_>) = into.into_iter().unzip();
        self.program.messages.extend(messages.into_iter().chain(out));
        let count = self.program.messages.len() - first;
        self.program.ops.extend([Op::Post { first, count }, Op::Complete { first, count }]);
        self.program.ops.extend(unpacks.into_iter().flatten().map(Op::Copy));
    }

    /// Notes what arrives in a round and overlaps what leaves, or something else that arrives.
    fn note_overlaps(&mut self, plan: &MessagePlan, departures: &[ExtraMessage], arrivals: &[ExtraMessage]) {
        let ends = |parcels: &[ExtraMessage]| -> Vec<(RegionOffset, usize)> {
            parcels.iter().flat_map(|parcel| self.pieces(plan, parcel)).collect()
        };
        let (out, into) = (ends(departures), ends(arrivals));
        for (i, &(at, elements)) in into.iter().enumerate() {
            for &(other, others) in out.iter().chain(&into[i + 1..]) {
                let apart = at.region != other.region
                    || at.offset + elements * self.size <= other.offset
                    || other.offset + others * self.size <= at.offset;
                if !apart && elements * others > 0 {
                    self.overlap = Some(format!("pieces of one round overlap at {at} and {other}"));
                }
            }
        }
    }

    /// The pieces of a message.
    fn pieces(&self, plan: &MessagePlan, parcel: &ExtraMessage) -> Vec<(RegionOffset, usize)> {
        let PlannedMessage { spot, elements, .. } = parcel.message;
        let listed = |pieces: &Range<usize>, at: &dyn Fn(usize, usize) -> RegionOffset| {
            let piece = |i: usize| (at(i, plan.displacements[i] as usize), plan.lengths[i] as usize);
            pieces.clone().map(piece).collect()
        };
        match &parcel.form {
            MessageForm::Whole => vec![(region(spot), elements)],
            MessageForm::Within(pieces) => {
                listed(pieces, &|_, offset| region(AreaOffset { offset: spot.offset + offset, ..spot }))
            }
            MessageForm::Across(pieces) => {
                listed(pieces, &|i, offset| region(AreaOffset { area: plan.areas[i], offset }))
            }
        }
    }

    /// A message to send, packed if it is in pieces.
    fn packed(&mut self, plan: &MessagePlan, parcel: &ExtraMessage) -> ProgramMessage {
        let (message, copies) = self.staged(plan, parcel, MessageDirection::Out);
        let packs = copies.into_iter().map(|(piece, place, elements)| CopyStep { from: piece, to: place, elements });
        self.program.ops.extend(packs.map(Op::Copy));
        message
    }

    /// A message to receive, and the copies after it.
    fn unpacked(&mut self, plan: &MessagePlan, parcel: &ExtraMessage) -> (ProgramMessage, Vec<CopyStep>) {
        let (message, copies) = self.staged(plan, parcel, MessageDirection::In);
        let unpack = |(piece, place, elements)| CopyStep { from: place, to: piece, elements };
        (message, copies.into_iter().map(unpack).collect())
    }

    /// A message, in memory of its own if it is in pieces; then each piece, its place there, and its length.
    #[allow(clippy::type_complexity, reason = "two callers take it apart at once")]
    fn staged(
        &mut self,
        plan: &MessagePlan,
        parcel: &ExtraMessage,
        direction: MessageDirection,
    ) -> (ProgramMessage, Vec<(RegionOffset, RegionOffset, usize)>) {
        let PlannedMessage { spot, elements, peer } = parcel.message;
        let peer = peer as usize;
        if matches!(parcel.form, MessageForm::Whole) {
            return (ProgramMessage { direction, peer, spot: region(spot), elements }, Vec::new());
        }
        let begin = RegionOffset { region: MemoryRegion::Scratch, offset: self.program.scratch };
        let (mut copies, mut at) = (Vec::new(), begin);
        for (piece, elements) in self.pieces(plan, parcel) {
            copies.push((piece, at, elements));
            at.offset += elements * self.size;
        }
        self.program.scratch = at.offset;
        let elements = (at.offset - begin.offset) / self.size;
        (ProgramMessage { direction, peer, spot: begin, elements }, copies)
    }
}

fn region(spot: AreaOffset) -> RegionOffset {
    let region = match spot.area {
        Area::Send => MemoryRegion::Input,
        Area::Recv => MemoryRegion::Output,
        Area::Scratch => MemoryRegion::Scratch,
    };
    RegionOffset { region, offset: spot.offset }
}

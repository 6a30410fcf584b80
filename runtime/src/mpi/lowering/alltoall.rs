//! Plans of alltoalls with blocks of the same length.
//!
//! Blocks are rotated only if a layout requires it. A block of this rank is read from the send buffer, and a block
//! for this rank goes to its final position in the receive buffer. Blocks in transit stay where their message
//! arrived, in a part of scratch that is reused when all of its blocks have left. So a block is copied when it is
//! packed, and once more if it arrives for this rank among others; a contiguous message is not copied at all.

use crate::mpi::lowering::areas::{Area, AreaOffset, Extents};
use crate::mpi::lowering::build::EndsTheJob;
use crate::mpi::lowering::limit::LIMIT;
use crate::mpi::lowering::plan::{
    ExtraMessage, MessageForm, MessagePlan, MovedPiece, PlanStep, PlannedMessage, RoundStart,
};
use crate::mpi::lowering::space::Space;
use crate::policy::{Policy, Wire};
use crate::rank_rounds::RankRounds;
use crate::transport::RankPlacement;
use roundel_spec::contract::{ends, pair};
use roundel_spec::sink::infallible;
use roundel_spec::{Blocks, Sink, Site};
use std::collections::HashMap;
use std::convert::Infallible;
use std::ffi::c_int;
use std::mem::forget;
use std::ops::Range;

/// Fills an empty plan.
pub(crate) fn draw(
    plan: &mut MessagePlan,
    rounds: &RankRounds,
    here: RankPlacement<'_>,
    extents: Extents,
    policy: Policy,
    rotation: Option<usize>,
) {
    let guard = EndsTheJob { rank: here.rank };
    let count = extents.recv / here.p();
    let sizes = Sizes { rank: here.rank, p: here.p(), count, bytes: count * extents.size };
    let mut builder = AlltoallBuilder::new(plan, sizes, policy, rotation.is_some());
    builder.bring(extents.send.is_some(), rotation);
    infallible(rounds.replay(&mut builder));
    builder.finish();
    plan.numbers.clone_from(&rounds.numbers);
    forget(guard);
}

/// The sizes of a call.
#[derive(Clone, Copy)]
struct Sizes {
    rank: usize,
    p: usize,
    /// The number of elements of a block, and its bytes.
    count: usize,
    bytes: usize,
}

/// A block that this rank holds.
#[derive(Clone, Copy)]
struct HeldBlock {
    spot: AreaOffset,
    /// The part of scratch in which it lies, if any.
    part: Option<usize>,
}

/// A part of scratch in which blocks lie.
struct ScratchPart {
    range: Range<usize>,
    /// The number of blocks that are still needed.
    blocks: usize,
}

/// A contiguous piece of a message.
#[derive(Clone, Copy)]
struct Tract {
    spot: AreaOffset,
    bytes: usize,
}

struct AlltoallBuilder<'a> {
    plan: &'a mut MessagePlan,
    sizes: Sizes,
    policy: Policy,
    /// Whether blocks for this rank stay in scratch until the end of the last round.
    rotated: bool,
    space: Space,
    parts: Vec<ScratchPart>,
    /// The positions of the blocks that this rank holds.
    held: HashMap<usize, HeldBlock>,
    round: RoundStart,
    /// Blocks that arrive in this round, and are held after it.
    arriving: Vec<(usize, HeldBlock)>,
    /// Parts that blocks of the round leave, and scratch that only this round needs.
    left: Vec<usize>,
    spent: Vec<Range<usize>>,
}

impl<'a> AlltoallBuilder<'a> {
    fn new(plan: &'a mut MessagePlan, sizes: Sizes, policy: Policy, rotated: bool) -> Self {
        let round = plan.begin_round();
        AlltoallBuilder {
            plan,
            sizes,
            policy,
            rotated,
            space: Space::default(),
            parts: Vec::new(),
            held: HashMap::new(),
            round,
            arriving: Vec::new(),
            left: Vec::new(),
            spent: Vec::new(),
        }
    }

    /// Provides this rank's own blocks before the first round. They are copied to scratch if the layout requires it,
    /// or if arriving blocks would overwrite them.
    fn bring(&mut self, has_send: bool, rotation: Option<usize>) {
        let Sizes { rank, p, bytes, .. } = self.sizes;
        let given = if has_send { Area::Send } else { Area::Recv };
        let aside = (!has_send || self.rotated).then(|| self.part(p, if self.rotated { p } else { p - 1 }));
        let by = rotation.unwrap_or(0);
        for to in 0..p {
            let held = match aside {
                Some((begin, part)) => {
                    let place = if to >= by { to - by } else { to + p - by };
                    HeldBlock { spot: behind(begin, place * bytes), part: Some(part) }
                }
                None => HeldBlock { spot: AreaOffset { area: given, offset: to * bytes }, part: None },
            };
            self.held.insert(pair(rank, to, p), held);
        }
        if let Some((begin, _)) = aside {
            let front = (p - by) * bytes;
            self.copy(AreaOffset { area: given, offset: by * bytes }, begin, front);
            self.copy(AreaOffset { area: given, offset: 0 }, behind(begin, front), by * bytes);
        }
        if !self.rotated {
            let own = AreaOffset { area: Area::Recv, offset: rank * bytes };
            if has_send {
                self.copy(AreaOffset { area: given, offset: rank * bytes }, own, bytes);
            }
            self.held.insert(pair(rank, rank, p), HeldBlock { spot: own, part: None });
        }
    }

    /// Adds a copy before the first round.
    fn copy(&mut self, from: AreaOffset, to: AreaOffset, bytes: usize) {
        if bytes > 0 {
            self.plan.steps.push(PlanStep::Move(MovedPiece { from, to, bytes }));
        }
    }

    /// A part of scratch for `blocks` blocks, of which `needed` are still needed after the round.
    fn part(&mut self, blocks: usize, needed: usize) -> (AreaOffset, usize) {
        let range = self.space.take(blocks * self.sizes.bytes);
        let begin = AreaOffset { area: Area::Scratch, offset: range.start };
        self.parts.push(ScratchPart { range, blocks: needed });
        (begin, self.parts.len() - 1)
    }

    /// The positions of the blocks of a message to send.
    fn departure(&mut self, blocks: &impl Blocks) -> (AreaOffset, MessageForm) {
        let mut tracts = Vec::new();
        for block in blocks.each() {
            let Some(held) = self.held.remove(&block) else {
                panic!("the schedule sends a block that this rank does not have")
            };
            self.left.extend(held.part);
            self.sizes.append(&mut tracts, held.spot);
        }
        match self.choose(&tracts) {
            Wire::Contiguous => (first(&tracts), MessageForm::Whole),
            Wire::Datatype => (first(&tracts), self.across(&tracts)),
            Wire::Packed => {
                let range = self.space.take(total(&tracts));
                let begin = AreaOffset { area: Area::Scratch, offset: range.start };
                self.spent.push(range);
                let mut to = begin;
                for Tract { spot: from, bytes } in tracts {
                    self.plan.packs.push(MovedPiece { from, to, bytes });
                    to.offset += bytes;
                }
                (begin, MessageForm::Whole)
            }
        }
    }

    /// The positions of the blocks of a message to receive: in the receive buffer if they are for this rank,
    /// otherwise in scratch. If the message must be packed, all of them go to scratch first.
    fn arrival(&mut self, blocks: &impl Blocks) -> (AreaOffset, MessageForm) {
        let (transit, all) = (blocks.each().filter(|&b| self.home(b).is_none()).count(), blocks.count());
        let (begin, part) = self.part(transit, transit);
        let (mut tracts, mut next) = (Vec::new(), begin);
        for block in blocks.each() {
            let held = self.home(block).unwrap_or_else(|| self.sizes.next(&mut next, part));
            self.arriving.push((block, held));
            self.sizes.append(&mut tracts, held.spot);
        }
        match self.choose(&tracts) {
            Wire::Contiguous => (first(&tracts), MessageForm::Whole),
            Wire::Datatype => (first(&tracts), self.across(&tracts)),
            Wire::Packed => {
                let landed = self.arriving.len() - all;
                self.arriving.truncate(landed);
                self.space.give(self.parts[part].range.clone());
                self.parts.truncate(part);
                self.unpacked(blocks, all, transit)
            }
        }
    }

    /// Scratch for all blocks of a message. Those for this rank are then copied to the receive buffer.
    fn unpacked(&mut self, blocks: &impl Blocks, all: usize, transit: usize) -> (AreaOffset, MessageForm) {
        let (begin, part) = self.part(all, transit);
        let mut next = begin;
        for block in blocks.each() {
            let landed = self.sizes.next(&mut next, part);
            let home = self.home(block);
            if let Some(home) = home {
                let piece = MovedPiece { from: landed.spot, to: home.spot, bytes: self.sizes.bytes };
                append_piece(&mut self.plan.unpacks, piece);
            }
            self.arriving.push((block, home.unwrap_or(landed)));
        }
        (begin, MessageForm::Whole)
    }

    /// The final position of a block, if it is for this rank and may go there at once.
    fn home(&self, block: usize) -> Option<HeldBlock> {
        let Sizes { rank, p, bytes, .. } = self.sizes;
        let (from, to) = ends(block, p);
        assert!(from < p, "the schedule names a block outside the buffer");
        let spot = AreaOffset { area: Area::Recv, offset: from * bytes };
        (to == rank && !self.rotated).then_some(HeldBlock { spot, part: None })
    }

    fn choose(&self, tracts: &[Tract]) -> Wire {
        self.policy.choose(tracts.len(), total(tracts))
    }

    /// The pieces of a message, to build a datatype.
    fn across(&mut self, tracts: &[Tract]) -> MessageForm {
        let plan = &mut *self.plan;
        let (begin, size) = (plan.lengths.len(), self.sizes.size());
        plan.areas.resize(begin, Area::Scratch);
        for Tract { spot, bytes } in tracts {
            plan.push_run(spot.offset, bytes / size, size, LIMIT);
            plan.areas.resize(plan.lengths.len(), spot.area);
        }
        MessageForm::Across(begin..plan.lengths.len())
    }

    /// A message to or from a peer.
    fn message(&mut self, peer: usize, blocks: usize, (spot, form): (AreaOffset, MessageForm)) -> ExtraMessage {
        assert!(peer < self.sizes.p, "the schedule names a rank outside the communicator");
        let (elements, size) = (blocks * self.sizes.count, self.sizes.size());
        let form = if let MessageForm::Whole = form { self.plan.cut(elements, size, LIMIT) } else { form };
        ExtraMessage { message: PlannedMessage { spot, elements, peer: peer as c_int }, form }
    }

    /// Ends the round: holds the blocks that arrived, and frees scratch that is no longer needed.
    fn close(&mut self) {
        self.plan.end_round(self.round);
        self.round = self.plan.begin_round();
        self.held.extend(self.arriving.drain(..));
        for part in self.left.drain(..) {
            let part = &mut self.parts[part];
            // An unchecked schedule may receive a block twice, which then leaves twice.
            part.blocks = part.blocks.saturating_sub(1);
        }
        self.spent.drain(..).for_each(|range| self.space.give(range));
        for part in self.parts.iter_mut().filter(|part| part.blocks == 0) {
            self.space.give(std::mem::take(&mut part.range));
        }
    }

    /// Ends the call: copies blocks for this rank to their final positions if they are elsewhere.
    fn finish(self) {
        let Sizes { rank, p, bytes, .. } = self.sizes;
        for from in (0..p).filter(|_| self.rotated && bytes > 0) {
            if let Some(held) = self.held.get(&pair(from, rank, p)) {
                let to = AreaOffset { area: Area::Recv, offset: from * bytes };
                append_piece(&mut self.plan.unpacks, MovedPiece { from: held.spot, to, bytes });
            }
        }
        self.plan.flush_unpacks();
        self.plan.scratch = self.space.end();
    }
}

impl Sizes {
    /// The number of bytes of an element.
    fn size(&self) -> usize {
        self.bytes.checked_div(self.count).unwrap_or(0).max(1)
    }

    /// Adds a block to the pieces of a message. Extends the last piece if the block directly follows it.
    fn append(&self, tracts: &mut Vec<Tract>, spot: AreaOffset) {
        match tracts.last_mut() {
            _ if self.bytes == 0 => {}
            Some(last) if touch(behind(last.spot, last.bytes), spot) => last.bytes += self.bytes,
            _ => tracts.push(Tract { spot, bytes: self.bytes }),
        }
    }

    /// The next block of a part of scratch.
    fn next(&self, at: &mut AreaOffset, part: usize) -> HeldBlock {
        let held = HeldBlock { spot: *at, part: Some(part) };
        at.offset += self.bytes;
        held
    }
}

/// Adds a copy. Extends the last one if the copy continues it.
fn append_piece(pieces: &mut Vec<MovedPiece>, piece: MovedPiece) {
    match pieces.last_mut() {
        _ if piece.bytes == 0 => {}
        Some(last)
            if touch(behind(last.from, last.bytes), piece.from) && touch(behind(last.to, last.bytes), piece.to) =>
        {
            last.bytes += piece.bytes;
        }
        _ => pieces.push(piece),
    }
}

fn touch(end: AreaOffset, begin: AreaOffset) -> bool {
    end.area == begin.area && end.offset == begin.offset
}

fn behind(spot: AreaOffset, bytes: usize) -> AreaOffset {
    AreaOffset { area: spot.area, offset: spot.offset + bytes }
}

fn total(tracts: &[Tract]) -> usize {
    tracts.iter().map(|tract| tract.bytes).sum()
}

/// The beginning of a message; an empty one may begin anywhere.
fn first(tracts: &[Tract]) -> AreaOffset {
    tracts.first().map_or(AreaOffset { area: Area::Scratch, offset: 0 }, |tract| tract.spot)
}

impl Sink for AlltoallBuilder<'_> {
    type Error = Infallible;

    fn begin_round(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn send<B: Blocks>(&mut self, _: Site, to: usize, blocks: B) -> Result<(), Infallible> {
        let where_it_lies = self.departure(&blocks);
        let parcel = self.message(to, blocks.count(), where_it_lies);
        self.plan.departures.push(parcel);
        Ok(())
    }

    fn recv<B: Blocks>(&mut self, _: Site, from: usize, blocks: B) -> Result<(), Infallible> {
        let where_it_lands = self.arrival(&blocks);
        let parcel = self.message(from, blocks.count(), where_it_lands);
        self.plan.arrivals.push(parcel);
        Ok(())
    }

    fn end_round(&mut self) -> Result<(), Infallible> {
        self.close();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{ModifiedBruck, PairwiseAlltoall, SpreadOut};
    use roundel_spec::{Collective, Placement};

    const COUNT: usize = 3;
    const SIZE: usize = 8;

    fn plan<K: Collective>(
        collective: &K,
        p: usize,
        rank: usize,
        policy: Policy,
        rotation: Option<usize>,
    ) -> MessagePlan {
        let (mut plan, placement) = (MessagePlan::default(), Placement::consecutive(p, p));
        let extents = Extents { send: Some(p * COUNT), recv: p * COUNT, size: SIZE };
        draw(
            &mut plan,
            &RankRounds::of(collective, RankPlacement { placement: &placement, rank }),
            RankPlacement { placement: &placement, rank },
            extents,
            policy,
            rotation,
        );
        plan
    }

    /// The number of elements that a plan sends.
    fn sent(plan: &MessagePlan) -> usize {
        let exchanged = plan.steps.iter().map(|step| match step {
            PlanStep::Exchange(exchange) => exchange.out.elements,
            PlanStep::Send(message) => message.elements,
            _ => 0,
        });
        exchanged.chain(plan.departures.iter().map(|parcel| parcel.message.elements)).sum()
    }

    fn moves(plan: &MessagePlan) -> usize {
        plan.steps.iter().filter(|step| matches!(step, PlanStep::Move(_))).count()
    }

    #[test]
    fn blocks_that_travel_alone_are_not_copied() {
        for p in 1..10 {
            let plans = [
                plan(&SpreadOut, p, p / 2, Policy::PACKED, None),
                plan(&PairwiseAlltoall, p, p / 2, Policy::PACKED, None),
                plan(&ModifiedBruck { radix: p as i64 + 1 }, p, p / 2, Policy::PACKED, None),
            ];
            for plan in plans {
                assert_eq!((plan.pieces.len(), plan.scratch, moves(&plan)), (0, 0, 1), "p = {p}");
                assert_eq!(sent(&plan), (p - 1) * COUNT);
            }
        }
    }

    #[test]
    fn a_block_is_copied_once_for_each_message_and_once_at_the_end() {
        for (p, radix) in (1..40).flat_map(|p| [(p, 2), (p, 3), (p, 5)]) {
            let plan = plan(&ModifiedBruck { radix }, p, p / 3, Policy::PACKED, None);
            let copied: usize = plan.pieces.iter().map(|piece| piece.bytes).sum();
            assert!(copied <= sent(&plan) * SIZE + (p - 1) * COUNT * SIZE, "p = {p}, radix {radix}");
        }
    }

    #[test]
    fn with_datatypes_nothing_is_copied_but_the_own_block() {
        for (p, radix) in (1..20).flat_map(|p| [(p, 2), (p, 4)]) {
            let plan = plan(&ModifiedBruck { radix }, p, p - 1, Policy::DATATYPE, None);
            assert_eq!((plan.pieces.len(), moves(&plan)), (0, 1), "p = {p}, radix {radix}");
        }
    }

    #[test]
    fn every_copy_and_message_lies_inside_its_area() {
        for (p, policy) in (1..20).flat_map(|p| [(p, Policy::PACKED), (p, Policy::DATATYPE)]) {
            for rotation in [None, Some(p / 2)] {
                let plan = plan(&ModifiedBruck { radix: 2 }, p, p / 2, policy, rotation);
                let inside = |spot: AreaOffset, bytes: usize| {
                    let end = if spot.area == Area::Scratch { plan.scratch } else { p * COUNT * SIZE };
                    spot.offset + bytes <= end
                };
                assert!(
                    plan.pieces.iter().all(|piece| inside(piece.from, piece.bytes) && inside(piece.to, piece.bytes))
                );
                let tracts = plan.areas.iter().zip(&plan.displacements).zip(&plan.lengths);
                for ((&area, &offset), &elements) in tracts {
                    assert!(
                        inside(AreaOffset { area, offset: offset as usize }, elements as usize * SIZE),
                        "p = {p}"
                    );
                }
            }
        }
    }

    #[test]
    fn scratch_is_used_again() {
        // Less than if every message had its own scratch.
        let (p, radix) = (64, 8);
        let plan = plan(&ModifiedBruck { radix }, p, 5, Policy::PACKED, None);
        assert!(plan.scratch < sent(&plan) * SIZE, "{} of {}", plan.scratch, sent(&plan) * SIZE);
    }
}

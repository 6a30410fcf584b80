//! One rank's part of a call: the copies and messages, step by step.
//!
//! Calls repeat. The first call of a shape turns a schedule's rounds into steps, and later calls replay them: peers,
//! addresses and lengths are then loads, not arithmetic. Positions in a plan are relative to the call's areas, so it
//! serves any buffers; its [`PlanKey`] identifies the calls that it serves.

use crate::call::geometry::{Blocking, Recognised};
use crate::mpi::lowering::areas::{Area, AreaOffset, Extents};
use crate::transport::Options;
use ::mpi::ffi;
use roundel_spec::{Arguments, Collective};
use std::any::TypeId;
use std::ffi::c_int;
use std::ops::Range;

/// One message: `elements` contiguous elements at a position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedMessage {
    pub(crate) spot: AreaOffset,
    pub(crate) elements: usize,
    pub(crate) peer: c_int,
}

/// A plan under construction, and working memory for lengths and offsets of blocks.
pub(crate) struct Draft<'a> {
    pub(crate) plan: &'a mut MessagePlan,
    pub(crate) counts: &'a mut Vec<usize>,
    pub(crate) offsets: &'a mut Vec<usize>,
}

/// A round of one message each way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    pub(crate) out: PlannedMessage,
    pub(crate) into: PlannedMessage,
}

/// A message of a round with several messages in one direction, or in pieces.
#[derive(Clone, Debug)]
pub(crate) struct ExtraMessage {
    pub(crate) message: PlannedMessage,
    pub(crate) form: MessageForm,
}

/// The memory layout of a message.
#[derive(Clone, Debug)]
pub(crate) enum MessageForm {
    /// In one piece.
    Whole,
    /// In pieces relative to its position, listed in this range of the plan's lengths and displacements.
    Within(Range<usize>),
    /// In pieces of several areas, listed in this range of the plan's lengths, displacements and areas.
    Across(Range<usize>),
}

/// A piece of memory to copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MovedPiece {
    pub(crate) from: AreaOffset,
    pub(crate) to: AreaOffset,
    pub(crate) bytes: usize,
}

/// One step of a rank. The discriminant is explicit, not hidden in a niche, so that one instruction reads it.
#[derive(Clone, Debug)]
#[repr(u8)]
pub(crate) enum PlanStep {
    /// One message each way, at the same time.
    Exchange(Exchange),
    /// One message to another rank.
    Send(PlannedMessage),
    /// One message from another rank.
    Receive(PlannedMessage),
    /// Any number of messages at the same time.
    Round { departures: Range<usize>, arrivals: Range<usize> },
    /// A copy.
    Move(MovedPiece),
    /// Several copies.
    Copy { pieces: Range<usize> },
    /// Copies of received data; skipped if a message failed.
    Arrived { pieces: Range<usize> },
    /// One operation on received data; skipped if a message failed.
    CombineOne(Combination),
    /// Several of them; skipped if a message failed.
    Combine { combinations: Range<usize> },
}

/// Elements to combine, one by one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Combination {
    pub(crate) left: AreaOffset,
    pub(crate) right: AreaOffset,
    pub(crate) into: AreaOffset,
    pub(crate) elements: usize,
}

/// Where the messages of a round begin in the plan.
#[derive(Clone, Copy, Default)]
pub(crate) struct RoundStart {
    departures: usize,
    arrivals: usize,
}

/// The steps of a call, and the lists that they refer to.
#[derive(Debug, Default)]
pub(crate) struct MessagePlan {
    pub(crate) steps: Vec<PlanStep>,
    pub(crate) departures: Vec<ExtraMessage>,
    pub(crate) arrivals: Vec<ExtraMessage>,
    pub(crate) pieces: Vec<MovedPiece>,
    pub(crate) combinations: Vec<Combination>,
    /// Pieces of scattered messages: their elements, and their offsets in bytes from the beginning of the area.
    pub(crate) lengths: Vec<c_int>,
    pub(crate) displacements: Vec<ffi::MPI_Aint>,
    /// The areas of the pieces, if a message spans several.
    pub(crate) areas: Vec<Area>,
    /// The numbers in `roundel show` of the rounds in which this rank has messages; `None` unless messages are
    /// recorded.
    pub(crate) numbers: Option<Vec<usize>>,
    /// The bytes of scratch that the steps use.
    pub(crate) scratch: usize,
    /// Copies before and after the messages of the round under construction.
    pub(crate) packs: Vec<MovedPiece>,
    pub(crate) unpacks: Vec<MovedPiece>,
}

impl MessagePlan {
    /// Removes the steps and keeps their memory.
    pub(crate) fn clear(&mut self) {
        let MessagePlan {
            steps,
            departures,
            arrivals,
            pieces,
            combinations,
            lengths,
            displacements,
            areas,
            numbers,
            scratch,
            packs,
            unpacks,
        } = self;
        steps.clear();
        departures.clear();
        arrivals.clear();
        pieces.clear();
        combinations.clear();
        lengths.clear();
        displacements.clear();
        areas.clear();
        numbers.iter_mut().for_each(Vec::clear);
        *scratch = 0;
        packs.clear();
        unpacks.clear();
    }

    /// The position of the messages of a round that begins now.
    pub(crate) fn begin_round(&self) -> RoundStart {
        RoundStart { departures: self.departures.len(), arrivals: self.arrivals.len() }
    }

    /// Adds the copies and messages of a round, if it has any.
    pub(crate) fn end_round(&mut self, begin: RoundStart) {
        let (departures, arrivals) = (begin.departures..self.departures.len(), begin.arrivals..self.arrivals.len());
        self.flush_packs();
        match (&self.departures[departures.clone()], &self.arrivals[arrivals.clone()]) {
            ([], []) => {}
            ([ExtraMessage { message, form: MessageForm::Whole }], []) => {
                self.steps.push(PlanStep::Send(*message));
                self.departures.truncate(departures.start);
            }
            ([], [ExtraMessage { message, form: MessageForm::Whole }]) => {
                self.steps.push(PlanStep::Receive(*message));
                self.arrivals.truncate(arrivals.start);
            }
            (
                [ExtraMessage { message: out, form: MessageForm::Whole }],
                [ExtraMessage { message: into, form: MessageForm::Whole }],
            ) => {
                self.steps.push(PlanStep::Exchange(Exchange { out: *out, into: *into }));
                self.departures.truncate(departures.start);
                self.arrivals.truncate(arrivals.start);
            }
            _ => self.steps.push(PlanStep::Round { departures, arrivals }),
        }
        self.flush_unpacks();
    }

    /// Splits contiguous elements into pieces if there are too many for MPI to count; otherwise the message stays
    /// whole.
    pub(crate) fn cut(&mut self, elements: usize, size: usize, longest: usize) -> MessageForm {
        if elements <= longest {
            return MessageForm::Whole;
        }
        let begin = self.lengths.len();
        self.push_run(0, elements, size, longest);
        MessageForm::Within(begin..self.lengths.len())
    }

    /// Adds a run of elements to the pieces of a message, split if MPI cannot count it.
    pub(crate) fn push_run(&mut self, at: usize, elements: usize, size: usize, longest: usize) {
        for begin in (0..elements).step_by(longest) {
            self.lengths.push((elements - begin).min(longest) as c_int);
            self.displacements.push((at + begin * size) as ffi::MPI_Aint);
        }
    }

    /// Adds the copies of a round before its sends.
    pub(crate) fn flush_packs(&mut self) {
        if !self.packs.is_empty() {
            let begin = self.pieces.len();
            self.pieces.append(&mut self.packs);
            self.steps.push(PlanStep::Copy { pieces: begin..self.pieces.len() });
        }
    }

    /// Adds the copies of a round after its receives.
    pub(crate) fn flush_unpacks(&mut self) {
        if !self.unpacks.is_empty() {
            let begin = self.pieces.len();
            self.pieces.append(&mut self.unpacks);
            self.steps.push(PlanStep::Arrived { pieces: begin..self.pieces.len() });
        }
    }
}

/// The calls that a plan serves: those with the same collective, parameters, blocks, lengths and options.
#[derive(Debug, Default)]
pub(crate) struct PlanKey {
    /// None if there is no plan.
    collective: Option<TypeId>,
    arguments: Arguments,
    blocking: Blocking,
    settings: Option<(Extents, Options)>,
}

impl PlanKey {
    /// Whether the plan serves this call.
    #[inline(always)]
    pub(crate) fn fits<K: Collective>(
        &self,
        collective: &K,
        geometry: &impl Recognised,
        extents: Extents,
        options: Options,
    ) -> bool {
        self.collective == Some(TypeId::of::<K>())
            && self.settings == Some((extents, options))
            && geometry.is(&self.blocking)
            && collective.has_arguments(&self.arguments)
    }

    /// Invalidates the plan.
    pub(crate) fn clear(&mut self) {
        self.collective = None;
    }

    /// Marks the plan as made for this call.
    pub(crate) fn set<K: Collective>(
        &mut self,
        collective: &K,
        geometry: &impl Recognised,
        extents: Extents,
        options: Options,
    ) {
        // User code may panic here: until the key is complete, there is no plan.
        self.collective = None;
        if !collective.has_arguments(&self.arguments) {
            self.arguments = collective.arguments();
        }
        geometry.remember(&mut self.blocking);
        self.settings = Some((extents, options));
        self.collective = Some(TypeId::of::<K>());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{KBruck, Ring};
    use crate::call::geometry::{Uniform, Varying};
    use crate::policy::Policy;
    use crate::transport::Layout;

    const EXTENTS: Extents = Extents { send: Some(3), recv: 12, size: 8 };

    #[test]
    fn a_plan_serves_the_call_that_it_was_made_for_and_no_other() {
        let (collective, geometry, options) = (KBruck { radix: 3 }, Uniform { count: 3 }, Options::default());
        let mut key = PlanKey::default();
        assert!(!key.fits(&collective, &geometry, EXTENTS, options));
        key.set(&collective, &geometry, EXTENTS, options);
        assert!(key.fits(&collective, &geometry, EXTENTS, options));

        assert!(!key.fits(&KBruck { radix: 4 }, &geometry, EXTENTS, options));
        assert!(!key.fits(&Ring, &geometry, EXTENTS, options));
        assert!(!key.fits(&collective, &Uniform { count: 2 }, EXTENTS, options));
        assert!(!key.fits(&collective, &Varying::new(&[3; 4], &[0, 3, 6, 9]), EXTENTS, options));
        assert!(!key.fits(&collective, &geometry, Extents { send: Some(2), ..EXTENTS }, options));
        assert!(!key.fits(&collective, &geometry, Extents { recv: 13, ..EXTENTS }, options));
        assert!(!key.fits(&collective, &geometry, Extents { size: 4, ..EXTENTS }, options));
        assert!(!key.fits(&collective, &geometry, EXTENTS, Options { layout: Layout::InPlace, ..options }));
        assert!(!key.fits(&collective, &geometry, EXTENTS, Options { policy: Policy::DATATYPE, ..options }));
        key.clear();
        assert!(!key.fits(&collective, &geometry, EXTENTS, options));
    }

    #[test]
    fn blocks_of_different_lengths_are_compared_one_by_one() {
        let (options, counts, displs) = (Options::default(), [3, 0, 4, 5], [0, 3, 3, 7]);
        let mut key = PlanKey::default();
        key.set(&Ring, &Varying::new(&counts, &displs), EXTENTS, options);
        assert!(key.fits(&Ring, &Varying::new(&counts, &displs), EXTENTS, options));
        assert!(!key.fits(&Ring, &Varying::new(&[3, 1, 4, 5], &displs), EXTENTS, options));
        assert!(!key.fits(&Ring, &Varying::new(&counts, &[0, 3, 3, 8]), EXTENTS, options));
        assert!(!key.fits(&Ring, &Uniform { count: 3 }, EXTENTS, options));
    }
}

//! The loop that executes a plan.
//!
//! One tag is enough: MPI keeps the order of messages between two ranks, and the checker has shown that they match in
//! that order. Receives are posted before sends. An error is recorded, and the steps continue: a rank that stopped in
//! the middle would leave others waiting for its messages.

pub(crate) mod alltoallv;
pub(crate) mod elements;
pub(crate) mod post_log;
pub(crate) mod shared;

use crate::error::Error;
use crate::mpi::execution::post_log::PostLog;
use crate::mpi::lowering::areas::{AreaOffset, Areas};
use crate::mpi::lowering::limit::LIMIT;
use crate::mpi::lowering::plan::{
    Combination, Exchange, ExtraMessage, MessageForm, MessagePlan, MovedPiece, PlanStep, PlannedMessage,
};
use crate::mpi::process::code::{SUCCESS, check, failure, is};
use crate::program::MessageDirection;
use ::mpi::ffi;
use std::ffi::c_int;
use std::mem::{MaybeUninit, take};
use std::ops::Range;
use std::ptr::null_mut;

/// The tag of blocking calls. Alltoalls with blocks of any lengths use two more.
pub(crate) const TAG: c_int = 0;

/// The first tag of calls that may overlap with others.
const FIRST: u32 = 8;

/// How long a request lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestLife {
    /// Started once.
    Once,
    /// Started any number of times.
    Persistent,
}

/// Allocates the tags of requests. Tags are reused when all were used. Those of one-time requests are reused soon, so
/// persistent ones have a separate range.
#[derive(Debug, Default)]
pub(crate) struct Tags {
    once: u32,
    persistent: u32,
}

impl Tags {
    /// The number of requests made.
    pub(crate) fn made(&self) -> u32 {
        self.once.wrapping_add(self.persistent)
    }

    /// The tag of the next request, if MPI's largest tag is `largest`.
    pub(crate) fn next(&mut self, life: RequestLife, largest: c_int) -> c_int {
        let half = (largest as u32 - FIRST) / 2;
        let (made, first) = match life {
            RequestLife::Persistent => (&mut self.persistent, FIRST),
            RequestLife::Once => (&mut self.once, FIRST + half),
        };
        let tag = first + *made % half;
        *made = made.wrapping_add(1);
        tag as c_int
    }
}

/// Memory that rounds of many messages reuse.
#[derive(Default)]
pub(crate) struct MessagesInFlight {
    requests: Vec<ffi::MPI_Request>,
    /// The number of leading requests that are known to be complete.
    complete: usize,
    /// Datatypes that describe messages of the round.
    datatypes: Vec<ffi::MPI_Datatype>,
    /// The addresses of the pieces of a message.
    addresses: Vec<ffi::MPI_Aint>,
    /// The first error of the call. Boxed, because most calls only look whether there is one.
    error: Option<Box<Error>>,
    /// The log of posted messages, while messages are recorded.
    pub(crate) log: Option<Box<PostLog>>,
}

/// Where the messages of a call go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageScope {
    pub(crate) comm: ffi::MPI_Comm,
    /// The MPI type of one element.
    pub(crate) datatype: ffi::MPI_Datatype,
    pub(crate) rank: usize,
    pub(crate) tag: c_int,
}

/// A call in progress.
pub(crate) struct PlanExecution<'a, C> {
    pub(crate) scope: &'a MessageScope,
    pub(crate) areas: Areas,
    /// The distance in bytes from the address of an element that MPI takes to its first byte.
    pub(crate) lead: isize,
    pub(crate) flight: &'a mut MessagesInFlight,
    /// Combines elements.
    pub(crate) combine: C,
}

/// Combines elements one by one.
pub(crate) trait Combine {
    /// Combines `elements` elements at `left` with those at `right`.
    ///
    /// # Safety
    ///
    /// There must be that many valid elements at `left` and `right`, and space for them at `into`, which may be one
    /// of the two.
    unsafe fn combine(&self, left: *const u8, right: *const u8, into: *mut u8, elements: usize);
}

impl<C: Combine + ?Sized> Combine for &C {
    #[inline(always)]
    unsafe fn combine(&self, left: *const u8, right: *const u8, into: *mut u8, elements: usize) {
        // SAFETY: the caller guarantees what the operation asks for.
        unsafe { (**self).combine(left, right, into, elements) }
    }
}

/// The operation of collectives that combine nothing.
pub(crate) struct Nothing;

impl Combine for Nothing {
    unsafe fn combine(&self, _: *const u8, _: *const u8, _: *mut u8, _: usize) {}
}

impl<C: Combine> PlanExecution<'_, C> {
    /// Executes all steps. When this returns, all messages are complete.
    #[inline(always)]
    pub(crate) fn run(mut self, plan: &MessagePlan) -> Result<(), Error> {
        if self.flight.log.is_none() { self.steps::<false>(plan) } else { self.recorded(plan) }
    }

    /// Like [`run`](Self::run), while messages are recorded. A copy of the code, so that the normal path does not test
    /// for recording at each step.
    #[cold]
    #[inline(never)]
    fn recorded(&mut self, plan: &MessagePlan) -> Result<(), Error> {
        self.flight.log.iter_mut().for_each(|log| log.begin());
        self.steps::<true>(plan)
    }

    #[inline(always)]
    fn steps<const RECORDED: bool>(&mut self, plan: &MessagePlan) -> Result<(), Error> {
        for step in &plan.steps {
            match step {
                PlanStep::Exchange(exchange) => self.exchange::<RECORDED>(plan, exchange),
                PlanStep::Move(piece) => self.copy(piece),
                PlanStep::CombineOne(combination) if self.flight.error.is_none() => self.combine(combination),
                step => self.several::<RECORDED>(plan, step),
            }
        }
        self.outcome()
    }

    /// Executes a step that is no exchange.
    #[inline(always)]
    fn several<const RECORDED: bool>(&mut self, plan: &MessagePlan, step: &PlanStep) {
        match step {
            PlanStep::Round { departures, arrivals } => {
                self.round::<RECORDED>(plan, &plan.departures[departures.clone()], &plan.arrivals[arrivals.clone()])
            }
            PlanStep::Send(message) => self.send::<RECORDED>(plan, message),
            PlanStep::Receive(message) => self.receive::<RECORDED>(plan, message),
            step => self.local(plan, step),
        }
    }

    /// Executes a step without messages.
    #[inline(always)]
    fn local(&self, plan: &MessagePlan, step: &PlanStep) {
        match step {
            PlanStep::Move(piece) => self.copy(piece),
            PlanStep::Copy { pieces } => plan.pieces[pieces.clone()].iter().for_each(|piece| self.copy(piece)),
            PlanStep::Arrived { pieces } if self.flight.error.is_none() => {
                plan.pieces[pieces.clone()].iter().for_each(|piece| self.copy(piece))
            }
            PlanStep::CombineOne(combination) if self.flight.error.is_none() => self.combine(combination),
            PlanStep::Combine { combinations } if self.flight.error.is_none() => {
                plan.combinations[combinations.clone()].iter().for_each(|combination| self.combine(combination))
            }
            PlanStep::Arrived { .. }
            | PlanStep::CombineOne(_)
            | PlanStep::Combine { .. }
            | PlanStep::Exchange(_)
            | PlanStep::Send(_)
            | PlanStep::Receive(_)
            | PlanStep::Round { .. } => {}
        }
    }

    /// The first error, if there was one.
    #[inline(always)]
    fn outcome(&mut self) -> Result<(), Error> {
        if self.flight.error.is_none() { Ok(()) } else { self.fail() }
    }

    #[cold]
    fn fail(&mut self) -> Result<(), Error> {
        self.flight.error.take().map_or(Ok(()), |error| Err(*error))
    }

    #[inline(always)]
    fn copy(&self, piece: &MovedPiece) {
        let (to, from) = (self.areas.at(piece.to), self.areas.at(piece.from));
        // SAFETY: both ends lie inside their areas, which was checked when the plan was built for these extents. They
        // do not overlap: one of them is scratch and the other is not, or they are the user's two buffers, of which one
        // is borrowed exclusively, or they are parts of scratch that were in use at the same time.
        unsafe { std::ptr::copy_nonoverlapping(from, to, piece.bytes) }
    }

    /// The address of an element that MPI takes.
    #[inline(always)]
    fn element(&self, spot: AreaOffset) -> *mut u8 {
        self.areas.at(spot).wrapping_offset(-self.lead)
    }

    #[inline]
    fn combine(&self, combination: &Combination) {
        let Combination { left, right, into, elements } = *combination;
        let (left, right, into) = (self.element(left), self.element(right), self.element(into));
        // SAFETY: all three lie inside their areas, which was checked when the plan was built for these extents. One
        // operand has arrived, from a rank that sent elements of this type, and the checker has shown that the other
        // one was filled before it is used.
        unsafe { self.combine.combine(left, right, into, elements) }
    }

    /// Exchanges one message each way.
    #[inline(always)]
    fn exchange<const RECORDED: bool>(&mut self, plan: &MessagePlan, Exchange { out, into }: &Exchange) {
        let mut status = MaybeUninit::<ffi::MPI_Status>::uninit();
        // SAFETY: both messages lie inside their areas, which live as long as the call.
        let code = unsafe {
            ffi::MPI_Sendrecv(
                self.element(out.spot).cast(),
                out.elements as c_int,
                self.scope.datatype,
                out.peer,
                self.scope.tag,
                self.element(into.spot).cast(),
                into.elements as c_int,
                self.scope.datatype,
                into.peer,
                self.scope.tag,
                self.scope.comm,
                status.as_mut_ptr(),
            )
        };
        if code != SUCCESS || self.count(status.as_ptr()) != Some(into.elements as c_int) {
            self.reject("MPI_Sendrecv", code, status.as_ptr(), into);
        }
        if RECORDED {
            self.record(plan, MessageDirection::In, into);
            self.record(plan, MessageDirection::Out, out);
            self.end_round();
        }
    }

    /// Sends one message.
    #[inline(never)]
    fn send<const RECORDED: bool>(&mut self, plan: &MessagePlan, out: &PlannedMessage) {
        let (address, elements) = (self.element(out.spot).cast(), out.elements as c_int);
        let MessageScope { datatype, tag, comm, .. } = *self.scope;
        // SAFETY: the message lies inside its area, which lives as long as the call.
        self.note(check("MPI_Send", unsafe { ffi::MPI_Send(address, elements, datatype, out.peer, tag, comm) }));
        if RECORDED {
            self.record(plan, MessageDirection::Out, out);
            self.end_round();
        }
    }

    /// Receives one message.
    #[inline(never)]
    fn receive<const RECORDED: bool>(&mut self, plan: &MessagePlan, into: &PlannedMessage) {
        let (address, elements) = (self.element(into.spot).cast(), into.elements as c_int);
        let MessageScope { datatype, tag, comm, .. } = *self.scope;
        let mut status = MaybeUninit::<ffi::MPI_Status>::uninit();
        // SAFETY: as above.
        let code = unsafe { ffi::MPI_Recv(address, elements, datatype, into.peer, tag, comm, status.as_mut_ptr()) };
        if code != SUCCESS || self.count(status.as_ptr()) != Some(elements) {
            self.reject("MPI_Recv", code, status.as_ptr(), into);
        }
        if RECORDED {
            self.record(plan, MessageDirection::In, into);
            self.end_round();
        }
    }

    /// Posts all receives, then all sends, and waits for each. It does not use MPI_Waitall: MPICH reports failures of
    /// that function not to the communicator of the messages but to MPI_COMM_WORLD, where they end the job.
    fn round<const RECORDED: bool>(
        &mut self,
        plan: &MessagePlan,
        departures: &[ExtraMessage],
        arrivals: &[ExtraMessage],
    ) {
        for parcel in arrivals {
            self.post::<RECORDED>(plan, parcel, MessageDirection::In);
        }
        for parcel in departures {
            self.post::<RECORDED>(plan, parcel, MessageDirection::Out);
        }
        for i in 0..self.flight.requests.len() {
            let mut status = MaybeUninit::<ffi::MPI_Status>::zeroed();
            // SAFETY: the request was posted above and is waited for once.
            let code = unsafe { ffi::MPI_Wait(&mut self.flight.requests[i], status.as_mut_ptr()) };
            self.inspect("MPI_Wait", code, status.as_ptr(), arrivals.get(i));
        }
        self.land();
        if RECORDED {
            self.end_round();
        }
    }

    /// Checks a completed message: one of the round's arrivals, or a send.
    #[inline]
    fn inspect(
        &mut self,
        call: &'static str,
        code: c_int,
        status: *const ffi::MPI_Status,
        arrival: Option<&ExtraMessage>,
    ) {
        match arrival {
            // MPI cannot count longer ones.
            Some(ExtraMessage { message, .. }) if code != SUCCESS || message.elements <= LIMIT => {
                if code != SUCCESS || self.count(status) != Some(message.elements as c_int) {
                    self.reject(call, code, status, message);
                }
            }
            _ => self.note(check(call, code)),
        }
    }

    /// Cleans up after a round whose messages are complete.
    fn land(&mut self) {
        self.flight.requests.clear();
        self.flight.complete = 0;
        while let Some(mut datatype) = self.flight.datatypes.pop() {
            // SAFETY: the datatype was made for this round, and its message is complete.
            let code = unsafe { ffi::MPI_Type_free(&mut datatype) };
            self.note(check("MPI_Type_free", code));
        }
    }

    /// Executes steps from number `next` on, as far as possible without waiting; true when all are done. Messages of
    /// an unfinished step stay in flight, so the next call must use the same plan and the same memory.
    pub(crate) fn advance(&mut self, plan: &MessagePlan, next: &mut usize) -> Result<bool, Error> {
        while let Some(step) = plan.steps.get(*next) {
            match step {
                PlanStep::Exchange(Exchange { out, into }) if !self.passed(plan, &[whole(out)], &[whole(into)]) => {
                    return Ok(false);
                }
                PlanStep::Send(message) if !self.passed(plan, &[whole(message)], &[]) => return Ok(false),
                PlanStep::Receive(message) if !self.passed(plan, &[], &[whole(message)]) => return Ok(false),
                PlanStep::Round { departures, arrivals }
                    if !self.passed(plan, &plan.departures[departures.clone()], &plan.arrivals[arrivals.clone()]) =>
                {
                    return Ok(false);
                }
                PlanStep::Exchange(_) | PlanStep::Send(_) | PlanStep::Receive(_) | PlanStep::Round { .. } => {}
                step => self.local(plan, step),
            }
            *next += 1;
        }
        self.outcome().map(|()| true)
    }

    /// Whether a round is complete; posts its messages first.
    fn passed(&mut self, plan: &MessagePlan, departures: &[ExtraMessage], arrivals: &[ExtraMessage]) -> bool {
        if self.flight.requests.is_empty() {
            arrivals.iter().for_each(|parcel| self.post::<true>(plan, parcel, MessageDirection::In));
            departures.iter().for_each(|parcel| self.post::<true>(plan, parcel, MessageDirection::Out));
        }
        while self.flight.complete < self.flight.requests.len() {
            let (i, mut status, mut over) = (self.flight.complete, MaybeUninit::<ffi::MPI_Status>::zeroed(), 0);
            // SAFETY: the request was posted above, and is not tested again once complete.
            let code = unsafe { ffi::MPI_Test(&mut self.flight.requests[i], &mut over, status.as_mut_ptr()) };
            if code == SUCCESS && over == 0 {
                return false;
            }
            self.inspect("MPI_Test", code, status.as_ptr(), arrivals.get(i));
            self.flight.complete += 1;
        }
        self.land();
        self.end_round();
        true
    }

    /// Posts a message. If MPI refuses it, records an error; then there is no request to wait for.
    fn post<const RECORDED: bool>(&mut self, plan: &MessagePlan, parcel: &ExtraMessage, direction: MessageDirection) {
        let PlannedMessage { spot, elements, peer } = parcel.message;
        let (address, count, datatype) = match &parcel.form {
            MessageForm::Whole => (self.element(spot), elements as c_int, self.scope.datatype),
            MessageForm::Within(pieces) => (self.element(spot), 1, self.describe_within(plan, pieces)),
            // The datatype contains the addresses. The address is MPI_BOTTOM, which is null in all known libraries.
            MessageForm::Across(pieces) => (null_mut(), 1, self.describe_across(plan, pieces)),
        };
        // SAFETY: the null handle is a constant of the library.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        let address = address.cast();
        // SAFETY: the message lies inside its area, which lives as long as the call, and the call waits for the
        // request.
        let (call, code) = unsafe {
            match direction {
                MessageDirection::In => (
                    "MPI_Irecv",
                    ffi::MPI_Irecv(address, count, datatype, peer, self.scope.tag, self.scope.comm, &mut request),
                ),
                MessageDirection::Out => (
                    "MPI_Isend",
                    ffi::MPI_Isend(address, count, datatype, peer, self.scope.tag, self.scope.comm, &mut request),
                ),
            }
        };
        self.note(check(call, code));
        self.flight.requests.push(request);
        if RECORDED {
            self.record(plan, direction, &parcel.message);
        }
    }

    /// Records a message as it was passed to MPI.
    fn record(
        &mut self,
        plan: &MessagePlan,
        direction: MessageDirection,
        &PlannedMessage { elements, peer, .. }: &PlannedMessage,
    ) {
        let (Some(log), Some(numbers)) = (&mut self.flight.log, &plan.numbers) else { return };
        let bytes = post_log::bytes(elements, self.scope.datatype);
        match direction {
            MessageDirection::In => log.receives(numbers, self.scope.rank, peer, bytes),
            MessageDirection::Out => log.sends(numbers, self.scope.rank, peer, bytes),
        }
    }

    /// Counts the recorded rounds.
    fn end_round(&mut self) {
        self.flight.log.iter_mut().for_each(|log| log.end_round());
    }

    /// A datatype for the pieces of a message, relative to its position.
    fn describe_within(&mut self, plan: &MessagePlan, pieces: &Range<usize>) -> ffi::MPI_Datatype {
        self.describe(&plan.lengths[pieces.clone()], &plan.displacements[pieces.clone()])
    }

    /// A datatype for the pieces of a message that lie in several areas.
    fn describe_across(&mut self, plan: &MessagePlan, pieces: &Range<usize>) -> ffi::MPI_Datatype {
        let mut addresses = take(&mut self.flight.addresses);
        addresses.clear();
        let spots = plan.areas[pieces.clone()].iter().zip(&plan.displacements[pieces.clone()]);
        addresses.extend(spots.map(|(&area, &displacement)| {
            self.areas.at(AreaOffset { area, offset: displacement as usize }) as ffi::MPI_Aint
        }));
        let datatype = self.describe(&plan.lengths[pieces.clone()], &addresses);
        self.flight.addresses = addresses;
        datatype
    }

    /// A datatype for pieces. If MPI fails to create one, records an error and returns the element's datatype.
    fn describe(&mut self, lengths: &[c_int], displacements: &[ffi::MPI_Aint]) -> ffi::MPI_Datatype {
        let mut datatype = self.scope.datatype;
        // SAFETY: both lists have this many entries, and the element's datatype is live.
        let code = unsafe {
            let (n, lengths, displacements) = (lengths.len() as c_int, lengths.as_ptr(), displacements.as_ptr());
            ffi::MPI_Type_create_hindexed(n, lengths, displacements, self.scope.datatype, &mut datatype)
        };
        if code != SUCCESS {
            self.note(Err(failure("MPI_Type_create_hindexed", code)));
            return self.scope.datatype;
        }
        self.flight.datatypes.push(datatype);
        // SAFETY: the datatype was just made.
        self.note(check("MPI_Type_commit", unsafe { ffi::MPI_Type_commit(&mut datatype) }));
        datatype
    }

    /// The number of elements that arrived; negative if the message ends within an element.
    #[inline(always)]
    fn count(&self, status: *const ffi::MPI_Status) -> Option<c_int> {
        let mut found = 0;
        // SAFETY: the datatype is live and the status was set by a call that completed a message.
        let code = unsafe { ffi::MPI_Get_count(status, self.scope.datatype, &mut found) };
        (code == SUCCESS).then_some(found)
    }

    /// Records an error for a message that failed or has the wrong length.
    #[cold]
    fn reject(&mut self, call: &'static str, code: c_int, status: *const ffi::MPI_Status, expected: &PlannedMessage) {
        let truncated = code != SUCCESS && is(code, ffi::MPI_ERR_TRUNCATE);
        if code != SUCCESS && !truncated {
            return self.note(Err(failure(call, code)));
        }
        let (rank, from, expected) = (self.scope.rank, expected.peer as usize, expected.elements);
        // Not every library reports the length of a message that was too long. Then this is a lower bound.
        let least = if truncated { expected + 1 } else { 0 };
        let found = self.count(status).and_then(|found| usize::try_from(found).ok()).unwrap_or(0).max(least);
        self.note(Err(Error::Mismatch { rank, from, expected, found }));
    }

    /// Records an error, if it is the first.
    #[inline]
    fn note(&mut self, outcome: Result<(), Error>) {
        if let Err(error) = outcome {
            self.flight.error.get_or_insert_with(|| Box::new(error));
        }
    }
}

/// A message in one piece.
fn whole(&message: &PlannedMessage) -> ExtraMessage {
    ExtraMessage { message, form: MessageForm::Whole }
}

#[cfg(test)]
mod tests {
    use super::{RequestLife, Tags};

    /// No request made during the life of a persistent one gets its tag.
    #[test]
    fn persistent_requests_have_tags_of_their_own() {
        for largest in [32_767, i32::MAX] {
            let mut tags = Tags::default();
            let persistent: Vec<_> = (0..100).map(|_| tags.next(RequestLife::Persistent, largest)).collect();
            for _ in 0..100_000 {
                let tag = tags.next(RequestLife::Once, largest);
                assert!((8..=largest).contains(&tag) && !persistent.contains(&tag));
            }
            assert_eq!(tags.made(), 100_100);
        }
    }
}

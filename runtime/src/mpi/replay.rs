//! The loop that executes a plan.
//!
//! One tag is enough: MPI keeps the order of messages between two ranks, and the checker has shown that they match in
//! that order. Receives are posted before sends. An error is remembered, and the steps go on: a rank that gave up in the
//! middle would leave others waiting for its messages.

use super::areas::{Areas, Spot};
use super::code::{SUCCESS, check, failure, is};
use super::plan::{Combination, Exchange, Form, Message, Parcel, Piece, Plan, Step};
use super::trace::{self, Log};
use crate::error::Error;
use ::mpi::ffi;
use std::ffi::c_int;
use std::mem::{MaybeUninit, take};
use std::ops::Range;
use std::ptr::null_mut;

const TAG: c_int = 0;

/// Memory that rounds of many messages use again.
#[derive(Default)]
pub(super) struct Flight {
    requests: Vec<ffi::MPI_Request>,
    /// Datatypes that describe messages of the round.
    datatypes: Vec<ffi::MPI_Datatype>,
    /// Where the pieces of a message are.
    addresses: Vec<ffi::MPI_Aint>,
    /// The first error of the call.
    error: Option<Error>,
    /// What is posted, while somebody records it.
    pub(super) log: Option<Box<Log>>,
}

/// A call in progress.
pub(super) struct Replay<'a, C> {
    pub(super) comm: ffi::MPI_Comm,
    /// The MPI type of one element.
    pub(super) datatype: ffi::MPI_Datatype,
    pub(super) areas: Areas,
    pub(super) rank: usize,
    pub(super) flight: &'a mut Flight,
    /// What combines elements.
    pub(super) combine: C,
}

/// Combines elements one by one.
pub(super) trait Combine {
    /// Combines so many elements at `left` with those at `right`.
    ///
    /// # Safety
    ///
    /// There must be so many valid elements at `left` and `right`, and space for them at `into`, which may be one of the two.
    unsafe fn combine(&self, left: *const u8, right: *const u8, into: *mut u8, elements: usize);
}

/// Gathers combine nothing.
pub(super) struct Nothing;

impl Combine for Nothing {
    unsafe fn combine(&self, _: *const u8, _: *const u8, _: *mut u8, _: usize) {}
}

impl<C: Combine> Replay<'_, C> {
    /// Takes all steps. When this returns, all messages are complete.
    #[inline(always)]
    pub(super) fn run(mut self, plan: &Plan) -> Result<(), Error> {
        if self.flight.log.is_none() { self.steps::<false>(plan) } else { self.recorded(plan) }
    }

    /// The same, while somebody records the messages: a copy of the code, so that otherwise nothing is asked step by step.
    #[cold]
    #[inline(never)]
    fn recorded(&mut self, plan: &Plan) -> Result<(), Error> {
        self.flight.log.iter_mut().for_each(|log| log.begin());
        self.steps::<true>(plan)
    }

    #[inline(always)]
    fn steps<const RECORDED: bool>(&mut self, plan: &Plan) -> Result<(), Error> {
        for step in &plan.steps {
            match step {
                Step::Exchange(exchange) => self.exchange::<RECORDED>(plan, exchange),
                Step::Move(piece) => self.copy(piece),
                Step::Copy { pieces } => plan.pieces[pieces.clone()].iter().for_each(|piece| self.copy(piece)),
                Step::Arrived { pieces } if self.flight.error.is_none() => {
                    plan.pieces[pieces.clone()].iter().for_each(|piece| self.copy(piece))
                }
                Step::Combine { combinations } if self.flight.error.is_none() => {
                    plan.combinations[combinations.clone()].iter().for_each(|combination| self.combine(combination))
                }
                Step::Arrived { .. } | Step::Combine { .. } => {}
                Step::Round { departures, arrivals } => self.round::<RECORDED>(
                    plan,
                    &plan.departures[departures.clone()],
                    &plan.arrivals[arrivals.clone()],
                ),
            }
        }
        if self.flight.error.is_none() { Ok(()) } else { self.fail() }
    }

    #[cold]
    fn fail(&mut self) -> Result<(), Error> {
        self.flight.error.take().map_or(Ok(()), Err)
    }

    #[inline(always)]
    fn copy(&self, piece: &Piece) {
        let (to, from) = (self.areas.at(piece.to), self.areas.at(piece.from));
        // SAFETY: both ends lie inside their areas, which was checked when the plan was built for these extents. They do
        // not overlap: one of them is scratch and the other is not, or they are the user's two buffers, of which one is
        // borrowed exclusively, or they are parts of scratch that were in use at the same time.
        unsafe { std::ptr::copy_nonoverlapping(from, to, piece.bytes) }
    }

    #[inline]
    fn combine(&self, combination: &Combination) {
        let Combination { left, right, into, elements } = *combination;
        let (left, right, into) = (self.areas.at(left), self.areas.at(right), self.areas.at(into));
        // SAFETY: all three lie inside their areas, which was checked when the plan was built for these extents. One
        // operand has arrived, from a rank that sent elements of this type, and the checker has shown that the other one
        // was filled before it is used.
        unsafe { self.combine.combine(left, right, into, elements) }
    }

    /// One message each way.
    #[inline(always)]
    fn exchange<const RECORDED: bool>(&mut self, plan: &Plan, Exchange { out, into }: &Exchange) {
        let mut status = MaybeUninit::<ffi::MPI_Status>::uninit();
        // SAFETY: both messages lie inside their areas, which live as long as the call.
        let code = unsafe {
            ffi::MPI_Sendrecv(
                self.areas.at(out.spot).cast(),
                out.elements,
                self.datatype,
                out.peer,
                TAG,
                self.areas.at(into.spot).cast(),
                into.elements,
                self.datatype,
                into.peer,
                TAG,
                self.comm,
                status.as_mut_ptr(),
            )
        };
        if code != SUCCESS || self.count(status.as_ptr()) != Some(into.elements) {
            self.reject("MPI_Sendrecv", code, status.as_ptr(), into);
        }
        if RECORDED {
            self.record(plan, Way::In, into.peer, into.elements, self.datatype);
            self.record(plan, Way::Out, out.peer, out.elements, self.datatype);
            self.end_round();
        }
    }

    /// Posts all receives, then all sends, and waits for each. Not with MPI_Waitall: MPICH reports its failures not to the
    /// communicator of the messages but to MPI_COMM_WORLD, where they end the job.
    fn round<const RECORDED: bool>(&mut self, plan: &Plan, departures: &[Parcel], arrivals: &[Parcel]) {
        for parcel in arrivals {
            self.post::<RECORDED>(plan, parcel, Way::In);
        }
        for parcel in departures {
            self.post::<RECORDED>(plan, parcel, Way::Out);
        }
        for i in 0..self.flight.requests.len() {
            let mut status = MaybeUninit::<ffi::MPI_Status>::zeroed();
            // SAFETY: the request was posted above and is waited for once.
            let code = unsafe { ffi::MPI_Wait(&mut self.flight.requests[i], status.as_mut_ptr()) };
            match arrivals.get(i) {
                Some(Parcel { message, .. }) => {
                    if code != SUCCESS || self.count(status.as_ptr()) != Some(message.elements) {
                        self.reject("MPI_Wait", code, status.as_ptr(), message);
                    }
                }
                None => self.note(check("MPI_Wait", code)),
            }
        }
        self.flight.requests.clear();
        while let Some(mut datatype) = self.flight.datatypes.pop() {
            // SAFETY: the datatype was made for this round, and its message is complete.
            let code = unsafe { ffi::MPI_Type_free(&mut datatype) };
            self.note(check("MPI_Type_free", code));
        }
        if RECORDED {
            self.end_round();
        }
    }

    /// Posts a message. If MPI refuses it, that is an error, and there is nothing to wait for.
    fn post<const RECORDED: bool>(&mut self, plan: &Plan, parcel: &Parcel, way: Way) {
        let Message { spot, elements, peer } = parcel.message;
        let (address, count, datatype) = match &parcel.form {
            Form::Whole => (self.areas.at(spot), elements, self.datatype),
            Form::Within(pieces) => (self.areas.at(spot), 1, self.describe_within(plan, pieces)),
            // The datatype has the addresses. This is MPI_BOTTOM, which is null in every library that we know.
            Form::Across(pieces) => (null_mut(), 1, self.describe_across(plan, pieces)),
        };
        // SAFETY: the null handle is a constant of the library.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        let address = address.cast();
        // SAFETY: the message lies inside its area, which lives as long as the call, and the call waits for the request.
        let (call, code) = unsafe {
            match way {
                Way::In => {
                    ("MPI_Irecv", ffi::MPI_Irecv(address, count, datatype, peer, TAG, self.comm, &mut request))
                }
                Way::Out => {
                    ("MPI_Isend", ffi::MPI_Isend(address, count, datatype, peer, TAG, self.comm, &mut request))
                }
            }
        };
        self.note(check(call, code));
        self.flight.requests.push(request);
        if RECORDED {
            self.record(plan, way, peer, count, datatype);
        }
    }

    /// Records what MPI was told about a message.
    fn record(&mut self, plan: &Plan, way: Way, peer: c_int, count: c_int, datatype: ffi::MPI_Datatype) {
        let (Some(log), Some(numbers)) = (&mut self.flight.log, &plan.numbers) else { return };
        let bytes = trace::bytes(count, datatype);
        match way {
            Way::In => log.receives(numbers, self.rank, peer, bytes),
            Way::Out => log.sends(numbers, self.rank, peer, bytes),
        }
    }

    /// Counts the recorded rounds.
    fn end_round(&mut self) {
        self.flight.log.iter_mut().for_each(|log| log.end_round());
    }

    /// A datatype for the pieces of a message that lie after its spot.
    fn describe_within(&mut self, plan: &Plan, pieces: &Range<usize>) -> ffi::MPI_Datatype {
        self.describe(&plan.lengths[pieces.clone()], &plan.displacements[pieces.clone()])
    }

    /// A datatype for the pieces of a message that lie in several areas.
    fn describe_across(&mut self, plan: &Plan, pieces: &Range<usize>) -> ffi::MPI_Datatype {
        let mut addresses = take(&mut self.flight.addresses);
        addresses.clear();
        let spots = plan.areas[pieces.clone()].iter().zip(&plan.displacements[pieces.clone()]);
        addresses.extend(spots.map(|(&area, &displacement)| {
            self.areas.at(Spot { area, offset: displacement as usize }) as ffi::MPI_Aint
        }));
        let datatype = self.describe(&plan.lengths[pieces.clone()], &addresses);
        self.flight.addresses = addresses;
        datatype
    }

    /// A datatype for pieces; the element's own if MPI makes none, which is an error.
    fn describe(&mut self, lengths: &[c_int], displacements: &[ffi::MPI_Aint]) -> ffi::MPI_Datatype {
        let mut datatype = self.datatype;
        // SAFETY: both lists have as many entries as are said, and the element's datatype is live.
        let code = unsafe {
            let (n, lengths, displacements) = (lengths.len() as c_int, lengths.as_ptr(), displacements.as_ptr());
            ffi::MPI_Type_create_hindexed(n, lengths, displacements, self.datatype, &mut datatype)
        };
        if code != SUCCESS {
            self.note(Err(failure("MPI_Type_create_hindexed", code)));
            return self.datatype;
        }
        self.flight.datatypes.push(datatype);
        // SAFETY: the datatype was just made.
        self.note(check("MPI_Type_commit", unsafe { ffi::MPI_Type_commit(&mut datatype) }));
        datatype
    }

    /// How many elements arrived; a negative number if the message ends within one.
    #[inline(always)]
    fn count(&self, status: *const ffi::MPI_Status) -> Option<c_int> {
        let mut found = 0;
        // SAFETY: the datatype is live and the status was set by a call that completed a message.
        let code = unsafe { ffi::MPI_Get_count(status, self.datatype, &mut found) };
        (code == SUCCESS).then_some(found)
    }

    /// Notes what is wrong with a message that arrived, or did not.
    #[cold]
    fn reject(&mut self, call: &'static str, code: c_int, status: *const ffi::MPI_Status, expected: &Message) {
        let truncated = code != SUCCESS && is(code, ffi::MPI_ERR_TRUNCATE);
        if code != SUCCESS && !truncated {
            return self.note(Err(failure(call, code)));
        }
        let (rank, from, expected) = (self.rank, expected.peer as usize, expected.elements as usize);
        // Not every library says how long a message is that was too long. Then this is the least that it can be.
        let least = if truncated { expected + 1 } else { 0 };
        let found = self.count(status).and_then(|found| usize::try_from(found).ok()).unwrap_or(0).max(least);
        self.note(Err(Error::Mismatch { rank, from, expected, found }));
    }

    /// Remembers an error, if it is the first.
    #[inline]
    fn note(&mut self, outcome: Result<(), Error>) {
        if let Err(error) = outcome {
            self.flight.error.get_or_insert(error);
        }
    }
}

/// Which way a message goes.
#[derive(Clone, Copy)]
enum Way {
    In,
    Out,
}

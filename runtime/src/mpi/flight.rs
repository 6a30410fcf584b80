//! The messages of one round, and their exchange.
//!
//! Messages are collected while a round is declared, and exchanged when it ends. So receives are posted before sends,
//! the usual round of one message each way is a single MPI_Sendrecv, and no message is in flight while a schedule's code
//! runs: there is nothing to clean up when that code panics.
//!
//! One tag is enough: MPI keeps the order of messages between two ranks, and the checker has shown that they match in
//! that order. An error is remembered, and the rounds go on: a rank that gave up in the middle would leave others
//! waiting for its messages.

use super::arena::Arena;
use super::code::{SUCCESS, check, failure, is};
use crate::error::Error;
use crate::policy::Policy;
use ::mpi::ffi;
use roundel_spec::{Blocks, Place, Stripe};
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::ops::Range;

const TAG: c_int = 0;

/// How messages get from rank to rank.
pub(super) struct Route {
    pub(super) comm: ffi::MPI_Comm,
    /// The MPI type of one element.
    pub(super) datatype: ffi::MPI_Datatype,
    pub(super) place: Place,
    pub(super) policy: Policy,
}

/// One message, as MPI sees it.
#[derive(Clone, Copy)]
pub(super) struct Parcel {
    pub(super) address: *mut u8,
    pub(super) datatype: ffi::MPI_Datatype,
    pub(super) count: c_int,
    pub(super) peer: c_int,
}

/// A message that this rank receives.
pub(super) struct Arrival {
    pub(super) parcel: Parcel,
    pub(super) elements: c_int,
    /// Where it lands if it is packed, and its blocks among the stripes that were kept.
    pub(super) packed: Option<(*mut u8, Range<usize>)>,
}

/// The messages of a round, and the memory that they need. Kept between calls for its capacity.
#[derive(Default)]
pub(super) struct Flight {
    pub(super) departures: Vec<Parcel>,
    pub(super) arrivals: Vec<Arrival>,
    /// Whether any message of the round is not simply a piece of the buffer.
    pub(super) scattered: bool,
    pub(super) outgoing: Arena,
    pub(super) incoming: Arena,
    /// The blocks of packed arrivals.
    pub(super) stripes: Vec<Stripe>,
    /// Datatypes that describe messages of this round.
    pub(super) datatypes: Vec<ffi::MPI_Datatype>,
    pub(super) lengths: Vec<c_int>,
    pub(super) displacements: Vec<ffi::MPI_Aint>,
    requests: Vec<ffi::MPI_Request>,
    error: Option<Error>,
}

impl Flight {
    /// Exchanges the messages of the round. When this returns, all of them are complete.
    #[inline]
    pub(super) fn exchange(&mut self, route: &Route) {
        match (&self.departures[..], &self.arrivals[..]) {
            (&[departure], [arrival]) => {
                let mut status = blank();
                let code = sendrecv(route, departure, arrival.parcel, &mut status);
                if code != SUCCESS || !arrival.is_complete(route, &status) {
                    self.reject(route, 0, "MPI_Sendrecv", code, &status);
                }
            }
            ([], []) => {}
            _ => self.exchange_many(route),
        }
    }

    /// Posts all receives, then all sends, and waits for each. Not with MPI_Waitall: MPICH reports its failures not to the
    /// communicator of the messages but to MPI_COMM_WORLD, where they end the job.
    fn exchange_many(&mut self, route: &Route) {
        for i in 0..self.arrivals.len() {
            self.posted("MPI_Irecv", irecv(route, self.arrivals[i].parcel));
        }
        for i in 0..self.departures.len() {
            self.posted("MPI_Isend", isend(route, self.departures[i]));
        }
        for i in 0..self.requests.len() {
            let mut status = blank();
            // SAFETY: the request was posted above and is waited for once.
            let code = unsafe { ffi::MPI_Wait(&mut self.requests[i], &mut status) };
            let complete = self.arrivals.get(i).is_none_or(|arrival| arrival.is_complete(route, &status));
            if code != SUCCESS || !complete {
                self.reject(route, i, "MPI_Wait", code, &status);
            }
        }
        self.requests.clear();
    }

    /// Keeps a request. If MPI refused the message, that is an error, and the request is null: nothing to wait for.
    fn posted(&mut self, call: &'static str, (request, code): (ffi::MPI_Request, c_int)) {
        self.requests.push(request);
        if code != SUCCESS {
            self.note(failure(call, code));
        }
    }

    /// Notes what is wrong with a message: the `i`th, arrivals first. It is not unpacked.
    #[cold]
    fn reject(&mut self, route: &Route, i: usize, call: &'static str, code: c_int, status: &ffi::MPI_Status) {
        let error = match self.arrivals.get_mut(i) {
            Some(arrival) => {
                arrival.packed = None;
                arrival.what_is_wrong(route, call, code, status)
            }
            None => failure(call, code),
        };
        self.note(error);
    }

    /// Remembers an error, if it is the first.
    #[cold]
    pub(super) fn note(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// The first error since the last time.
    #[inline]
    pub(super) fn take_error(&mut self) -> Option<Error> {
        self.error.take()
    }

    /// Keeps the blocks of a message until it arrives.
    #[inline]
    pub(super) fn keep<B: Blocks>(&mut self, blocks: &B) -> Range<usize> {
        let start = self.stripes.len();
        self.stripes.extend(blocks.stripes());
        start..self.stripes.len()
    }

    /// Takes back what scattered messages needed.
    pub(super) fn clear_scattered(&mut self) {
        self.scattered = false;
        self.stripes.clear();
        self.outgoing.reset();
        self.incoming.reset();
        while let Some(mut datatype) = self.datatypes.pop() {
            // SAFETY: the datatype was made for this round, and its message is complete.
            let code = unsafe { ffi::MPI_Type_free(&mut datatype) };
            check("MPI_Type_free", code).unwrap_or_else(|error| self.note(error));
        }
    }
}

impl Arrival {
    /// Whether the message has the length that was expected.
    #[inline]
    fn is_complete(&self, route: &Route, status: &ffi::MPI_Status) -> bool {
        count(route, status).is_some_and(|found| found == self.elements)
    }

    #[cold]
    fn what_is_wrong(&self, route: &Route, call: &'static str, code: c_int, status: &ffi::MPI_Status) -> Error {
        let truncated = is(code, ffi::MPI_ERR_TRUNCATE);
        if code != SUCCESS && !truncated {
            return failure(call, code);
        }
        // Not every library says how long a message is that was too long. Then this is the least that it can be.
        let least = if truncated { self.elements as usize + 1 } else { 0 };
        let found = count(route, status).and_then(|found| usize::try_from(found).ok()).unwrap_or(0).max(least);
        let (rank, from) = (route.place.rank as usize, self.parcel.peer as usize);
        Error::Mismatch { rank, from, expected: self.elements as usize, found }
    }
}

/// How many elements arrived; a negative number if the message ends within one.
#[inline]
fn count(route: &Route, status: &ffi::MPI_Status) -> Option<c_int> {
    let mut found = 0;
    // SAFETY: the datatype is live and the status is set.
    let code = unsafe { ffi::MPI_Get_count(status, route.datatype, &mut found) };
    (code == SUCCESS).then_some(found)
}

/// One message each way.
#[inline]
fn sendrecv(route: &Route, to: Parcel, from: Parcel, status: &mut ffi::MPI_Status) -> c_int {
    // SAFETY: both parcels lie inside memory that lives as long as the call.
    unsafe {
        ffi::MPI_Sendrecv(
            to.address.cast(),
            to.count,
            to.datatype,
            to.peer,
            TAG,
            from.address.cast(),
            from.count,
            from.datatype,
            from.peer,
            TAG,
            route.comm,
            status,
        )
    }
}

#[inline]
fn blank() -> ffi::MPI_Status {
    // SAFETY: a status is a C structure of integers.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

fn irecv(route: &Route, from: Parcel) -> (ffi::MPI_Request, c_int) {
    let Parcel { address, datatype, count, peer } = from;
    // SAFETY: the null handle is a constant of the library.
    let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
    // SAFETY: the parcel lies inside memory that lives as long as the call, which waits for the request.
    let code = unsafe { ffi::MPI_Irecv(address.cast(), count, datatype, peer, TAG, route.comm, &mut request) };
    (request, code)
}

fn isend(route: &Route, to: Parcel) -> (ffi::MPI_Request, c_int) {
    let Parcel { address, datatype, count, peer } = to;
    // SAFETY: the null handle is a constant of the library.
    let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
    // SAFETY: the parcel lies inside memory that lives as long as the call, which waits for the request.
    let code = unsafe { ffi::MPI_Isend(address.cast(), count, datatype, peer, TAG, route.comm, &mut request) };
    (request, code)
}

//! The sink that puts rounds on MPI.
//!
//! Messages are posted as the schedule names them, without blocking, and a round ends when all of its messages are
//! complete. They are waited for one by one: MPICH reports what goes wrong in MPI_Waitall not to the communicator of the
//! messages but to MPI_COMM_WORLD, where it ends the job. (MPICH 4.0 reports all waiting there; later ones do not.) One tag is enough: MPI keeps the order of messages between two ranks, and the checker has shown that they
//! match in that order. An error is remembered, and the rounds go on: a rank that gave up in the middle would leave
//! others waiting for its messages.

use super::arena::Arena;
use super::code::{SUCCESS, check, failure, is};
use super::limit::LIMIT;
use super::memory::Memory;
use crate::error::Error;
use crate::geometry::Geometry;
use crate::policy::{Policy, Wire};
use crate::runs::{Shape, for_each_run};
use ::mpi::ffi;
use roundel_spec::record::Direction;
use roundel_spec::{Blocks, Place, Sink, Site, Stripe, Stripes};
use std::convert::Infallible;
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

/// Messages in flight, and the memory that they need. Kept between calls for its capacity.
#[derive(Default)]
pub(super) struct Flight {
    departures: Vec<ffi::MPI_Request>,
    arrivals: Vec<Arrival>,
    /// The blocks of packed arrivals.
    stripes: Vec<Stripe>,
    outgoing: Arena,
    incoming: Arena,
    /// The runs of the message that is being described as a datatype.
    lengths: Vec<c_int>,
    displacements: Vec<ffi::MPI_Aint>,
}

/// A message that this rank waits for.
struct Arrival {
    request: ffi::MPI_Request,
    from: usize,
    elements: usize,
    packed: Option<Packed>,
}

/// Where a packed message lands, and which blocks it brings.
struct Packed {
    base: NonNull<u8>,
    stripes: Range<u32>,
}

/// What one message looks like to MPI.
struct Parcel {
    address: *mut u8,
    count: c_int,
    datatype: ffi::MPI_Datatype,
}

/// The rounds of one call.
pub(super) struct Rounds<'a, G> {
    route: &'a Route,
    memory: Memory,
    geometry: G,
    flight: &'a mut Flight,
    error: Option<Error>,
}

impl<'a, G: Geometry> Rounds<'a, G> {
    #[inline]
    pub(super) fn new(route: &'a Route, memory: Memory, geometry: G, flight: &'a mut Flight) -> Self {
        Rounds { route, memory, geometry, flight, error: None }
    }

    /// Ends the call: the first error, if there was one.
    #[inline]
    pub(super) fn finish(mut self) -> Result<(), Error> {
        self.complete();
        self.error.take().map_or(Ok(()), Err)
    }

    #[inline(always)]
    fn p(&self) -> usize {
        self.route.place.p as usize
    }

    #[inline(always)]
    fn wire(&self, shape: &Shape) -> Wire {
        self.route.policy.choose(shape.runs, shape.elements.saturating_mul(self.memory.size()))
    }

    /// Elements that lie one after the other.
    #[inline(always)]
    fn parcel(&self, address: *mut u8, elements: usize) -> Parcel {
        Parcel { address, count: elements as c_int, datatype: self.route.datatype }
    }

    /// Hands one message to MPI, which may refuse it. Every message of every call passes here.
    #[inline(always)]
    fn post(
        &mut self,
        direction: Direction,
        peer: usize,
        elements: usize,
        parcel: Parcel,
    ) -> Option<ffi::MPI_Request> {
        assert!(peer < self.p(), "the schedule names a rank outside the communicator");
        if elements > LIMIT {
            self.note(Error::TooLarge { what: "a message", elements, limit: LIMIT });
            return None;
        }
        let Parcel { address, count, datatype } = parcel;
        let (peer, comm) = (peer as c_int, self.route.comm);
        let mut request = MaybeUninit::uninit();
        let to = request.as_mut_ptr();
        // SAFETY: the parcel lies inside memory that lives as long as the call, and the call does not end before
        // its requests are complete: `complete` waits for them, and `drop` does not return if there are any.
        let (call, code) = unsafe {
            match direction {
                Direction::Send => {
                    ("MPI_Isend", ffi::MPI_Isend(address.cast(), count, datatype, peer, TAG, comm, to))
                }
                Direction::Recv => {
                    ("MPI_Irecv", ffi::MPI_Irecv(address.cast(), count, datatype, peer, TAG, comm, to))
                }
            }
        };
        if code != SUCCESS {
            self.note(failure(call, code));
            return None;
        }
        // SAFETY: MPI has set the request, since it took the message.
        Some(unsafe { request.assume_init() })
    }

    /// Posts a message of several runs as one datatype. MPI keeps a freed datatype while a message uses it.
    fn post_described<B: Blocks>(
        &mut self,
        direction: Direction,
        peer: usize,
        elements: usize,
        blocks: &B,
    ) -> Option<ffi::MPI_Request> {
        let mut datatype = self.describe(blocks).map_err(|error| self.note(error)).ok()?;
        let parcel = Parcel { address: self.memory.at(0, 0), count: 1, datatype };
        let request = self.post(direction, peer, elements, parcel);
        // SAFETY: the datatype was just made, and is not used again.
        let code = unsafe { ffi::MPI_Type_free(&mut datatype) };
        check("MPI_Type_free", code).unwrap_or_else(|error| self.note(error));
        request
    }

    /// The runs of `blocks` as an MPI datatype, relative to the beginning of the memory.
    fn describe<B: Blocks>(&mut self, blocks: &B) -> Result<ffi::MPI_Datatype, Error> {
        let p = self.p();
        let Flight { lengths, displacements, .. } = &mut *self.flight;
        lengths.clear();
        displacements.clear();
        for_each_run(blocks, &self.geometry, p, |run| {
            self.memory.at(run.start, run.len);
            lengths.push(run.len as c_int);
            displacements.push((run.start * self.memory.size()) as ffi::MPI_Aint);
        });
        let (n, element) = (lengths.len() as c_int, self.route.datatype);
        let mut datatype = MaybeUninit::uninit();
        // SAFETY: both lists have `n` entries, and the element's datatype is live.
        let code = unsafe {
            let (lengths, displacements) = (lengths.as_ptr(), displacements.as_ptr());
            ffi::MPI_Type_create_hindexed(n, lengths, displacements, element, datatype.as_mut_ptr())
        };
        check("MPI_Type_create_hindexed", code)?;
        // SAFETY: MPI has made the datatype.
        let mut datatype = unsafe { datatype.assume_init() };
        // SAFETY: the datatype is live.
        check("MPI_Type_commit", unsafe { ffi::MPI_Type_commit(&mut datatype) })?;
        Ok(datatype)
    }

    /// Waits for all messages of the round, and puts those that were packed in place.
    #[inline(always)]
    fn complete(&mut self) {
        for i in 0..self.flight.arrivals.len() {
            if let Err(error) = self.land(&self.flight.arrivals[i]) {
                self.note(error);
            }
        }
        for i in 0..self.flight.departures.len() {
            // SAFETY: `post` has made the request, and it is waited for once.
            let code = unsafe { ffi::MPI_Wait(&mut self.flight.departures[i], ffi::RSMPI_STATUS_IGNORE) };
            if code != SUCCESS {
                self.note(failure("MPI_Wait", code));
            }
        }
        self.flight.clear();
    }

    /// Waits for a message, checks that it has the size that was expected, and unpacks it.
    #[inline(always)]
    fn land(&self, arrival: &Arrival) -> Result<(), Error> {
        let mut request = arrival.request;
        // SAFETY: a status is a C structure of integers.
        let mut status: ffi::MPI_Status = unsafe { MaybeUninit::zeroed().assume_init() };
        // SAFETY: `post` has made the request, and it is waited for once: `complete` goes on to forget it.
        let code = unsafe { ffi::MPI_Wait(&mut request, &mut status) };
        if code != SUCCESS {
            return Err(self.failed(arrival, &status, code));
        }
        let found = self.count(&status)?;
        if found as usize != arrival.elements {
            return Err(self.mismatch(arrival, found));
        }
        if let Some((base, stripes)) = &arrival.packed {
            // SAFETY: `recv` took this piece of the arena for this many elements.
            let packed = unsafe { Memory::from_raw(*base, arrival.elements, self.memory.size()) };
            let blocks = Stripes(self.flight.stripes[stripes.clone()].iter().copied());
            packed.unpack(&self.memory, &blocks, &self.geometry, self.p());
        }
        Ok(())
    }

    /// How many elements arrived; a negative number if the message ends within one.
    #[inline(always)]
    fn count(&self, status: &ffi::MPI_Status) -> Result<c_int, Error> {
        let mut found = 0;
        // SAFETY: the datatype is live, and MPI has set the status.
        let code = unsafe { ffi::MPI_Get_count(status, self.route.datatype, &mut found) };
        check("MPI_Get_count", code)?;
        Ok(found)
    }

    #[cold]
    fn mismatch(&self, arrival: &Arrival, found: c_int) -> Error {
        let &Arrival { from, elements: expected, .. } = arrival;
        let found = usize::try_from(found).unwrap_or(0);
        Error::Mismatch { rank: self.route.place.rank as usize, from, expected, found }
    }

    /// Why a message did not arrive. If it was too long, not every library says how long: then the least possible length.
    #[cold]
    fn failed(&self, arrival: &Arrival, status: &ffi::MPI_Status, code: c_int) -> Error {
        if !is(code, ffi::MPI_ERR_TRUNCATE) {
            return failure("MPI_Wait", code);
        }
        let least = arrival.elements as c_int + 1;
        self.mismatch(arrival, self.count(status).map_or(least, |found| found.max(least)))
    }

    /// Remembers an error, if it is the first.
    #[cold]
    fn note(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}

impl Flight {
    /// Keeps the blocks of a message until it arrives.
    #[inline(always)]
    fn keep<B: Blocks>(&mut self, blocks: &B) -> Range<usize> {
        let start = self.stripes.len();
        self.stripes.extend(blocks.stripes());
        start..self.stripes.len()
    }

    /// Everything is complete.
    #[inline(always)]
    fn clear(&mut self) {
        self.departures.clear();
        self.arrivals.clear();
        self.stripes.clear();
        self.outgoing.reset();
        self.incoming.reset();
    }

    fn is_empty(&self) -> bool {
        self.departures.is_empty() && self.arrivals.is_empty()
    }
}

impl<G: Geometry> Sink for Rounds<'_, G> {
    type Error = Infallible;

    #[inline(always)]
    fn begin_round(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    #[inline(always)]
    fn send<B: Blocks>(&mut self, _: Site, to: usize, blocks: B) -> Result<(), Infallible> {
        let shape = Shape::of(&blocks, &self.geometry, self.p());
        let request = match self.wire(&shape) {
            Wire::Contiguous => {
                let parcel = self.parcel(self.memory.at(shape.start, shape.elements), shape.elements);
                self.post(Direction::Send, to, shape.elements, parcel)
            }
            Wire::Packed => {
                let piece = Memory::piece(&mut self.flight.outgoing, shape.elements, self.memory.size());
                piece.pack(&self.memory, &blocks, &self.geometry, self.p());
                self.post(Direction::Send, to, shape.elements, self.parcel(piece.base(), shape.elements))
            }
            Wire::Datatype => self.post_described(Direction::Send, to, shape.elements, &blocks),
        };
        self.flight.departures.extend(request);
        Ok(())
    }

    #[inline(always)]
    fn recv<B: Blocks>(&mut self, _: Site, from: usize, blocks: B) -> Result<(), Infallible> {
        let shape = Shape::of(&blocks, &self.geometry, self.p());
        let mut packed = None;
        let request = match self.wire(&shape) {
            Wire::Contiguous => {
                let parcel = self.parcel(self.memory.at(shape.start, shape.elements), shape.elements);
                self.post(Direction::Recv, from, shape.elements, parcel)
            }
            Wire::Packed => {
                let base = Memory::piece(&mut self.flight.incoming, shape.elements, self.memory.size()).base();
                packed = Some((base, self.flight.keep(&blocks)));
                self.post(Direction::Recv, from, shape.elements, self.parcel(base, shape.elements))
            }
            Wire::Datatype => self.post_described(Direction::Recv, from, shape.elements, &blocks),
        };
        if let Some(request) = request {
            self.flight.arrivals.push(Arrival { request, from, elements: shape.elements, packed });
        }
        Ok(())
    }

    #[inline(always)]
    fn end_round(&mut self) -> Result<(), Infallible> {
        self.complete();
        Ok(())
    }
}

/// Requests are left only when a schedule panics in the middle of a round. Their buffers are about to go, and waiting
/// for peers that may never come is no way out either.
impl<G> Drop for Rounds<'_, G> {
    #[inline]
    fn drop(&mut self) {
        if !self.flight.is_empty() {
            abort(self.route.comm);
        }
    }
}

#[cold]
fn abort(comm: ffi::MPI_Comm) -> ! {
    eprintln!("roundel: a collective panicked while its messages were in flight; ending the MPI job");
    // SAFETY: the communicator is live.
    unsafe { ffi::MPI_Abort(comm, 1) };
    std::process::abort()
}

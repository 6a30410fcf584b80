//! The sink that turns a schedule's rounds into messages.

use super::code::check;
use super::flight::{Arrival, Flight, Parcel, Route};
use super::limit::LIMIT;
use super::memory::Memory;
use crate::error::Error;
use crate::geometry::Geometry;
use crate::policy::Wire;
use crate::runs::{Shape, for_each_run};
use ::mpi::ffi;
use roundel_spec::{Blocks, Sink, Site, Stripes};
use std::convert::Infallible;
use std::ffi::c_int;
use std::mem::{MaybeUninit, forget};

/// The rounds of one call, with blocks in `memory`.
pub(super) struct Rounds<'a, G> {
    route: &'a Route,
    memory: Memory,
    geometry: G,
    flight: &'a mut Flight,
}

impl<'a, G: Geometry> Rounds<'a, G> {
    #[inline]
    pub(super) fn new(route: &'a Route, memory: Memory, geometry: G, flight: &'a mut Flight) -> Self {
        Rounds { route, memory, geometry, flight }
    }

    /// Ends the call: the first error, if there was one.
    #[inline]
    pub(super) fn finish(mut self) -> Result<(), Error> {
        self.exchange();
        let error = self.flight.take_error();
        forget(self);
        error.map_or(Ok(()), Err)
    }

    #[inline(always)]
    fn p(&self) -> usize {
        self.route.place.p as usize
    }

    /// How a message of several runs travels.
    #[inline(always)]
    fn wire(&self, shape: &Shape) -> Wire {
        self.route.policy.choose(shape.runs, shape.elements.saturating_mul(self.memory.size()))
    }

    /// Elements that lie one after the other.
    #[inline(always)]
    fn parcel(&self, peer: usize, address: *mut u8, elements: usize) -> Parcel {
        Parcel { address, datatype: self.route.datatype, count: elements as c_int, peer: peer as c_int }
    }

    /// The shape of a message; none, and an error, if MPI cannot count its elements. Every message passes here.
    #[inline(always)]
    fn shape<B: Blocks>(&mut self, peer: usize, blocks: &B) -> Option<Shape> {
        assert!(peer < self.p(), "the schedule names a rank outside the communicator");
        let shape = Shape::of(blocks, &self.geometry, self.p());
        if shape.elements > LIMIT {
            self.flight.note(Error::TooLarge { what: "a message", elements: shape.elements, limit: LIMIT });
            return None;
        }
        Some(shape)
    }

    /// A message of several runs that leaves.
    #[inline(never)]
    fn send_scattered<B: Blocks>(&mut self, to: usize, blocks: B, shape: Shape) {
        self.flight.scattered = true;
        let parcel = match self.wire(&shape) {
            Wire::Datatype => self.described(to, &blocks),
            Wire::Packed | Wire::Contiguous => {
                let piece = Memory::piece(&mut self.flight.outgoing, shape.elements, self.memory.size());
                piece.pack(&self.memory, &blocks, &self.geometry, self.p());
                Some(self.parcel(to, piece.base(), shape.elements))
            }
        };
        self.flight.departures.extend(parcel);
    }

    /// A message of several runs that arrives.
    #[inline(never)]
    fn recv_scattered<B: Blocks>(&mut self, from: usize, blocks: B, shape: Shape) {
        self.flight.scattered = true;
        let mut packed = None;
        let parcel = match self.wire(&shape) {
            Wire::Datatype => self.described(from, &blocks),
            Wire::Packed | Wire::Contiguous => {
                let base = Memory::piece(&mut self.flight.incoming, shape.elements, self.memory.size()).base();
                packed = Some((base, self.flight.keep(&blocks)));
                Some(self.parcel(from, base, shape.elements))
            }
        };
        let elements = shape.elements as c_int;
        self.flight.arrivals.extend(parcel.map(|parcel| Arrival { parcel, elements, packed }));
    }

    /// A message of several runs as one item of a datatype.
    fn described<B: Blocks>(&mut self, peer: usize, blocks: &B) -> Option<Parcel> {
        let datatype = self.describe(blocks).map_err(|error| self.flight.note(error)).ok()?;
        self.flight.datatypes.push(datatype);
        Some(Parcel { address: self.memory.base(), datatype, count: 1, peer: peer as c_int })
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

    /// Ends a round, if there is one.
    #[inline(always)]
    fn exchange(&mut self) {
        self.flight.exchange(self.route);
        if self.flight.scattered {
            self.unpack();
            self.flight.clear_scattered();
        }
        self.flight.departures.clear();
        self.flight.arrivals.clear();
    }

    /// Moves packed arrivals to where they belong.
    fn unpack(&mut self) {
        for arrival in &self.flight.arrivals {
            let Some((base, stripes)) = &arrival.packed else { continue };
            // SAFETY: `recv_scattered` took this piece of the arena for this many elements.
            let packed = unsafe { Memory::from_raw(*base, arrival.elements as usize, self.memory.size()) };
            let blocks = Stripes(self.flight.stripes[stripes.clone()].iter().copied());
            packed.unpack(&self.memory, &blocks, &self.geometry, self.p());
        }
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
        let Some(shape) = self.shape(to, &blocks) else { return Ok(()) };
        if shape.runs <= 1 {
            let parcel = self.parcel(to, self.memory.at(shape.start, shape.elements), shape.elements);
            self.flight.departures.push(parcel);
        } else {
            self.send_scattered(to, blocks, shape);
        }
        Ok(())
    }

    #[inline(always)]
    fn recv<B: Blocks>(&mut self, _: Site, from: usize, blocks: B) -> Result<(), Infallible> {
        let Some(shape) = self.shape(from, &blocks) else { return Ok(()) };
        if shape.runs <= 1 {
            let parcel = self.parcel(from, self.memory.at(shape.start, shape.elements), shape.elements);
            self.flight.arrivals.push(Arrival { parcel, elements: parcel.count, packed: None });
        } else {
            self.recv_scattered(from, blocks, shape);
        }
        Ok(())
    }

    #[inline(always)]
    fn end_round(&mut self) -> Result<(), Infallible> {
        self.exchange();
        Ok(())
    }
}

/// Reached only when a schedule panics. Its peers would wait for it for ever, so the job ends.
impl<G> Drop for Rounds<'_, G> {
    fn drop(&mut self) {
        eprintln!("roundel: a collective panicked on rank {}; ending the MPI job", self.route.place.rank);
        // SAFETY: the communicator is live.
        unsafe { ffi::MPI_Abort(self.route.comm, 1) };
        std::process::abort()
    }
}

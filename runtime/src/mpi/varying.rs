//! Alltoalls with blocks of any lengths, along an [`Itinerary`].
//!
//! Only the source of a block and its destination know how long it is. So a message tells the lengths of its blocks in another
//! message ahead of it, unless it is one block from its source straight to its destination. A block whose length is not what
//! its destination expected is an error there, and does not stop anybody: no rank would know whom else to stop.
//!
//! Three tags, because the lengths of messages are told before any of them arrives. A message of more elements than MPI can count
//! travels in several.

use super::areas::Scratch;
use super::arena::Arena;
use super::code::{SUCCESS, check, failure, is};
use super::itinerary::{Itinerary, Leg, Stage, Whereabouts};
use super::limit::LIMIT;
use super::state::{Group, Work};
use super::trace::Log;
use crate::alltoall::ShuffleVarying;
use crate::error::Error;
use crate::geometry::Varying;
use ::mpi::datatype::Equivalence;
use ::mpi::ffi;
use ::mpi::raw::AsRaw;
use std::ffi::c_int;
use std::mem::{MaybeUninit, discriminant};

/// A block straight from its source to its destination; the lengths of other messages; the messages themselves.
const DIRECT: c_int = 0;
const LENGTHS: c_int = 1;
const TOLD: c_int = 2;

/// What calls use again.
pub(super) struct Luggage {
    pub(super) itinerary: Itinerary,
    /// More elements travel in several messages.
    pub(super) limit: usize,
    arena: Arena,
    packed: Scratch,
    /// Where the blocks in transit lie.
    slots: Vec<Block>,
    /// The lengths that the round announces, and those that are announced to it.
    announced: Vec<u64>,
    told: Vec<u64>,
    /// Messages of the round that are under way.
    telling: Vec<ffi::MPI_Request>,
    sending: Vec<ffi::MPI_Request>,
    receiving: Vec<Receive>,
    /// Where the round's messages with lengths land; null if straight in the receive buffer.
    landed: Vec<*mut u8>,
    /// The first error of the call, and whether there was one after which messages are not what they should be.
    error: Option<Error>,
    lost: bool,
}

impl Default for Luggage {
    fn default() -> Self {
        Luggage {
            itinerary: Itinerary::default(),
            limit: LIMIT,
            arena: Arena::default(),
            packed: Scratch::default(),
            slots: Vec::new(),
            announced: Vec::new(),
            told: Vec::new(),
            telling: Vec::new(),
            sending: Vec::new(),
            receiving: Vec::new(),
            landed: Vec::new(),
            error: None,
            lost: false,
        }
    }
}

/// A block in memory.
#[derive(Clone, Copy)]
struct Block {
    at: *mut u8,
    elements: usize,
}

const NOWHERE: Block = Block { at: std::ptr::null_mut(), elements: 0 };

/// A message that is expected.
struct Receive {
    request: ffi::MPI_Request,
    peer: c_int,
    elements: c_int,
    /// How many elements the whole of it has, if it is a block straight from its source.
    direct: Option<usize>,
}

/// Runs a valid call along the itinerary that was made for its collective.
pub(super) fn run<T: Equivalence>(work: &mut Work, group: &Group, call: ShuffleVarying<'_, T>) -> Result<(), Error> {
    let Work { luggage, scratch, offsets, flight, .. } = work;
    let ShuffleVarying { send, leaving, recv, arriving, options: _ } = call;
    let (datatype, length) = (T::equivalent_datatype(), u64::equivalent_datatype());
    let (rank, size, recv) = (group.rank, size_of::<T>(), recv.as_mut_ptr().cast());
    let mut voyage = Voyage {
        comm: group.comm.raw(),
        datatype: datatype.as_raw(),
        length: length.as_raw(),
        size,
        rank,
        own: recv,
        leaving,
        recv,
        arriving,
        log: flight.log.as_deref_mut(),
    };
    match send {
        Some(send) => {
            voyage.own = send.as_ptr().cast();
            voyage.keep_own();
        }
        None => {
            voyage.own = voyage.set_aside(scratch, offsets);
            voyage.leaving = Varying::new(leaving.counts, offsets);
        }
    }
    voyage.run(luggage)
}

/// A call in progress. The blocks of `leaving` lie at `own`, and there is room for those of `arriving` at `recv`, which was
/// validated; the borrows of both live longer than this.
struct Voyage<'a> {
    comm: ffi::MPI_Comm,
    /// The MPI type of one element, and of a length.
    datatype: ffi::MPI_Datatype,
    length: ffi::MPI_Datatype,
    /// The size of an element in bytes.
    size: usize,
    rank: usize,
    /// This rank's own blocks.
    own: *const u8,
    leaving: Varying<'a>,
    /// What is for this rank.
    recv: *mut u8,
    arriving: Varying<'a>,
    /// What is posted, while somebody records it.
    log: Option<&'a mut Log>,
}

impl Voyage<'_> {
    /// Copies the block of this rank for itself.
    fn keep_own(&self) {
        let from = self.own.wrapping_add(self.leaving.displs[self.rank].wrapping_mul(self.size));
        let Block { at, elements } = self.expected(self.rank);
        // SAFETY: both blocks lie inside their buffers and are equally long; one of the buffers is borrowed exclusively.
        unsafe { std::ptr::copy_nonoverlapping(from, at, elements * self.size) }
    }

    /// Copies this rank's blocks out of the receive buffer, where they would be overwritten, and says where they begin.
    fn set_aside(&self, scratch: &mut Scratch, offsets: &mut Vec<usize>) -> *const u8 {
        let own = scratch.reserve(self.leaving.counts.iter().sum::<usize>() * self.size);
        offsets.clear();
        let mut end = 0;
        for to in 0..self.leaving.counts.len() {
            let Block { at, elements } = self.expected(to);
            offsets.push(end);
            // SAFETY: the block lies inside the receive buffer, and scratch has room for all of them.
            unsafe {
                let aside = own.wrapping_add(end * self.size);
                std::ptr::copy_nonoverlapping(at.cast_const(), aside, elements * self.size);
            }
            end += elements;
        }
        own
    }

    /// Takes part in all rounds. When this returns, all messages are complete.
    fn run(&mut self, luggage: &mut Luggage) -> Result<(), Error> {
        let Itinerary { slots, announces, is_told, .. } = luggage.itinerary;
        luggage.lost = false;
        luggage.slots.resize(slots, NOWHERE);
        luggage.announced.resize(announces, 0);
        luggage.told.resize(is_told, 0);
        self.log.iter_mut().for_each(|log| log.begin());
        for stage in 0..luggage.itinerary.stages.len() {
            let stage = luggage.itinerary.stages[stage].clone();
            self.round(luggage, &stage);
        }
        luggage.arena.clear();
        luggage.error.take().map_or(Ok(()), Err)
    }

    fn round(&mut self, luggage: &mut Luggage, stage: &Stage) {
        self.expect(luggage, stage);
        let announced = self.announce(luggage, stage);
        self.depart(luggage, stage, announced);
        self.arrive(luggage, stage);
        self.complete(luggage);
        self.unpack(luggage, stage);
        self.log.iter_mut().for_each(|log| log.end_round());
    }

    /// Posts the receives of lengths, and of messages whose length is known.
    fn expect(&mut self, luggage: &mut Luggage, stage: &Stage) {
        let mut told = 0;
        for i in stage.arrivals.clone() {
            let leg = luggage.itinerary.arrivals[i].clone();
            if leg.direct {
                let block = self.expected(leg.peer as usize);
                self.receive(luggage, &leg, DIRECT, block);
            } else {
                let n = leg.blocks.len();
                let at: *mut u8 = luggage.told[told..told + n].as_mut_ptr().cast();
                told += n;
                let request = self.post(luggage, Way::In, at, n as c_int, self.length, leg.peer, LENGTHS);
                luggage.telling.push(request);
            }
        }
    }

    /// Tells the others how long the blocks are that leave, and says of how many.
    fn announce(&mut self, luggage: &mut Luggage, stage: &Stage) -> usize {
        let mut told = 0;
        for i in stage.departures.clone() {
            let leg = luggage.itinerary.departures[i].clone();
            if leg.direct {
                continue;
            }
            let begin = told;
            for i in leg.blocks.clone() {
                luggage.announced[told] = self.find(luggage, luggage.itinerary.blocks[i]).elements as u64;
                told += 1;
            }
            let at: *mut u8 = luggage.announced[begin..told].as_mut_ptr().cast();
            let request = self.post(luggage, Way::Out, at, (told - begin) as c_int, self.length, leg.peer, LENGTHS);
            luggage.sending.push(request);
        }
        told
    }

    /// Sends what leaves; what does not lie together is packed.
    fn depart(&mut self, luggage: &mut Luggage, stage: &Stage, announced: usize) {
        // Room for all, though some may lie together: in the next call, which must not allocate, they need not.
        let lengths: usize = luggage.announced[..announced].iter().map(|&length| length as usize).sum();
        let mut free = luggage.packed.reserve(lengths * self.size);
        for i in stage.departures.clone() {
            let leg = luggage.itinerary.departures[i].clone();
            let (block, packed) = self.pack(luggage, &leg, free);
            free = free.wrapping_add(packed);
            self.send(luggage, &leg, if leg.direct { DIRECT } else { TOLD }, block);
        }
    }

    /// The message of a leg, and how many bytes of it were copied to `to`: none if its blocks lie together.
    fn pack(&self, luggage: &Luggage, leg: &Leg, to: *mut u8) -> (Block, usize) {
        let blocks = || {
            let all = luggage.itinerary.blocks[leg.blocks.clone()].iter();
            all.map(|&block| (discriminant(&block), self.find(luggage, block)))
                .filter(|(_, block)| block.elements > 0)
        };
        let (mut whole, mut memory, mut together) = (NOWHERE, None, true);
        for (kind, block) in blocks() {
            if memory.is_none() {
                (whole.at, memory) = (block.at, Some(kind));
            }
            together &= memory == Some(kind) && whole.at.wrapping_add(whole.elements * self.size) == block.at;
            whole.elements += block.elements;
        }
        if together {
            return (whole, 0);
        }
        whole.at = to;
        let mut to = to;
        for (_, block) in blocks() {
            let bytes = block.elements * self.size;
            // SAFETY: there are so many elements at a block, and the caller reserved as many bytes as all of them have.
            unsafe { std::ptr::copy_nonoverlapping(block.at.cast_const(), to, bytes) };
            to = to.wrapping_add(bytes);
        }
        (whole, whole.elements * self.size)
    }

    /// Waits for the lengths of each message, and posts its receive.
    fn arrive(&mut self, luggage: &mut Luggage, stage: &Stage) {
        let (mut nth, mut told) = (0, 0);
        for i in stage.arrivals.clone() {
            let leg = luggage.itinerary.arrivals[i].clone();
            if leg.direct {
                continue;
            }
            let lengths = told..told + leg.blocks.len();
            told = lengths.end;
            let peer = leg.peer;
            let outcome = self.wait(&mut luggage.telling[nth], Some((self.length, lengths.len() as c_int, peer)));
            nth += 1;
            if luggage.note(outcome) || self.total(&luggage.told[lengths.clone()]).is_none() {
                // Whatever was announced is not to be believed.
                let error = Error::TooLarge { what: "a message", elements: usize::MAX, limit: isize::MAX as usize };
                luggage.note(Err(error));
                luggage.told[lengths.clone()].fill(0);
            }
            let total = self.total(&luggage.told[lengths.clone()]).unwrap_or(0);
            let straight = self.straight(luggage, &leg, lengths.start);
            // Room in any case, so that the next call finds it.
            let room = luggage.arena.take(total * self.size);
            let at = straight.unwrap_or(room);
            luggage.landed.push(if straight.is_some() { std::ptr::null_mut() } else { at });
            self.place(luggage, &leg, lengths.start, at);
            self.receive(luggage, &leg, TOLD, Block { at, elements: total });
        }
        luggage.telling.clear();
    }

    /// How many elements blocks of these lengths have, unless no memory holds them.
    fn total(&self, lengths: &[u64]) -> Option<usize> {
        let mut total = 0usize;
        for &length in lengths {
            total = total.checked_add(usize::try_from(length).ok()?)?;
        }
        total.checked_mul(self.size.max(1)).filter(|&bytes| bytes <= isize::MAX as usize)?;
        Some(total)
    }

    /// Where a message goes if all of its blocks are for this rank, as long as expected, and belong together there.
    fn straight(&self, luggage: &Luggage, leg: &Leg, told: usize) -> Option<*mut u8> {
        let mut whole = NOWHERE;
        for (&block, &length) in luggage.itinerary.blocks[leg.blocks.clone()].iter().zip(&luggage.told[told..]) {
            let Whereabouts::Final(from) = block else { return None };
            let expected = self.expected(from);
            if expected.elements as u64 != length {
                return None;
            }
            if length == 0 {
                continue;
            }
            if whole.elements == 0 {
                whole.at = expected.at;
            }
            if whole.at.wrapping_add(whole.elements * self.size) != expected.at {
                return None;
            }
            whole.elements += expected.elements;
        }
        (whole.elements > 0).then_some(whole.at)
    }

    /// Writes down where blocks in transit will lie, and checks the lengths of the others.
    fn place(&self, luggage: &mut Luggage, leg: &Leg, told: usize, at: *mut u8) {
        let mut at = at;
        for (nth, i) in leg.blocks.clone().enumerate() {
            let elements = luggage.told[told + nth] as usize;
            match luggage.itinerary.blocks[i] {
                Whereabouts::Transit(slot) => luggage.slots[slot] = Block { at, elements },
                Whereabouts::Final(from) if self.expected(from).elements != elements => {
                    luggage.note(Err(self.mismatch(from, elements)));
                }
                Whereabouts::Final(_) | Whereabouts::Own(_) => {}
            }
            at = at.wrapping_add(elements * self.size);
        }
    }

    /// Waits for all messages.
    fn complete(&mut self, luggage: &mut Luggage) {
        for i in 0..luggage.receiving.len() {
            let Receive { request, peer, elements, direct } = &mut luggage.receiving[i];
            let (elements, direct) = (*elements as usize, *direct);
            let outcome = self.wait(request, Some((self.datatype, elements as c_int, *peer)));
            let outcome = outcome.map_err(|error| match (error, direct) {
                (Error::Mismatch { from, found, .. }, Some(whole)) => self.mismatch(from, whole - elements + found),
                (error, _) => error,
            });
            luggage.note(outcome);
        }
        for i in 0..luggage.sending.len() {
            let outcome = self.wait(&mut luggage.sending[i], None);
            luggage.note(outcome);
        }
        luggage.receiving.clear();
        luggage.sending.clear();
    }

    /// Copies the blocks for this rank to where they belong. One that is not as long as expected stays where it is.
    fn unpack(&self, luggage: &mut Luggage, stage: &Stage) {
        let (mut nth, mut told) = (0, 0);
        for leg in luggage.itinerary.arrivals[stage.arrivals.clone()].iter().filter(|leg| !leg.direct) {
            let mut at = luggage.landed[nth];
            let straight = at.is_null();
            nth += 1;
            for &block in &luggage.itinerary.blocks[leg.blocks.clone()] {
                let elements = luggage.told[told] as usize;
                told += 1;
                let bytes = elements * self.size;
                if let Whereabouts::Final(from) = block {
                    let expected = self.expected(from);
                    if !straight && !luggage.lost && expected.elements == elements {
                        // SAFETY: so many elements arrived there, and there is room for so many here.
                        unsafe { std::ptr::copy_nonoverlapping(at.cast_const(), expected.at, bytes) };
                    }
                }
                at = at.wrapping_add(bytes);
            }
        }
        luggage.landed.clear();
    }

    /// Where a block is now.
    fn find(&self, luggage: &Luggage, block: Whereabouts) -> Block {
        match block {
            Whereabouts::Own(to) => {
                let at = self.own.cast_mut().wrapping_add(self.leaving.displs[to].wrapping_mul(self.size));
                Block { at, elements: self.leaving.counts[to] }
            }
            Whereabouts::Transit(slot) => luggage.slots[slot],
            Whereabouts::Final(from) => self.expected(from),
        }
    }

    /// Where the block of a rank for this one belongs. An empty one may lie outside the buffer.
    fn expected(&self, from: usize) -> Block {
        let at = self.recv.wrapping_add(self.arriving.displs[from].wrapping_mul(self.size));
        Block { at, elements: self.arriving.counts[from] }
    }

    fn mismatch(&self, from: usize, found: usize) -> Error {
        Error::BlockMismatch { rank: self.rank, from, expected: self.arriving.counts[from], found }
    }

    /// Sends a message in as many pieces as it needs.
    fn send(&mut self, luggage: &mut Luggage, leg: &Leg, tag: c_int, block: Block) {
        for (at, elements) in self.pieces(luggage.limit, leg, block) {
            let request = self.post(luggage, Way::Out, at, elements, self.datatype, leg.peer, tag);
            luggage.sending.push(request);
        }
    }

    /// Receives a message in as many pieces as it needs.
    fn receive(&mut self, luggage: &mut Luggage, leg: &Leg, tag: c_int, block: Block) {
        for (at, elements) in self.pieces(luggage.limit, leg, block) {
            let request = self.post(luggage, Way::In, at, elements, self.datatype, leg.peer, tag);
            let direct = leg.direct.then_some(block.elements);
            luggage.receiving.push(Receive { request, peer: leg.peer, elements, direct });
        }
    }

    /// The pieces of a message. An empty one has none, unless the other end may expect one that is not empty.
    fn pieces(&self, limit: usize, leg: &Leg, block: Block) -> impl Iterator<Item = (*mut u8, c_int)> + use<> {
        let (size, Block { at, elements }) = (self.size, block);
        let n = elements.div_ceil(limit).max(usize::from(leg.direct));
        (0..n).map(move |i| {
            let begin = i * limit;
            (at.wrapping_add(begin * size), limit.min(elements - begin) as c_int)
        })
    }

    /// Posts a message. If MPI refuses it, that is an error, and there is nothing to wait for.
    #[allow(clippy::too_many_arguments, reason = "those of MPI_Isend")]
    fn post(
        &mut self,
        luggage: &mut Luggage,
        way: Way,
        at: *mut u8,
        count: c_int,
        datatype: ffi::MPI_Datatype,
        peer: c_int,
        tag: c_int,
    ) -> ffi::MPI_Request {
        // SAFETY: the null handle is a constant of the library.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        // SAFETY: there are, or is room for, so many elements; they stay there until the round is complete, which waits for
        // the request.
        let (call, code) = unsafe {
            match way {
                Way::In => {
                    ("MPI_Irecv", ffi::MPI_Irecv(at.cast(), count, datatype, peer, tag, self.comm, &mut request))
                }
                Way::Out => {
                    ("MPI_Isend", ffi::MPI_Isend(at.cast(), count, datatype, peer, tag, self.comm, &mut request))
                }
            }
        };
        luggage.note(check(call, code));
        if let (Some(log), Some(numbers)) = (&mut self.log, &luggage.itinerary.numbers) {
            let bytes = super::trace::bytes(count as usize, datatype);
            match way {
                Way::In => log.receives(numbers, self.rank, peer, bytes),
                Way::Out => log.sends(numbers, self.rank, peer, bytes),
            }
        }
        request
    }

    /// Waits for a message; if it is one that arrives, for so many elements of a type from a peer.
    fn wait(
        &self,
        request: &mut ffi::MPI_Request,
        expected: Option<(ffi::MPI_Datatype, c_int, c_int)>,
    ) -> Result<(), Error> {
        let mut status = MaybeUninit::<ffi::MPI_Status>::zeroed();
        // SAFETY: the request was posted, or is null, and is waited for once.
        let code = unsafe { ffi::MPI_Wait(request, status.as_mut_ptr()) };
        let Some((datatype, elements, peer)) = expected else { return check("MPI_Wait", code) };
        let truncated = code != SUCCESS && is(code, ffi::MPI_ERR_TRUNCATE);
        if code != SUCCESS && !truncated {
            return Err(failure("MPI_Wait", code));
        }
        let expected = elements as usize;
        let found = match truncated {
            // The least that it can be: MPICH 4.0 may say the length of some message before it.
            true => expected + 1,
            false => usize::try_from(count(status.as_ptr(), datatype)).unwrap_or(0),
        };
        if found == expected {
            return Ok(());
        }
        Err(Error::Mismatch { rank: self.rank, from: peer as usize, expected, found })
    }
}

/// How many elements arrived; a negative number if the message ends within one.
fn count(status: *const ffi::MPI_Status, datatype: ffi::MPI_Datatype) -> c_int {
    let mut found = -1;
    // SAFETY: the datatype is live and the status was set by a call that completed a message.
    unsafe { ffi::MPI_Get_count(status, datatype, &mut found) };
    found
}

impl Luggage {
    /// Remembers an error, if it is the first; says whether there was one.
    fn note(&mut self, outcome: Result<(), Error>) -> bool {
        match outcome {
            Ok(()) => false,
            Err(error) => {
                self.lost |= !matches!(error, Error::BlockMismatch { .. });
                self.error.get_or_insert(error);
                true
            }
        }
    }
}

/// Which way a message goes.
#[derive(Clone, Copy)]
enum Way {
    In,
    Out,
}

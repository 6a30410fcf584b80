//! Alltoalls with blocks of any lengths, along a [`Route`].
//!
//! Only the source and the destination of a block know its length. So every message is preceded by another one with
//! the lengths of its blocks, unless it is a single block directly from its source to its destination. A block of
//! unexpected length is an error at its destination, and does not stop the call: no rank would know which others to
//! stop.
//!
//! There are three tags, because the lengths of messages travel before the messages themselves. A message of more
//! elements than MPI can count is split.

use crate::call::alltoall::AlltoallvCall;
use crate::call::geometry::Varying;
use crate::error::Error;
use crate::mpi::comm::own::OwnComm;
use crate::mpi::execution::post_log::{self, PostLog};
use crate::mpi::lowering::areas::Scratch;
use crate::mpi::lowering::arena::Arena;
use crate::mpi::lowering::limit::LIMIT;
use crate::mpi::lowering::route::{BlockLocation, Hop, Route, RouteRound};
use crate::mpi::process::code::{SUCCESS, check, failure, is};
use crate::program::MessageDirection;
use ::mpi::datatype::Equivalence;
use ::mpi::ffi;
use ::mpi::raw::AsRaw;
use std::ffi::c_int;
use std::mem::{MaybeUninit, discriminant};

/// Tags: a block directly from its source to its destination; the lengths of other messages; those messages
/// themselves.
const DIRECT: c_int = 0;
const LENGTHS: c_int = 1;
const TOLD: c_int = 2;

/// Memory that calls reuse.
pub(crate) struct AlltoallvBuffers {
    pub(crate) route: Route,
    /// Messages of more elements are split.
    pub(crate) limit: usize,
    arena: Arena,
    packed: Scratch,
    /// The positions of blocks in transit.
    slots: Vec<MemoryBlock>,
    /// The lengths that this rank announces in the round, and those announced to it.
    announced: Vec<u64>,
    received_lengths: Vec<u64>,
    /// Active requests of the round.
    telling: Vec<ffi::MPI_Request>,
    sending: Vec<ffi::MPI_Request>,
    receiving: Vec<Receive>,
    /// Where the round's messages with lengths arrive; null for those that go directly to the receive buffer.
    landed: Vec<*mut u8>,
    /// The first error of the call, and whether an error has made later messages unreliable.
    error: Option<Error>,
    lost: bool,
}

impl Default for AlltoallvBuffers {
    fn default() -> Self {
        AlltoallvBuffers {
            route: Route::default(),
            limit: LIMIT,
            arena: Arena::default(),
            packed: Scratch::default(),
            slots: Vec::new(),
            announced: Vec::new(),
            received_lengths: Vec::new(),
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
struct MemoryBlock {
    at: *mut u8,
    elements: usize,
}

const NOWHERE: MemoryBlock = MemoryBlock { at: std::ptr::null_mut(), elements: 0 };

/// A message that is expected.
struct Receive {
    request: ffi::MPI_Request,
    peer: c_int,
    elements: c_int,
    /// The number of elements of the whole message, if it is a block directly from its source.
    direct: Option<usize>,
}

/// Runs a valid call along the route made for its collective.
pub(crate) fn run<T: Equivalence>(
    buffers: &mut AlltoallvBuffers,
    (scratch, offsets): (&mut Scratch, &mut Vec<usize>),
    log: Option<&mut PostLog>,
    group: &OwnComm,
    call: AlltoallvCall<'_, T>,
) -> Result<(), Error> {
    let AlltoallvCall { send, leaving, recv, arriving, options: _ } = call;
    let (datatype, length) = (T::equivalent_datatype(), u64::equivalent_datatype());
    let (rank, size, recv) = (group.rank, size_of::<T>(), recv.as_mut_ptr().cast());
    let mut run = AlltoallvRun {
        comm: group.comm.raw(),
        datatype: datatype.as_raw(),
        length: length.as_raw(),
        size,
        rank,
        own: recv,
        leaving,
        recv,
        arriving,
        log,
    };
    match send {
        Some(send) => {
            run.own = send.as_ptr().cast();
            run.keep_own();
        }
        None => {
            run.own = run.set_aside(scratch, offsets);
            run.leaving = Varying::new(leaving.counts, offsets);
        }
    }
    run.run(buffers)
}

/// A call in progress. The blocks of `leaving` lie at `own`, and `recv` has room for those of `arriving`; both were
/// validated, and the borrows outlive this value.
struct AlltoallvRun<'a> {
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
    /// The receive buffer.
    recv: *mut u8,
    arriving: Varying<'a>,
    /// The log of posted messages, while messages are recorded.
    log: Option<&'a mut PostLog>,
}

impl AlltoallvRun<'_> {
    /// Copies this rank's block for itself.
    fn keep_own(&self) {
        let from = self.own.wrapping_add(self.leaving.displs[self.rank].wrapping_mul(self.size));
        let MemoryBlock { at, elements } = self.expected(self.rank);
        // SAFETY: both blocks lie inside their buffers and are equally long; one of the buffers is borrowed
        // exclusively.
        unsafe { std::ptr::copy_nonoverlapping(from, at, elements * self.size) }
    }

    /// Copies this rank's blocks out of the receive buffer, where they would be overwritten, and returns their new
    /// beginning.
    fn set_aside(&self, scratch: &mut Scratch, offsets: &mut Vec<usize>) -> *const u8 {
        let own = scratch.reserve(self.leaving.counts.iter().sum::<usize>() * self.size);
        offsets.clear();
        let mut end = 0;
        for to in 0..self.leaving.counts.len() {
            let MemoryBlock { at, elements } = self.expected(to);
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

    /// Runs all rounds. When this returns, all messages are complete.
    fn run(&mut self, buffers: &mut AlltoallvBuffers) -> Result<(), Error> {
        let Route { slots, announces, receives_lengths, .. } = buffers.route;
        buffers.lost = false;
        buffers.slots.resize(slots, NOWHERE);
        buffers.announced.resize(announces, 0);
        buffers.received_lengths.resize(receives_lengths, 0);
        self.log.iter_mut().for_each(|log| log.begin());
        for stage in 0..buffers.route.stages.len() {
            let stage = buffers.route.stages[stage].clone();
            self.round(buffers, &stage);
        }
        buffers.arena.clear();
        buffers.error.take().map_or(Ok(()), Err)
    }

    fn round(&mut self, buffers: &mut AlltoallvBuffers, stage: &RouteRound) {
        self.expect(buffers, stage);
        let announced = self.announce(buffers, stage);
        self.depart(buffers, stage, announced);
        self.arrive(buffers, stage);
        self.complete(buffers);
        self.unpack(buffers, stage);
        self.log.iter_mut().for_each(|log| log.end_round());
    }

    /// Posts the receives of lengths, and of messages whose length is known.
    fn expect(&mut self, buffers: &mut AlltoallvBuffers, stage: &RouteRound) {
        let mut next_length = 0;
        for i in stage.arrivals.clone() {
            let hop = buffers.route.arrivals[i].clone();
            if hop.direct {
                let block = self.expected(hop.peer as usize);
                self.receive(buffers, &hop, DIRECT, block);
            } else {
                let n = hop.blocks.len();
                let at: *mut u8 = buffers.received_lengths[next_length..next_length + n].as_mut_ptr().cast();
                next_length += n;
                let request =
                    self.post(buffers, MessageDirection::In, at, n as c_int, self.length, hop.peer, LENGTHS);
                buffers.telling.push(request);
            }
        }
    }

    /// Sends the lengths of the blocks that leave, and returns how many lengths it sent.
    fn announce(&mut self, buffers: &mut AlltoallvBuffers, stage: &RouteRound) -> usize {
        let mut next_length = 0;
        for i in stage.departures.clone() {
            let hop = buffers.route.departures[i].clone();
            if hop.direct {
                continue;
            }
            let begin = next_length;
            for i in hop.blocks.clone() {
                buffers.announced[next_length] = self.find(buffers, buffers.route.blocks[i]).elements as u64;
                next_length += 1;
            }
            let at: *mut u8 = buffers.announced[begin..next_length].as_mut_ptr().cast();
            let request = self.post(
                buffers,
                MessageDirection::Out,
                at,
                (next_length - begin) as c_int,
                self.length,
                hop.peer,
                LENGTHS,
            );
            buffers.sending.push(request);
        }
        next_length
    }

    /// Sends the blocks that leave. Blocks that are not contiguous are packed.
    fn depart(&mut self, buffers: &mut AlltoallvBuffers, stage: &RouteRound, announced: usize) {
        // Reserves room for all blocks even if some are contiguous: they need not be in the next call, which must not
        // allocate.
        let lengths: usize = buffers.announced[..announced].iter().map(|&length| length as usize).sum();
        let mut free = buffers.packed.reserve(lengths * self.size);
        for i in stage.departures.clone() {
            let hop = buffers.route.departures[i].clone();
            let (block, packed) = self.pack(buffers, &hop, free);
            free = free.wrapping_add(packed);
            self.send(buffers, &hop, if hop.direct { DIRECT } else { TOLD }, block);
        }
    }

    /// The message of a hop, and the number of bytes copied to `to`: zero if its blocks are contiguous.
    fn pack(&self, buffers: &AlltoallvBuffers, hop: &Hop, to: *mut u8) -> (MemoryBlock, usize) {
        let blocks = || {
            let all = buffers.route.blocks[hop.blocks.clone()].iter();
            all.map(|&block| (discriminant(&block), self.find(buffers, block)))
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
            // SAFETY: each block has this many elements, and the caller has reserved as many bytes as they have in
            // total.
            unsafe { std::ptr::copy_nonoverlapping(block.at.cast_const(), to, bytes) };
            to = to.wrapping_add(bytes);
        }
        (whole, whole.elements * self.size)
    }

    /// Waits for the lengths of each message, and posts its receive.
    fn arrive(&mut self, buffers: &mut AlltoallvBuffers, stage: &RouteRound) {
        let (mut nth, mut next_length) = (0, 0);
        for i in stage.arrivals.clone() {
            let hop = buffers.route.arrivals[i].clone();
            if hop.direct {
                continue;
            }
            let lengths = next_length..next_length + hop.blocks.len();
            next_length = lengths.end;
            let peer = hop.peer;
            let outcome = self.wait(&mut buffers.telling[nth], Some((self.length, lengths.len() as c_int, peer)));
            nth += 1;
            if buffers.note(outcome) || self.total(&buffers.received_lengths[lengths.clone()]).is_none() {
                // The announced lengths cannot be right.
                let error = Error::TooLarge { what: "a message", elements: usize::MAX, limit: isize::MAX as usize };
                buffers.note(Err(error));
                buffers.received_lengths[lengths.clone()].fill(0);
            }
            let total = self.total(&buffers.received_lengths[lengths.clone()]).unwrap_or(0);
            let straight = self.straight(buffers, &hop, lengths.start);
            // Reserves room in any case, so that the next call need not allocate.
            let room = buffers.arena.take(total * self.size);
            let at = straight.unwrap_or(room);
            buffers.landed.push(if straight.is_some() { std::ptr::null_mut() } else { at });
            self.place(buffers, &hop, lengths.start, at);
            self.receive(buffers, &hop, TOLD, MemoryBlock { at, elements: total });
        }
        buffers.telling.clear();
    }

    /// The number of elements in blocks of these lengths; `None` if they cannot fit in memory.
    fn total(&self, lengths: &[u64]) -> Option<usize> {
        let mut total = 0usize;
        for &length in lengths {
            total = total.checked_add(usize::try_from(length).ok()?)?;
        }
        total.checked_mul(self.size.max(1)).filter(|&bytes| bytes <= isize::MAX as usize)?;
        Some(total)
    }

    /// The destination of a message if all of its blocks are for this rank, have the expected lengths, and are
    /// contiguous there.
    fn straight(&self, buffers: &AlltoallvBuffers, hop: &Hop, next_length: usize) -> Option<*mut u8> {
        let mut whole = NOWHERE;
        for (&block, &length) in
            buffers.route.blocks[hop.blocks.clone()].iter().zip(&buffers.received_lengths[next_length..])
        {
            let BlockLocation::Final(from) = block else { return None };
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

    /// Stores where blocks in transit will lie, and checks the lengths of the others.
    fn place(&self, buffers: &mut AlltoallvBuffers, hop: &Hop, next_length: usize, at: *mut u8) {
        let mut at = at;
        for (nth, i) in hop.blocks.clone().enumerate() {
            let elements = buffers.received_lengths[next_length + nth] as usize;
            match buffers.route.blocks[i] {
                BlockLocation::Transit(slot) => buffers.slots[slot] = MemoryBlock { at, elements },
                BlockLocation::Final(from) if self.expected(from).elements != elements => {
                    buffers.note(Err(self.mismatch(from, elements)));
                }
                BlockLocation::Final(_) | BlockLocation::Own(_) => {}
            }
            at = at.wrapping_add(elements * self.size);
        }
    }

    /// Waits for all messages.
    fn complete(&mut self, buffers: &mut AlltoallvBuffers) {
        for i in 0..buffers.receiving.len() {
            let Receive { request, peer, elements, direct } = &mut buffers.receiving[i];
            let (elements, direct) = (*elements as usize, *direct);
            let outcome = self.wait(request, Some((self.datatype, elements as c_int, *peer)));
            let outcome = outcome.map_err(|error| match (error, direct) {
                (Error::Mismatch { from, found, .. }, Some(whole)) => self.mismatch(from, whole - elements + found),
                (error, _) => error,
            });
            buffers.note(outcome);
        }
        for i in 0..buffers.sending.len() {
            let outcome = self.wait(&mut buffers.sending[i], None);
            buffers.note(outcome);
        }
        buffers.receiving.clear();
        buffers.sending.clear();
    }

    /// Copies the blocks for this rank to their destinations. A block of unexpected length is not copied.
    fn unpack(&self, buffers: &mut AlltoallvBuffers, stage: &RouteRound) {
        let (mut nth, mut next_length) = (0, 0);
        for hop in buffers.route.arrivals[stage.arrivals.clone()].iter().filter(|hop| !hop.direct) {
            let mut at = buffers.landed[nth];
            let straight = at.is_null();
            nth += 1;
            for &block in &buffers.route.blocks[hop.blocks.clone()] {
                let elements = buffers.received_lengths[next_length] as usize;
                next_length += 1;
                let bytes = elements * self.size;
                if let BlockLocation::Final(from) = block {
                    let expected = self.expected(from);
                    if !straight && !buffers.lost && expected.elements == elements {
                        // SAFETY: this many elements have arrived, and there is room for as many at the destination.
                        unsafe { std::ptr::copy_nonoverlapping(at.cast_const(), expected.at, bytes) };
                    }
                }
                at = at.wrapping_add(bytes);
            }
        }
        buffers.landed.clear();
    }

    /// The current position of a block.
    fn find(&self, buffers: &AlltoallvBuffers, block: BlockLocation) -> MemoryBlock {
        match block {
            BlockLocation::Own(to) => {
                let at = self.own.cast_mut().wrapping_add(self.leaving.displs[to].wrapping_mul(self.size));
                MemoryBlock { at, elements: self.leaving.counts[to] }
            }
            BlockLocation::Transit(slot) => buffers.slots[slot],
            BlockLocation::Final(from) => self.expected(from),
        }
    }

    /// The destination of a rank's block for this rank. An empty one may lie outside the buffer.
    fn expected(&self, from: usize) -> MemoryBlock {
        let at = self.recv.wrapping_add(self.arriving.displs[from].wrapping_mul(self.size));
        MemoryBlock { at, elements: self.arriving.counts[from] }
    }

    fn mismatch(&self, from: usize, found: usize) -> Error {
        Error::BlockMismatch { rank: self.rank, from, expected: self.arriving.counts[from], found }
    }

    /// Sends a message, split into pieces if necessary.
    fn send(&mut self, buffers: &mut AlltoallvBuffers, hop: &Hop, tag: c_int, block: MemoryBlock) {
        for (at, elements) in self.pieces(buffers.limit, hop, block) {
            let request = self.post(buffers, MessageDirection::Out, at, elements, self.datatype, hop.peer, tag);
            buffers.sending.push(request);
        }
    }

    /// Receives a message, split into pieces if necessary.
    fn receive(&mut self, buffers: &mut AlltoallvBuffers, hop: &Hop, tag: c_int, block: MemoryBlock) {
        for (at, elements) in self.pieces(buffers.limit, hop, block) {
            let request = self.post(buffers, MessageDirection::In, at, elements, self.datatype, hop.peer, tag);
            let direct = hop.direct.then_some(block.elements);
            buffers.receiving.push(Receive { request, peer: hop.peer, elements, direct });
        }
    }

    /// The pieces of a message. An empty message has none, unless the other end may expect a non-empty one.
    fn pieces(&self, limit: usize, hop: &Hop, block: MemoryBlock) -> impl Iterator<Item = (*mut u8, c_int)> + use<> {
        let (size, MemoryBlock { at, elements }) = (self.size, block);
        let n = elements.div_ceil(limit).max(usize::from(hop.direct));
        (0..n).map(move |i| {
            let begin = i * limit;
            (at.wrapping_add(begin * size), limit.min(elements - begin) as c_int)
        })
    }

    /// Posts a message. If MPI refuses it, records an error; then there is no request to wait for.
    #[allow(clippy::too_many_arguments, reason = "those of MPI_Isend")]
    fn post(
        &mut self,
        buffers: &mut AlltoallvBuffers,
        direction: MessageDirection,
        at: *mut u8,
        count: c_int,
        datatype: ffi::MPI_Datatype,
        peer: c_int,
        tag: c_int,
    ) -> ffi::MPI_Request {
        // SAFETY: the null handle is a constant of the library.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        // SAFETY: the memory holds, or has room for, this many elements, and stays valid until the end of the round,
        // which waits for the request.
        let (call, code) = unsafe {
            match direction {
                MessageDirection::In => {
                    ("MPI_Irecv", ffi::MPI_Irecv(at.cast(), count, datatype, peer, tag, self.comm, &mut request))
                }
                MessageDirection::Out => {
                    ("MPI_Isend", ffi::MPI_Isend(at.cast(), count, datatype, peer, tag, self.comm, &mut request))
                }
            }
        };
        buffers.note(check(call, code));
        if let (Some(log), Some(numbers)) = (&mut self.log, &buffers.route.numbers) {
            let bytes = post_log::bytes(count as usize, datatype);
            match direction {
                MessageDirection::In => log.receives(numbers, self.rank, peer, bytes),
                MessageDirection::Out => log.sends(numbers, self.rank, peer, bytes),
            }
        }
        request
    }

    /// Waits for a message. If it is a receive, checks that it has this many elements of a type from a peer.
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
            // A lower bound: MPICH 4.0 may report the length of an earlier message.
            true => expected + 1,
            false => usize::try_from(count(status.as_ptr(), datatype)).unwrap_or(0),
        };
        if found == expected {
            return Ok(());
        }
        Err(Error::Mismatch { rank: self.rank, from: peer as usize, expected, found })
    }
}

/// The number of elements that arrived; negative if the message ends within an element.
fn count(status: *const ffi::MPI_Status, datatype: ffi::MPI_Datatype) -> c_int {
    let mut found = -1;
    // SAFETY: the datatype is live and the status was set by a call that completed a message.
    unsafe { ffi::MPI_Get_count(status, datatype, &mut found) };
    found
}

impl AlltoallvBuffers {
    /// Records the first error; returns whether there was one.
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

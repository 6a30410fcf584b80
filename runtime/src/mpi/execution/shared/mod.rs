//! Executes the steps of calls through the window of a node.
//!
//! - `exchange`: an alltoallv, whose lengths no rank knows alone
//! - `plan`: a call, and everything about it that is the same each time
//! - `slot`: the steps of a segment
//! - `long_calls`: alltoallvs about which ranks do not ask each other
//! - `local`: what a rank does alone, between two stages
//! - `stage`, `queue`: calls that do not block

mod exchange;
mod local;
mod long_calls;
mod plan;
mod queue;
mod slot;
mod stage;

pub(crate) use self::exchange::{ExchangeLimit, ServedExchange};
pub(crate) use self::local::{LocalStage, NodeBlocks, NodeVectors};
pub(crate) use self::plan::{OwnedPlan, SharedPlan};
pub(crate) use self::queue::{Completion, QueuedCall};
pub(crate) use self::stage::{CallStage, CallStages, STAGES, StageBuffers, StageMessages, StageOperands};

use self::long_calls::LongCalls;
use self::plan::{BYTES, say};
use self::queue::Queue;
use self::slot::SlotSteps;
use crate::error::Error;
use crate::mpi::comm::node_members::NodeMembers;
use crate::mpi::comm::own::OwnComm;
use crate::mpi::comm::peer_processes::PeerProcesses;
use crate::mpi::comm::shared_window::{Rings, SharedWindow};
use crate::mpi::comm::world::{self, World};
use crate::mpi::execution::Combine;
use crate::mpi::process::poll_budget::PollBudget;
use crate::mpi::process::progress::progress;
use crate::program::shared::{SharedCall, segment, signal_value};
use ::mpi::ffi;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How often a rank yields before it lets MPI progress.
const YIELDS: usize = 16;

/// The window of a communicator's ranks on one node, and this rank's progress in it. Ranks are numbered within the
/// node.
pub(crate) struct SharedMemory {
    window: SharedWindow,
    comm: ffi::MPI_Comm,
    rank: usize,
    p: usize,
    /// The numbers of the node's ranks in the communicator.
    ranks: Box<[usize]>,
    /// How often this rank polls a counter before it yields.
    polls: PollBudget,
    /// The number of the next segment in each ring.
    next: [u64; 2],
    /// All ranks are known to have completed this many segments of each ring.
    confirmed: [u64; 2],
    /// A rank that has made a different call, and its description of that call.
    lost: Option<(usize, u64)>,
    /// The processes of the node, if they can read each other's memory.
    peers: Option<Arc<PeerProcesses>>,
    /// Why this rank could not read another's memory in the current call.
    unread: Option<Error>,
    /// The numbers of the current alltoallv.
    numbers: Vec<usize>,
    /// The alltoallvs that MPI serves without a question.
    long: LongCalls,
    /// Calls that were started and are not complete.
    queue: Queue,
}

// SAFETY: the communicator is a handle, which is a number or an address that MPI manages; the window is memory that any
// thread may access.
unsafe impl Send for SharedMemory {}

/// Locks a mutex, even a poisoned one: steps do not panic, so a panic elsewhere has left the value intact.
#[inline]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The addresses of a call's buffers, and how its elements are combined.
pub(crate) struct SharedBuffers<C> {
    pub(crate) input: *mut u8,
    pub(crate) output: *mut u8,
    /// The distance in bytes from the address of an element that MPI takes to its first byte.
    pub(crate) lead: isize,
    pub(crate) combine: C,
}

impl SharedMemory {
    /// Memory that no call has used. Collective.
    pub(crate) fn new(group: &OwnComm, rings: Rings) -> Result<Self, Error> {
        let members = NodeMembers::of(group);
        let (rank, p) = (members.local, members.ranks.len());
        let there = world::known().map_or(p, World::ranks_of_node);
        Ok(SharedMemory {
            window: SharedWindow::new(members, rings)?,
            comm: group.comm.raw(),
            rank,
            p,
            ranks: members.ranks.into(),
            polls: PollBudget::new(there),
            next: [0; 2],
            confirmed: [0; 2],
            lost: None,
            peers: None,
            unread: None,
            numbers: Vec::new(),
            long: LongCalls::default(),
            queue: Queue::new(),
        })
    }

    /// Runs a call.
    ///
    /// # Safety
    /// The buffers are as long as the call requires, and all ranks make the same call.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if another rank makes a different call.
    #[inline]
    pub(crate) unsafe fn run<C: Combine>(
        &mut self,
        plan: &SharedPlan<'_>,
        buffers: &SharedBuffers<C>,
    ) -> Result<(), Error> {
        if !self.queue.is_empty() {
            self.drain();
        }
        let (&SharedPlan { ref call, ref segments, ring, .. }, rank) = (plan, self.rank);
        let mut other = self.lost;
        for number in 0..segments.count {
            let mut steps = self.slot_steps(plan, buffers, other);
            segment(call, segments, number, rank, &mut steps);
            other = steps.other;
            self.complete_segment(ring);
        }
        if other.is_some() {
            return self.lose(call, other);
        }
        if call.fetches() { self.fetched() } else { Ok(()) }
    }

    /// Lets calls read the memory of the node's processes.
    pub(crate) fn fetch_from(&mut self, peers: Arc<PeerProcesses>) {
        self.peers = Some(peers);
    }

    /// Reads another rank's memory. A failure is kept until the call is complete, because others wait for this rank.
    ///
    /// # Safety
    /// There is room for the bytes, and the rank does not write them meanwhile.
    unsafe fn read_peer(&mut self, rank: usize, from: usize, to: *mut u8, bytes: usize) {
        let Some(peers) = &self.peers else { return };
        // SAFETY: the caller guarantees it.
        if let Err(error) = unsafe { peers.read(rank, from, to, bytes) } {
            let (rank, from) = (self.ranks[self.rank], self.ranks[rank]);
            self.unread.get_or_insert(Error::Unreadable { rank, from, reason: error.to_string() });
        }
    }

    /// The outcome of a call in which ranks read each other's memory.
    fn fetched(&mut self) -> Result<(), Error> {
        self.unread.take().map_or(Ok(()), Err)
    }

    /// The steps of the next segment.
    #[inline]
    fn slot_steps<'a, C: Combine>(
        &'a mut self,
        &SharedPlan { call, ring, said, .. }: &SharedPlan<'_>,
        buffers: &'a SharedBuffers<C>,
        other: Option<(usize, u64)>,
    ) -> SlotSteps<'a, C> {
        let (next, size) = (self.next[ring], call.size);
        let slot = self.window.ring(ring).slot_of(next);
        let numbers = self.numbers.as_mut_ptr().cast();
        let bases = [buffers.input, buffers.output, self.window.begin(ring, slot), numbers];
        SlotSteps { node: self, buffers, size, bases, ring, slot, segment: next, signals: 0, said, other }
    }

    /// Tells the other ranks that this rank is done with its segment.
    #[inline]
    fn complete_segment(&mut self, ring: usize) {
        self.next[ring] += 1;
        self.window.completed(ring, self.rank).publish(self.next[ring]);
    }

    /// Returns the error if ranks make different calls. They have used different slots, so no later call can succeed.
    #[cold]
    fn lose(&mut self, call: &SharedCall<'_>, other: Option<(usize, u64)>) -> Result<(), Error> {
        self.lost = other;
        let elements = |bytes: u64| (bytes & BYTES) as usize / call.size;
        let wrong = |(from, found): (usize, u64)| {
            let (rank, from) = (self.ranks[self.rank], self.ranks[from]);
            Err(Error::Mismatch { rank, from, expected: elements(say(call)), found: elements(found) })
        };
        other.map_or(Ok(()), wrong)
    }

    /// Waits until all other ranks have completed this many segments of a ring.
    #[cold]
    fn confirm(&mut self, ring: usize, needed: u64) {
        let mut least = u64::MAX;
        for rank in (0..self.p).filter(|&rank| rank != self.rank) {
            let mut completed = 0;
            let done = self.wait(rank, ring, || {
                completed = self.window.completed(ring, rank).read();
                completed >= needed
            });
            if done.is_err() {
                return;
            }
            least = least.min(completed);
        }
        self.confirmed[ring] = least;
    }

    /// Waits until a rank has done something in a ring. It polls a few times, then yields, because that rank may need
    /// the processor. The error is the rank's description of the call that it makes instead.
    #[inline]
    fn wait(&self, rank: usize, ring: usize, mut done: impl FnMut() -> bool) -> Result<(), u64> {
        loop {
            for _ in 0..YIELDS {
                if self.polls.poll(&mut done) {
                    return Ok(());
                }
                std::thread::yield_now();
            }
            if let Some(found) = self.look(rank, ring, &mut done) {
                return found;
            }
            self.let_mpi_progress();
        }
    }

    /// Checks whether a rank has done something in a ring, or makes a different call, whose description it returns.
    fn look(&self, rank: usize, ring: usize, done: &mut impl FnMut() -> bool) -> Option<Result<(), u64>> {
        if done() {
            return Some(Ok(()));
        }
        // Between the two checks the rank may have done it and moved on to the other ring.
        self.strayed(rank, ring).map(|said| if done() { Ok(()) } else { Err(said) })
    }

    /// How often to poll before yielding the processor.
    fn patience(&self) -> u32 {
        self.polls.now()
    }

    fn give_way(&self) {
        std::thread::yield_now();
        self.let_mpi_progress();
    }

    fn let_mpi_progress(&self) {
        // If progress fails, it is because of a message, whose own call reports the failure.
        let _ = progress(self.comm);
    }

    /// Returns a rank's description of its call if the rank is in the other ring, in a segment that this rank has not
    /// begun: then it will never reach the segment in which this rank waits for it.
    #[cold]
    fn strayed(&self, rank: usize, ring: usize) -> Option<u64> {
        let other = 1 - ring;
        let slot = self.window.ring(other).slot_of(self.next[other]);
        let counter = self.window.signals(other, slot, rank);
        (counter.read() > signal_value(self.next[other], 0)).then(|| counter.said())
    }
}

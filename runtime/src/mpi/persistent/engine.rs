//! Executes a program's steps on MPI.
//!
//! Everything that a step needs was created with the request: addresses, persistent MPI requests, counters. Between
//! start and wait nothing is allocated or computed, and no lock is taken.
//!
//! Several requests may run at the same time, and ranks may wait for them in any order. So a wait progresses all
//! requests of its thread; if there is only one, it blocks in MPI, which knows best how to wait for a message.
//!
//! Invariant: an engine lives until its call is complete, with everything that its messages and the other ranks of
//! its node access. Its request owns it and, while it runs, the list of running engines does, too.

use super::running::{self, Progressing, RunningSlot, Scoped, progress};
use crate::error::Error;
use crate::mpi::comm::window::Borrowed;
use crate::mpi::execution::Combine;
use crate::mpi::execution::elements::Elements;
use crate::mpi::process::code::{SUCCESS, check, failure};
use crate::mpi::process::ending::end_the_job;
use crate::mpi::process::processors::processors;
use crate::mpi::process::progress::progress as let_mpi_progress;
use crate::operation::Operation;
use crate::program::machine::{Counter, Execution, StepExecutor, target};
use crate::program::{CombineStep, CopyStep, MemoryRegion, MessageDirection, Program, ProgramMessage, RegionOffset};
use ::mpi::datatype::Equivalence;
use ::mpi::ffi;
use ::mpi::raw::AsRaw;
use std::cell::Cell;
use std::convert::Infallible;
use std::ffi::c_int;
use std::hint::spin_loop;
use std::rc::Rc;

/// How often a rank polls a counter before it yields, if every rank of the node has its own processor.
const LOOKS: usize = 64;
/// How often it yields before it lets MPI progress.
const YIELDS: usize = 16;

/// The state of an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EnginePhase {
    /// Nothing was started, or the call was waited for.
    Inactive,
    /// Some steps remain.
    Running,
    /// All steps are done, and the call was not waited for yet.
    Complete,
}

/// Whether a step may wait.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patience {
    /// Returns instead of waiting.
    None,
    /// Waits.
    Endless,
}

/// One request's programs and their state.
pub(super) struct Engine<T: Equivalence, O> {
    comm: ffi::MPI_Comm,
    rank: usize,
    local: usize,
    programs: [Program; 2],
    /// For each of the two programs, one persistent request per message.
    requests: [Box<[Cell<ffi::MPI_Request>]>; 2],
    /// The base addresses of the regions.
    bases: [*mut u8; 4],
    window: Option<Borrowed>,
    _memory: [Vec<u128>; 2],
    _datatype: T::Out,
    op: O,
    /// How often it polls a counter before it yields.
    looks: usize,
    _place: RunningSlot,
    phase: Cell<EnginePhase>,
    calls: Cell<u32>,
    step: Cell<usize>,
    /// The number of complete messages of the current step.
    complete: Cell<usize>,
    advancing: Cell<bool>,
    error: Cell<Option<Error>>,
}

/// The parts of an engine.
pub(super) struct EngineParts<T: Equivalence, O> {
    pub(super) comm: ffi::MPI_Comm,
    pub(super) rank: usize,
    pub(super) local: usize,
    pub(super) tag: c_int,
    pub(super) programs: [Program; 2],
    pub(super) input: *mut u8,
    pub(super) output: *mut u8,
    pub(super) window: Option<Borrowed>,
    pub(super) datatype: T::Out,
    pub(super) op: O,
}

impl<T: Equivalence, O: Operation<T>> Engine<T, O> {
    /// Makes an engine with all its requests.
    pub(super) fn new(parts: EngineParts<T, O>) -> Result<Self, Error> {
        let EngineParts { comm, rank, local, tag, programs, input, output, window, datatype, op } = parts;
        let bytes = programs.iter().map(|program| program.scratch).max().unwrap_or(0);
        let mut scratch = vec![0u128; bytes.div_ceil(size_of::<u128>())];
        // A rank that is alone on its node shares no memory.
        let bytes = if window.is_some() { 0 } else { programs[0].shared };
        let mut alone = vec![0u128; bytes / size_of::<u128>() + 1];
        let shared = window.as_ref().map_or(alone.as_mut_ptr().cast(), Borrowed::data);
        let mut bases = [std::ptr::null_mut(); 4];
        bases[MemoryRegion::Input as usize] = input;
        bases[MemoryRegion::Output as usize] = output;
        bases[MemoryRegion::Shared as usize] = shared;
        bases[MemoryRegion::Scratch as usize] = scratch.as_mut_ptr().cast();
        // SAFETY: the null handle is a constant of the library.
        let null = unsafe { ffi::RSMPI_REQUEST_NULL };
        let empty = |program: &Program| program.messages.iter().map(|_| Cell::new(null)).collect();
        let requests = [empty(&programs[0]), empty(&programs[1])];
        // The awaited rank may need the processor.
        let looks = if programs[0].signals.len() <= processors() { LOOKS } else { 1 };
        let engine = Engine {
            comm,
            rank,
            local,
            programs,
            requests,
            bases,
            window,
            _memory: [scratch, alone],
            _datatype: datatype,
            op,
            looks,
            _place: RunningSlot::new(),
            phase: Cell::new(EnginePhase::Inactive),
            calls: Cell::new(0),
            step: Cell::new(0),
            complete: Cell::new(0),
            advancing: Cell::new(false),
            error: Cell::new(None),
        };
        for parity in 0..2 {
            engine.prepare(parity, tag)?;
        }
        Ok(engine)
    }

    /// Makes the persistent requests of one program.
    fn prepare(&self, parity: usize, tag: c_int) -> Result<(), Error> {
        let datatype = self._datatype.as_raw();
        for (message, request) in self.programs[parity].messages.iter().zip(&self.requests[parity]) {
            let &ProgramMessage { direction, peer, spot, elements } = message;
            let (at, count, peer) = (self.at(spot).cast(), elements as c_int, peer as c_int);
            // SAFETY: the message lies inside its region, which was checked when the program was built, and lives as
            // long as this engine, which frees the request.
            let (call, code) = unsafe {
                match direction {
                    MessageDirection::Out => (
                        "MPI_Send_init",
                        ffi::MPI_Send_init(at, count, datatype, peer, tag, self.comm, request.as_ptr()),
                    ),
                    MessageDirection::In => (
                        "MPI_Recv_init",
                        ffi::MPI_Recv_init(at, count, datatype, peer, tag, self.comm, request.as_ptr()),
                    ),
                }
            };
            check(call, code)?;
        }
        Ok(())
    }

    #[inline]
    fn at(&self, spot: RegionOffset) -> *mut u8 {
        self.bases[spot.region as usize].wrapping_add(spot.offset)
    }

    /// Whether a call was started and not yet waited for.
    pub(super) fn is_active(&self) -> bool {
        self.phase.get() != EnginePhase::Inactive
    }

    /// Whether steps remain.
    fn is_running(&self) -> bool {
        self.phase.get() == EnginePhase::Running
    }

    /// The number of complete calls.
    pub(super) fn completed(&self) -> u32 {
        self.calls.get()
    }

    /// The program of the last complete call; before that, of the first one.
    pub(super) fn last(&self) -> &Program {
        &self.programs[self.calls.get().wrapping_sub(1) as usize & 1]
    }

    /// An address in the node's shared memory.
    pub(super) fn shared(&self, offset: usize) -> *mut u8 {
        self.bases[MemoryRegion::Shared as usize].wrapping_add(offset)
    }

    /// Begins a call.
    pub(super) fn start(self: &Rc<Self>) -> Result<(), Error>
    where
        T: 'static,
        O: 'static,
    {
        if self.is_active() {
            return Err(Error::Started);
        }
        self.phase.set(EnginePhase::Running);
        self.step.set(0);
        self.complete.set(0);
        running::add(self.clone());
        self.advance();
        Ok(())
    }

    /// Completes a call.
    pub(super) fn wait(&self) -> Result<(), Error> {
        while self.is_running() {
            if running::is_alone() {
                self.go(Patience::Endless);
            } else {
                progress();
                std::thread::yield_now();
            }
        }
        self.phase.set(EnginePhase::Inactive);
        self.error.take().map_or(Ok(()), Err)
    }

    /// Completes a call, if that is possible without waiting.
    pub(super) fn test(&self) -> Result<bool, Error> {
        progress();
        if self.is_running() { Ok(false) } else { self.wait().map(|()| true) }
    }

    /// Advances the call; returns whether it is complete.
    #[inline]
    fn go(&self, patience: Patience) -> bool {
        if !self.is_running() {
            return true;
        }
        // A user's operation may call this function again.
        if self.advancing.replace(true) {
            return false;
        }
        let parity = self.calls.get() as usize & 1;
        let mut run = Execution { pc: self.step.get() };
        let mut steps = Steps { engine: self, parity, patience };
        let complete = match run.advance(&self.programs[parity].ops, &mut steps) {
            Ok(complete) => complete,
            Err(never) => match never {},
        };
        self.step.set(run.pc);
        self.advancing.set(false);
        if complete {
            self.end();
        }
        complete
    }

    #[inline]
    fn counter(&self, local: usize) -> &Counter {
        match &self.window {
            Some(window) => window.counter(local),
            None => unreachable!("a program that uses counters has a window"),
        }
    }

    fn post(&self, requests: &[Cell<ffi::MPI_Request>]) {
        let Some(first) = requests.first() else { return };
        // SAFETY: the requests are persistent, live and inactive; their memory stays unused until they are complete.
        let code = unsafe { ffi::MPI_Startall(requests.len() as c_int, first.as_ptr()) };
        self.note("MPI_Startall", code);
    }

    /// Completes messages one by one: MPICH does not report failures of several messages at once to their
    /// communicator.
    fn finish(&self, requests: &[Cell<ffi::MPI_Request>], patience: Patience) -> bool {
        for request in &requests[self.complete.get()..] {
            let mut done = 1;
            // SAFETY: the request is live; a status is not asked for.
            let code = unsafe {
                let ignore = ffi::RSMPI_STATUS_IGNORE;
                match patience {
                    Patience::Endless => ffi::MPI_Wait(request.as_ptr(), ignore),
                    Patience::None => ffi::MPI_Test(request.as_ptr(), &mut done, ignore),
                }
            };
            self.note("MPI_Wait", code);
            if done == 0 && code == SUCCESS {
                return false;
            }
            self.complete.set(self.complete.get() + 1);
        }
        self.complete.set(0);
        true
    }

    /// Waits for another rank of the node. It polls a few times, then yields, because the awaited rank may need the
    /// processor.
    fn await_counter(&self, counter: &Counter, value: u32, patience: Patience) -> bool {
        loop {
            for _ in 0..YIELDS {
                for _ in 0..self.looks {
                    if counter.reached(value) {
                        return true;
                    }
                    spin_loop();
                }
                if patience == Patience::None {
                    return false;
                }
                std::thread::yield_now();
            }
            if let Err(error) = let_mpi_progress(self.comm) {
                self.note_error(error);
            }
        }
    }

    /// Ends a call.
    fn end(&self) {
        self.calls.set(self.calls.get().wrapping_add(1));
        self.phase.set(EnginePhase::Complete);
        running::remove(std::ptr::from_ref(self).cast());
    }

    /// Records the first error. The steps continue, because other ranks would wait for this one.
    #[inline]
    fn note(&self, call: &'static str, code: c_int) {
        if code != SUCCESS {
            self.note_error(failure(call, code));
        }
    }

    #[cold]
    fn note_error(&self, error: Error) {
        let first = self.error.take();
        self.error.set(Some(first.unwrap_or(error)));
    }
}

/// An engine's steps in one of its programs. Errors are recorded, not returned.
struct Steps<'a, T: Equivalence, O> {
    engine: &'a Engine<T, O>,
    parity: usize,
    patience: Patience,
}

impl<T: Equivalence, O: Operation<T>> StepExecutor for Steps<'_, T, O> {
    type Error = Infallible;

    #[inline]
    fn copy(&mut self, CopyStep { from, to, elements }: CopyStep) -> Result<(), Infallible> {
        let (from, to) = (self.engine.at(from), self.engine.at(to));
        // SAFETY: both ends lie inside their regions and do not overlap, and nothing else accesses them meanwhile: a
        // replay of such programs has shown that. Elements are copied bit by bit, as MPI does.
        unsafe { std::ptr::copy_nonoverlapping(from.cast::<T>(), to.cast(), elements) };
        Ok(())
    }

    #[inline]
    fn combine(&mut self, CombineStep { left, right, into, elements }: CombineStep) -> Result<(), Infallible> {
        let (left, right, into) = (self.engine.at(left), self.engine.at(right), self.engine.at(into));
        // SAFETY: as for copies; the elements read were written by ranks that sent elements of this type.
        unsafe { Elements::new(&self.engine.op, self.engine.rank).combine(left, right, into, elements) };
        Ok(())
    }

    #[inline]
    fn post(&mut self, first: usize, count: usize) -> Result<(), Infallible> {
        self.engine.post(&self.engine.requests[self.parity][first..first + count]);
        Ok(())
    }

    #[inline]
    fn completed(&mut self, first: usize, count: usize) -> Result<bool, Infallible> {
        Ok(self.engine.finish(&self.engine.requests[self.parity][first..first + count], self.patience))
    }

    #[inline]
    fn signal(&mut self) -> Result<(), Infallible> {
        self.engine.counter(self.engine.local).raise();
        Ok(())
    }

    #[inline]
    fn reached(&mut self, local: usize, times: u32) -> Result<bool, Infallible> {
        let signals = self.engine.programs[self.parity].signals[local];
        let value = target(self.engine.calls.get(), signals, times);
        Ok(self.engine.await_counter(self.engine.counter(local), value, self.patience))
    }
}

impl<T: Equivalence, O: Operation<T>> Progressing for Engine<T, O> {
    fn advance(&self) -> bool {
        self.go(Patience::None)
    }
}

impl<T: Equivalence, O: Operation<T>> Scoped for Engine<T, O> {
    fn leave(&self) {
        if self.is_running() && std::thread::panicking() {
            end_the_job("a rank panicked while a collective was running");
        }
        if self.is_active() {
            // A destructor cannot return an error.
            let _ = self.wait();
        }
    }
}

impl<T: Equivalence, O> Drop for Engine<T, O> {
    fn drop(&mut self) {
        let mut over = 0;
        // SAFETY: MPI_Finalized may be called at any time. Requests are inactive, because the list of running engines
        // keeps a running one alive; they are not used again.
        unsafe {
            if ffi::MPI_Finalized(&mut over) != SUCCESS || over != 0 {
                return;
            }
            for request in self.requests.iter().flatten() {
                if request.get() != ffi::RSMPI_REQUEST_NULL {
                    ffi::MPI_Request_free(request.as_ptr());
                }
            }
        }
    }
}

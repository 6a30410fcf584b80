//! Executes the plan of a request, step by step, as often as it is started.
//!
//! Invariant: what a call uses lives until it is complete. Its request owns it and, while it runs, the list of what
//! runs on this thread does, too.

use crate::error::Error;
use crate::mpi::comm::own::{Holder, OwnComm};
use crate::mpi::execution::elements::Elements;
use crate::mpi::execution::{Combine, MessageScope, MessagesInFlight, PlanExecution};
use crate::mpi::lowering::areas::{Areas, Scratch};
use crate::mpi::lowering::plan::MessagePlan;
use crate::mpi::persistent::buffer::UserBuffer;
use crate::mpi::persistent::engine::EnginePhase;
use crate::mpi::persistent::running::{self, Progressing, RunningSlot, Scoped, progress};
use crate::mpi::process::ending::end_the_job;
use crate::operation::Operation;
use ::mpi::datatype::Equivalence;
use ::mpi::ffi;
use ::mpi::raw::AsRaw;
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::marker::PhantomData;
use std::rc::Rc;

/// A call with its plan and its buffers.
pub(super) struct PlannedCall<T: Equivalence> {
    comm: ffi::MPI_Comm,
    rank: usize,
    tag: c_int,
    plan: MessagePlan,
    datatype: T::Out,
    combine: Box<dyn Combine>,
    pub(super) input: UserBuffer<T>,
    pub(super) output: UserBuffer<T>,
    phase: Cell<EnginePhase>,
    /// The first error of the call.
    error: Cell<Option<Error>>,
    progress: RefCell<PlanProgress>,
    _place: RunningSlot,
    /// Keeps the communicator of its messages alive.
    _holder: Holder,
}

/// How far a call is, and memory that all calls of the request use.
#[derive(Default)]
struct PlanProgress {
    next: usize,
    flight: MessagesInFlight,
    scratch: Scratch,
}

impl<T: Equivalence + Copy> PlannedCall<T> {
    pub(super) fn new(
        group: &OwnComm,
        tag: c_int,
        plan: MessagePlan,
        combine: Box<dyn Combine>,
        (input, output): (Vec<T>, Vec<T>),
    ) -> Self {
        PlannedCall {
            comm: group.comm.raw(),
            rank: group.rank,
            tag,
            plan,
            datatype: T::equivalent_datatype(),
            combine,
            input: UserBuffer::owned(input),
            output: UserBuffer::owned(output),
            phase: Cell::new(EnginePhase::Inactive),
            error: Cell::new(None),
            progress: RefCell::default(),
            _place: RunningSlot::new(),
            _holder: group.comm.hold(),
        }
    }

    /// Whether a call was started and not yet waited for.
    pub(super) fn is_active(&self) -> bool {
        self.phase.get() != EnginePhase::Inactive
    }

    /// Whether steps remain.
    fn is_running(&self) -> bool {
        self.phase.get() == EnginePhase::Running
    }

    /// Begins a call.
    pub(super) fn start(self: &Rc<Self>) -> Result<(), Error>
    where
        T: 'static,
    {
        if self.is_active() {
            return Err(Error::Started);
        }
        self.phase.set(EnginePhase::Running);
        self.progress.borrow_mut().next = 0;
        running::add(self.clone());
        self.advance();
        Ok(())
    }

    /// Completes a call. Other ranks may wait for any of this thread's requests, so all of them progress.
    pub(super) fn wait(&self) -> Result<(), Error> {
        while self.is_running() {
            progress();
            if self.is_running() {
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

    /// Takes steps as far as possible without waiting; whether all are done.
    fn steps(&self) -> bool {
        // A user's operation may come here again.
        let Ok(mut progress) = self.progress.try_borrow_mut() else { return false };
        let PlanProgress { next, flight, scratch } = &mut *progress;
        let scratch = scratch.reserve(self.plan.scratch);
        let areas = Areas::of(self.input.address().cast(), self.output.address().cast(), scratch);
        let (comm, datatype, rank, tag) = (self.comm, self.datatype.as_raw(), self.rank, self.tag);
        let scope = &MessageScope { comm, datatype, rank, tag };
        let mut execution = PlanExecution { scope, areas, lead: 0, flight, combine: &*self.combine };
        execution.advance(&self.plan, next).unwrap_or_else(|error| {
            self.error.set(Some(error));
            true
        })
    }
}

impl<T: Equivalence + Copy> Progressing for PlannedCall<T> {
    fn advance(&self) -> bool {
        let complete = !self.is_running() || self.steps();
        if complete && self.is_running() {
            self.phase.set(EnginePhase::Complete);
            running::remove(std::ptr::from_ref(self).cast());
        }
        complete
    }
}

impl<T: Equivalence + Copy> Scoped for PlannedCall<T> {
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

/// The operation of a request, which owns it.
pub(super) struct OwnedOperation<T, O> {
    op: O,
    rank: usize,
    elements: PhantomData<fn(T)>,
}

impl<T, O> OwnedOperation<T, O> {
    pub(super) fn new(op: O, rank: usize) -> Self {
        OwnedOperation { op, rank, elements: PhantomData }
    }
}

impl<T, O: Operation<T>> Combine for OwnedOperation<T, O> {
    unsafe fn combine(&self, left: *const u8, right: *const u8, into: *mut u8, elements: usize) {
        // SAFETY: the caller guarantees elements at all addresses.
        unsafe { Elements::<T, O>::new(&self.op, self.rank).combine(left, right, into, elements) }
    }
}

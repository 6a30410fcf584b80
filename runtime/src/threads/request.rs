//! A request: a collective that runs beside the rank's other work, again and again, with its buffers.
//!
//! Each call runs on a thread of its own, which the world counts like a rank: so calls make progress whatever the rank
//! does meanwhile, and deadlocks are found exactly as without requests.

use super::comm::ThreadComm;
use super::hub::Payload;
use super::launch::STACK_BYTES;
use crate::error::Error;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::{self, JoinHandle};

/// A call on the buffers of a request.
pub(super) type PreparedCall<T> = Box<dyn Fn(&ThreadComm, &[T], &mut [T]) -> Result<(), Error> + Send>;

/// What a call needs, and gives back.
struct Work<T> {
    call: PreparedCall<T>,
    input: Vec<T>,
    output: Vec<T>,
}

/// What the thread of a call leaves behind.
type Ended<T> = Result<(Work<T>, Result<(), Error>), ()>;

enum State<T> {
    Inactive(Work<T>),
    Active(JoinHandle<Ended<T>>),
    /// The call has panicked, or had no thread: the world is broken, and the buffers are gone.
    Lost,
}

/// A prepared collective that can be started any number of times. It owns its buffers, which can be read and changed
/// while it is inactive. [`persistent`](super::persistent) makes requests.
///
/// Dropping a running request completes it first, because the other ranks need it; only a rank that panics does not
/// wait, and the others learn of the panic. All ranks must make the requests of a communicator in the same order; they
/// may start them, and wait for them, in any order.
pub struct Request<'c, T> {
    comm: &'c ThreadComm,
    number: usize,
    state: State<T>,
}

impl<'c, T: Send + 'static> Request<'c, T> {
    pub(super) fn new(comm: &'c ThreadComm, call: PreparedCall<T>, input: Vec<T>, output: Vec<T>) -> Self {
        let number = comm.hub().open(comm.rank(), comm.next_channel());
        Request { comm, number, state: State::Inactive(Work { call, input, output }) }
    }

    /// Begins a call. The other ranks must do the same.
    ///
    /// # Errors
    /// [`Error::Started`] if a call is active, and the error of a broken world.
    pub fn start(&mut self) -> Result<(), Error> {
        self.work()?;
        let (comm, number) = (self.comm.for_request(self.number), self.number);
        comm.hub().start(number)?;
        let State::Inactive(work) = mem::replace(&mut self.state, State::Lost) else { return self.lost() };
        let name = format!("request of rank {}", comm.rank());
        match thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn(move || perform(&comm, number, work)) {
            Ok(thread) => {
                self.state = State::Active(thread);
                Ok(())
            }
            Err(error) => {
                self.comm.hub().fail(self.comm.rank(), format!("the thread of a request did not start: {error}"));
                self.comm.hub().end(number);
                self.lost()
            }
        }
    }

    /// Whether the call is complete, without waiting; then the request is inactive.
    ///
    /// # Errors
    /// [`Error::NotStarted`] if no call is active, and those of the call.
    pub fn test(&mut self) -> Result<bool, Error> {
        self.active()?;
        if !self.comm.hub().is_idle(self.number) {
            return Ok(false);
        }
        self.wait().map(|()| true)
    }

    /// Completes the call; then the request is inactive.
    ///
    /// # Errors
    /// [`Error::NotStarted`] if no call is active, and those of the call.
    ///
    /// # Panics
    /// If the operation or an element panicked in the call.
    pub fn wait(&mut self) -> Result<(), Error> {
        self.active()?;
        match mem::replace(&mut self.state, State::Lost) {
            State::Active(thread) => match self.joined(thread) {
                Ok((work, result)) => {
                    self.state = State::Inactive(work);
                    result
                }
                Err(panic) => resume_unwind(panic),
            },
            _ => self.lost(),
        }
    }

    /// Whether a call was started and not yet completed by `wait` or `test`.
    pub fn is_active(&self) -> bool {
        matches!(self.state, State::Active(_))
    }

    /// This rank's contribution.
    ///
    /// # Errors
    /// [`Error::Started`] while a call is active.
    pub fn input(&self) -> Result<&[T], Error> {
        self.work().map(|work| &work.input[..])
    }

    /// This rank's contribution to the next call.
    ///
    /// # Errors
    /// [`Error::Started`] while a call is active.
    pub fn input_mut(&mut self) -> Result<&mut [T], Error> {
        self.work()?;
        match &mut self.state {
            State::Inactive(work) => Ok(&mut work.input),
            _ => Err(Error::Started),
        }
    }

    /// The result of the last call; before the first call, the buffer's initial contents.
    ///
    /// # Errors
    /// [`Error::Started`] while a call is active.
    pub fn output(&self) -> Result<&[T], Error> {
        self.work().map(|work| &work.output[..])
    }

    /// Ends the request and returns both buffers, the input first. An active call is completed.
    ///
    /// # Errors
    /// Those of the call.
    pub fn into_buffers(mut self) -> Result<(Vec<T>, Vec<T>), Error> {
        if self.is_active() {
            self.wait()?;
        }
        self.work()?;
        match &mut self.state {
            State::Inactive(Work { input, output, .. }) => Ok((mem::take(input), mem::take(output))),
            _ => Err(Error::Started),
        }
    }

    fn work(&self) -> Result<&Work<T>, Error> {
        match &self.state {
            State::Inactive(work) => Ok(work),
            State::Active(_) => Err(Error::Started),
            State::Lost => self.lost(),
        }
    }

    fn active(&self) -> Result<(), Error> {
        match &self.state {
            State::Active(_) => Ok(()),
            State::Inactive(_) => Err(Error::NotStarted),
            State::Lost => self.lost(),
        }
    }

    /// The error of the broken world in which the buffers were lost.
    fn lost<R>(&self) -> Result<R, Error> {
        self.comm.hub().check(self.comm.rank())?;
        Err(Error::NotStarted)
    }

    /// Waits for the end of a call.
    fn joined(&self, thread: JoinHandle<Ended<T>>) -> Result<(Work<T>, Result<(), Error>), Payload> {
        self.comm.hub().wait_for(self.comm.rank(), self.number);
        thread.join()?.map_err(|()| -> Payload { Box::new("a call of a request panicked") })
    }
}

/// Performs one call. The hub always learns of its end.
fn perform<T>(comm: &ThreadComm, number: usize, mut work: Work<T>) -> Ended<T> {
    let called = catch_unwind(AssertUnwindSafe(|| (work.call)(comm, &work.input, &mut work.output)));
    let ended = called.map_err(|panic| comm.hub().panicked(comm.rank(), panic));
    comm.hub().end(number);
    ended.map(|result| (work, result))
}

impl<T> Drop for Request<'_, T> {
    fn drop(&mut self) {
        if let State::Active(thread) = mem::replace(&mut self.state, State::Lost) {
            if thread::panicking() {
                // The call ends when the hub learns of the panic. It owns what it needs.
                return;
            }
            self.comm.hub().wait_for(self.comm.rank(), self.number);
            // What went wrong the hub knows.
            drop(thread.join());
        }
        self.comm.hub().close(self.number);
    }
}

impl<T> fmt::Debug for Request<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::Inactive(_) => "inactive",
            State::Active(_) => "active",
            State::Lost => "lost",
        };
        write!(f, "Request(of rank {}, {state})", self.comm.rank())
    }
}

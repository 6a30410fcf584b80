//! Persistent collectives: initialised once, started any number of times.
//!
//! All decisions are made when a request is created: how the ranks of a node share memory, which of them communicate,
//! in which rounds and with which ports between nodes, where every block lies. The result is a
//! [program](crate::program) without branches, and starting it means executing its steps. The same requests, started
//! once, are the non-blocking forms of one-shot calls.
//!
//! ```no_run
//! use roundel::mpi::persistent::Allreduce;
//! use roundel::operation::Sum;
//!
//! fn main() -> Result<(), roundel::Error> {
//!     let Some(universe) = mpi::initialize() else { return Ok(()) };
//!     let world = universe.world();
//!     let mut request = Allreduce::init(&world, vec![0.0; 1000], vec![0.0; 1000], Sum)?;
//!     for step in 0..100 {
//!         request.input_mut()?.fill(step as f64);
//!         request.start()?;
//!         // Something else meanwhile.
//!         request.wait()?;
//!         println!("{}", request.output()?[0]);
//!     }
//!     Ok(())
//! }
//! ```
//!
//! The request owns its buffers, and gives access to them only while it is inactive. If that is faster, they lie in
//! memory that the node shares, so that the other ranks read the input and write the output without a copy.
//!
//! - `prepare`: makes a request from a call, together with all other ranks
//! - `choice`: chooses how it runs, from measurements
//! - `engine`, `running`: execute the steps of all running requests
//! - `request`, `scope`: the user's interface
//! - [`algorithm`]: requests that run an algorithm that you name, of the catalogue or your own

pub mod algorithm;
mod buffer;
mod choice;
mod engine;
mod prepare;
mod request;
mod running;
mod scope;
mod settings;

pub use self::request::Request;
pub use self::scope::{Scope, scope};
pub use self::settings::Settings;

use self::buffer::UserBuffer;
use self::prepare::{PersistentCall, prepare};
use crate::error::Error;
use crate::operation::Operation;
use ::mpi::datatype::Equivalence;
use ::mpi::topology::Communicator;
use roundel_spec::Kind;

/// Progresses all requests of this thread, as far as possible without waiting. Call this now and then during long
/// computations while a request runs.
pub fn progress() {
    running::progress();
}

/// Elements for the buffers of requests: MPI knows their type, and copying their bits copies them. Other processes
/// write them.
pub trait Element: Equivalence + Copy + 'static {}

impl<T: Equivalence + Copy + 'static> Element for T {}

/// The operation of collectives that do not reduce.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unused;

impl<T: Copy> Operation<T> for Unused {
    const COMMUTES: bool = true;

    fn combine(&self, left: &T, _: &T) -> T {
        *left
    }
}

/// Reduces vectors of all ranks into one that all ranks get.
#[derive(Debug)]
pub struct Allreduce;

impl Allreduce {
    /// Makes a request, which owns the buffers from now on. Collective.
    ///
    /// # Errors
    /// [`Error::Length`] if the buffers have different lengths, [`Error::Disagree`] if ranks give different ones, and
    /// so on. If one rank fails, all ranks fail.
    pub fn init<T: Element, O: Operation<T> + 'static, C: Communicator>(
        comm: &C,
        input: Vec<T>,
        output: Vec<T>,
        op: O,
    ) -> Result<Request<'_, T, O>, Error> {
        Self::init_with(comm, input, output, op, &Settings::default())
    }

    /// Makes a request with [`Settings`]. Collective.
    ///
    /// # Errors
    /// Those of [`init`](Self::init), and errors for settings that cannot be met.
    pub fn init_with<'c, T: Element, O: Operation<T> + 'static, C: Communicator>(
        comm: &'c C,
        input: Vec<T>,
        output: Vec<T>,
        op: O,
        settings: &Settings,
    ) -> Result<Request<'c, T, O>, Error> {
        let (counts, input, output) = (vec![input.len()], UserBuffer::owned(input), UserBuffer::owned(output));
        prepare(comm, PersistentCall { kind: Kind::Allreduce, counts, input, output, op, root: None }, settings, true)
    }

    /// Makes a request and starts it: a non-blocking allreduce. Collective.
    ///
    /// # Errors
    /// Those of [`init`](Self::init).
    pub fn start<T: Element, O: Operation<T> + 'static, C: Communicator>(
        comm: &C,
        input: Vec<T>,
        output: Vec<T>,
        op: O,
    ) -> Result<Request<'_, T, O>, Error> {
        started(Self::init(comm, input, output, op)?)
    }
}

/// Reduces vectors of all ranks; every rank gets a part of the result.
#[derive(Debug)]
pub struct ReduceScatter;

impl ReduceScatter {
    /// Makes a request, which owns the buffers from now on: rank r gets `counts[r]` elements. Collective.
    ///
    /// # Errors
    /// As for [`Allreduce::init`].
    pub fn init<'c, T: Element, O: Operation<T> + 'static, C: Communicator>(
        comm: &'c C,
        input: Vec<T>,
        output: Vec<T>,
        counts: &[usize],
        op: O,
    ) -> Result<Request<'c, T, O>, Error> {
        Self::init_with(comm, input, output, counts, op, &Settings::default())
    }

    /// Makes a request with [`Settings`]. Collective.
    ///
    /// # Errors
    /// As for [`Allreduce::init_with`].
    pub fn init_with<'c, T: Element, O: Operation<T> + 'static, C: Communicator>(
        comm: &'c C,
        input: Vec<T>,
        output: Vec<T>,
        counts: &[usize],
        op: O,
        settings: &Settings,
    ) -> Result<Request<'c, T, O>, Error> {
        let (counts, input, output) = (counts.to_vec(), UserBuffer::owned(input), UserBuffer::owned(output));
        prepare(
            comm,
            PersistentCall { kind: Kind::ReduceScatter, counts, input, output, op, root: None },
            settings,
            true,
        )
    }

    /// Makes a request and starts it: a non-blocking reduce_scatter. Collective.
    ///
    /// # Errors
    /// As for [`Allreduce::init`].
    pub fn start<'c, T: Element, O: Operation<T> + 'static, C: Communicator>(
        comm: &'c C,
        input: Vec<T>,
        output: Vec<T>,
        counts: &[usize],
        op: O,
    ) -> Result<Request<'c, T, O>, Error> {
        started(Self::init(comm, input, output, counts, op)?)
    }
}

/// Every rank gets the blocks of all ranks.
#[derive(Debug)]
pub struct Allgatherv;

impl Allgatherv {
    /// Makes a request, which owns the buffers from now on: rank r contributes `counts[r]` elements. Collective.
    ///
    /// # Errors
    /// As for [`Allreduce::init`].
    pub fn init<'c, T: Element, C: Communicator>(
        comm: &'c C,
        input: Vec<T>,
        output: Vec<T>,
        counts: &[usize],
    ) -> Result<Request<'c, T, Unused>, Error> {
        Self::init_with(comm, input, output, counts, &Settings::default())
    }

    /// Makes a request with [`Settings`]. Collective.
    ///
    /// # Errors
    /// As for [`Allreduce::init_with`].
    pub fn init_with<'c, T: Element, C: Communicator>(
        comm: &'c C,
        input: Vec<T>,
        output: Vec<T>,
        counts: &[usize],
        settings: &Settings,
    ) -> Result<Request<'c, T, Unused>, Error> {
        let (counts, input, output) = (counts.to_vec(), UserBuffer::owned(input), UserBuffer::owned(output));
        prepare(
            comm,
            PersistentCall { kind: Kind::Allgather, counts, input, output, op: Unused, root: None },
            settings,
            true,
        )
    }

    /// Makes a request and starts it: a non-blocking allgatherv. Collective.
    ///
    /// # Errors
    /// As for [`Allreduce::init`].
    pub fn start<'c, T: Element, C: Communicator>(
        comm: &'c C,
        input: Vec<T>,
        output: Vec<T>,
        counts: &[usize],
    ) -> Result<Request<'c, T, Unused>, Error> {
        started(Self::init(comm, input, output, counts)?)
    }
}

/// Every rank gets the root's data: an allgatherv in which only the root contributes elements.
#[derive(Debug)]
pub struct Broadcast;

impl Broadcast {
    /// Makes a request: the root passes its `input`, as long as every rank's `output`; the other ranks pass an empty
    /// one. Collective.
    ///
    /// # Errors
    /// As for [`Allreduce::init`], and [`Error::NoSuchRoot`].
    pub fn init<'c, T: Element, C: Communicator>(
        comm: &'c C,
        input: Vec<T>,
        output: Vec<T>,
        root: usize,
    ) -> Result<Request<'c, T, Unused>, Error> {
        let counts = at_root(comm, root, output.len());
        let (input, output) = (UserBuffer::owned(input), UserBuffer::owned(output));
        let call = PersistentCall { kind: Kind::Allgather, counts, input, output, op: Unused, root: Some(root) };
        prepare(comm, call, &Settings::default(), true)
    }
}

/// Reduces the vectors of all ranks to the root: a reduce_scatter in which only the root gets elements.
#[derive(Debug)]
pub struct Reduce;

impl Reduce {
    /// Makes a request: the root's `output` is as long as every rank's `input`; on other ranks it is empty.
    /// Collective.
    ///
    /// # Errors
    /// As for [`Allreduce::init`], and [`Error::NoSuchRoot`].
    pub fn init<T: Element, O: Operation<T> + 'static, C: Communicator>(
        comm: &C,
        input: Vec<T>,
        output: Vec<T>,
        root: usize,
        op: O,
    ) -> Result<Request<'_, T, O>, Error> {
        let counts = at_root(comm, root, input.len());
        let (input, output) = (UserBuffer::owned(input), UserBuffer::owned(output));
        let call = PersistentCall { kind: Kind::ReduceScatter, counts, input, output, op, root: Some(root) };
        prepare(comm, call, &Settings::default(), true)
    }
}

/// Counts that are zero except on the root.
fn at_root(comm: &impl Communicator, root: usize, len: usize) -> Vec<usize> {
    (0..comm.size() as usize).map(|rank| if rank == root { len } else { 0 }).collect()
}

fn started<T: Element, O: Operation<T> + 'static>(
    mut request: Request<'_, T, O>,
) -> Result<Request<'_, T, O>, Error> {
    request.start()?;
    Ok(request)
}

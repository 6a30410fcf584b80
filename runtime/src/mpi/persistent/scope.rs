//! Requests on buffers that are borrowed.
//!
//! A request that borrows could be leaked while it runs, and its borrows would end too early. So it lives in a scope,
//! which completes all running calls before the borrows end, as scoped threads do.

use super::buffer::UserBuffer;
use super::prepare::{PersistentCall, prepare};
use super::running::Scoped;
use super::{Element, Request, Settings, Unused};
use crate::error::Error;
use crate::operation::Operation;
use ::mpi::topology::Communicator;
use roundel_spec::Kind;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::rc::Rc;

/// A scope in which requests may borrow their buffers, mutably, so that an input can be changed from call to call.
pub struct Scope<'scope, 'env: 'scope> {
    engines: Rc<Engines>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// The engines started in a scope. They are dropped with the scope, even if the body panics; then a running call ends
/// the job.
#[derive(Default)]
struct Engines(RefCell<Vec<Rc<dyn Scoped>>>);

/// Completes running calls on drop.
struct Guard(Rc<Engines>);

impl Drop for Guard {
    fn drop(&mut self) {
        for engine in self.0.0.borrow().iter() {
            engine.leave();
        }
    }
}

/// Runs `body`, in which requests may borrow their buffers. All calls started in it are complete before this returns.
///
/// ```no_run
/// use roundel::mpi::persistent;
/// use roundel::operation::Sum;
///
/// fn main() -> Result<(), roundel::Error> {
///     let Some(universe) = mpi::initialize() else { return Ok(()) };
///     let world = universe.world();
///     let (mut ours, mut total) = ([1.0, 2.0], [0.0; 2]);
///     persistent::scope(|scope| {
///         let mut request = scope.allreduce(&world, &mut ours, &mut total, Sum)?;
///         request.start()?;
///         // Something else meanwhile.
///         request.wait()
///     })?;
///     println!("{total:?}");
///     Ok(())
/// }
/// ```
pub fn scope<'env, R>(body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R) -> R {
    let engines = Rc::<Engines>::default();
    let _guard = Guard(engines.clone());
    let scope = Scope { engines, scope: PhantomData, env: PhantomData };
    body(&scope)
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// An allreduce of `input` into `output`. Collective.
    ///
    /// # Errors
    /// Those of [`Allreduce::init`](super::Allreduce::init).
    pub fn allreduce<T: Element, O: Operation<T> + 'static>(
        &'scope self,
        comm: &'env impl Communicator,
        input: &'env mut [T],
        output: &'env mut [T],
        op: O,
    ) -> Result<Request<'scope, T, O>, Error> {
        let counts = vec![input.len()];
        self.begin(comm, Kind::Allreduce, counts, (input, output), op)
    }

    /// A reduce_scatter of `input`; rank r gets `counts[r]` elements in its `output`. Collective.
    ///
    /// # Errors
    /// Those of [`ReduceScatter::init`](super::ReduceScatter::init).
    pub fn reduce_scatter<T: Element, O: Operation<T> + 'static>(
        &'scope self,
        comm: &'env impl Communicator,
        input: &'env mut [T],
        output: &'env mut [T],
        counts: &[usize],
        op: O,
    ) -> Result<Request<'scope, T, O>, Error> {
        self.begin(comm, Kind::ReduceScatter, counts.to_vec(), (input, output), op)
    }

    /// An allgatherv: the `counts[r]` elements of every rank r, one after the other, into `output`. Collective.
    ///
    /// # Errors
    /// Those of [`Allgatherv::init`](super::Allgatherv::init).
    pub fn allgatherv<T: Element>(
        &'scope self,
        comm: &'env impl Communicator,
        input: &'env mut [T],
        output: &'env mut [T],
        counts: &[usize],
    ) -> Result<Request<'scope, T, Unused>, Error> {
        self.begin(comm, Kind::Allgather, counts.to_vec(), (input, output), Unused)
    }

    fn begin<T: Element, O: Operation<T> + 'static>(
        &'scope self,
        comm: &'env impl Communicator,
        kind: Kind,
        counts: Vec<usize>,
        (input, output): (&'env mut [T], &'env mut [T]),
        op: O,
    ) -> Result<Request<'scope, T, O>, Error> {
        let input = UserBuffer::borrowed(NonNull::from(&mut *input).cast(), input.len());
        let output = UserBuffer::borrowed(NonNull::from(&mut *output).cast(), output.len());
        let request = prepare(
            comm,
            PersistentCall { kind, counts, input, output, op, root: None },
            &Settings::default(),
            false,
        )?;
        let engine: Rc<dyn Scoped> = request.engine.clone();
        self.engines.0.borrow_mut().push(engine);
        Ok(request)
    }
}

//! Requests that run an algorithm that you name: every collective, of the catalogue or your own, prepared once and
//! started any number of times, or started at once, which is the non-blocking form of a call.
//!
//! The requests of [`persistent`](super) choose a plan with ports; these take the algorithm as second argument. They
//! have the names and the shape of [`threads::persistent`](crate::threads::persistent), so the same program runs on
//! threads and on MPI.
//!
//! ```no_run
//! use roundel::algorithms::Sparbit;
//! use roundel::mpi::persistent::algorithm::Allgather;
//!
//! fn main() -> Result<(), roundel::Error> {
//!     let Some(universe) = mpi::initialize() else { return Ok(()) };
//!     let world = universe.world();
//!     let p = mpi::traits::Communicator::size(&world) as usize;
//!     let mut request = Allgather::init(&world, Sparbit, vec![0], vec![0; p])?;
//!     for step in 0..10 {
//!         request.input_mut()?[0] = step;
//!         request.start()?;
//!         // Something else meanwhile.
//!         request.wait()?;
//!     }
//!     println!("{:?}", request.output()?);
//!     Ok(())
//! }
//! ```
//!
//! `init` and `start` are collective: all ranks call them in the same order, and all get an error if one rank's
//! arguments are wrong, or ranks disagree. Then several requests may run at the same time, beside calls that block.
//! Ranks start them, and wait for them, in any order.
//!
//! A request has the plan of the call that blocks, and the loop that executes it; its messages have a tag of their own.
//! In an [`Alltoallv`], only the source and the destination of a block know its length, so blocks must go directly from
//! one to the other: other algorithms are [`Error::NotStraight`]. [`mpi::trace`](crate::mpi::trace) does not record the
//! messages of requests.
//!
//! - `planner`: a transport that plans calls
//! - `planned`: executes the plan of a request
//! - `request`: the user's interface

mod planned;
mod planner;
mod request;

pub use self::request::Request;
pub use super::Element;

use self::planned::{OwnedOperation, PlannedCall};
use self::planner::Planner;
use crate::error::Error;
use crate::mpi::comm::agree::{agree, digest};
use crate::mpi::execution::{Combine, Nothing, RequestLife};
use crate::mpi::state::attribute;
use crate::operation::Operation;
use crate::requests::{displacements, requests_on};
use crate::{IsAllgather, IsAllreduce, IsAlltoall, IsBroadcast, IsGather, IsReduce, IsReduceScatter, IsScatter};
use crate::{allgather, alltoall, reduce, rooted};
use ::mpi::topology::Communicator;
use allgather::Allgather as _;
use alltoall::Alltoall as _;
use reduce::{Allreduce as _, ReduceScatter as _};
use rooted::{GatherTo as _, ReduceTo as _, ScatterFrom as _};
use roundel_spec::Collective;
use std::rc::Rc;

requests_on!(impl Communicator, Sized);

/// Makes a request from a call: all ranks must agree on `lengths`.
fn prepare<T: Element, A: Collective>(
    comm: &impl Communicator,
    (algorithm, lengths): (A, Vec<usize>),
    buffers: (Vec<T>, Vec<T>),
    call: impl FnOnce(&A, &Planner<'_>, &[T], &mut [T]) -> Result<(), Error>,
) -> Result<Request<'_, T>, Error> {
    let call = |planner: &Planner<'_>, input: &[T], output: &mut [T]| {
        call(&algorithm, planner, input, output).map(|()| Box::new(Nothing) as Box<dyn Combine>)
    };
    planned(comm, (&algorithm, &lengths), buffers, call)
}

/// Makes a request from a call that reduces.
fn prepare_reduction<T: Element, A: Collective, O: Operation<T> + 'static>(
    comm: &impl Communicator,
    (algorithm, lengths): (A, Vec<usize>),
    buffers: (Vec<T>, Vec<T>),
    op: O,
    call: impl FnOnce(&A, &Planner<'_>, &[T], &mut [T], &O) -> Result<(), Error>,
) -> Result<Request<'_, T>, Error> {
    let call = |planner: &Planner<'_>, input: &[T], output: &mut [T]| {
        call(&algorithm, planner, input, output, &op)?;
        Ok(Box::new(OwnedOperation::<T, O>::new(op, planner.rank())) as Box<dyn Combine>)
    };
    planned(comm, (&algorithm, &lengths), buffers, call)
}

/// Plans a call together with all other ranks; `call` also tells how elements are combined.
fn planned<'c, T: Element, A: Collective>(
    comm: &'c impl Communicator,
    (algorithm, lengths): (&A, &[usize]),
    (input, mut output): (Vec<T>, Vec<T>),
    call: impl FnOnce(&Planner<'_>, &[T], &mut [T]) -> Result<Box<dyn Combine>, Error>,
) -> Result<Request<'c, T>, Error> {
    let state = attribute::state(comm)?;
    let group = state.group(comm)?;
    let mut work = state.lease()?;
    let tag = work.tags.next(RequestLife::Persistent, group.largest_tag);
    let values = [
        ("the collective", digest(&A::NAME)),
        ("the parameters of the collective", digest(&algorithm.arguments())),
        ("the size of an element", size_of::<T>() as u64),
        ("the lengths", digest(&lengths)),
        ("how many requests were made before this one", work.tags.made().into()),
    ];
    let planner = Planner::new(group, &mut work);
    let own = call(&planner, &input, &mut output).map(|combine| (planner.taken(), combine));
    let (plan, combine) = agree(group.comm.raw(), &values, own)?;
    Ok(Request::new(Rc::new(PlannedCall::new(group, tag, plan, combine, (input, output)))))
}

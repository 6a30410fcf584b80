//! Requests on threads: every collective, of the catalogue or your own, prepared once and started any number of times,
//! or started at once, which is the non-blocking form of a call.
//!
//! The names and the shape are those of `roundel::mpi::persistent::algorithm`: the algorithm is the second argument.
//!
//! ```
//! use roundel::{algorithms::Sparbit, threads, threads::persistent::Allgather};
//!
//! let results = threads::run(3, |comm| {
//!     let mut request = Allgather::init(comm, Sparbit, vec![0], vec![0; 3])?;
//!     for step in 0..10 {
//!         request.input_mut()?[0] = 10 * comm.rank() + step;
//!         request.start()?;
//!         // Something else meanwhile.
//!         request.wait()?;
//!     }
//!     request.into_buffers()
//! });
//! assert!(results.into_iter().all(|buffers| buffers.unwrap().1 == [9, 19, 29]));
//! ```
//!
//! `init` and `start` are collective: all ranks call them in the same order, and all get an error if one rank's
//! arguments are wrong, or ranks disagree. Then several requests may run at the same time, beside calls that block, and
//! are waited for in any order.

use super::agreement::Agreement;
use super::comm::ThreadComm;
pub use super::request::Request;
use crate::error::Error;
use crate::operation::Operation;
use crate::requests::{displacements, requests_on};
use crate::{IsAllgather, IsAllreduce, IsAlltoall, IsBroadcast, IsGather, IsReduce, IsReduceScatter, IsScatter};
use crate::{allgather, alltoall, reduce, rooted};
use allgather::Allgather as _;
use alltoall::Alltoall as _;
use reduce::{Allreduce as _, ReduceScatter as _};
use rooted::{GatherTo as _, ReduceTo as _, ScatterFrom as _};
use roundel_spec::Collective;

/// Elements for the buffers of requests: a call runs on a thread of its own.
pub trait Element: Clone + Send + 'static {}

impl<T: Clone + Send + 'static> Element for T {}

requests_on!(ThreadComm, Send);

/// Makes a request from a call: all ranks must agree on `lengths`.
fn prepare<'c, T: Element, A: Collective + Send + 'static>(
    comm: &'c ThreadComm,
    (algorithm, lengths): (A, Vec<usize>),
    (input, mut output): (Vec<T>, Vec<T>),
    call: impl Fn(&A, &ThreadComm, &[T], &mut [T]) -> Result<(), Error> + Send + 'static,
) -> Result<Request<'c, T>, Error> {
    let rehearsed = call(&algorithm, &comm.for_rehearsal(), &input, &mut output);
    let agreed = Agreement::of::<T, A>(&algorithm, lengths, rehearsed.is_ok()).reached(comm);
    rehearsed.and(agreed)?;
    let call =
        Box::new(move |comm: &ThreadComm, input: &[T], output: &mut [T]| call(&algorithm, comm, input, output));
    Ok(Request::new(comm, call, input, output))
}

/// Makes a request from a call that reduces.
fn prepare_reduction<'c, T: Element, A: Collective + Send + 'static, O: Operation<T> + Send + 'static>(
    comm: &'c ThreadComm,
    agreed: (A, Vec<usize>),
    buffers: (Vec<T>, Vec<T>),
    op: O,
    call: impl Fn(&A, &ThreadComm, &[T], &mut [T], &O) -> Result<(), Error> + Send + 'static,
) -> Result<Request<'c, T>, Error> {
    prepare(comm, agreed, buffers, move |algorithm, comm, input, output| call(algorithm, comm, input, output, &op))
}

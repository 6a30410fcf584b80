//! Requests on threads: every collective, of the catalogue or your own, prepared once and started any number of times,
//! or started at once, which is the non-blocking form of a call.
//!
//! The names and the shape are those of `roundel::mpi::persistent`; here the algorithm is the second argument, because
//! threads have no profile that would choose one.
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
use crate::{IsAllgather, IsAllreduce, IsAlltoall, IsBroadcast, IsGather, IsReduce, IsReduceScatter, IsScatter};
use crate::{allgather, alltoall, reduce, rooted};
use allgather::Allgather as _;
use alltoall::Alltoall as _;
use reduce::{Allreduce as _, ReduceScatter as _};
use rooted::{Broadcast as _, GatherTo as _, ReduceTo as _, ScatterFrom as _};
use roundel_spec::Collective;

/// Makes a request from a call: all ranks must agree on `lengths`.
fn prepare<'c, T: Clone + Send + 'static, A: Collective + Send + 'static>(
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

fn started<T: Send + 'static>(mut request: Request<'_, T>) -> Result<Request<'_, T>, Error> {
    request.start()?;
    Ok(request)
}

/// Where blocks of these lengths lie, one after the other.
fn displacements(counts: &[usize]) -> Vec<usize> {
    counts.iter().scan(0_usize, |end, count| Some(std::mem::replace(end, end.saturating_add(*count)))).collect()
}

/// Every rank gets the blocks of all ranks, which have the same length.
#[derive(Debug)]
pub struct Allgather;

impl Allgather {
    /// Makes a request, which owns the buffers from now on. Collective.
    ///
    /// # Errors
    /// Those of the call that blocks, and [`Error::Disagree`]. If one rank fails, all ranks fail.
    pub fn init<'c, T: Clone + Send + 'static, A: IsAllgather + Send + 'static>(
        comm: &'c ThreadComm,
        algorithm: A,
        input: Vec<T>,
        output: Vec<T>,
    ) -> Result<Request<'c, T>, Error> {
        let lengths = vec![input.len()];
        prepare(comm, (algorithm, lengths), (input, output), |algorithm, comm, input, output| {
            algorithm.allgather(comm, input, output)
        })
    }

    /// Makes a request and starts it. Collective.
    ///
    /// # Errors
    /// Those of [`init`](Self::init).
    pub fn start<'c, T: Clone + Send + 'static, A: IsAllgather + Send + 'static>(
        comm: &'c ThreadComm,
        algorithm: A,
        input: Vec<T>,
        output: Vec<T>,
    ) -> Result<Request<'c, T>, Error> {
        started(Self::init(comm, algorithm, input, output)?)
    }
}

/// Every rank gets the blocks of all ranks: rank r contributes `counts[r]` elements.
#[derive(Debug)]
pub struct Allgatherv;

impl Allgatherv {
    /// Makes a request, which owns the buffers from now on. Collective.
    ///
    /// # Errors
    /// Those of the call that blocks, and [`Error::Disagree`]. If one rank fails, all ranks fail.
    pub fn init<'c, T: Clone + Send + 'static, A: IsAllgather + Send + 'static>(
        comm: &'c ThreadComm,
        algorithm: A,
        input: Vec<T>,
        output: Vec<T>,
        counts: &[usize],
    ) -> Result<Request<'c, T>, Error> {
        let (lengths, counts, displs) = (counts.to_vec(), counts.to_vec(), displacements(counts));
        prepare(comm, (algorithm, lengths), (input, output), move |algorithm, comm, input, output| {
            algorithm.allgatherv(comm, input, output, &counts, &displs)
        })
    }

    /// Makes a request and starts it. Collective.
    ///
    /// # Errors
    /// Those of [`init`](Self::init).
    pub fn start<'c, T: Clone + Send + 'static, A: IsAllgather + Send + 'static>(
        comm: &'c ThreadComm,
        algorithm: A,
        input: Vec<T>,
        output: Vec<T>,
        counts: &[usize],
    ) -> Result<Request<'c, T>, Error> {
        started(Self::init(comm, algorithm, input, output, counts)?)
    }
}

/// Reduces vectors of all ranks into one that all ranks get.
#[derive(Debug)]
pub struct Allreduce;

impl Allreduce {
    /// Makes a request, which owns the buffers from now on. Collective.
    ///
    /// # Errors
    /// Those of the call that blocks, and [`Error::Disagree`]. If one rank fails, all ranks fail.
    pub fn init<'c, T: Clone + Send + 'static, A: IsAllreduce + Send + 'static, O: Operation<T> + Send + 'static>(
        comm: &'c ThreadComm,
        algorithm: A,
        input: Vec<T>,
        output: Vec<T>,
        op: O,
    ) -> Result<Request<'c, T>, Error> {
        let lengths = vec![input.len()];
        prepare(comm, (algorithm, lengths), (input, output), move |algorithm, comm, input, output| {
            algorithm.allreduce(comm, input, output, &op)
        })
    }

    /// Makes a request and starts it. Collective.
    ///
    /// # Errors
    /// Those of [`init`](Self::init).
    pub fn start<'c, T: Clone + Send + 'static, A: IsAllreduce + Send + 'static, O: Operation<T> + Send + 'static>(
        comm: &'c ThreadComm,
        algorithm: A,
        input: Vec<T>,
        output: Vec<T>,
        op: O,
    ) -> Result<Request<'c, T>, Error> {
        started(Self::init(comm, algorithm, input, output, op)?)
    }
}

/// Reduces vectors of all ranks; rank r gets `counts[r]` elements of the result.
#[derive(Debug)]
pub struct ReduceScatter;

impl ReduceScatter {
    /// Makes a request, which owns the buffers from now on. Collective.
    ///
    /// # Errors
    /// Those of the call that blocks, and [`Error::Disagree`]. If one rank fails, all ranks fail.
    pub fn init<
        'c,
        T: Clone + Send + 'static,
        A: IsReduceScatter + Send + 'static,
        O: Operation<T> + Send + 'static,
    >(
        comm: &'c ThreadComm,
        algorithm: A,
        input: Vec<T>,
        output: Vec<T>,
        counts: &[usize],
        op: O,
    ) -> Result<Request<'c, T>, Error> {
        let (lengths, counts) = (counts.to_vec(), counts.to_vec());
        prepare(comm, (algorithm, lengths), (input, output), move |algorithm, comm, input, output| {
            algorithm.reduce_scatter(comm, input, output, &counts, &op)
        })
    }

    /// Makes a request and starts it. Collective.
    ///
    /// # Errors
    /// Those of [`init`](Self::init).
    pub fn start<
        'c,
        T: Clone + Send + 'static,
        A: IsReduceScatter + Send + 'static,
        O: Operation<T> + Send + 'static,
    >(
        comm: &'c ThreadComm,
        algorithm: A,
        input: Vec<T>,
        output: Vec<T>,
        counts: &[usize],
        op: O,
    ) -> Result<Request<'c, T>, Error> {
        started(Self::init(comm, algorithm, input, output, counts, op)?)
    }
}

/// Every rank gets the root's data: the root's `input` is as long as every rank's `output`, the others' is empty.
#[derive(Debug)]
pub struct Broadcast;

impl Broadcast {
    /// Makes a request, which owns the buffers from now on. Collective.
    ///
    /// # Errors
    /// Those of the call that blocks, and [`Error::Disagree`]. If one rank fails, all ranks fail.
    pub fn init<'c, T: Clone + Send + 'static, A: IsBroadcast + Send + 'static>(
        comm: &'c ThreadComm,
        algorithm: A,
        input: Vec<T>,
        output: Vec<T>,
    ) -> Result<Request<'c, T>, Error> {
        let lengths = vec![output.len()];
        prepare(comm, (algorithm, lengths), (input, output), |algorithm, comm, input, output| {
            bring(algorithm, comm, input, output)?;
            algorithm.broadcast(comm, output)
        })
    }

    /// Makes a request and starts it. Collective.
    ///
    /// # Errors
    /// Those of [`init`](Self::init).
    pub fn start<'c, T: Clone + Send + 'static, A: IsBroadcast + Send + 'static>(
        comm: &'c ThreadComm,
        algorithm: A,
        input: Vec<T>,
        output: Vec<T>,
    ) -> Result<Request<'c, T>, Error> {
        started(Self::init(comm, algorithm, input, output)?)
    }
}

/// Reduces vectors of all ranks to the root; the others' `output` is ignored, and may be empty.
#[derive(Debug)]
pub struct Reduce;

impl Reduce {
    /// Makes a request, which owns the buffers from now on. Collective.
    ///
    /// # Errors
    /// Those of the call that blocks, and [`Error::Disagree`]. If one rank fails, all ranks fail.
    pub fn init<'c, T: Clone + Send + 'static, A: IsReduce + Send + 'static, O: Operation<T> + Send + 'static>(
        comm: &'c ThreadComm,
        algorithm: A,
        input: Vec<T>,
        output: Vec<T>,
        op: O,
    ) -> Result<Request<'c, T>, Error> {
        let lengths = vec![input.len()];
        prepare(comm, (algorithm, lengths), (input, output), move |algorithm, comm, input, output| {
            algorithm.reduce(comm, input, output, &op)
        })
    }

    /// Makes a request and starts it. Collective.
    ///
    /// # Errors
    /// Those of [`init`](Self::init).
    pub fn start<'c, T: Clone + Send + 'static, A: IsReduce + Send + 'static, O: Operation<T> + Send + 'static>(
        comm: &'c ThreadComm,
        algorithm: A,
        input: Vec<T>,
        output: Vec<T>,
        op: O,
    ) -> Result<Request<'c, T>, Error> {
        started(Self::init(comm, algorithm, input, output, op)?)
    }
}

/// The root gets the blocks of all ranks; the others' `output` is ignored, and may be empty.
#[derive(Debug)]
pub struct Gather;

impl Gather {
    /// Makes a request, which owns the buffers from now on. Collective.
    ///
    /// # Errors
    /// Those of the call that blocks, and [`Error::Disagree`]. If one rank fails, all ranks fail.
    pub fn init<'c, T: Clone + Send + 'static, A: IsGather + Send + 'static>(
        comm: &'c ThreadComm,
        algorithm: A,
        input: Vec<T>,
        output: Vec<T>,
    ) -> Result<Request<'c, T>, Error> {
        let lengths = vec![input.len()];
        prepare(comm, (algorithm, lengths), (input, output), |algorithm, comm, input, output| {
            algorithm.gather(comm, input, output)
        })
    }

    /// Makes a request and starts it. Collective.
    ///
    /// # Errors
    /// Those of [`init`](Self::init).
    pub fn start<'c, T: Clone + Send + 'static, A: IsGather + Send + 'static>(
        comm: &'c ThreadComm,
        algorithm: A,
        input: Vec<T>,
        output: Vec<T>,
    ) -> Result<Request<'c, T>, Error> {
        started(Self::init(comm, algorithm, input, output)?)
    }
}

/// Every rank gets its block of the root's `input`; the others' is ignored, and may be empty.
#[derive(Debug)]
pub struct Scatter;

impl Scatter {
    /// Makes a request, which owns the buffers from now on. Collective.
    ///
    /// # Errors
    /// Those of the call that blocks, and [`Error::Disagree`]. If one rank fails, all ranks fail.
    pub fn init<'c, T: Clone + Send + 'static, A: IsScatter + Send + 'static>(
        comm: &'c ThreadComm,
        algorithm: A,
        input: Vec<T>,
        output: Vec<T>,
    ) -> Result<Request<'c, T>, Error> {
        let lengths = vec![output.len()];
        prepare(comm, (algorithm, lengths), (input, output), |algorithm, comm, input, output| {
            algorithm.scatter(comm, input, output)
        })
    }

    /// Makes a request and starts it. Collective.
    ///
    /// # Errors
    /// Those of [`init`](Self::init).
    pub fn start<'c, T: Clone + Send + 'static, A: IsScatter + Send + 'static>(
        comm: &'c ThreadComm,
        algorithm: A,
        input: Vec<T>,
        output: Vec<T>,
    ) -> Result<Request<'c, T>, Error> {
        started(Self::init(comm, algorithm, input, output)?)
    }
}

/// Every rank has a block for every other, all of the same length.
#[derive(Debug)]
pub struct Alltoall;

impl Alltoall {
    /// Makes a request, which owns the buffers from now on. Collective.
    ///
    /// # Errors
    /// Those of the call that blocks, and [`Error::Disagree`]. If one rank fails, all ranks fail.
    pub fn init<'c, T: Clone + Send + 'static, A: IsAlltoall + Send + 'static>(
        comm: &'c ThreadComm,
        algorithm: A,
        input: Vec<T>,
        output: Vec<T>,
    ) -> Result<Request<'c, T>, Error> {
        let lengths = vec![input.len()];
        prepare(comm, (algorithm, lengths), (input, output), |algorithm, comm, input, output| {
            algorithm.alltoall(comm, input, output)
        })
    }

    /// Makes a request and starts it. Collective.
    ///
    /// # Errors
    /// Those of [`init`](Self::init).
    pub fn start<'c, T: Clone + Send + 'static, A: IsAlltoall + Send + 'static>(
        comm: &'c ThreadComm,
        algorithm: A,
        input: Vec<T>,
        output: Vec<T>,
    ) -> Result<Request<'c, T>, Error> {
        started(Self::init(comm, algorithm, input, output)?)
    }
}

/// Blocks of any lengths: rank r sends `send_counts[q]` elements to rank q, and gets `recv_counts[q]` from it.
#[derive(Debug)]
pub struct Alltoallv;

impl Alltoallv {
    /// Makes a request, which owns the buffers from now on. Collective.
    ///
    /// # Errors
    /// Those of the call that blocks, and [`Error::Disagree`]. If one rank fails, all ranks fail.
    pub fn init<'c, T: Clone + Send + 'static, A: IsAlltoall + Send + 'static>(
        comm: &'c ThreadComm,
        algorithm: A,
        (input, send_counts): (Vec<T>, &[usize]),
        (output, recv_counts): (Vec<T>, &[usize]),
    ) -> Result<Request<'c, T>, Error> {
        let [send, recv] = [send_counts, recv_counts].map(|counts| (counts.to_vec(), displacements(counts)));
        prepare(comm, (algorithm, Vec::new()), (input, output), move |algorithm, comm, input, output| {
            algorithm.alltoallv(comm, input, &send.0, &send.1, output, &recv.0, &recv.1)
        })
    }

    /// Makes a request and starts it. Collective.
    ///
    /// # Errors
    /// Those of [`init`](Self::init).
    pub fn start<'c, T: Clone + Send + 'static, A: IsAlltoall + Send + 'static>(
        comm: &'c ThreadComm,
        algorithm: A,
        send: (Vec<T>, &[usize]),
        recv: (Vec<T>, &[usize]),
    ) -> Result<Request<'c, T>, Error> {
        started(Self::init(comm, algorithm, send, recv)?)
    }
}

/// Copies the root's input to its output; the others have none.
fn bring<T: Clone, A: Collective>(
    algorithm: &A,
    comm: &ThreadComm,
    input: &[T],
    output: &mut [T],
) -> Result<(), Error> {
    let is_root = usize::try_from(algorithm.root()).is_ok_and(|root| root == comm.rank());
    let (expected, reason) = match is_root {
        true => (output.len(), "the root's input is what all ranks get"),
        false => (0, "only the root has an input"),
    };
    if input.len() != expected {
        return Err(Error::Length { what: "input", expected, found: input.len(), reason });
    }
    if is_root && !comm.rehearses() {
        output.clone_from_slice(input);
    }
    Ok(())
}

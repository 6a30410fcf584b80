//! The kinds of requests, said once for all transports.
//!
//! A transport declares its own with [`requests_on`]. It says which communicators there are, whether what a request
//! keeps moves to another thread, and has these names in scope: `Request`, the trait `Element` of what buffers may
//! hold, and two functions, `prepare` and `prepare_reduction`, that make a request from a call that blocks. So a
//! request has the meaning, the arguments and the errors of that call.

use crate::call::rooted::{BlockStorage, RootedCall, RootedLayout, expect};
use crate::error::Error;
use crate::transport::Transport;
use roundel_spec::Collective;

/// Declares a type for every kind of request on a transport: `requests_on!(ThreadComm, Send)`.
macro_rules! requests_on {
    ($comm:ty, $moves:path) => {
        $crate::requests::declare! { $comm, $moves;
            /// Every rank gets the blocks of all ranks, which have the same length.
            Allgather<A: IsAllgather>(comm, algorithm, input: Vec<T>, output: Vec<T>) {
                let agreed = vec![input.len()];
                prepare(comm, (algorithm, agreed), (input, output), |algorithm, comm, input, output| {
                    algorithm.allgather(comm, input, output)
                })
            }

            /// Every rank gets the blocks of all ranks: rank r contributes `counts[r]` elements.
            Allgatherv<A: IsAllgather>(comm, algorithm, input: Vec<T>, output: Vec<T>, counts: &[usize]) {
                let (agreed, counts, displs) = (counts.to_vec(), counts.to_vec(), displacements(counts));
                prepare(comm, (algorithm, agreed), (input, output), move |algorithm, comm, input, output| {
                    algorithm.allgatherv(comm, input, output, &counts, &displs)
                })
            }

            /// Reduces vectors of all ranks into one that all ranks get.
            Allreduce<A: IsAllreduce, O: Operation>(comm, algorithm, input: Vec<T>, output: Vec<T>, op: O) {
                let agreed = vec![input.len()];
                prepare_reduction(
                    comm, (algorithm, agreed), (input, output), op,
                    |algorithm, comm, input, output, op| algorithm.allreduce(comm, input, output, op),
                )
            }

            /// Reduces vectors of all ranks; rank r gets `counts[r]` elements of the result.
            ReduceScatter<A: IsReduceScatter, O: Operation>(
                comm, algorithm, input: Vec<T>, output: Vec<T>, counts: &[usize], op: O
            ) {
                let (agreed, counts) = (counts.to_vec(), counts.to_vec());
                prepare_reduction(
                    comm, (algorithm, agreed), (input, output), op,
                    move |algorithm, comm, input, output, op| {
                        algorithm.reduce_scatter(comm, input, output, &counts, op)
                    },
                )
            }

            /// Every rank gets the root's data: the root's `input` is as long as every rank's `output`, the others' is
            /// empty.
            Broadcast<A: IsBroadcast>(comm, algorithm, input: Vec<T>, output: Vec<T>) {
                let agreed = vec![output.len()];
                prepare(comm, (algorithm, agreed), (input, output), |algorithm, comm, input, output| {
                    $crate::requests::broadcast(algorithm, comm, input, output)
                })
            }

            /// Reduces vectors of all ranks to the root; the others' `output` is ignored, and may be empty.
            Reduce<A: IsReduce, O: Operation>(comm, algorithm, input: Vec<T>, output: Vec<T>, op: O) {
                let agreed = vec![input.len()];
                prepare_reduction(
                    comm, (algorithm, agreed), (input, output), op,
                    |algorithm, comm, input, output, op| algorithm.reduce(comm, input, output, op),
                )
            }

            /// The root gets the blocks of all ranks; the others' `output` is ignored, and may be empty.
            Gather<A: IsGather>(comm, algorithm, input: Vec<T>, output: Vec<T>) {
                let agreed = vec![input.len()];
                prepare(comm, (algorithm, agreed), (input, output), |algorithm, comm, input, output| {
                    algorithm.gather(comm, input, output)
                })
            }

            /// Every rank gets its block of the root's `input`; the others' is ignored, and may be empty.
            Scatter<A: IsScatter>(comm, algorithm, input: Vec<T>, output: Vec<T>) {
                let agreed = vec![output.len()];
                prepare(comm, (algorithm, agreed), (input, output), |algorithm, comm, input, output| {
                    algorithm.scatter(comm, input, output)
                })
            }

            /// Every rank has a block for every other, all of the same length.
            Alltoall<A: IsAlltoall>(comm, algorithm, input: Vec<T>, output: Vec<T>) {
                let agreed = vec![input.len()];
                prepare(comm, (algorithm, agreed), (input, output), |algorithm, comm, input, output| {
                    algorithm.alltoall(comm, input, output)
                })
            }

            /// Blocks of any lengths: with `send` and `recv` come the lengths of their blocks, one for each rank.
            Alltoallv<A: IsAlltoall>(comm, algorithm, send: (Vec<T>, &[usize]), recv: (Vec<T>, &[usize])) {
                let ((input, leaving), (output, arriving)) = (send, recv);
                let [send, recv] = [leaving, arriving].map(|counts| (counts.to_vec(), displacements(counts)));
                prepare(comm, (algorithm, Vec::new()), (input, output), move |algorithm, comm, input, output| {
                    algorithm.alltoallv(comm, input, &send.0, &send.1, output, &recv.0, &recv.1)
                })
            }
        }
    };
}

/// Declares the types of [`requests_on`]: the body makes the request.
macro_rules! declare {
    ($of:ty, $moves:path; $(
        $(#[$documentation:meta])*
        $name:ident<A: $kind:ident $(, O: $operation:ident)?>(
            $comm:ident, $algorithm:ident, $($argument:ident: $type:ty),*
        ) $body:block
    )*) => {$(
        $(#[$documentation])*
        #[derive(Debug)]
        pub struct $name;

        impl $name {
            /// Makes a request, which owns the buffers from now on. Collective.
            ///
            /// # Errors
            /// Those of the call that blocks, and [`Error::Disagree`]. If one rank fails, all ranks fail.
            pub fn init<'c, T: Element, A: $kind + $moves + 'static $(, O: $operation<T> + $moves + 'static)?>(
                $comm: &'c $of,
                $algorithm: A,
                $($argument: $type),*
            ) -> Result<Request<'c, T>, Error> $body

            /// Makes a request and starts it. Collective.
            ///
            /// # Errors
            /// Those of [`init`](Self::init).
            pub fn start<'c, T: Element, A: $kind + $moves + 'static $(, O: $operation<T> + $moves + 'static)?>(
                $comm: &'c $of,
                $algorithm: A,
                $($argument: $type),*
            ) -> Result<Request<'c, T>, Error> {
                let mut request = Self::init($comm, $algorithm, $($argument),*)?;
                request.start()?;
                Ok(request)
            }
        }
    )*};
}

pub(crate) use {declare, requests_on};

/// Where blocks of these lengths lie, one after the other.
pub(crate) fn displacements(counts: &[usize]) -> Vec<usize> {
    counts.iter().scan(0_usize, |end, count| Some(std::mem::replace(end, end.saturating_add(*count)))).collect()
}

/// A broadcast of what the root has in another buffer.
pub(crate) fn broadcast<T, A: Collective>(
    algorithm: &A,
    comm: &impl Transport<T>,
    input: &[T],
    output: &mut [T],
) -> Result<(), Error> {
    let is_root = usize::try_from(algorithm.root()) == Ok(comm.here()?.rank);
    let (expected, reason) = match is_root {
        true => (output.len(), "the root's input is what all ranks get"),
        false => (0, "only the root has an input"),
    };
    expect("the input", expected, input.len(), reason)?;
    let layout = RootedLayout { total: output.len(), input_at: 0, storage: BlockStorage::Output };
    comm.spread(algorithm, RootedCall { input: is_root.then_some(input), output, layout })
}

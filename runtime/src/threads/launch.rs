//! Starts the ranks and collects their results.

use super::comm::ThreadComm;
use super::hub::Hub;
use roundel_spec::Placement;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread;

/// Small, so that hundreds of ranks fit; buffers of a rank belong on the heap.
pub(super) const STACK_BYTES: usize = 512 * 1024;

/// Runs `f` as `p` ranks of one node, each on its own thread, and returns their results in the order of ranks.
///
/// Threads have a stack of 512 KiB.
///
/// ```
/// use roundel::{Allgather, algorithms::Sparbit, threads};
///
/// let results = threads::run(3, |comm| {
///     let mut all = [""; 3];
///     Sparbit.allgather(comm, &[["a", "b", "c"][comm.rank()]], &mut all).map(|()| all.concat())
/// });
/// assert_eq!(results, vec![Ok("abc".to_string()); 3]);
/// ```
///
/// # Panics
///
/// If `f` panics on some rank: the calls of the others return [`Error::PeerFailed`](crate::Error::PeerFailed), and
/// the first panic resumes here when all have ended. Also if the system cannot create a thread for a rank.
pub fn run<R: Send>(p: usize, f: impl Fn(&ThreadComm) -> R + Sync) -> Vec<R> {
    run_placed(&Placement::consecutive(p, p), f)
}

/// [`run`] with ranks on several nodes, for collectives that use `node` and `local`.
///
/// ```
/// use roundel::{Transport, threads};
///
/// let placement = threads::Placement::consecutive(5, 2);
/// let nodes = threads::run_placed(&placement, |comm| Transport::<u8>::place(comm).map(|place| place.node));
/// assert_eq!(nodes, [Ok(0), Ok(0), Ok(1), Ok(1), Ok(2)]);
/// ```
///
/// # Panics
///
/// As [`run`] does.
pub fn run_placed<R: Send>(placement: &Placement, f: impl Fn(&ThreadComm) -> R + Sync) -> Vec<R> {
    let p = placement.p();
    let (hub, shared) = (Arc::new(Hub::new(p)), Arc::new(placement.clone()));
    let live = |comm: ThreadComm| live(&comm, &f);

    let results: Vec<Option<R>> = thread::scope(|scope| {
        let start = |rank: usize| {
            let comm = ThreadComm::new(Arc::clone(&hub), Arc::clone(&shared), rank);
            let thread = thread::Builder::new().name(format!("rank {rank}")).stack_size(STACK_BYTES);
            thread.spawn_scoped(scope, || live(comm)).unwrap_or_else(|error| {
                hub.fail(rank, format!("its thread did not start: {error}"));
                panic!("the thread of rank {rank} did not start: {error}; run fewer than {p} ranks")
            })
        };
        let threads: Vec<_> = (0..p).map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });

    match hub.take_panic() {
        Some(panic) => resume_unwind(panic),
        None => results.into_iter().flatten().collect(),
    }
}

/// Runs one rank. The hub always learns of its end, so that no rank waits for it for ever.
fn live<R>(comm: &ThreadComm, f: &impl Fn(&ThreadComm) -> R) -> Option<R> {
    match catch_unwind(AssertUnwindSafe(|| f(comm))) {
        Ok(result) => {
            comm.hub().finish(comm.rank());
            Some(result)
        }
        Err(panic) => {
            comm.hub().panicked(comm.rank(), panic);
            None
        }
    }
}

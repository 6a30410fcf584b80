//! What happens between start and wait: no allocation, and only the MPI calls that the program names.

use crate::alloc::allocations;
use crate::job::Job;
use mpi::ffi;
use mpi::traits::*;
use roundel::Alltoall;
use roundel::algorithms::ModifiedBruck;
use roundel::mpi::persistent::{Allgatherv, Allreduce, Request, Settings};
use roundel::mpi::place;
use roundel::operation::{Operation, Sum};
use roundel::program::build::Scheme;
use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};

static STARTED: AtomicUsize = AtomicUsize::new(0);
static OTHERS: AtomicUsize = AtomicUsize::new(0);

/// The program's own definition stands before the library's, so that all calls come through here.
///
/// # Safety
/// As for the library's.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn MPI_Startall(count: c_int, requests: *mut ffi::MPI_Request) -> c_int {
    STARTED.fetch_add(count as usize, Ordering::Relaxed);
    // SAFETY: the arguments are the caller's.
    unsafe { ffi::PMPI_Startall(count, requests) }
}

/// Counts calls that a started collective has no reason to make.
macro_rules! counted {
    ($($name:ident, $profiled:ident($($argument:ident: $kind:ty),*);)*) => {$(
        /// The program's own definition stands before the library's.
        ///
        /// # Safety
        /// As for the library's.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($($argument: $kind),*) -> c_int {
            OTHERS.fetch_add(1, Ordering::Relaxed);
            // SAFETY: the arguments are the caller's.
            unsafe { ffi::$profiled($($argument),*) }
        }
    )*};
}

counted! {
    MPI_Comm_dup, PMPI_Comm_dup(comm: ffi::MPI_Comm, new: *mut ffi::MPI_Comm);
    MPI_Barrier, PMPI_Barrier(comm: ffi::MPI_Comm);
    MPI_Type_commit, PMPI_Type_commit(datatype: *mut ffi::MPI_Datatype);
}

fn measured<T: Equivalence + Copy + 'static, O: Operation<T> + 'static>(
    job: &Job<'_>,
    what: &str,
    request: &mut Request<'_, T, O>,
) -> usize {
    let read = || (allocations(), STARTED.load(Ordering::Relaxed), OTHERS.load(Ordering::Relaxed));
    let before = read();
    let outcome = request.start().and_then(|()| request.wait());
    let after = read();
    job.good(what, outcome);
    job.expect(after.0 == before.0, || format!("{what}: {} allocations", after.0 - before.0));
    job.expect(after.2 == before.2, || format!("{what}: {} calls that nobody needs", after.2 - before.2));
    after.1 - before.1
}

/// Calls really come through here.
fn calls_are_counted(job: &Job<'_>) {
    let before = OTHERS.load(Ordering::Relaxed);
    job.world.barrier();
    job.expect(OTHERS.load(Ordering::Relaxed) > before, || "calls of MPI are not counted".into());
}

/// Nothing is allocated, from the first call on; on one node there is no message, and between nodes there are as many
/// as ports.
pub(crate) fn nothing_is_allocated(job: &mut Job<'_>) {
    calls_are_counted(job);
    for n in [1, 10_000] {
        for scheme in [Scheme::Copies, Scheme::Chunks, Scheme::Direct] {
            let settings = Settings::default().scheme(scheme);
            let made = Allreduce::init_with(job.world, vec![1.0; n], vec![0.0; n], Sum, &settings);
            let mut request = job.good("allocations", made);
            for _ in 0..3 {
                let what = format!("{n} elements, {scheme:?}");
                let messages = measured(job, &what, &mut request);
                job.expect(messages == 0, || format!("{what}: {messages} messages on one node"));
                job.calls += 1;
            }
        }
    }
    let p = job.p();
    if p < 2 {
        return;
    }
    let comm = job.world.duplicate();
    job.good("alone", place(&comm, &[job.rank()]));
    let ports = format!("{p}({})", p - 1).parse().unwrap_or_else(|_| job.fail("ports"));
    let settings = Settings::default().ports(ports);
    let mut request = job.good("ports", Allreduce::init_with(&comm, vec![1.0; 3], vec![0.0; 3], Sum, &settings));
    let counts = vec![2; p];
    let made = Allgatherv::init_with(&comm, vec![1.0; 2], vec![0.0; 2 * p], &counts, &settings);
    let mut gather = job.good("ports", made);
    for _ in 0..3 {
        let (reduced, gathered) = (measured(job, "ports", &mut request), measured(job, "ports", &mut gather));
        let expected = 2 * (p - 1);
        job.expect(reduced == expected && gathered == expected, || {
            format!("{reduced} and {gathered} messages each way instead of {expected}")
        });
        job.calls += 2;
    }
}

/// Many requests that run at the same time: starting the last one allocates nothing, either.
pub(crate) fn many_at_a_time(job: &mut Job<'_>) {
    let made = |i: usize| job.good("many", Allreduce::init(job.world, vec![i; 3], vec![0; 3], Sum));
    let mut requests: Vec<_> = (0..50).map(made).collect();
    let before = allocations();
    let started = requests.iter_mut().try_for_each(Request::start);
    let waited = requests.iter_mut().rev().try_for_each(Request::wait);
    let allocated = allocations() - before;
    job.good("many", started.and(waited));
    job.expect(allocated == 0, || format!("many at a time: {allocated} allocations"));
    for (i, request) in requests.iter().enumerate() {
        job.expect(job.good("many", request.output()) == [i * job.p(); 3], || format!("many at a time, {i}: wrong"));
    }
    job.calls += requests.len();
}

/// Two requests that run at the same time, waited for in different orders on different ranks.
pub(crate) fn waits_in_any_order(job: &mut Job<'_>) {
    for nodes in [vec![0; job.p()], (0..job.p()).collect()] {
        let comm = job.world.duplicate();
        job.good("order", place(&comm, &[nodes[job.rank()]]));
        let n = 30_000;
        let mut one = job.good("order", Allreduce::init(&comm, vec![1i64; n], vec![0; n], Sum));
        let mut other = job.good("order", Allreduce::init(&comm, vec![2i64; n], vec![0; n], Sum));
        for _ in 0..5 {
            job.good("order", one.start());
            job.good("order", other.start());
            if job.rank().is_multiple_of(2) {
                job.good("order", one.wait());
                job.good("order", other.wait());
            } else {
                job.good("order", other.wait());
                job.good("order", one.wait());
            }
            let p = job.p() as i64;
            let right = job.good("order", one.output()).iter().all(|&x| x == p)
                && job.good("order", other.output()).iter().all(|&x| x == 2 * p);
            job.expect(right, || "two requests at a time: wrong".into());
            job.calls += 2;
        }
    }
}

/// Requests that run during an alltoallv, whose lengths and blocks have tags of their own.
pub(crate) fn beside_blocks_of_any_lengths(job: &mut Job<'_>) {
    let (p, rank, what) = (job.p(), job.rank(), "beside an alltoallv");
    let comm = job.world.duplicate();
    job.good(what, place(&comm, &[rank]));
    let made = |i: i64| job.good(what, Allreduce::init(&comm, vec![i; 4], vec![0; 4], Sum));
    let mut requests: Vec<_> = (1..4).map(made).collect();
    let (counts, displs): (Vec<usize>, Vec<usize>) = (0..p).map(|to| (1 + (rank + to) % 2, 2 * to)).unzip();
    for turn in 0..4 {
        job.good(what, requests.iter_mut().try_for_each(Request::start));
        let send: Vec<i64> = (0..2 * p).map(|i| (100 * rank + i / 2) as i64).collect();
        let mut recv = vec![-1; 2 * p];
        let bruck = ModifiedBruck { radix: 2 };
        job.good(what, bruck.alltoallv(&comm, &send, &counts, &displs, &mut recv, &counts, &displs));
        let right = (0..p).all(|from| recv[2 * from] == (100 * from + rank) as i64);
        job.expect(right, || format!("{what}, turn {turn}: wrong blocks"));
        job.good(what, requests.iter_mut().try_for_each(Request::wait));
        for (i, request) in requests.iter().enumerate() {
            let sum = ((i + 1) * p) as i64;
            job.expect(job.good(what, request.output()) == [sum; 4], || format!("{what}, turn {turn}: wrong sum"));
        }
        job.calls += 4;
    }
}

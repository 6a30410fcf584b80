//! Ranks that fail between start and wait.

use crate::job::Job;
use roundel::mpi::persistent::Allreduce;
use roundel::operation::Sum;

/// The last rank exits silently; the others must not wait forever.
pub(crate) fn die(job: &Job<'_>) {
    let mut request = job.good("die", Allreduce::init(job.world, vec![1i64; 9], vec![0; 9], Sum));
    let one = job.good("die", Allreduce::init(job.world, vec![1i64; 9], vec![0; 9], Sum));
    job.good("die", request.start());
    job.good("die", request.wait());
    if job.rank() == job.p() - 1 {
        eprintln!("persistent_suite: the last rank dies");
        std::process::exit(3);
    }
    let mut request = one;
    job.good("die", request.start());
    // The job ends here: through MPI, which notices that a rank is gone, or with an error.
    job.good("die", request.wait());
}

/// The last rank panics while its request runs: the others start late.
pub(crate) fn panic(job: &Job<'_>) {
    let mut request = job.good("panic", Allreduce::init(job.world, vec![1i64; 9], vec![0; 9], Sum));
    if job.rank() < job.p() - 1 {
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
    job.good("panic", request.start());
    assert!(job.rank() < job.p() - 1, "a rank panics while its request runs");
    job.good("panic", request.wait());
}

//! Blocks of the same length: results compared with those of MPI_Alltoall.

use crate::data::{Guarded, Record, Sample, samples};
use crate::job::Job;
use crate::shuffles::{Bruck, Pairwise, Star, Visit, visit_all};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::algorithms::{HierarchicalAlltoall, SpreadOut};
use roundel::{AllowUnproved, Alltoall, Error, IsAlltoall};

/// All types and sizes.
pub(crate) fn all_sizes(job: &mut Job<'_>) {
    for n in [0, 1, 3] {
        compare::<i32>(job, n);
    }
    compare::<Record>(job, 2);
    compare::<u8>(job, 1000);
    if job.p() <= 8 {
        compare::<f64>(job, 9000);
    }
    if job.p() <= 3 {
        compare::<u8>(job, 100_000);
    }
}

fn compare<T: Sample>(job: &mut Job<'_>, n: usize) {
    let world = job.world;
    let mut comparison = Comparison::<T>::new(job, world, n);
    visit_all(world.size() as usize, &mut comparison);
}

/// Two calls with blocks of `n` elements, and the results of MPI's own function.
struct Comparison<'a, 'job, T> {
    job: &'a mut Job<'job>,
    comm: &'a SimpleCommunicator,
    n: usize,
    sends: [Vec<T>; 2],
    results: [Vec<T>; 2],
    send: Vec<T>,
    room: Guarded<T>,
}

impl<'a, 'job, T: Sample> Comparison<'a, 'job, T> {
    fn new(job: &'a mut Job<'job>, comm: &'a SimpleCommunicator, n: usize) -> Self {
        let len = n * comm.size() as usize;
        let sends = [0, 1].map(|turn| samples(len, comm.rank() as usize, turn));
        let results = [0, 1].map(|turn: usize| {
            let mut result = sends[turn].clone();
            // An empty `Vec<u8>` has the address 1, which Open MPI takes for MPI_IN_PLACE.
            if n > 0 {
                comm.all_to_all_into(&sends[turn][..], &mut result[..]);
            }
            result
        });
        let (send, room) = (sends[0].clone(), Guarded::new(len));
        Comparison { job, comm, n, sends, results, send, room }
    }

    /// Two calls in the same buffers.
    fn twice(&mut self, what: &str, made: Made<'_, T>) {
        for turn in [0, 1] {
            let what = format!("{} {}, {what}, turn {turn}", self.n, T::NAME);
            self.room.clean();
            self.send.clone_from(&self.sends[turn]);
            let (send, recv) = (&self.send[..], self.room.inside());
            self.job.call(turn == 0, &what, &mut || made(send, recv));
            // Catches a late read by MPI.
            self.send.fill(T::sample(999));
            if let Some(difference) = self.room.difference(&self.results[turn]) {
                self.job.fail(&format!("{what}: {difference}"));
            }
        }
    }
}

/// A collective that makes a call, from one buffer to another. Only this is compiled for every collective.
type Made<'f, T> = &'f dyn Fn(&[T], &mut [T]) -> Result<(), Error>;

impl<T: Sample> Visit for Comparison<'_, '_, T> {
    fn visit<C: IsAlltoall + Copy + Sync>(&mut self, name: &str, collective: C) {
        let comm = self.comm;
        for options in self.job.alltoall_options(&collective) {
            let what = format!("{name}, {options:?}");
            self.twice(&what, &|send, recv| collective.alltoall_with(comm, send, recv, options));
        }
        self.twice(&format!("{name} in place"), &|send, data| {
            data.clone_from_slice(send);
            collective.alltoall_in_place(comm, data)
        });
    }
}

/// Ranks that are not numbered node by node, for a collective that looks at nodes.
pub(crate) fn on_nodes(job: &mut Job<'_>) {
    let comm = job.world.duplicate();
    let placed = roundel::mpi::place(&comm, &[(job.rank() * 2 + 1) % 3]);
    job.expect(placed == Ok(()), || format!("places: {placed:?}"));
    let mut comparison = Comparison::<u64>::new(job, &comm, 2);
    comparison.visit("star on nodes", Star);
    // More than 12 ranks on nodes of different sizes are outside the proved range.
    let hierarchical = HierarchicalAlltoall::<SpreadOut>::default().unproved();
    comparison.visit("hierarchical on nodes", hierarchical);
}

/// The recorded messages are those of the schedule.
pub(crate) fn messages_are_recorded(job: &mut Job<'_>) {
    let (rank, p, world) = (job.rank(), job.p(), job.world);
    let (send, mut recv) = (vec![1u32; 2 * p], vec![0; 2 * p]);
    let Ok((outcome, record)) = roundel::mpi::trace(world, || Pairwise.alltoall(world, &send, &mut recv)) else {
        job.fail("nothing is recorded")
    };
    let expected = (1..p).map(|s| (s - 1, (rank + s) % p, 8));
    let sent = record.sent.iter().map(|message| (message.round, message.to, message.bytes));
    job.expect(outcome == Ok(()) && sent.eq(expected), || format!("{outcome:?}, {:?}", record.sent));

    let bruck = Bruck::<false>::plain(2);
    let Ok((outcome, record)) = roundel::mpi::trace(world, || bruck.alltoall(world, &send, &mut recv)) else {
        job.fail("nothing is recorded")
    };
    let rounds = p.next_power_of_two().ilog2() as usize;
    let right = outcome == Ok(()) && record.sent.len() == rounds && record.received.len() == rounds;
    job.expect(right, || format!("{outcome:?}, {:?}", record.sent));
    job.calls += 2;
}

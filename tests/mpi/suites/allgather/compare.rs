//! Results compared with those of MPI_Allgather and MPI_Allgatherv.

use super::entries::visit_all;
use super::job::{Effort, place, serves};
use crate::alloc::allocations;
use crate::data::{Guarded, Record, Sample, junk, samples};
use crate::job::Job;
use mpi::Count;
use mpi::datatype::PartitionMut;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::algorithms::Visitor;
use roundel::{Allgather, Error, IsAllgather, Layout, Options};

/// All types, all sizes, both functions, on the world. With more ranks than processors a call takes a thousand times
/// longer, so larger worlds see fewer combinations; but every type, every size and every option.
pub(crate) fn all_types(job: &mut Job<'_>) {
    domains(job);
    match job.p() {
        0..=2 => every_combination(job, Effort::Full),
        3 => every_combination(job, Effort::Light),
        4..=8 => many_combinations(job),
        _ => few_combinations(job),
    }
}

fn every_combination(job: &mut Job<'_>, effort: Effort) {
    sizes::<i32>(job, &[0, 1, 3, 1000], Effort::Full);
    sizes::<u8>(job, &[0, 1, 3, 1000], effort);
    sizes::<f64>(job, &[0, 1, 3, 1000], effort);
    sizes::<u64>(job, &[0, 1, 3, 1000], effort);
    sizes::<Record>(job, &[0, 1, 3, 1000], effort);
    sizes::<u8>(job, &[100_000], Effort::Light);
    sizes::<i32>(job, &[100_000], Effort::Light);
    sizes::<f64>(job, &[100_000], Effort::Light);
    sizes::<u64>(job, &[100_000], Effort::Light);
    sizes::<Record>(job, &[100_000], Effort::Light);
}

/// Every type, every size and every option, but not all together.
pub(crate) fn many_combinations(job: &mut Job<'_>) {
    sizes::<i32>(job, &[0, 1, 3, 1000], Effort::Light);
    sizes::<u8>(job, &[0, 3], Effort::Light);
    sizes::<f64>(job, &[1], Effort::Light);
    sizes::<u64>(job, &[1000], Effort::Light);
    sizes::<Record>(job, &[1, 1000], Effort::Light);
    sizes::<u8>(job, &[100_000], Effort::Light);
    match job.p() {
        5 => sizes::<i32>(job, &[100_000], Effort::Light),
        7 => sizes::<f64>(job, &[100_000], Effort::Light),
        _ => sizes::<u64>(job, &[100_000], Effort::Light),
    }
}

fn few_combinations(job: &mut Job<'_>) {
    sizes::<i32>(job, &[0, 1, 1000], Effort::Light);
    sizes::<f64>(job, &[3], Effort::Light);
    sizes::<u64>(job, &[1], Effort::Light);
    sizes::<Record>(job, &[3], Effort::Light);
    sizes::<u8>(job, &[100_000], Effort::Light);
}

fn sizes<T: Sample>(job: &mut Job<'_>, sizes: &[usize], effort: Effort) {
    for &n in sizes {
        on::<T>(job, job.world, n, effort);
    }
}

/// Both functions with blocks of about `n` elements, on a communicator.
pub(crate) fn on<T: Sample>(job: &mut Job<'_>, comm: &SimpleCommunicator, n: usize, effort: Effort) {
    visit_all(&mut Comparison::new(job, comm, Call::<T>::equal(comm, n), effort));
    let orders = if effort == Effort::Full { &[false, true][..] } else { &[n % 2 == 1] };
    for &reverse in orders {
        visit_all(&mut Comparison::new(job, comm, Call::<T>::uneven(comm, n, reverse), effort));
    }
}

/// Two calls with the same counts, and the results of MPI's own function.
struct Call<T> {
    name: String,
    /// Counts and displacements of an allgatherv; none for an allgather.
    blocks: Option<(Vec<usize>, Vec<usize>)>,
    len: usize,
    sends: [Vec<T>; 2],
    results: [Vec<T>; 2],
}

impl<T: Sample> Call<T> {
    /// An allgather of `n` elements from each rank.
    fn equal(comm: &SimpleCommunicator, n: usize) -> Self {
        let (rank, p) = (comm.rank() as usize, comm.size() as usize);
        let sends = [0, 1].map(|repetition| samples(n, rank, repetition));
        let results = [0, 1].map(|repetition: usize| {
            let mut result = junk(n * p);
            // An empty `Vec<u8>` has the address 1, which Open MPI takes for MPI_IN_PLACE.
            if n == 0 {
                return result;
            }
            comm.all_gather_into(&sends[repetition][..], &mut result[..]);
            result
        });
        let name = format!("allgather of {n} {}", T::NAME);
        Call { name, blocks: None, len: n * p, sends, results }
    }

    /// An allgatherv of 0 to `2 n` elements with gaps, in the order of ranks or in the reverse order.
    fn uneven(comm: &SimpleCommunicator, n: usize, reverse: bool) -> Self {
        let (rank, p) = (comm.rank() as usize, comm.size() as usize);
        let counts: Vec<usize> = (0..p).map(|b| [n, 0, 2 * n, n.div_ceil(2), 0, n + 1][b % 6]).collect();
        let (displs, len) = displacements(&counts, reverse);
        let sends = [0, 1].map(|repetition| samples(counts[rank], rank, repetition));
        let results = [0, 1].map(|repetition: usize| reference(comm, &sends[repetition], &counts, &displs, len));
        let name = format!("allgatherv{} of {counts:?} {}", if reverse { " in reverse" } else { "" }, T::NAME);
        Call { name, blocks: Some((counts, displs)), len, sends, results }
    }

    fn run<C: IsAllgather>(
        &self,
        collective: &C,
        comm: &SimpleCommunicator,
        send: &[T],
        recv: &mut [T],
        options: Options,
    ) -> Result<(), Error> {
        match &self.blocks {
            None => collective.allgather_with(comm, send, recv, options),
            Some((counts, displs)) => collective.allgatherv_with(comm, send, recv, counts, displs, options),
        }
    }

    /// The same call with this rank's block in the receive buffer.
    fn run_in_place<C: IsAllgather>(
        &self,
        collective: &C,
        comm: &SimpleCommunicator,
        send: &[T],
        data: &mut [T],
    ) -> Result<(), Error> {
        let rank = comm.rank() as usize;
        let begin = self.blocks.as_ref().map_or(rank * send.len(), |(_, displs)| displs[rank]);
        if !send.is_empty() {
            data[begin..begin + send.len()].clone_from_slice(send);
        }
        match &self.blocks {
            None => collective.allgather_in_place(comm, data),
            Some((counts, displs)) => collective.allgatherv_in_place(comm, data, counts, displs),
        }
    }
}

/// Displacements with a gap of 0 to 2 elements before each block, and the length of the buffer.
fn displacements(counts: &[usize], reverse: bool) -> (Vec<usize>, usize) {
    let mut displs = vec![0; counts.len()];
    let mut end = 0;
    for i in 0..counts.len() {
        let b = if reverse { counts.len() - 1 - i } else { i };
        displs[b] = end + b % 3;
        end = displs[b] + counts[b];
    }
    (displs, end + 1)
}

/// What MPI_Allgatherv gives.
fn reference<T: Sample>(
    comm: &SimpleCommunicator,
    send: &[T],
    counts: &[usize],
    displs: &[usize],
    len: usize,
) -> Vec<T> {
    let as_counts = |list: &[usize]| list.iter().map(|&n| n as Count).collect::<Vec<_>>();
    let mut guarded = Guarded::new(len);
    let mut result = guarded.inside().to_vec();
    // An empty `Vec<u8>` has the address 1, which Open MPI takes for MPI_IN_PLACE.
    let mut addressed = Vec::with_capacity(1);
    addressed.extend_from_slice(send);
    let mut partition = PartitionMut::new(&mut result[..], as_counts(counts), as_counts(displs));
    comm.all_gather_varcount_into(&addressed[..], &mut partition);
    result
}

/// Runs a call with every collective and every option.
struct Comparison<'a, 'job, T> {
    job: &'a mut Job<'job>,
    comm: &'a SimpleCommunicator,
    call: Call<T>,
    room: Guarded<T>,
    send: Vec<T>,
    effort: Effort,
}

/// A collective that makes a call. Only this is compiled for every collective.
type Made<'f, T> = &'f dyn Fn(&Call<T>, &SimpleCommunicator, &[T], &mut [T]) -> Result<(), Error>;

impl<'a, 'job, T: Sample> Comparison<'a, 'job, T> {
    fn new(job: &'a mut Job<'job>, comm: &'a SimpleCommunicator, call: Call<T>, effort: Effort) -> Self {
        let (room, send) = (Guarded::new(call.len), call.sends[0].clone());
        Comparison { job, comm, call, room, send, effort }
    }

    /// Two repetitions in the same buffers. The send buffer is overwritten at once, to catch a late read by MPI; and
    /// only the first repetition may allocate: it makes a new plan, and the second reuses it.
    fn twice(&mut self, what: &str, made: Made<'_, T>) {
        for repetition in [0, 1] {
            self.room.clean();
            self.send.clone_from(&self.call.sends[repetition]);
            let before = allocations();
            let outcome = made(&self.call, self.comm, &self.send, self.room.inside());
            let allocated = allocations() - before;
            self.send.fill(T::sample(999));
            self.job.calls += 1;
            let what = || format!("{}, {what}, repetition {repetition}", self.call.name);
            self.job.expect(outcome == Ok(()), || format!("{}: {outcome:?}", what()));
            self.job.expect(repetition == 0 || allocated == 0, || format!("{}: {allocated} allocations", what()));
            if let Some(difference) = self.room.difference(&self.call.results[repetition]) {
                self.job.fail(&format!("{}: {difference}", what()));
            }
        }
    }
}

impl<T: Sample> Visitor for Comparison<'_, '_, T> {
    fn allgather<C: IsAllgather + Sync>(&mut self, name: &'static str, collective: &C) {
        let options = self.job.options(self.comm, collective, self.effort);
        let served = !options.is_empty();
        for options in options {
            let what = format!("{name}, {options:?}");
            self.twice(&what, &|call, comm, send, recv| call.run(collective, comm, send, recv, options));
        }
        if served {
            let what = format!("{name} in place");
            self.twice(&what, &|call, comm, send, recv| call.run_in_place(collective, comm, send, recv));
        }
    }
}

/// Collectives refuse calls that they do not serve, on every rank, with the right error.
fn domains(job: &mut Job<'_>) {
    visit_all(&mut Domains { job });
}

struct Domains<'a, 'job> {
    job: &'a mut Job<'job>,
}

impl Visitor for Domains<'_, '_> {
    fn allgather<C: IsAllgather + Sync>(&mut self, name: &'static str, collective: &C) {
        let (world, job) = (self.job.world, &mut *self.job);
        let Ok(at) = place(world) else { job.fail("no place") };
        let mut recv = vec![0u8; job.p()];
        let served = serves(collective, &at);
        let outcome = collective.allgather(world, &[1], &mut recv);
        let refused = matches!(outcome, Err(Error::OutsideDomain { .. }));
        job.expect(served != refused, || format!("{name} serves this place: {served}, but: {outcome:?}"));
        job.expect(job.anywhere(served) != job.anywhere(!served), || format!("{name} refuses on some ranks only"));
        job.calls += 1;
        if served && collective.rotation(&at).is_none() {
            let options = Options { layout: Layout::Rotated, ..Options::default() };
            let outcome = collective.allgather_with(world, &[1], &mut recv, options);
            let refused = matches!(outcome, Err(Error::NoSuchLayout { .. }));
            job.expect(refused, || format!("{name} has no rotated layout, but: {outcome:?}"));
        }
    }
}

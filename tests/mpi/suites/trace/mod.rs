//! The schedule is what runs: every algorithm of the catalogue on real MPI, with its messages recorded as they are
//! posted and compared with the schedule's recorder, round by round, on many placements.
//!
//! Run under `mpirun`. Ends with one line on rank 0, or with a message and a failure on the first rank that sees
//! anything wrong. `--altered` expects a message that no schedule has, and must fail.

use crate::placements::placements;
use crate::traced::{judge, record};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::algorithms::{
    Bruck, Hierarchical, LocalityBruck, MultiLane, NapAllreduce, RecursiveDoublingAllreduce, Ring, Sparbit, Visitor,
    catalogue, visit_all,
};
use roundel::operation::Sum;
use roundel::trace::RankTrace;
use roundel::{
    Allgather, AllowUnproved, Allreduce, Alltoall, Broadcast, Collective, Error, GatherTo, IsAllgather, IsAllreduce,
    IsAlltoall, IsBroadcast, IsGather, IsReduce, IsReduceScatter, IsScatter, Layout, Options, Policy, ReduceScatter,
    ReduceTo, ScatterFrom, Unproved,
};
use roundel_spec::Placement;
use roundel_tests::ending::end;
use std::collections::BTreeSet;

pub(crate) fn run(world: &SimpleCommunicator, args: &[String]) {
    let altered = args.iter().any(|arg| arg == "--altered");
    let (rank, p) = (world.rank() as usize, world.size() as usize);
    let (mut calls, mut seen) = (0, BTreeSet::new());
    for (which, (name, path)) in placements(rank, p).into_iter().enumerate() {
        let paths: Vec<Vec<usize>> = (0..p).map(|rank| placements(rank, p).swap_remove(which).1).collect();
        let (comm, placement) = (world.duplicate(), Placement::from_levels(&paths));
        if let Err(error) = roundel::mpi::place(&comm, &path) {
            end(world, &error.to_string());
        }
        let mut suite = Suite { comm: &comm, name, placement, altered, calls: 0, seen: BTreeSet::new() };
        visit_all(&mut suite);
        suite.inner_collectives();
        suite.equal_blocks::<Bruck>("bruck");
        suite.equal_blocks::<Sparbit>("sparbit");
        suite.equal_blocks::<LocalityBruck>("locality-bruck");
        suite.recordings_end();
        calls += suite.calls;
        seen.extend(suite.seen);
    }
    // With a power of two, which is in all domains.
    if p == 8 && seen.len() != catalogue().len() {
        end(world, &format!("of the catalogue only these were tried: {seen:?}"));
    }
    if rank == 0 {
        println!("trace: p = {p}, {calls} calls, all as expected");
    }
}

/// The rounds of one placement.
struct Suite<'a> {
    comm: &'a SimpleCommunicator,
    name: &'static str,
    placement: Placement,
    altered: bool,
    calls: usize,
    seen: BTreeSet<&'static str>,
}

/// The lengths of a block or a vector. Zero elements are messages, too.
const LENGTHS: [usize; 2] = [0, 11];

impl Suite<'_> {
    fn rank(&self) -> usize {
        self.comm.rank() as usize
    }

    fn p(&self) -> usize {
        self.comm.size() as usize
    }

    /// The number of blocks of a vector.
    fn blocks<C: Collective>(&self, collective: &C) -> usize {
        collective.blocks(&self.placement.seen(0, C::LOOKS_AT_NODES)) as usize
    }

    /// The collective, proved or not, if its domain includes the call.
    fn served<C: Collective>(&mut self, name: &'static str, collective: &C) -> Option<Unproved<C>> {
        collective.admits(&self.placement.seen(self.rank(), C::LOOKS_AT_NODES)).ok()?;
        self.seen.insert(name);
        C::from_arguments(&collective.arguments()).map(AllowUnproved::unproved)
    }

    /// Runs some calls, and compares the record of each with the schedule. Block `b` has `bytes(b)` bytes.
    fn compare<C: Collective>(
        &mut self,
        name: &str,
        collective: &C,
        calls: usize,
        bytes: impl Fn(usize) -> usize,
        body: impl FnOnce() -> Result<(), Error>,
    ) {
        self.calls += calls;
        let mut records = record(self.comm, body);
        if self.rank() > 0 {
            return;
        }
        if self.altered {
            alter(&mut records);
        }
        let found = judge((collective, &self.placement), calls, bytes, &records);
        if let Some(first) = found.first() {
            let case = format!("{name} {:?}, {}", collective.arguments(), self.name);
            end(
                self.comm,
                &format!("{case}: the run differs from the schedule in {} messages: {first}", found.len()),
            );
        }
    }

    /// Compares calls with every policy. Every policy sends the same messages; and the last call reuses the plan.
    fn compare_policies<C: Collective>(
        &mut self,
        name: &str,
        collective: &C,
        bytes: impl Fn(usize) -> usize,
        mut call: impl FnMut(Options) -> Result<(), Error>,
    ) {
        let policies = [Policy::default(), Policy::PACKED, Policy::DATATYPE, Policy::DATATYPE];
        let mut with = |policy| call(Options { layout: Layout::Declared, policy });
        self.compare(name, collective, policies.len(), bytes, || policies.into_iter().try_for_each(&mut with));
    }

    /// Inner collectives other than those of the catalogue, and inner collectives of inner collectives.
    fn inner_collectives(&mut self) {
        self.allgather("locality-bruck of sparbit", &LocalityBruck::<Sparbit>::default());
        self.allgather("locality-bruck of itself", &LocalityBruck::<LocalityBruck>::default());
        self.allgather("hierarchical of ring", &Hierarchical::<Ring>::default());
        self.allgather("multi-lane of sparbit", &MultiLane::<Sparbit>::default());
        self.allreduce("nap of itself", &NapAllreduce::<NapAllreduce<RecursiveDoublingAllreduce>>::default());
        // These names are not in the catalogue.
        self.seen.retain(|name| name.contains('/'));
    }

    /// The call without counts, which plans on its own.
    fn equal_blocks<C: IsAllgather + Default>(&mut self, name: &str) {
        let (collective, comm) = (C::default().unproved(), self.comm);
        let (send, mut recv) = (vec![1u64; 3], vec![0; 3 * self.p()]);
        self.compare(
            name,
            &collective,
            2,
            |_| 3 * size_of::<u64>(),
            || (0..2).try_for_each(|_| collective.allgather(comm, &send, &mut recv)),
        );
    }

    /// Only one recording is active at a time, and messages are not recorded outside one.
    fn recordings_end(&self) {
        let mut all = vec![0; self.p()];
        let mut call = || Ring.allgather(self.comm, &[1], &mut all);
        let outer = roundel::mpi::trace(self.comm, || roundel::mpi::trace(self.comm, || ()));
        let refused = matches!(&outer, Ok((Err(Error::Traced), record)) if *record == RankTrace::default());
        let right = refused
            && call() == Ok(())
            && matches!(roundel::mpi::trace(self.comm, || ()), Ok(((), record)) if record == RankTrace::default());
        let sent = roundel::mpi::trace(self.comm, call).map(|(_, record)| record.sent.len());
        if !right || sent != Ok(self.p() - 1) {
            end(self.comm, &format!("a recording inside of another: {outer:?}, afterwards {sent:?} messages"));
        }
    }
}

/// A run with a message that is one byte longer than it should be.
fn alter(records: &mut [RankTrace]) {
    let message = records.iter_mut().flat_map(|record| &mut record.sent).next();
    message.into_iter().for_each(|message| message.bytes += 1);
}

/// The length in bytes of block `b` if `elements` are divided into `blocks`.
fn share(elements: usize, blocks: usize, b: usize) -> usize {
    (elements / blocks + usize::from(b < elements % blocks)) * size_of::<u64>()
}

impl Visitor for Suite<'_> {
    /// With blocks of equal and of different lengths.
    fn allgather<C: IsAllgather + Sync>(&mut self, name: &'static str, collective: &C) {
        let Some(collective) = &self.served(name, collective) else { return };
        let (comm, p) = (self.comm, self.p());
        let lengths: [fn(usize) -> usize; 3] = [|_| 0, |_| 11, |rank| rank * 5 % 4];
        for length in lengths {
            let counts: Vec<usize> = (0..p).map(length).collect();
            let displs: Vec<usize> = (0..p).map(|rank| counts[..rank].iter().sum()).collect();
            let (send, mut recv) = (vec![1u32; counts[self.rank()]], vec![0; counts.iter().sum()]);
            let bytes = |block: usize| counts[block] * size_of::<u32>();
            self.compare_policies(name, collective, bytes, |options| {
                collective.allgatherv_with(comm, &send, &mut recv, &counts, &displs, options)
            });
        }
    }

    fn allreduce<C: IsAllreduce + Sync>(&mut self, name: &'static str, collective: &C) {
        let Some(collective) = &self.served(name, collective) else { return };
        let (comm, blocks) = (self.comm, self.blocks(collective));
        for n in LENGTHS {
            let mut data = vec![1u64; n];
            self.compare(
                name,
                collective,
                2,
                |block| share(n, blocks, block),
                || {
                    collective.allreduce_in_place(comm, &mut data, &Sum)?;
                    collective.allreduce_in_place(comm, &mut data, &Sum)
                },
            );
        }
    }

    /// With blocks of equal lengths: otherwise lengths travel, too.
    fn alltoall<C: IsAlltoall + Sync>(&mut self, name: &'static str, collective: &C) {
        let Some(collective) = &self.served(name, collective) else { return };
        let (comm, p) = (self.comm, self.p());
        for n in LENGTHS {
            let (send, mut recv) = (vec![1u32; n * p], vec![0; n * p]);
            let bytes = |_| n * size_of::<u32>();
            self.compare_policies(name, collective, bytes, |options| {
                collective.alltoall_with(comm, &send, &mut recv, options)
            });
        }
    }

    fn reduce_scatter<C: IsReduceScatter + Sync>(&mut self, name: &'static str, collective: &C) {
        let Some(collective) = &self.served(name, collective) else { return };
        let comm = self.comm;
        for n in LENGTHS {
            let (send, mut recv) = (vec![1u64; n * self.p()], vec![0; n]);
            self.compare(
                name,
                collective,
                1,
                |_| n * size_of::<u64>(),
                || collective.reduce_scatter_block(comm, &send, &mut recv, &Sum),
            );
        }
    }

    fn broadcast<C: IsBroadcast + Sync>(&mut self, name: &'static str, collective: &C) {
        let Some(collective) = &self.served(name, collective) else { return };
        let (comm, blocks) = (self.comm, self.blocks(collective));
        for n in LENGTHS {
            let mut data = vec![1u64; n];
            self.compare(
                name,
                collective,
                1,
                |block| share(n, blocks, block),
                || collective.broadcast(comm, &mut data),
            );
        }
    }

    fn reduce<C: IsReduce + Sync>(&mut self, name: &'static str, collective: &C) {
        let Some(collective) = &self.served(name, collective) else { return };
        let blocks = collective.blocks(&self.placement.seen(0, C::LOOKS_AT_NODES)) as usize;
        let comm = self.comm;
        for n in LENGTHS {
            let (send, mut recv) = (vec![1u64; n], vec![0; n]);
            self.compare(
                name,
                collective,
                1,
                |block| share(n, blocks, block),
                || collective.reduce(comm, &send, &mut recv, &Sum),
            );
        }
    }

    fn gather<C: IsGather + Sync>(&mut self, name: &'static str, collective: &C) {
        let Some(collective) = &self.served(name, collective) else { return };
        let comm = self.comm;
        for n in LENGTHS {
            let (send, mut recv) = (vec![1u64; n], vec![0; n * self.p()]);
            self.compare(name, collective, 1, |_| n * size_of::<u64>(), || collective.gather(comm, &send, &mut recv));
        }
    }

    fn scatter<C: IsScatter + Sync>(&mut self, name: &'static str, collective: &C) {
        let Some(collective) = &self.served(name, collective) else { return };
        let comm = self.comm;
        for n in LENGTHS {
            let (send, mut recv) = (vec![1u64; n * self.p()], vec![0; n]);
            self.compare(
                name,
                collective,
                1,
                |_| n * size_of::<u64>(),
                || collective.scatter(comm, &send, &mut recv),
            );
        }
    }
}

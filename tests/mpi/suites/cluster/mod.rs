//! Node-aware collectives on several nodes: their results, and how many of their messages leave a node.
//!
//! Run under `tests/tools/cluster.sh`, or on any cluster: `suites cluster NODES PPN consecutive|cyclic`. MPI reports
//! the placement of ranks, which must be that of the arguments. Ends with one line on rank 0, or with a message and a
//! failure on the first rank that sees anything wrong.

use crate::traced::{judge, record};
use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::algorithms::{
    Bruck, Hierarchical, LocalityBruck, MultiLane, NapAllreduce, RecursiveDoublingAllreduce, SmpAllreduce, Sparbit,
};
use roundel::operation::Sum;
use roundel::trace::RankTrace;
use roundel::{Allgather, Allreduce, Collective, Error, IsAllgather, IsAllreduce};
use roundel_spec::Placement;
use roundel_spec::arith::{ceil_log, floor_log};
use roundel_spec::check::{self, Point, record_code};
use roundel_tests::ending::end;
use std::collections::BTreeSet;

pub(crate) fn run(world: &SimpleCommunicator, args: &[String]) {
    let Some(placement) = claimed(args) else {
        end(world, "usage: suites cluster NODES PPN consecutive|cyclic");
    };
    let cluster = Cluster { world, placement };
    cluster.is_where_mpi_says();
    cluster.gathers();
    cluster.reductions();
    if world.rank() == 0 {
        println!("cluster: {}, all as expected", args.join(" "));
    }
}

/// The placement that the arguments name.
fn claimed(args: &[String]) -> Option<Placement> {
    let [nodes, ppn, order] = args else { return None };
    let (nodes, ppn): (usize, usize) = (nodes.parse().ok()?, ppn.parse().ok()?);
    match order.as_str() {
        "consecutive" => Some(Placement::consecutive(nodes * ppn, ppn)),
        "cyclic" => Some(Placement::cyclic(nodes * ppn, ppn)),
        _ => None,
    }
}

struct Cluster<'a> {
    world: &'a SimpleCommunicator,
    placement: Placement,
}

/// The largest number of messages of a rank that leave its node, by its local index, and of rounds with such messages.
struct Cost {
    each: fn(local: i64, ppn: i64, nodes: i64) -> i64,
    rounds: fn(ppn: i64, nodes: i64) -> i64,
}

/// Bienz et al. 2019 and 2022: all ranks of a node communicate with different nodes.
const BY_LANES: Cost = Cost { each: |_, ppn, nodes| ceil_log(ppn, nodes), rounds: ceil_log };

/// Träff 2006: the leaders run Bruck's algorithm.
const BY_LEADERS: Cost = Cost {
    each: |local, _, nodes| if local == 0 { ceil_log(2, nodes) } else { 0 },
    rounds: |_, nodes| ceil_log(2, nodes),
};

/// Träff and Hunold 2020: every lane runs it.
const IN_LANES: Cost = Cost { each: |_, _, nodes| ceil_log(2, nodes), rounds: |_, nodes| ceil_log(2, nodes) };

/// The leaders run recursive doubling, with a fold and an unfold if the number of nodes is not a power of two.
const DOUBLING: Cost = Cost {
    each: |local, _, nodes| if local == 0 { floor_log(2, nodes) + fold(nodes) } else { 0 },
    rounds: |_, nodes| floor_log(2, nodes) + 2 * fold(nodes),
};

fn fold(nodes: i64) -> i64 {
    i64::from(nodes & (nodes - 1) != 0)
}

impl Cluster<'_> {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn p(&self) -> usize {
        self.world.size() as usize
    }

    fn expect(&self, right: bool, what: impl FnOnce() -> String) {
        if !right {
            end(self.world, &what());
        }
    }

    /// Asks MPI which ranks share memory, without Roundel.
    fn is_where_mpi_says(&self) {
        self.expect(self.placement.p() == self.p(), || format!("there are {} ranks", self.p()));
        let node = self.world.split_shared(self.world.rank());
        let mut leader = self.rank();
        node.process_at_rank(0).broadcast_into(&mut leader);
        let mut leaders = vec![0; self.p()];
        self.world.all_gather_into(&leader, &mut leaders[..]);
        let found = Placement::from_nodes(leaders.clone());
        self.expect(found == self.placement, || format!("the first rank on each rank's node is {leaders:?}"));
    }

    fn gathers(&self) {
        self.gather(&LocalityBruck::<Bruck>::default(), BY_LANES);
        self.gather(&LocalityBruck::<Sparbit>::default(), BY_LANES);
        self.gather(&LocalityBruck::<LocalityBruck<Bruck>>::default(), BY_LANES);
        self.gather(&Hierarchical::<Bruck>::default(), BY_LEADERS);
        self.gather(&MultiLane::<Bruck>::default(), IN_LANES);
    }

    fn reductions(&self) {
        self.reduce(&SmpAllreduce, DOUBLING);
        self.reduce(&NapAllreduce::<RecursiveDoublingAllreduce>::default(), BY_LANES);
        self.reduce(&NapAllreduce::<NapAllreduce<RecursiveDoublingAllreduce>>::default(), BY_LANES);
    }

    fn gather<C: IsAllgather + Copy>(&self, collective: &C, cost: Cost) {
        for n in [0, 1, 1000] {
            let own: Vec<u64> = (0..n).map(|i| (self.rank() * n + i) as u64).collect();
            let mut all = vec![u64::MAX; n * self.p()];
            let bytes = n * size_of::<u64>();
            self.call(collective, &cost, bytes, || collective.allgather(self.world, &own, &mut all));
            let right = all.iter().copied().eq(0..(n * self.p()) as u64);
            self.expect(right, || format!("{}, {n} elements: a wrong result", C::NAME));
        }
    }

    fn reduce<C: IsAllreduce + Copy>(&self, collective: &C, cost: Cost) {
        for n in [0, 1, 1000] {
            let own: Vec<i64> = (0..n).map(|i| (self.rank() as i64 + 1) * (i % 17 - 8)).collect();
            let (mut sum, mut expected) = (vec![0; own.len()], vec![0; own.len()]);
            // Open MPI takes two empty buffers for the same buffer.
            if n > 0 {
                self.world.all_reduce_into(&own[..], &mut expected[..], SystemOperation::sum());
            }
            let bytes = own.len() * size_of::<i64>();
            self.call(collective, &cost, bytes, || collective.allreduce(self.world, &own, &mut sum, &Sum));
            self.expect(sum == expected, || format!("{}, {n} elements: a wrong result", C::NAME));
        }
    }

    /// One call: on the first rank, its messages are compared with the schedule, with the declared bounds and with the
    /// papers.
    fn call<C: Collective>(
        &self,
        collective: &C,
        cost: &Cost,
        bytes: usize,
        body: impl FnOnce() -> Result<(), Error>,
    ) {
        let records = record(self.world, body);
        if self.rank() > 0 {
            return;
        }
        let found = judge((collective, &self.placement), 1, |_| bytes, &records);
        self.expect(found.is_empty(), || format!("{}: {}", C::NAME, found[0]));
        self.costs::<C>(cost, &records);
        self.census(collective, &records);
    }

    /// The declared bounds hold for ranks that are numbered node by node, and here each rank sends as many messages as
    /// its counterpart does there.
    fn census<C: Collective>(&self, collective: &C, records: &[RankTrace]) {
        let regions = self.placement.regions();
        let sizes: Vec<usize> = (0..regions.nodes()).map(|node| regions.size(node) as usize).collect();
        let point = Point { placement: Placement::of_sizes(&sizes), args: collective.arguments() };
        let passed = check::trace(&C::schedule(), &point, &record_code(collective, &point.placement));
        let census =
            passed.map(|passed| passed.census).unwrap_or_else(|violation| end(self.world, &violation.to_string()));
        for (rank, record) in records.iter().enumerate() {
            let promised = &census.ranks[self.placement.place(rank).rank as usize];
            let left = record.sent.iter().filter(|message| message.nonlocal).count() as i64;
            let right = (left, record.sent.len() as i64) == (promised.nonlocal_messages_sent, promised.messages_sent);
            self.expect(right, || format!("{}: rank {rank} sent {left} messages to other nodes", C::NAME));
        }
    }

    /// Messages between nodes, as they were posted.
    fn costs<C: Collective>(&self, cost: &Cost, records: &[RankTrace]) {
        let (nodes, ppn) = (self.placement.regions().nodes(), self.placement.ppn() as i64);
        let mut largest = 0;
        for (rank, record) in records.iter().enumerate() {
            let left = record.sent.iter().filter(|message| message.nonlocal).count() as i64;
            let most = (cost.each)(self.placement.place(rank).local, ppn, nodes);
            self.expect(left <= most, || format!("{}: rank {rank} sent {left} messages to other nodes", C::NAME));
            largest = largest.max(left);
        }
        let most = (0..ppn).map(|local| (cost.each)(local, ppn, nodes)).max().unwrap_or(0);
        self.expect(largest == most, || {
            format!("{}: no rank sent more than {largest} messages to other nodes, where {most} are needed", C::NAME)
        });
        let sent = records.iter().flat_map(|record| &record.sent).filter(|message| message.nonlocal);
        let rounds = sent.map(|message| message.round).collect::<BTreeSet<_>>().len() as i64;
        self.expect(rounds == (cost.rounds)(ppn, nodes), || format!("{}: {rounds} rounds between nodes", C::NAME));
    }
}

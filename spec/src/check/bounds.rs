//! Rule 5: rounds, messages and blocks, local and inter-node, stay within the declared bounds.

use super::CheckInput;
use crate::check::violation::{Problem, Violation};
use crate::meaning::eval::{self, Env, Halt, Walker};
use crate::schedule::contract::ends;
use crate::schedule::message::Direction;
use crate::schedule::{Bound, BoundScope, Loop, Metric, SchedulePart};
use crate::trace::record::{Message, RankLog};

/// What one rank uses, in one round or in a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Usage {
    pub messages_sent: i64,
    pub messages_received: i64,
    pub blocks_sent: i64,
    pub blocks_received: i64,
    pub nonlocal_messages_sent: i64,
    pub nonlocal_messages_received: i64,
    pub nonlocal_blocks_sent: i64,
    /// For an all-to-all: the change in the number of blocks that neither come from the rank nor are for it.
    pub in_transit: i64,
    /// The largest number of such blocks at any time.
    pub scratch: i64,
}

impl Usage {
    /// What `rank` uses in `round`.
    pub fn in_round(scene: &CheckInput<'_>, rank: usize, round: usize) -> Self {
        let log = &scene.trace.ranks[rank];
        let mut usage = Usage::default();
        for message in log.round(round) {
            let blocks = log.blocks(message).len() as i64;
            let nonlocal = scene.point.placement.nonlocal(rank, message.peer) as i64;
            let strange = if scene.schedule.kind.moves() { strange(scene, rank, message) } else { 0 };
            match message.direction {
                Direction::Send => {
                    usage.messages_sent += 1;
                    usage.blocks_sent += blocks;
                    usage.nonlocal_messages_sent += nonlocal;
                    usage.nonlocal_blocks_sent += nonlocal * blocks;
                    usage.in_transit -= strange;
                }
                Direction::Recv => {
                    usage.messages_received += 1;
                    usage.blocks_received += blocks;
                    usage.nonlocal_messages_received += nonlocal;
                    usage.in_transit += strange;
                }
            }
        }
        usage.scratch = usage.in_transit;
        usage
    }

    /// Adds what another round uses.
    pub fn add(&mut self, other: Usage) {
        self.messages_sent += other.messages_sent;
        self.messages_received += other.messages_received;
        self.blocks_sent += other.blocks_sent;
        self.blocks_received += other.blocks_received;
        self.nonlocal_messages_sent += other.nonlocal_messages_sent;
        self.nonlocal_messages_received += other.nonlocal_messages_received;
        self.nonlocal_blocks_sent += other.nonlocal_blocks_sent;
        self.in_transit += other.in_transit;
        self.scratch = self.scratch.max(self.in_transit);
    }

    /// The value of a metric; rounds do not belong to one rank and are passed in.
    pub fn get(&self, metric: Metric, rounds: RoundCount) -> i64 {
        match metric {
            Metric::Rounds => rounds.active,
            Metric::NonlocalRounds => rounds.nonlocal,
            Metric::MessagesSent => self.messages_sent,
            Metric::MessagesReceived => self.messages_received,
            Metric::BlocksSent => self.blocks_sent,
            Metric::BlocksReceived => self.blocks_received,
            Metric::NonlocalMessagesSent => self.nonlocal_messages_sent,
            Metric::NonlocalMessagesReceived => self.nonlocal_messages_received,
            Metric::NonlocalBlocksSent => self.nonlocal_blocks_sent,
            Metric::Scratch => self.scratch,
        }
    }
}

/// The number of blocks of a message that neither come from a rank nor are for it.
fn strange(scene: &CheckInput<'_>, rank: usize, message: &Message) -> i64 {
    let p = scene.trace.p();
    let passes = |&&block: &&u32| {
        let (source, destination) = ends(block as usize, p);
        source != rank && destination != rank
    };
    scene.trace.ranks[rank].blocks(message).iter().filter(passes).count() as i64
}

/// The number of rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundCount {
    /// Rounds with a message.
    pub active: i64,
    /// Rounds with a message to another node.
    pub nonlocal: i64,
}

impl RoundCount {
    /// How one round is counted.
    pub fn one(scene: &CheckInput<'_>, round: usize) -> Self {
        let leaves = |(rank, log): (usize, &RankLog)| {
            log.round(round).iter().any(|message| scene.point.placement.nonlocal(rank, message.peer))
        };
        RoundCount {
            active: scene.trace.has_messages(round) as i64,
            nonlocal: scene.trace.ranks.iter().enumerate().any(leaves) as i64,
        }
    }

    /// How every round is counted.
    pub fn each(scene: &CheckInput<'_>) -> Vec<Self> {
        (0..scene.trace.rounds()).map(|round| RoundCount::one(scene, round)).collect()
    }

    /// Adds the counts of other rounds.
    pub fn add(&mut self, other: RoundCount) {
        self.active += other.active;
        self.nonlocal += other.nonlocal;
    }
}

/// How far a rank has come, and what it has used so far.
#[derive(Clone, Copy, Debug)]
pub struct RankProgress<'a, 'b> {
    scene: &'a CheckInput<'b>,
    rank: usize,
    each: &'a [RoundCount],
    /// The number of the collective's own rounds so far.
    own: usize,
    /// The next round; rounds of inner collectives count.
    pub round: usize,
    /// What the rank has used.
    pub used: Usage,
    /// The rounds that had messages.
    pub rounds: RoundCount,
}

impl<'a, 'b> RankProgress<'a, 'b> {
    /// Before the first round; `each` is how [every round is counted](RoundCount::each).
    pub fn new(scene: &'a CheckInput<'b>, rank: usize, each: &'a [RoundCount]) -> Self {
        let (used, rounds) = (Usage::default(), RoundCount::default());
        RankProgress { scene, rank, each, own: 0, round: 0, used, rounds }
    }

    /// Goes on to the collective's next own round.
    pub fn advance(&mut self) {
        self.own += 1;
        let next = self.scene.trace.own_round(self.own);
        for round in self.round..next {
            self.used.add(Usage::in_round(self.scene, self.rank, round));
            self.rounds.add(self.each.get(round).copied().unwrap_or_default());
        }
        self.round = next;
    }
}

/// What a run costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Its rounds.
    pub rounds: RoundCount,
    /// The totals of each rank.
    pub ranks: Vec<Usage>,
}

impl Census {
    /// Counts the cost of a run.
    pub fn of(scene: &CheckInput<'_>) -> Self {
        let all = scene.trace.rounds();
        let mut rounds = RoundCount::default();
        (0..all).for_each(|round| rounds.add(RoundCount::one(scene, round)));
        let total = |rank| {
            let mut total = Usage::default();
            (0..all).for_each(|round| total.add(Usage::in_round(scene, rank, round)));
            total
        };
        Census { rounds, ranks: (0..scene.trace.p()).map(total).collect() }
    }

    /// The largest value of a metric over the ranks.
    pub fn max(&self, metric: Metric) -> i64 {
        self.ranks.iter().map(|usage| usage.get(metric, self.rounds)).max().unwrap_or(0)
    }
}

/// A bound and what was found, at one point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The number of the bound.
    pub bound: usize,
    /// The value of the bound.
    pub value: i64,
    /// What was used.
    pub found: i64,
    /// The rank that used it, or the first rank of the node.
    pub rank: Option<usize>,
    /// The round in which it was used, for a bound on single rounds.
    pub round: Option<usize>,
}

/// Checks all bounds.
pub fn check(scene: &CheckInput<'_>) -> Result<Census, Violation> {
    let census = Census::of(scene);
    compare(scene, &census, &mut |comparison| {
        let bound = &scene.schedule.bounds[comparison.bound];
        if within(bound, comparison.found, comparison.value) { Ok(()) } else { Err(broken(scene, comparison)) }
    })?;
    Ok(census)
}

/// Compares every bound with what was used: the largest amount, that of every rank, every node, or every round.
pub fn compare(
    scene: &CheckInput<'_>,
    census: &Census,
    visit: &mut dyn FnMut(Comparison) -> Result<(), Violation>,
) -> Result<(), Violation> {
    for (i, bound) in scene.schedule.bounds.iter().enumerate() {
        match bound.scope {
            BoundScope::Max => compare_max(scene, census, i, visit)?,
            BoundScope::Each => compare_each(scene, census, i, visit)?,
            BoundScope::Node => compare_nodes(scene, census, i, visit)?,
            BoundScope::PerRound(n) => compare_rounds(scene, i, n, visit)?,
        }
    }
    Ok(())
}

type Visit<'a> = dyn FnMut(Comparison) -> Result<(), Violation> + 'a;

fn evaluate(scene: &CheckInput<'_>, env: &mut Env<'_>, i: usize, rank: usize) -> Result<i64, Violation> {
    let bound = &scene.schedule.bounds[i];
    env.eval(&bound.value).map_err(|fault| {
        let (spot, fault) = fault.located(SchedulePart::Bound(i));
        scene.violation(spot, None, Problem::Fault { rank, fault })
    })
}

fn env<'a>(scene: &'a CheckInput<'_>, rank: usize) -> Env<'a> {
    Env::new(scene.schedule, &scene.point.args, &scene.point.place(scene.schedule, rank))
}

fn within(bound: &Bound, found: i64, value: i64) -> bool {
    if bound.exact { found == value } else { found <= value }
}

fn broken(scene: &CheckInput<'_>, comparison: Comparison) -> Violation {
    let Comparison { bound: i, value, found, rank, round } = comparison;
    let bound = Box::new(scene.schedule.bounds[i].clone());
    scene.violation(SchedulePart::Bound(i), round, Problem::Bound { bound, value, found, rank })
}

fn compare_max(scene: &CheckInput<'_>, census: &Census, i: usize, visit: &mut Visit<'_>) -> Result<(), Violation> {
    let metric = scene.schedule.bounds[i].metric;
    let value = evaluate(scene, &mut env(scene, 0), i, 0)?;
    let found = census.max(metric);
    let rank = census.ranks.iter().position(|usage| usage.get(metric, census.rounds) == found);
    let rank = rank.filter(|_| !metric.counts_rounds());
    visit(Comparison { bound: i, value, found, rank, round: None })
}

fn compare_each(scene: &CheckInput<'_>, census: &Census, i: usize, visit: &mut Visit<'_>) -> Result<(), Violation> {
    for (rank, usage) in census.ranks.iter().enumerate() {
        let value = evaluate(scene, &mut env(scene, rank), i, rank)?;
        let found = usage.get(scene.schedule.bounds[i].metric, census.rounds);
        visit(Comparison { bound: i, value, found, rank: Some(rank), round: None })?;
    }
    Ok(())
}

fn compare_nodes(scene: &CheckInput<'_>, census: &Census, i: usize, visit: &mut Visit<'_>) -> Result<(), Violation> {
    let (placement, metric) = (&scene.point.placement, scene.schedule.bounds[i].metric);
    let together = |node: usize| {
        let here = (0..placement.p()).filter(|&rank| placement.node(rank) == node);
        here.map(|rank| census.ranks[rank].get(metric, census.rounds)).sum()
    };
    let firsts = (0..placement.p()).filter(|&rank| placement.place(rank).local == 0);
    for first in firsts {
        let value = evaluate(scene, &mut env(scene, first), i, first)?;
        let found = together(placement.node(first));
        visit(Comparison { bound: i, value, found, rank: Some(first), round: None })?;
    }
    Ok(())
}

fn compare_rounds(scene: &CheckInput<'_>, i: usize, n: usize, visit: &mut Visit<'_>) -> Result<(), Violation> {
    let mut walker = PerRound { scene, i, n, round: 0, visit };
    match eval::walk(&mut env(scene, 0), &mut walker) {
        Ok(()) => Ok(()),
        Err(Halt::Stopped(violation)) => Err(*violation),
        Err(Halt::Fault(spot, fault)) => Err(scene.violation(spot, None, Problem::Fault { rank: 0, fault })),
    }
}

/// Compares the largest usage in each round of loop `n` with a bound that may mention the loop's indices.
struct PerRound<'a, 'b, 'v> {
    scene: &'a CheckInput<'b>,
    i: usize,
    n: usize,
    /// The next round, counting only the collective's own rounds.
    round: usize,
    visit: &'a mut Visit<'v>,
}

impl Walker for PerRound<'_, '_, '_> {
    type Stop = Box<Violation>;

    fn round(&mut self, env: &mut Env<'_>, n: usize, _l: &Loop) -> Result<(), Halt<Self::Stop>> {
        let round = self.scene.trace.own_round(self.round);
        self.round += 1;
        if n != self.n || !self.scene.trace.has_messages(round) {
            return Ok(());
        }
        let stop = |violation| Halt::Stopped(Box::new(violation));
        let value = evaluate(self.scene, env, self.i, 0).map_err(stop)?;
        let usages = (0..self.scene.trace.p()).map(|rank| Usage::in_round(self.scene, rank, round));
        let rounds = RoundCount::one(self.scene, round);
        let metric = self.scene.schedule.bounds[self.i].metric;
        let found = usages.map(|usage| usage.get(metric, rounds)).max().unwrap_or(0);
        let comparison = Comparison { bound: self.i, value, found, rank: None, round: Some(round) };
        (self.visit)(comparison).map_err(stop)
    }

    fn settled(&mut self, _env: &mut Env<'_>, _n: usize, _l: &Loop) -> Result<(), Halt<Self::Stop>> {
        Ok(())
    }
}

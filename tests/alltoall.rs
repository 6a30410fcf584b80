//! The counts of radix-r Bruck all-to-alls: compares the declared ones with digits counted one by one.
//!
//! *Radix paper*: Fan and Kumar, Parameterized Radix-r Bruck Algorithm for All-to-all Communication, 2022.

#![allow(clippy::unwrap_used)]

use roundel::algorithms::{HierarchicalAlltoall, KBruckAlltoall, ModifiedBruck, PairwiseAlltoall, SpreadOut};
use roundel::{Collective, Place};
use roundel_spec::Direction;
use roundel_spec::arith::{ceil_log, pow};
use roundel_spec::check::{self, CheckInput, Point};
use roundel_spec::eval::Env;
use roundel_spec::schedule::{BoundScope, Metric};
use roundel_spec::{Arguments, Placement, Schedule};

/// The largest p for which everything is counted.
const MAX_P: i64 = 512;

/// The declared cost.
struct Declared {
    schedule: Schedule,
}

impl Declared {
    fn of<C: Collective>() -> Self {
        Declared { schedule: C::schedule() }
    }

    /// The value of the bound on a metric.
    fn total(&self, metric: Metric, p: i64, radix: i64) -> i64 {
        let args = Arguments { numbers: vec![radix], ..Arguments::default() };
        let bound =
            self.schedule.bounds.iter().find(|b| b.metric == metric && !matches!(b.scope, BoundScope::PerRound(_)));
        Env::new(&self.schedule, &args, &Place::flat(0, p)).eval(&bound.unwrap().value).unwrap()
    }
}

/// How many `j` below p have each value of each digit, for one radix; p grows one by one.
struct Digits {
    radix: i64,
    p: i64,
    /// `counts[x][z]`
    counts: Vec<Vec<i64>>,
}

impl Digits {
    fn new(radix: i64) -> Self {
        Digits { radix, p: 0, counts: Vec::new() }
    }

    /// Counts the digits of p, and increments p.
    fn grow(&mut self) {
        let (mut rest, mut x) = (self.p, 0);
        while rest > 0 || x < self.counts.len() {
            if x == self.counts.len() {
                // All numbers before it have a zero here.
                let mut counts = vec![0; self.radix as usize];
                counts[0] = self.p;
                self.counts.push(counts);
            }
            self.counts[x][(rest % self.radix) as usize] += 1;
            rest /= self.radix;
            x += 1;
        }
        self.p += 1;
    }

    /// The substeps that send something.
    fn substeps(&self) -> i64 {
        let sends = |counts: &Vec<i64>| counts[1..].iter().filter(|&&count| count > 0).count() as i64;
        self.counts.iter().map(sends).sum()
    }
}

/// Every p up to 512 with every radix up to p + 2, in two halves that run in parallel.
fn counts_are_exact(radices: impl Iterator<Item = i64>) {
    let declared = Declared::of::<ModifiedBruck>();
    let schedule = &declared.schedule;
    let l = &schedule.loops[0];
    let (x_slot, z_slot, power) = (l.indices[0].var.slot, l.indices[1].var.slot, l.states[0].var.slot);
    let per_round = schedule.bounds.iter().find(|b| b.metric == Metric::BlocksSent).unwrap();
    let mut cases = 0;
    for radix in radices {
        let mut digits = Digits::new(radix);
        for p in 1..=MAX_P {
            digits.grow();
            if radix > p + 2 {
                continue;
            }
            assert_eq!(declared.total(Metric::Rounds, p, radix), digits.substeps(), "p = {p}, radix = {radix}");
            let args = Arguments { numbers: vec![radix], ..Arguments::default() };
            let mut env = Env::new(schedule, &args, &Place::flat(0, p));
            for (x, counts) in digits.counts.iter().enumerate() {
                env.set(x_slot, x as i64);
                env.set(power, pow(radix, x as i64));
                for (z, &count) in counts.iter().enumerate().skip(1).filter(|(_, count)| **count > 0) {
                    env.set(z_slot, z as i64);
                    assert_eq!(env.eval(&per_round.value), Ok(count), "p = {p}, radix = {radix}, x = {x}, z = {z}");
                    cases += 1;
                }
            }
        }
    }
    assert!(cases > 1_000_000, "{cases}");
}

#[test]
fn counts_of_even_radices_are_exact() {
    counts_are_exact((2..=MAX_P + 2).step_by(2));
}

#[test]
fn counts_of_odd_radices_are_exact() {
    counts_are_exact((3..=MAX_P + 2).step_by(2));
}

#[test]
fn both_forms_declare_the_same_counts() {
    let modified = Declared::of::<ModifiedBruck>();
    let ported = Declared::of::<KBruckAlltoall>();
    for (p, radix) in (1..=130).flat_map(|p| (2..=p + 2).map(move |radix| (p, radix))) {
        let substeps = ported.total(Metric::MessagesSent, p, radix);
        assert_eq!(modified.total(Metric::Rounds, p, radix), substeps);
        assert_eq!(modified.total(Metric::Scratch, p, radix), ported.total(Metric::Scratch, p, radix));
        assert_eq!(ported.total(Metric::Rounds, p, radix), ceil_log(radix, p));
    }
}

/// What a rank sends in each substep of the generated code: peer and number of blocks.
fn sent<C: Collective>(collective: &C, p: usize, rank: usize) -> Vec<(usize, usize)> {
    let trace = check::record_code(collective, &Placement::consecutive(p, p));
    let log = &trace.ranks[rank];
    let all = (0..log.rounds()).flat_map(|round| log.directed(round, Direction::Send));
    all.map(|message| (message.peer, log.blocks(message).len())).collect()
}

#[test]
fn figure_1_of_the_radix_paper() {
    // Six processes: three steps with radix 2, five with radix 5. With radix 4 there are four; the caption says five.
    assert_eq!(sent(&ModifiedBruck { radix: 2 }, 6, 0), [(1, 3), (2, 2), (4, 2)]);
    assert_eq!(sent(&ModifiedBruck { radix: 5 }, 6, 0), [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1)]);
    assert_eq!(sent(&ModifiedBruck { radix: 4 }, 6, 0), [(1, 2), (2, 1), (3, 1), (4, 2)]);
}

#[test]
fn figure_2a_of_the_radix_paper() {
    // With 4096 processes, radix 64 takes 126 steps and about twice the blocks of the linear algorithm.
    let (steps, blocks) = ends_of_figure_2a(64);
    assert_eq!((steps, blocks), (126, 2 * 63 * 64));
    assert_eq!(ends_of_figure_2a(2), (12, 12 * 2048));
    assert_eq!(ends_of_figure_2a(4095), (4095, 4095));
}

/// Steps and blocks of a rank among 4096, counted by their definition.
fn ends_of_figure_2a(radix: i64) -> (i64, i64) {
    let mut digits = Digits::new(radix);
    (0..4096).for_each(|_| digits.grow());
    let declared = Declared::of::<ModifiedBruck>().total(Metric::Rounds, 4096, radix);
    assert_eq!(declared, digits.substeps());
    (declared, digits.counts.iter().flat_map(|counts| &counts[1..]).sum())
}

#[test]
fn special_cases_send_what_the_definition_says() {
    // p = 1, radix beyond p, equal to p, p a power of the radix and one off it.
    assert_eq!(sent(&ModifiedBruck { radix: 7 }, 1, 0), []);
    assert_eq!(sent(&ModifiedBruck { radix: 7 }, 4, 1), [(2, 1), (3, 1), (0, 1)]);
    assert_eq!(sent(&ModifiedBruck { radix: 4 }, 4, 1), [(2, 1), (3, 1), (0, 1)]);
    assert_eq!(sent(&ModifiedBruck { radix: 3 }, 9, 0), [(1, 3), (2, 3), (3, 3), (6, 3)]);
    assert_eq!(sent(&ModifiedBruck { radix: 3 }, 8, 0), [(1, 3), (2, 2), (3, 3), (6, 2)]);
    assert_eq!(sent(&ModifiedBruck { radix: 3 }, 10, 0), [(1, 3), (2, 3), (3, 3), (6, 3), (9, 1)]);
    assert_eq!(sent(&KBruckAlltoall { radix: 3 }, 10, 0), sent(&ModifiedBruck { radix: 3 }, 10, 0));
    for p in 1..20 {
        assert_eq!(sent(&KBruckAlltoall { radix: p as i64 + 1 }, p, 0), sent(&SpreadOut, p, 0));
        assert_eq!(sent(&PairwiseAlltoall, p, 0), sent(&SpreadOut, p, 0));
    }
}

/// The largest number of rounds, messages and blocks between nodes of any rank.
fn between_nodes<C: Collective>(collective: &C, placement: Placement) -> (i64, i64, i64) {
    let schedule = C::schedule();
    let trace = check::record_code(collective, &placement);
    let point = Point { placement, args: collective.arguments() };
    let census = check::trace(&schedule, &point, &trace).unwrap().census;
    let scene = CheckInput { schedule: &schedule, point: &point, trace: &trace };
    assert_eq!(check::Census::of(&scene), census);
    (census.rounds.nonlocal, census.max(Metric::NonlocalMessagesSent), census.max(Metric::NonlocalBlocksSent))
}

#[test]
fn lanes_send_one_message_to_each_other_node() {
    let spread: HierarchicalAlltoall = HierarchicalAlltoall::default();
    for (nodes, ppn) in [(1, 5), (2, 3), (4, 4), (8, 2), (5, 1), (3, 6)] {
        let (n, q) = (nodes as i64, ppn as i64);
        let expected = if nodes == 1 { (0, 0, 0) } else { (1, n - 1, (n - 1) * q) };
        assert_eq!(between_nodes(&spread, Placement::consecutive(nodes * ppn, ppn)), expected, "{nodes} x {ppn}");
        // The same with ranks distributed cyclically over the nodes.
        let cyclic = Placement::from_nodes((0..nodes * ppn).map(|rank| rank % nodes).collect());
        assert_eq!(between_nodes(&spread, cyclic), expected, "{nodes} x {ppn}, cyclic");
    }
    let bruck = HierarchicalAlltoall { inside: SpreadOut, between: ModifiedBruck { radix: 2 } };
    assert_eq!(between_nodes(&bruck, Placement::consecutive(16, 2)), (3, 3, 12 * 2));
    // Nodes of three, one and two ranks: one lane carries all.
    let uneven = Placement::from_nodes(vec![0, 0, 0, 1, 2, 2]);
    assert_eq!(between_nodes(&spread, uneven), (1, 2, 3 + 3 * 2));
}

/// Every rule of the checker on the generated code, every radix up to p + 2.
fn is_right_with_every_radix<C: Collective>(make: fn(i64) -> C, max_p: usize) {
    let schedule = C::schedule();
    for p in 1..=max_p {
        for radix in 2..=p as i64 + 2 {
            let placement = Placement::consecutive(p, p);
            let collective = make(radix);
            let trace = check::record_code(&collective, &placement);
            let point = Point { placement, args: collective.arguments() };
            check::trace(&schedule, &point, &trace).unwrap_or_else(|wrong| panic!("{wrong}"));
        }
    }
}

#[test]
fn substeps_are_right_with_every_radix() {
    is_right_with_every_radix(|radix| ModifiedBruck { radix }, 40);
}

#[test]
fn digits_are_right_with_every_radix() {
    is_right_with_every_radix(|radix| KBruckAlltoall { radix }, 40);
}

/// The counts of the choice equal those of the declarations.
#[test]
fn the_choice_counts_what_is_sent() {
    use roundel::choice::alltoalls::{AlltoallAlgorithm, Network, Split, modelled};
    let network = Network::default();
    let count = |name: &str, trace: &check::Census| {
        (name.to_string(), trace.rounds.active, trace.max(Metric::MessagesSent), trace.max(Metric::BlocksSent))
    };
    fn census<C: Collective>(collective: &C, p: usize) -> check::Census {
        let placement = Placement::consecutive(p, p);
        let trace = check::record_code(collective, &placement);
        let point = Point { placement, args: collective.arguments() };
        check::Census::of(&CheckInput { schedule: &C::schedule(), point: &point, trace: &trace })
    }
    for (p, radix) in (1..=40).flat_map(|p| (2..=p + 2).map(move |radix| (p, radix))) {
        let found = [
            (AlltoallAlgorithm::SpreadOut, census(&SpreadOut, p as usize)),
            (AlltoallAlgorithm::Pairwise, census(&PairwiseAlltoall, p as usize)),
            (AlltoallAlgorithm::KBruck, census(&KBruckAlltoall { radix }, p as usize)),
            (AlltoallAlgorithm::ModifiedBruck, census(&ModifiedBruck { radix }, p as usize)),
        ];
        for (algorithm, census) in found {
            let choice = modelled(algorithm, p, radix, 8, &network).unwrap();
            let modelled = (algorithm.name().to_string(), choice.rounds, choice.messages, choice.blocks);
            assert_eq!(modelled, count(algorithm.name(), &census), "p = {p}, radix = {radix}");
            assert!(roundel::algorithms::find(algorithm.name()).is_ok());
        }
        let sent: Vec<i64> =
            sent(&ModifiedBruck { radix }, p as usize, 0).iter().map(|(_, blocks)| *blocks as i64).collect();
        assert!(Split::new(p, radix).unwrap().each().map(|substep| substep.blocks).eq(sent));
    }
}

//! The catalogue's generated code far beyond what is checked exhaustively: random p up to 256, random parameters,
//! random placements; with `ROUNDEL_ALL=1` up to 1024, optimised up to 4096.
//!
//! A proof for all p relies on an encoding and a solver; these tests use neither. Cases that failed once are kept in
//! `proptest-regressions/random.txt` and tried first.

use crate::common::everything;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use roundel::algorithms::{Entry, catalogue};
use roundel_spec::check::arguments::least_inner;
use roundel_spec::check::{self, Point};
use roundel_spec::expr::Expr;
use roundel_spec::{Arguments, Place, Placement, Schedule, eval};
use roundel_verify::catalogue::record;

/// The largest number of ranks: a case takes minutes with 1024.
fn largest() -> usize {
    match (everything(), cfg!(debug_assertions)) {
        (false, _) => 256,
        (true, true) => 1024,
        (true, false) => 4096,
    }
}

/// Collectives with about p rounds get this many times fewer ranks: what they hold is checked in every round.
const LINEAR: usize = 8;

/// Reductions of several blocks get this many times fewer ranks: contributions are tracked block by block.
const BY_BLOCK: usize = 8;

const REGRESSIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/random.txt");

fn config() -> ProptestConfig {
    let failure_persistence = Some(Box::new(FileFailurePersistence::Direct(REGRESSIONS)) as Box<_>);
    let cases = if everything() { 16 } else { 2 };
    ProptestConfig { cases, max_shrink_iters: 200, failure_persistence, ..ProptestConfig::default() }
}

/// How ranks are spread over nodes.
#[derive(Clone, Copy, Debug)]
enum Spread {
    /// Ranks fill one node after another; the share of all ranks that a node takes.
    Filled(f64),
    /// Ranks are distributed cyclically over this many nodes.
    Dealt(usize),
}

impl Spread {
    fn over(self, p: usize) -> Placement {
        match self {
            Spread::Filled(share) => Placement::consecutive(p, 1 + (share * p as f64) as usize),
            Spread::Dealt(nodes) => Placement::from_nodes((0..p).map(|rank| rank % nodes).collect()),
        }
    }
}

/// As many small numbers of ranks as large ones, on a logarithmic scale.
fn ranks() -> impl Strategy<Value = usize> {
    let largest = largest();
    (0.0..=(largest as f64).log2()).prop_map(move |log| (log.exp2() as usize).clamp(1, largest))
}

fn spreads() -> impl Strategy<Value = Spread> {
    prop_oneof![(0.02..1.0f64).prop_map(Spread::Filled), (1usize..80).prop_map(Spread::Dealt)]
}

/// Parameters from their domains, near the lower end and not too far from it: a radix is also a number of messages.
fn arguments(schedule: &Schedule, seeds: &[u16]) -> Arguments {
    let numbers = schedule.numbers.iter().zip(seeds).map(|(number, &seed)| {
        let value = number.domain.lo.saturating_add(i64::from((seed >> (seed % 16)).min(62)));
        number.domain.hi.map_or(value, |hi| value.min(hi))
    });
    let lists = schedule.lists.iter().zip(seeds.iter().rev()).map(|(list, &seed)| {
        let entry = |at: u32| list.domain.lo.saturating_add(i64::from(seed >> (2 * at) & 3).min(2));
        (0..5 + u32::from(seed) % 3).map(entry).collect()
    });
    Arguments { numbers: numbers.collect(), lists: lists.collect(), inner: least_inner(schedule) }
}

fn is_linear(entry: &Entry) -> bool {
    let linear = ["ring", "neighbor-exchange", "pairwise"];
    !entry.name.starts_with("alltoall/") && entry.name.rsplit('/').next().is_some_and(|name| linear.contains(&name))
}

/// How many times fewer ranks a collective gets, so that every test takes about the same time.
fn fewer(entry: &Entry, schedule: &Schedule) -> usize {
    let several_blocks = schedule.kind.reduces() && !matches!(schedule.blocks, Expr::Int(_));
    let linear = if is_linear(entry) { LINEAR } else { 1 };
    linear * if several_blocks { BY_BLOCK } else { 1 }
}

/// The largest p up to `p` that lies in the domain.
fn admitted(schedule: &Schedule, args: &Arguments, p: usize) -> Option<usize> {
    (1..=p).rev().find(|&p| matches!(eval::admits(schedule, args, &Place::flat(0, p as i64)), Ok(None)))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn generated_code_is_right_far_out(
        p in ranks(), spread in spreads(), seeds in prop::collection::vec(any::<u16>(), 4)
    ) {
        for entry in catalogue() {
            let schedule = (entry.schedule)();
            let p = p.div_ceil(fewer(entry, &schedule));
            let args = arguments(&schedule, &seeds);
            let Some(p) = admitted(&schedule, &args, p) else { continue };
            let point = Point { placement: spread.over(p), args };
            let trace = record(entry, &point.args, &point.placement).unwrap();
            let trace = trace.map_err(|refusal| TestCaseError::fail(refusal.to_string()))?;
            let checked = check::trace(&schedule, &point, &trace);
            let fault = checked.err().map(|violation| format!("{}: {violation}", entry.name));
            prop_assert_eq!(fault, None);
        }
    }
}

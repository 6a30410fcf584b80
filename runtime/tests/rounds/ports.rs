//! Ports and factors: every factorisation of every number of nodes up to 64, random ones, large ones, wrong ones.

use crate::numbers;

use crate::broken::without_one_block;
use proptest::prelude::*;
use roundel::choice::ports::REPLAYED;
use roundel::plan::order::{InvalidOrder, order};
use roundel::plan::ports::{DigitGroup, Fractions, GroupsError, NoPorts, Ports};
use roundel::plan::{OUTPUT, Plan, PlanFault, RankPlan, Slot, cost};
use roundel_spec::Kind;
use roundel_spec::schedule::Order;

fn ports(text: &str) -> Ports {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// All ways to write a number as a product of factors above 1, in order.
fn factorisations(p: usize) -> Vec<Vec<usize>> {
    if p == 1 {
        return vec![Vec::new()];
    }
    let factors = (2..=p).filter(|factor| p.is_multiple_of(*factor));
    let with = |first: usize| factorisations(p / first).into_iter().map(move |rest| [vec![first], rest].concat());
    factors.flat_map(with).collect()
}

/// Ports for a factor: repeats the list until all nodes are reached.
fn complete(factor: usize, list: &[i64]) -> Vec<i64> {
    let mut reached = 1;
    let enough = |port: &i64| {
        let before = reached;
        reached *= *port as usize + 1;
        before < factor
    };
    list.iter().copied().cycle().take_while(enough).collect()
}

/// Ports of one each, a single step with all ports, and a mixture.
fn sweep(factor: usize) -> [Vec<i64>; 3] {
    let all = factor as i64 - 1;
    [complete(factor, &[1]), complete(factor, &[all.max(1)]), complete(factor, &[2, 1, 4])]
}

fn negative(ports: Vec<i64>) -> Vec<i64> {
    ports.into_iter().map(|port| -port).collect()
}

fn groups(factors: &[usize], ports: impl Fn(usize) -> Vec<i64>) -> Vec<DigitGroup> {
    factors.iter().map(|&factor| DigitGroup { factor, ports: ports(factor) }).collect()
}

/// An allreduce whose first `leading` factors are scattered, with phase II reduced after some steps of reduce_scatter.
fn three_phases(factors: &[usize], leading: usize, style: usize, scatter: &[i64]) -> Ports {
    let (first, second) = factors.split_at(leading);
    let reversed: Vec<usize> = first.iter().rev().copied().collect();
    let scattered = groups(first, |factor| negative(sweep(factor)[style].clone()));
    let reduced = groups(second, |factor| [scatter.to_vec(), sweep(factor)[style].clone()].concat());
    let gathered = groups(&reversed, |factor| sweep(factor)[(style + 1) % 3].clone());
    let groups = [scattered, reduced, gathered].concat();
    Ports { groups: if groups.is_empty() { vec![DigitGroup { factor: 1, ports: Vec::new() }] } else { groups } }
}

fn accepted(ports: &Ports, kind: Kind, fractions: Fractions) -> (Plan, Order) {
    let pattern = ports.pattern(kind, fractions).unwrap_or_else(|error| panic!("{kind} {ports}: {error}"));
    let plan = pattern.plan();
    let order = plan.replay().unwrap_or_else(|fault| panic!("{kind} {ports}: {fault}"));
    (plan, order)
}

#[test]
fn every_factorisation_of_an_allreduce() {
    let mut count = 0;
    for p in 1..=REPLAYED {
        for factors in factorisations(p) {
            for (leading, style) in (0..=factors.len()).flat_map(|leading| (0..3).map(move |style| (leading, style)))
            {
                let ports = three_phases(&factors, leading, style, &[]);
                let (plan, order) = accepted(&ports, Kind::Allreduce, Fractions::Scattered);
                assert_eq!((plan.p, plan.blocks), (p, factors[..leading].iter().product()), "{ports}");
                assert!(order.same_tree || leading < factors.len(), "{ports}");
                assert_eq!(ports.to_string().parse(), Ok(ports));
                count += 1;
            }
        }
    }
    assert!(count > 2000, "{count}");
}

/// Phase II begins with steps of reduce_scatter, which leave it incomplete.
#[test]
fn every_factorisation_with_an_incomplete_reduce_scatter() {
    for p in 2..=40 {
        for factors in factorisations(p) {
            for leading in 0..factors.len() {
                for (style, scatter) in [(0, &[-1][..]), (1, &[-1, -1]), (2, &[-2]), (0, &[-3, -1])] {
                    let ports = three_phases(&factors, leading, style, scatter);
                    accepted(&ports, Kind::Allreduce, Fractions::Scattered);
                }
            }
        }
    }
}

/// With a fraction for each node, as in the description of the algorithms.
#[test]
fn every_factorisation_with_all_fractions() {
    for p in 1..=24 {
        for factors in factorisations(p) {
            for leading in 0..=factors.len() {
                for (style, scatter) in [(0, &[][..]), (1, &[]), (2, &[]), (0, &[-1])] {
                    let ports = three_phases(&factors, leading, style, scatter);
                    let (plan, _) = accepted(&ports, Kind::Allreduce, Fractions::All);
                    assert_eq!(plan.blocks, p);
                }
            }
        }
    }
}

#[test]
fn every_factorisation_of_a_reduce_scatter_and_of_an_allgather() {
    for p in 1..=REPLAYED {
        for factors in factorisations(p).into_iter().filter(|factors| !factors.is_empty()) {
            for style in 0..3 {
                let scatter = Ports { groups: groups(&factors, |factor| negative(sweep(factor)[style].clone())) };
                let gather = Ports { groups: groups(&factors, |factor| sweep(factor)[style].clone()) };
                for (ports, kind) in [(scatter, Kind::ReduceScatter), (gather, Kind::Allgather)] {
                    let (plan, _) = accepted(&ports, kind, Fractions::Scattered);
                    assert!((0..p).all(|rank| plan.sent(rank) == p - 1), "{kind} {ports}");
                }
            }
        }
    }
}

fn group() -> impl Strategy<Value = (usize, Vec<i64>, bool)> {
    (1usize..=7, proptest::collection::vec(1i64..=4, 0..4), any::<bool>())
}

/// Adds steps of one port until all nodes are reached.
fn completed(factor: usize, mut ports: Vec<i64>) -> Vec<i64> {
    while ports.iter().map(|&port| port as usize + 1).product::<usize>() < factor {
        ports.push(1);
    }
    ports
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn random_ports(
        first in proptest::collection::vec(group(), 0..2),
        second in proptest::collection::vec(group(), 1..3),
        some in proptest::collection::vec(1i64..=4, 0..3),
    ) {
        let scattered = first.iter().map(|(factor, ports, _)| {
            let ports = completed(*factor, [ports.clone(), vec![1]].concat());
            DigitGroup { factor: *factor, ports: negative(ports) }
        });
        let reduced = second.iter().map(|(factor, ports, scatters)| {
            let before = if *scatters { negative(some.clone()) } else { Vec::new() };
            DigitGroup { factor: *factor, ports: [before, completed(*factor, [ports.clone(), vec![1]].concat())].concat() }
        });
        let gathered = first.iter().rev().map(|(factor, ports, _)| {
            let ports = completed(*factor, ports.iter().rev().copied().collect());
            DigitGroup { factor: *factor, ports }
        });
        let ports = Ports { groups: scattered.chain(reduced).chain(gathered).collect() };
        let (plan, order) = accepted(&ports, Kind::Allreduce, Fractions::Scattered);
        prop_assert!(numbers::come_out_right(&plan), "{}", ports);
        let parts: Vec<RankPlan> = (0..plan.p).map(|node| ports.part(Kind::Allreduce, node).expect("it is a node")).collect();
        prop_assert_eq!(Plan::from_parts(parts), Ok(plan.clone()));
        let new: Vec<usize> = (0..plan.p).map(|rank| (rank * 5 + 3) % plan.p).collect();
        if let Ok(other) = plan.renumbered(&new) {
            prop_assert_eq!(other.replay().map(|found| found.same_tree), Ok(order.same_tree));
        }
    }

    #[test]
    fn texts_are_read_or_refused(text in "[0-9()\\- ]{0,12}") {
        if let Ok(ports) = text.parse::<Ports>() {
            prop_assert_eq!(ports.to_string().parse::<Ports>(), Ok(ports));
        }
    }
}

/// One node's part of a plan of 65536 nodes, without the others.
#[test]
fn parts_of_large_plans() {
    let ones = |sign: &str| vec![format!("{sign}1"); 16].join(" ");
    let gather = ports(&format!("65536({})", ones("")));
    let scatter = ports(&format!("65536({})", ones("-")));
    let both = ports(&format!("65536({}) 65536({})", ones("-"), ones("")));
    let factors = ports("256(-15 -15) 256(255) 256(15 15)");
    let sent = |part: &RankPlan| -> usize {
        part.turns.iter().flat_map(|turn| &turn.sends).map(|message| message.slots.len()).sum()
    };
    for (ports, kind, expected) in [
        (&gather, Kind::Allgather, 65535),
        (&scatter, Kind::ReduceScatter, 65535),
        (&both, Kind::Allreduce, 2 * 65535),
        (&gather, Kind::Allreduce, 16),
        (&factors, Kind::Allreduce, 3 * 255),
    ] {
        let part = ports.part(kind, 54321).unwrap_or_else(|error| panic!("{ports}: {error}"));
        assert_eq!((part.p, part.rank, sent(&part)), (65536, 54321, expected), "{kind} {ports}");
    }
    assert_eq!(factors.part(Kind::Allreduce, 65536), Err(GroupsError::NoSuchNode { node: 65536, nodes: 65536 }));
}

/// An allgather needs no working memory; a reduce_scatter with one port needs two lines, for the received data and for
/// the partial reduction. The output of an allreduce is one of them.
#[test]
fn little_memory() {
    let lines = |kind, text| ports(text).plan(kind).expect("it is complete").lines;
    assert_eq!(lines(Kind::Allgather, "11(1 1 1 1)"), 2);
    assert_eq!(lines(Kind::Allgather, "11(3 3)"), 2);
    assert_eq!(lines(Kind::ReduceScatter, "11(-1 -1 -1 -1)"), 4);
    assert_eq!(lines(Kind::Allreduce, "8(1 1 1)"), 3);
    assert_eq!(lines(Kind::Allreduce, "11(-1 -1 -1 -1) 11(1 1 1 1)"), 3);
}

const SOME: [(Kind, &str); 8] = [
    (Kind::Allreduce, "8(-1 1 1 1)"),
    (Kind::Allreduce, "2(-1) 4(1 1) 2(1)"),
    (Kind::Allreduce, "11(1 1 1 1)"),
    (Kind::Allreduce, "3(-1 -1) 3(2) 3(2)"),
    (Kind::Allreduce, "7(-1 -1 -1) 7(6)"),
    (Kind::ReduceScatter, "12(-2 -3)"),
    (Kind::Allgather, "12(3 2)"),
    (Kind::Allgather, "3(2) 5(1 1 1)"),
];

#[test]
fn every_line_is_needed() {
    for (kind, text) in SOME {
        let plan = ports(text).plan(kind).expect("it is complete");
        let less = without_one_block(&plan);
        assert!(!less.is_empty() && less.iter().all(|plan| plan.replay().is_err()), "{kind} {text}");
    }
}

/// The same with numbers: right as it is, and wrong without any one of its lines.
#[test]
fn numbers_and_replay_agree() {
    for (kind, text) in SOME {
        let plan = ports(text).plan(kind).expect("it is complete");
        assert!(numbers::come_out_right(&plan), "{kind} {text}");
        assert!(without_one_block(&plan).iter().all(|wrong| !numbers::come_out_right(wrong)), "{kind} {text}");
    }
}

/// In one round all nodes send one node too far, and receive from there.
#[test]
fn wrong_distances_are_refused() {
    for (kind, text) in SOME {
        let plan = ports(text).plan(kind).expect("it is complete");
        for round in 0..plan.rounds.len() {
            let mut wrong = plan.clone();
            for turn in &mut wrong.rounds[round] {
                turn.sends.iter_mut().for_each(|message| message.peer = (message.peer + 1) % plan.p);
                turn.receives.iter_mut().for_each(|message| message.peer = (message.peer + plan.p - 1) % plan.p);
            }
            assert!(wrong.replay().is_err(), "{kind} {text}, round {round}");
        }
    }
}

/// (Some steps of phase II may be swapped: those that only multiply complete data.)
#[test]
fn rounds_in_another_order_are_refused() {
    for (kind, text) in SOME {
        let plan = ports(text).plan(kind).expect("it is complete");
        let (mut wrong, last) = (plan.clone(), plan.rounds.len() - 1);
        wrong.rounds.swap(0, last);
        assert!(wrong.replay().is_err(), "{kind} {text}");
    }
}

#[test]
fn texts_that_are_no_ports_are_refused() {
    let read = |text: &str| text.parse::<Ports>();
    assert_eq!(read(" "), Err(NoPorts::Empty));
    for wrong in ["8", "8(1", "8)1(", "8(1(1))", "8(1) x", "8 8(1)"] {
        assert!(matches!(read(wrong), Err(NoPorts::Shape { .. })), "{wrong}: {:?}", read(wrong));
    }
    for wrong in ["0(1)", "x(1)", "(1)", "-2(1)", "99999999999(1)", "2.0(1)"] {
        assert!(matches!(read(wrong), Err(NoPorts::Factor { group: 1, .. })), "{wrong}: {:?}", read(wrong));
    }
    for wrong in ["2(1) 2(0)", "2(1) 2(x)", "2(1) 2(1,1)", "2(1) 2(-99999999999)"] {
        assert!(matches!(read(wrong), Err(NoPorts::Port { group: 2, .. })), "{wrong}: {:?}", read(wrong));
    }
    assert_eq!(read(" 8( -1 1  1 1 )2(1)").map(|ports| ports.to_string()).as_deref(), Ok("8(-1 1 1 1) 2(1)"));
}

#[test]
fn groups_that_do_not_fit_are_refused() {
    let refused = |kind, text| ports(text).plan(kind).expect_err("it does not fit");
    let incomplete = |group, text: &str, reached| GroupsError::Incomplete { group, text: text.into(), reached };
    assert_eq!(refused(Kind::Allreduce, "9(1 1 1)"), incomplete(1, "9(1 1 1)", 8));
    assert_eq!(refused(Kind::Allreduce, "8(-1 1 1)"), incomplete(1, "8(-1 1 1)", 4));
    assert_eq!(refused(Kind::Allreduce, "3(-1) 2(1) 3(2)"), incomplete(1, "3(-1)", 2));
    assert_eq!(refused(Kind::Allreduce, "3(-2) 2(1) 3(1)"), incomplete(3, "3(1)", 2));
    assert_eq!(refused(Kind::Allgather, "4(1 1) 3(1)"), incomplete(2, "3(1)", 2));
    assert!(matches!(refused(Kind::Allreduce, "4(1 -1 1)"), GroupsError::Sign { group: 1, .. }));
    assert!(matches!(refused(Kind::Allreduce, "2(-1) 2(-1 1)"), GroupsError::Sign { group: 2, .. }));
    assert!(matches!(refused(Kind::ReduceScatter, "2(-1) 2(1)"), GroupsError::Sign { group: 2, .. }));
    assert!(matches!(refused(Kind::Allgather, "2(-1)"), GroupsError::Sign { group: 1, .. }));
    assert!(matches!(
        refused(Kind::Allreduce, "2(-1) 3(-2) 2(1) 3(2)"),
        GroupsError::NotReversed { group: 3, expected: 3, .. }
    ));
    assert!(matches!(refused(Kind::Allreduce, "2(-1)"), GroupsError::NoCounterpart { group: 1, factor: 2, .. }));
    assert!(matches!(
        refused(Kind::Allreduce, "2(-1) 3(-2) 3(2)"),
        GroupsError::NoCounterpart { group: 1, factor: 2, .. }
    ));
    assert_eq!(refused(Kind::Broadcast, "2(1)"), GroupsError::Kind { kind: Kind::Broadcast });
    assert_eq!(refused(Kind::Allgather, "9999999(9999999) 9999999(9999999)"), GroupsError::TooManyNodes);
    assert!(matches!(refused(Kind::Allreduce, "8192(-1 8191)"), GroupsError::TooManyLines { .. }));
    let zero = Ports { groups: vec![DigitGroup { factor: 0, ports: vec![1] }] };
    assert!(matches!(zero.plan(Kind::Allgather), Err(GroupsError::Zero { group: 1, .. })));
}

/// If there is a block for each node, it has the number of the node.
#[test]
fn blocks_are_called_by_their_nodes() {
    let part = ports("2(-1) 3(-2)").part(Kind::ReduceScatter, 4).expect("it is a node");
    let last = part.turns.last().and_then(|turn| turn.locals.last()).map(|local| local.writes());
    assert_eq!(last, Some(Slot::new(OUTPUT, 4)));
}

/// For the lengths of the first example, the new order costs less than the sorted one, in both algorithms.
#[test]
fn a_better_order_is_never_worse_than_the_sorted_one() {
    let families: [fn(usize) -> usize; 5] =
        [|i| i, |i| i * i, |i| 1 << i.min(20), |i| (i % 2) * 7, |i| (i == 3) as usize];
    for (p, text) in [(8, "2(1) 2(1) 2(1)"), (8, "8(1 1 1)"), (16, "2(1) 2(1) 2(1) 2(1)"), (16, "16(1 1 1 1)")] {
        for family in families {
            let mut sizes: Vec<usize> = (0..p).map(family).collect();
            sizes.sort_unstable();
            let plan = ports(text).plan(Kind::Allgather).expect("it is complete");
            let better = plan.clone().renumbered(&order(&sizes)).expect("it is an order");
            assert!(better.replay().is_ok());
            let (sorted, better) = (cost(&plan.parts(), &sizes), cost(&better.parts(), &sizes));
            assert!(better <= sorted, "{text} {sizes:?}: {better} > {sorted}");
        }
    }
}

#[test]
fn orders() {
    assert_eq!(order(&[]), Vec::<usize>::new());
    assert_eq!(order(&[5]), [0]);
    assert_eq!(order(&[5, 3]), [1, 0]);
    for p in 1..=70 {
        let mut all = order(&(0..p).map(|i| i * 37 % 11).collect::<Vec<_>>());
        all.sort_unstable();
        assert_eq!(all, (0..p).collect::<Vec<_>>());
    }
    assert_eq!(order(&vec![1; 100_000]).len(), 100_000);
    let plan = ports("3(2)").plan(Kind::Allgather).expect("it is complete");
    assert_eq!(plan.clone().renumbered(&[0, 1]), Err(InvalidOrder { p: 3, found: 2 }));
    assert_eq!(plan.clone().renumbered(&[0, 1, 1]), Err(InvalidOrder { p: 3, found: 3 }));
    let parts = plan.parts().into_iter().map(|part| part.renumbered(&[2, 0, 1]).expect("it is an order"));
    let mut parts: Vec<RankPlan> = parts.collect();
    parts.sort_by_key(|part| part.rank);
    assert_eq!(Plan::from_parts(parts).ok(), plan.renumbered(&[2, 0, 1]).ok());
}

/// Blocks of length zero: a broadcast is a tree.
#[test]
fn one_block_that_is_not_empty() {
    let mut sizes = vec![0; 11];
    sizes[4] = 8;
    for (kind, text) in [(Kind::Allgather, "11(1 1 1 1)"), (Kind::ReduceScatter, "11(-1 -1 -1 -1)")] {
        let plan = ports(text).plan(kind).expect("it is complete").without_empty(&sizes);
        assert!(plan.replay_where(|block| sizes[block] > 0).is_ok());
        assert_eq!((0..11).map(|rank| plan.sent(rank)).sum::<usize>(), 10);
        assert!(matches!(plan.replay(), Err(PlanFault::Incomplete { .. })));
    }
}

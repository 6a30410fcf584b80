//! Sequences of inner collectives: right ones are proved for all p, and none with a fault is.
//!
//! The faults are stages that are missing, in the wrong order or of the wrong kind, and roots and divisions that
//! differ, often only beyond 41, which no check at compile time sees. What keeps such a declaration from being proved
//! must be an obligation that a solver refutes, not a missing encoding.
//!
//! Tests that need z3 say so and pass where it is not installed; with `ROUNDEL_REQUIRE` set they fail there.

use crate::common::wrong::solvers;
use roundel_spec::blocks::Index;
use roundel_spec::check::{self, Points};
use roundel_spec::expr::{Expr, Var, slot};
use roundel_spec::{Action, Schedule, syntax};
use roundel_verify::attack::mutants::induction;
use roundel_verify::proving::prove::InductionResult;
use roundel_verify::proving::smt::{self, Property, Verdict};

/// What is declared, without the struct; its parameters besides the root are collectives.
fn declared(clauses: &str) -> Schedule {
    let header = &clauses[clauses.find('(').unwrap() + 1..clauses.find(")]").unwrap()];
    let parameters = header.split(", ").skip(1).filter_map(|parameter| parameter.split_once(": "));
    let (mut fields, mut types) = (String::new(), String::new());
    for (i, (name, domain)) in parameters.enumerate() {
        let number = domain.starts_with(char::is_numeric);
        fields += &if number { format!("pub {name}: i64, ") } else { format!("pub {name}: T{i}, ") };
        types += &if number { String::new() } else { format!("T{i}, ") };
    }
    let text = format!("{clauses} pub struct Sequence<{types}> {{ {fields} }}");
    let input = syn::parse_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    syntax::parse(&input).unwrap_or_else(|error| panic!("{text}: {error}")).schedule
}

/// Right ones.
const RIGHT: &[&str] = &[
    "#[collective(allreduce, scatter: reduce_scatter, gather: allgather)]
     #[split(p)] #[order(same_tree, rank_order)]
     #[round] #[within(all, scatter)] #[round] #[within(all, gather)]",
    "#[collective(allreduce, up: reduce, down: broadcast)]
     #[order(same_tree, rank_order)]
     #[define(middle = p / 2)]
     #[round] #[within(all, up, root = middle)] #[within(all, down, root = middle)]",
    "#[collective(allreduce, up: reduce, out: scatter, gather: allgather)]
     #[split(p)] #[order(same_tree, rank_order)]
     #[round] #[within(all, up, root = p - 1)] #[within(all, out, root = p - 1)] #[within(all, gather)]",
    "#[collective(allreduce, scatter: reduce_scatter, gather: gather, down: broadcast)]
     #[split(p)] #[order(same_tree, rank_order)]
     #[round] #[within(all, scatter)] #[within(all, gather, root = 0)] #[within(all, down, root = 0)]",
    "#[collective(allreduce, sum: allreduce, down: broadcast)]
     #[order(same_tree, rank_order)]
     #[round] #[within(all, sum)] #[within(all, down, root = 0)]",
    "#[collective(broadcast, root: 0.., out: scatter, gather: allgather)]
     #[split(p)] #[check(p <= 9, root <= 8)]
     #[round] #[within(all, out, root = root)] #[within(all, gather)]",
    "#[collective(broadcast, root: 0.., first: broadcast, second: broadcast)]
     #[split(3)] #[check(p <= 9, root <= 8)]
     #[round] #[within(all, first, root = root)] #[within(all, second, root = (root + 1) % p)]",
    "#[collective(reduce, root: 0.., scatter: reduce_scatter, gather: gather)]
     #[split(p)] #[order(same_tree, rank_order)] #[check(p <= 9, root <= 8)]
     #[round] #[within(all, scatter)] #[within(all, gather, root = root)]",
    "#[collective(reduce_scatter, up: reduce, out: scatter)]
     #[order(same_tree, rank_order)]
     #[round] #[within(all, up, root = 0)] #[within(all, out, root = 0)]",
    "#[collective(reduce_scatter, sum: allreduce)]
     #[order(same_tree, rank_order)]
     #[round] #[within(all, sum)]",
    "#[collective(allgather, in_one: gather, down: broadcast)]
     #[round] #[within(all, in_one, root = 0)] #[within(all, down, root = 0)]",
    "#[collective(gather, root: 0.., all: allgather)]
     #[check(p <= 9, root <= 8)]
     #[round] #[within(all, all)]",
    "#[collective(scatter, root: 0.., down: broadcast)]
     #[check(p <= 9, root <= 8)]
     #[round] #[within(all, down, root = root)]",
    // Inside of nodes and along lanes.
    "#[collective(allreduce, scatter: reduce_scatter, across: allreduce, gather: allgather)]
     #[requires(lanes * nodes == p)]
     #[split(lanes)] #[order(same_tree, rank_order)]
     #[round] #[within(node, scatter)] #[within(lane, across, blocks = [local])] #[within(node, gather)]",
    "#[collective(allreduce, scatter: reduce_scatter, across: allreduce, gather: allgather)]
     #[split(lanes)] #[order(same_tree, rank_order)]
     #[round] #[within(node, scatter, blocks = [local; local < lanes])]
     #[round] #[within(lane, across, blocks = [local])]
     #[round] #[within(node, gather, blocks = [local; local < lanes])]",
    "#[collective(allreduce, scatter: reduce_scatter, across: allreduce, gather: allgather)]
     #[requires(lanes * nodes == p)]
     #[split(nodes)] #[order(same_tree)]
     #[round] #[within(lane, scatter)] #[within(node, across, blocks = [node])] #[within(lane, gather)]",
    "#[collective(allreduce, up: reduce, across: allreduce, down: broadcast)]
     #[order(same_tree, rank_order)]
     #[round] #[within(node, up, root = 0)]
     #[within(lane, across, when = local == 0)]
     #[within(node, down, root = 0)]",
    "#[collective(allreduce, up: reduce, down: broadcast)]
     #[split(3)] #[order(same_tree, rank_order)]
     #[define(leader = lanes - 1)]
     #[round] #[within(node, up, root = leader)] #[within(lane, up, root = nodes - 1, when = local == leader)]
     #[round] #[within(lane, down, root = nodes - 1, when = local == leader)] #[within(node, down, root = leader)]",
    "#[collective(allreduce, sum: allreduce, down: broadcast)]
     #[order(same_tree, rank_order)]
     #[round] #[within(node, sum)] #[within(lane, sum, when = local == 0)] #[within(node, down, root = 0)]",
    "#[collective(allreduce, up: reduce, across: allreduce, down: broadcast)]
     #[split(2 * lanes)] #[order(same_tree, rank_order)]
     #[define(mine = 2 * local)]
     #[round] #[within(node, up, root = 0, when = nodes < 3)] #[within(node, across, when = nodes >= 3)]
     #[within(lane, across, when = local == 0, blocks = [b; b in 0..lanes])]
     #[within(lane, across, when = local == 0, blocks = [b; b in 0..2 * lanes, b >= lanes])]
     #[within(node, down, root = 0)]",
];

#[test]
fn right_ones_keep_their_contract_and_are_proved() {
    for text in RIGHT {
        let schedule = declared(text);
        assert!(schedule.is_sequence(), "{text}");
        check::over(&schedule, &Points::new(&schedule, 1..=12)).unwrap_or_else(|wrong| panic!("{text}: {wrong}"));
        let Some(portfolio) = solvers(5) else { continue };
        let induction = InductionResult::over("Sequence", &schedule, &portfolio, &|| ());
        assert!(induction.complete(), "{text}: {:#?}", induction.by_property());
    }
}

/// Wrong ones: what they are, and the first p at which an exact check finds the fault.
const WRONG: &[(&str, i64, &str)] = &[
    (
        "the wrong order",
        2,
        "#[collective(allreduce, scatter: reduce_scatter, gather: allgather)]
         #[split(p)] #[round] #[within(all, gather)] #[within(all, scatter)]",
    ),
    (
        "no allgather",
        2,
        "#[collective(allreduce, scatter: reduce_scatter)]
         #[split(p)] #[order(same_tree)] #[round] #[within(all, scatter)]",
    ),
    (
        "no reduce_scatter",
        2,
        "#[collective(allreduce, gather: allgather)]
         #[split(p)] #[round] #[within(all, gather)]",
    ),
    (
        "a gather where an allgather is needed",
        2,
        "#[collective(allreduce, scatter: reduce_scatter, gather: gather)]
         #[split(p)] #[round] #[within(all, scatter)] #[within(all, gather, root = 0)]",
    ),
    (
        "two reduce_scatters",
        2,
        "#[collective(allreduce, scatter: reduce_scatter, gather: allgather)]
         #[split(p)] #[round] #[within(all, scatter)] #[within(all, scatter)] #[within(all, gather)]",
    ),
    (
        "everything is reduced twice",
        2,
        "#[collective(allreduce, sum: allreduce, gather: allgather)]
         #[split(p)] #[round] #[within(all, sum)] #[within(all, sum)] #[within(all, gather)]",
    ),
    (
        "the sum of sums",
        2,
        "#[collective(allreduce, up: reduce, down: broadcast, sum: allreduce)]
         #[round] #[within(all, up, root = 0)] #[within(all, down, root = 0)] #[within(all, sum)]",
    ),
    (
        "contributions are lost",
        2,
        "#[collective(allreduce, spread: allgather, sum: allreduce)]
         #[split(p)] #[round] #[within(all, spread)] #[within(all, sum)]",
    ),
    (
        "more blocks beyond 41",
        42,
        "#[collective(allreduce, scatter: reduce_scatter, gather: allgather)]
         #[split(if p > 41 { p + 1 } else { p })]
         #[round] #[within(all, scatter)] #[within(all, gather)]",
    ),
    (
        "fewer blocks",
        2,
        "#[collective(allreduce, scatter: reduce_scatter, gather: allgather)]
         #[split(1)] #[round] #[within(all, scatter)] #[within(all, gather)]",
    ),
    (
        "another root beyond 41",
        42,
        "#[collective(allreduce, up: reduce, down: broadcast)]
         #[round] #[within(all, up, root = 0)] #[within(all, down, root = if p > 41 { 1 } else { 0 })]",
    ),
    (
        "no rank beyond 41",
        42,
        "#[collective(allreduce, up: reduce, down: broadcast)]
         #[define(top = if p > 41 { p } else { 0 })]
         #[round] #[within(all, up, root = top)] #[within(all, down, root = top)]",
    ),
    (
        "a root without a value beyond 41",
        42,
        "#[collective(allreduce, up: reduce, down: broadcast)]
         #[define(top = p / if p > 41 { 0 } else { 2 })]
         #[round] #[within(all, up, root = top)] #[within(all, down, root = top)]",
    ),
    (
        "always from rank 0",
        2,
        "#[collective(broadcast, root: 0.., out: scatter, gather: allgather)]
         #[split(p)] #[check(p <= 9, root <= 8)]
         #[round] #[within(all, out, root = 0)] #[within(all, gather)]",
    ),
    (
        "from rank 0 if the root is beyond 41",
        43,
        "#[collective(broadcast, root: 0.., out: scatter, gather: allgather)]
         #[split(p)] #[check(p <= 9, root <= 47)]
         #[round] #[within(all, out, root = if root > 41 { 0 } else { root })] #[within(all, gather)]",
    ),
    (
        "a scatter where a broadcast is needed",
        2,
        "#[collective(broadcast, root: 0.., out: scatter)]
         #[split(p)] #[check(p <= 9, root <= 8)]
         #[round] #[within(all, out, root = root)]",
    ),
    (
        "to the next rank beyond 41",
        42,
        "#[collective(reduce, root: 0.., scatter: reduce_scatter, gather: gather)]
         #[split(p)] #[check(p <= 9, root <= 8)]
         #[round] #[within(all, scatter)] #[within(all, gather, root = (root + if p > 41 { 1 } else { 0 }) % p)]",
    ),
    (
        "a root that is no rank is let through beyond 41",
        42,
        "#[collective(reduce, root: 0.., scatter: reduce_scatter, gather: gather)]
         #[split(p)] #[requires(root < p || p > 41)] #[check(p <= 9, root <= 47)]
         #[round] #[within(all, scatter)] #[within(all, gather, root = root)]",
    ),
    (
        "scattered by another rank beyond 41",
        42,
        "#[collective(reduce_scatter, up: reduce, out: scatter)]
         #[round] #[within(all, up, root = 0)] #[within(all, out, root = if p > 41 { p - 1 } else { 0 })]",
    ),
    (
        "told by another rank beyond 41",
        42,
        "#[collective(allgather, in_one: gather, down: broadcast)]
         #[round] #[within(all, in_one, root = 0)] #[within(all, down, root = if p > 41 { 1 } else { 0 })]",
    ),
    (
        "a scatter is no gather",
        2,
        "#[collective(gather, root: 0.., out: scatter)]
         #[check(p <= 9, root <= 8)]
         #[round] #[within(all, out, root = root)]",
    ),
    (
        "nodes do not talk to each other",
        2,
        "#[collective(allreduce, scatter: reduce_scatter, gather: allgather)]
         #[split(lanes)] #[round] #[within(node, scatter, blocks = [local; local < lanes])]
         #[within(node, gather, blocks = [local; local < lanes])]",
    ),
    (
        "lanes do not talk to each other",
        2,
        "#[collective(allreduce, scatter: reduce_scatter, across: allreduce)]
         #[split(lanes)] #[round] #[within(node, scatter, blocks = [local; local < lanes])]
         #[within(lane, across, blocks = [local])]",
    ),
    (
        "nodes that differ are forgotten",
        3,
        "#[collective(allreduce, scatter: reduce_scatter, across: allreduce, gather: allgather)]
         #[split(lanes)]
         #[round] #[within(node, scatter)] #[within(lane, across, blocks = [local])] #[within(node, gather)]",
    ),
    (
        "a block for each member, and one more, beyond 41",
        42,
        "#[collective(allreduce, scatter: reduce_scatter, across: allreduce, gather: allgather)]
         #[split(if nodes > 41 { lanes + 1 } else { lanes })]
         #[round] #[within(node, scatter, blocks = [local; local < lanes])]
         #[within(lane, across, blocks = [local])] #[within(node, gather, blocks = [local; local < lanes])]",
    ),
    (
        "the block of another lane beyond 41",
        84,
        "#[collective(allreduce, scatter: reduce_scatter, across: allreduce, gather: allgather)]
         #[split(lanes)]
         #[round] #[within(node, scatter, blocks = [local; local < lanes])]
         #[within(lane, across, blocks = [if nodes > 41 { lanes - 1 - local } else { local }])]
         #[within(node, gather, blocks = [local; local < lanes])]",
    ),
    (
        "only the first lanes beyond 41",
        48,
        "#[collective(allreduce, scatter: reduce_scatter, across: allreduce, gather: allgather)]
         #[split(lanes)]
         #[round] #[within(node, scatter, blocks = [local; local < lanes])]
         #[within(lane, across, when = local < 3 || nodes < 12, blocks = [local])]
         #[within(node, gather, blocks = [local; local < lanes])]",
    ),
    (
        "the first block is left out beyond 41",
        42,
        "#[collective(allreduce, up: reduce, across: allreduce, down: broadcast)]
         #[split(lanes)] #[define(first = if nodes > 41 { 1 } else { 0 })]
         #[round] #[within(node, up, root = 0)]
         #[within(lane, across, when = local == 0, blocks = [b; b in first..lanes])]
         #[within(node, down, root = 0)]",
    ),
    (
        "the first blocks alone beyond 41",
        84,
        "#[collective(allreduce, up: reduce, across: allreduce, down: broadcast)]
         #[split(lanes)] #[define(end = if nodes > 41 { 1 } else { lanes })]
         #[round] #[within(node, up, root = 0)]
         #[within(lane, across, when = local == 0, blocks = [b; b in 0..end])]
         #[within(node, down, root = 0)]",
    ),
    (
        "members run on different blocks beyond 41",
        42,
        "#[collective(allreduce, up: reduce, across: allreduce, down: broadcast)]
         #[split(lanes)] #[define(first = if nodes > 41 && node == 7 { 1 } else { 0 })]
         #[round] #[within(node, up, root = 0)]
         #[within(lane, across, when = local == 0, blocks = [b; b in first..lanes])]
         #[within(node, down, root = 0)]",
    ),
    (
        "another lane leads beyond 41",
        84,
        "#[collective(allreduce, up: reduce, across: allreduce, down: broadcast)]
         #[define(leader = if nodes > 41 { lanes - 1 } else { 0 })]
         #[round] #[within(node, up, root = 0)]
         #[within(lane, across, when = local == leader)]
         #[within(node, down, root = 0)]",
    ),
    (
        "one node stays away beyond 41",
        42,
        "#[collective(allreduce, up: reduce, across: allreduce, down: broadcast)]
         #[round] #[within(node, up, root = 0)]
         #[within(lane, across, when = local == 0 && (nodes <= 41 || node > 0))]
         #[within(node, down, root = 0)]",
    ),
    (
        "one node leaves out beyond 41 what changes nothing",
        42,
        "#[collective(allreduce, sum: allreduce, down: broadcast)]
         #[round] #[within(all, sum)] #[within(lane, down, root = 0, when = nodes <= 41 || node != 7)]",
    ),
    (
        "a root that small nodes do not have beyond 41",
        42,
        "#[collective(allreduce, up: reduce, across: allreduce, down: broadcast)]
         #[define(leader = if nodes > 41 { lanes } else { 0 })]
         #[round] #[within(node, up, root = leader)]
         #[within(lane, across, when = local == leader)]
         #[within(node, down, root = leader)]",
    ),
    (
        "what is complete is added up once more",
        2,
        "#[collective(allreduce, sum: allreduce, down: broadcast)]
         #[round] #[within(node, sum)] #[within(lane, sum, when = local == 0)] #[within(node, down, root = 0)]
         #[within(all, sum)]",
    ),
    (
        "leaders add up what their nodes have twice",
        2,
        "#[collective(allreduce, up: reduce, across: allreduce, down: broadcast)]
         #[round] #[within(node, up, root = 0)]
         #[within(lane, across, when = local == 0)] #[within(lane, across, when = local == 0 && nodes > 1)]
         #[within(node, down, root = 0)]",
    ),
    (
        "members of a lane have the same",
        4,
        "#[collective(allreduce, up: reduce, across: allreduce, down: broadcast)]
         #[requires(lanes * nodes == p)]
         #[round] #[within(lane, across)] #[within(lane, across, when = nodes > 1 && lanes > 1)]
         #[within(node, up, root = 0)] #[within(node, down, root = 0)]",
    ),
    (
        "nodes tell before leaders do",
        3,
        "#[collective(allreduce, up: reduce, across: allreduce, down: broadcast)]
         #[round] #[within(node, up, root = 0)] #[within(node, down, root = 0)]
         #[within(lane, across, when = local == 0)]",
    ),
    (
        "the wrong node tells beyond 41",
        42,
        "#[collective(allreduce, up: reduce, down: broadcast)]
         #[define(last = if nodes > 41 { 0 } else { nodes - 1 })]
         #[round] #[within(node, up, root = 0)] #[within(lane, up, root = nodes - 1, when = local == 0)]
         #[within(lane, down, root = last, when = local == 0)] #[within(node, down, root = 0)]",
    ),
    (
        "lanes come before nodes, which is no order of ranks",
        4,
        "#[collective(allreduce, scatter: reduce_scatter, across: allreduce, gather: allgather)]
         #[requires(lanes * nodes == p)]
         #[split(nodes)] #[order(rank_order)]
         #[round] #[within(lane, scatter)] #[within(node, across, blocks = [node])] #[within(lane, gather)]",
    ),
    (
        "every lane has a tree of its own",
        2,
        "#[collective(allreduce, sum: allreduce, up: reduce, down: broadcast)]
         #[requires(lanes * nodes == p)] #[order(same_tree)]
         #[round] #[within(node, sum)] #[within(lane, up, root = 0)] #[within(lane, down, root = 0)]",
    ),
];

#[test]
fn wrong_ones_are_refused_where_the_fault_shows_and_never_proved() {
    for (what, first, text) in WRONG {
        let schedule = declared(text);
        assert!(schedule.is_sequence(), "{what}");
        let points = |p: std::ops::RangeInclusive<i64>| {
            let (from, to) = (*p.start() as usize, *p.end() as usize);
            Points::new(&schedule, from..=to).thinned(1 << 11)
        };
        if *first > 2 {
            check::over(&schedule, &points(1..=first - 1))
                .unwrap_or_else(|wrong| panic!("{what} is wrong below {first}: {wrong}"));
        }
        let violation = check::over(&schedule, &points(*first..=*first)).err();
        let violation = violation.unwrap_or_else(|| panic!("{what} is not wrong at {first}"));
        let Some(portfolio) = solvers(5) else { continue };
        let kept = induction::kept_by(&schedule, &violation, &portfolio);
        assert_eq!(kept, Some("refuted"), "{what}: {}", violation.code());
    }
}

/// Each obligation alone refuses something.
#[test]
fn every_rule_refutes_a_fault_of_its_own() {
    let Some(portfolio) = solvers(5) else { return };
    let refuted = |what: &str| {
        let (.., text) = WRONG.iter().find(|(known, ..)| *known == what).unwrap();
        let all = smt::obligations(&declared(text)).all;
        let refuted =
            |one: &&smt::Obligation| matches!(smt::tried("Sequence", one, &portfolio), Verdict::Refuted { .. });
        all.iter().filter(refuted).map(|one| one.property).collect::<Vec<_>>()
    };
    assert_eq!(refuted("more blocks beyond 41"), [Property::Defined, Property::Defined]);
    assert_eq!(refuted("two reduce_scatters"), [Property::Contributors, Property::SendsHeld, Property::Coverage]);
    assert_eq!(refuted("everything is reduced twice"), [Property::CountedOnce]);
    assert_eq!(refuted("no allgather"), [Property::Coverage, Property::SameTree]);
    assert_eq!(refuted("no rank beyond 41")[..2], [Property::Root, Property::Root]);
    assert_eq!(refuted("one node leaves out beyond 41 what changes nothing"), [Property::PeerInverse]);
    let other = refuted("another root beyond 41");
    assert!(other.contains(&Property::SendsHeld), "{other:?}");
    let lost = refuted("contributions are lost");
    assert!(lost.contains(&Property::Contributors), "{lost:?}");
}

/// An inner collective of another kind is not one of the declared kind: beside messages, nothing is proved of it.
#[test]
fn stages_beside_messages_are_not_proved() {
    let text = "#[collective(allreduce, up: reduce)]
         #[define(few = nodes > 41)]
         #[round] #[within(all, up, root = 0)] #[holds(acc = [region(g); g in 0..nodes])]
         #[round] #[send(when = few && local == 1, to = at(node, 0))]
         #[recv(when = few && local == 0 && ppn > 1, from = at(node, 1), replaces = acc)]
         #[holds(acc = [region(g); g in 0..nodes])]";
    let schedule = declared(text);
    assert!(!schedule.is_sequence() && check::over(&schedule, &Points::new(&schedule, 2..=2)).is_err());
    let Some(portfolio) = solvers(5) else { return };
    assert!(!InductionResult::over("Sequence", &schedule, &portfolio, &|| ()).complete());
}

/// What a declaration cannot say, but a schedule may contain: none of it is proved.
#[test]
fn schedules_that_no_declaration_has_are_not_proved() {
    let Some(portfolio) = solvers(5) else { return };
    let altered = |change: &dyn Fn(&mut Schedule)| {
        let mut schedule = declared(RIGHT[1]);
        change(&mut schedule);
        InductionResult::over("Sequence", &schedule, &portfolio, &|| ()).complete()
    };
    assert!(altered(&|_| ()));
    assert!(!altered(&|schedule| schedule.loops[0].within[0].root = Some(Expr::built_in(slot::RANK))));
    assert!(!altered(&|schedule| schedule.loops[0].within[1].site.action = Action::Copy));
    assert!(!altered(&|schedule| schedule.loops[0].within[1].members = Some(1.into())));
    assert!(!altered(&|schedule| schedule.loops[0].within[1].when = Some(Expr::Bool(false))));
    assert!(!altered(&|schedule| schedule.loops[0].within.swap(0, 1)));
    assert!(!altered(&|schedule| drop(schedule.loops[0].within.pop())));
    // What runs several times is no stage.
    let var = || Var { name: "s".into(), slot: 7 };
    assert!(!altered(&move |schedule| {
        schedule.loops[0].indices = vec![Index { var: var(), lo: 0.into(), hi: 2.into() }];
        schedule.slots += 1;
    }));
}

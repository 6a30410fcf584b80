//! Passes: their results keep the contract, they have an effect, and faults in their results are detected.

use crate::numbers;

use crate::broken::without_one_block;
use crate::everything::{Look, each};
use roundel::Collective;
use roundel::algorithms::{CyclicShiftAllreduce, RecursiveDoublingAllreduce, RingAllreduce};
use roundel::plan::passes::{merge_copies, merge_messages, remove_dead, rename, split_ports};
use roundel::plan::ports::{Fractions, Ports};
use roundel::plan::{Local, OUTPUT, Plan, PlanFault, SCRATCH, Slot, Turn};
use roundel_spec::Kind;
use std::collections::BTreeMap;

/// A pass and its name.
type Pass = (&'static str, fn(&mut Plan));

const PASSES: [Pass; 5] = [
    ("remove_dead", remove_dead),
    ("merge_messages", merge_messages),
    ("merge_copies", merge_copies),
    ("split_ports", |plan| split_ports(plan, 1, 3)),
    ("rename", rename),
];

/// How many plans each pass has changed.
#[derive(Default)]
struct Changed(BTreeMap<&'static str, usize>);

impl Changed {
    fn all(&mut self, name: &str, plan: &Plan) {
        let order = plan.replay().unwrap_or_else(|fault| panic!("{name}, p = {}: {fault}", plan.p));
        for (pass, run) in PASSES {
            let mut made = plan.clone();
            run(&mut made);
            assert!(numbers::come_out_right(&made), "{pass} of {name}, p = {}", plan.p);
            assert_eq!(made.replay(), Ok(order), "{pass} of {name}, p = {}", plan.p);
            *self.0.entry(pass).or_default() += (made != *plan) as usize;
        }
        let mut made = plan.clone();
        PASSES.into_iter().for_each(|(_, run)| run(&mut made));
        assert_eq!(made.replay(), Ok(order), "all passes, of {name}, p = {}", plan.p);
        assert!(copies(&made) <= copies(plan) && made.lines <= plan.lines, "{name}, p = {}", plan.p);
    }
}

impl Look for Changed {
    fn look<C: Collective>(&mut self, name: &'static str, _: &C, plan: Plan) {
        self.all(name, &plan);
    }
}

fn locals(plan: &Plan) -> impl Iterator<Item = &Local> {
    plan.rounds.iter().flatten().flat_map(|turn| &turn.locals)
}

fn copies(plan: &Plan) -> usize {
    locals(plan).filter(|local| matches!(local, Local::Copy { .. })).count()
}

const PORTS: [(Kind, &str); 9] = [
    (Kind::Allreduce, "8(-1 1 1 1)"),
    (Kind::Allreduce, "2(-1) 4(1 1) 2(1)"),
    (Kind::Allreduce, "11(1 1 1 1)"),
    (Kind::Allreduce, "11(-2 2 3)"),
    (Kind::Allreduce, "3(-2) 4(-1 -1) 4(3) 3(1 1)"),
    (Kind::ReduceScatter, "12(-2 -3)"),
    (Kind::ReduceScatter, "3(-1 -1) 4(-3)"),
    (Kind::Allgather, "12(3 2)"),
    (Kind::Allgather, "2(1) 2(1) 3(2)"),
];

#[test]
fn passes_keep_the_contract_and_change_something() {
    let mut changed = Changed::default();
    each(&mut changed);
    assert!(PASSES.iter().skip(1).all(|(pass, _)| changed.0[pass] > 10), "{:?}", changed.0);
    for (kind, text) in PORTS {
        for fractions in [Fractions::All, Fractions::Scattered] {
            let ports: Ports = text.parse().unwrap();
            changed.all(text, &ports.pattern(kind, fractions).unwrap().plan());
        }
    }
}

/// Removes dead local steps.
#[test]
fn what_is_dead_is_removed() {
    let mut plan = Plan::record(&RecursiveDoublingAllreduce, 4).unwrap();
    let right = plan.clone();
    let (from, to) = (Slot::new(OUTPUT, 0), Slot::new(SCRATCH, 0));
    for round in [1, 2] {
        plan.rounds[round][0].locals.push(Local::Copy { from, to });
    }
    remove_dead(&mut plan);
    assert_eq!(plan, right);
}

/// Without the copies, a ring works directly on the input and the output.
#[test]
fn copies_are_merged() {
    let mut plan = Plan::record(&RingAllreduce, 5).unwrap();
    assert_eq!(copies(&plan), 5 * 5 + 5 * 4);
    merge_copies(&mut plan);
    assert_eq!((copies(&plan), plan.replay().is_ok()), (0, true));
}

/// Renaming leaves only the lines that two prefixes and the received data need, whatever there was before.
#[test]
fn lines_are_few() {
    let mut plan = Plan::record(&CyclicShiftAllreduce { ports: vec![1, 1, 1, 1] }, 11).unwrap();
    let few = plan.lines;
    for turn in plan.rounds.iter_mut().flatten() {
        spread(turn, 10);
    }
    plan.lines *= 10;
    assert!(plan.replay().is_ok());
    rename(&mut plan);
    assert!(plan.lines <= few && plan.replay().is_ok(), "{} lines of {few}", plan.lines);
}

/// Puts working memory on lines that are far apart.
fn spread(turn: &mut Turn, by: u32) {
    let far = |slot: &mut Slot| slot.line = if slot.line >= SCRATCH { slot.line * by } else { slot.line };
    let messages = turn.sends.iter_mut().chain(&mut turn.receives);
    messages.flat_map(|message| &mut message.slots).for_each(far);
    for local in &mut turn.locals {
        match local {
            Local::Copy { from, to } => [from, to].into_iter().for_each(far),
            Local::Combine { left, right, into } => [left, right, into].into_iter().for_each(far),
        }
    }
}

/// Splitting makes more messages, and merging restores them.
#[test]
fn messages_are_merged_and_split() {
    let count = |plan: &Plan| plan.rounds.iter().flatten().map(|turn| turn.sends.len()).sum::<usize>();
    let mut plan = "3(-2) 4(-1 -1) 4(3) 3(1 1)".parse::<Ports>().unwrap().plan(Kind::Allreduce).unwrap();
    let (right, before) = (plan.clone(), count(&plan));
    split_ports(&mut plan, 2, 2);
    assert!(count(&plan) > before && plan.replay().is_ok());
    let longest =
        |plan: &Plan| plan.rounds.iter().flatten().flat_map(|turn| &turn.sends).map(|m| m.slots.len()).max();
    assert_eq!((longest(&right), longest(&plan)), (Some(4), Some(2)));
    merge_messages(&mut plan);
    assert_eq!(plan, right);
    split_ports(&mut plan, 0, 0);
    assert_eq!(plan, right);
}

/// The results of all passes on some plans.
fn made() -> Vec<Plan> {
    let recorded = [
        Plan::record(&RingAllreduce, 5).unwrap(),
        Plan::record(&RecursiveDoublingAllreduce, 6).unwrap(),
        Plan::record(&CyclicShiftAllreduce { ports: vec![2, 1, 1] }, 11).unwrap(),
    ];
    let ports = PORTS.map(|(kind, text)| text.parse::<Ports>().unwrap().plan(kind).unwrap());
    let mut all: Vec<Plan> = recorded.into_iter().chain(ports).collect();
    all.iter_mut().for_each(|plan| PASSES.into_iter().for_each(|(_, run)| run(plan)));
    all
}

#[test]
fn dropped_blocks_are_noticed() {
    for plan in made() {
        let less = without_one_block(&plan);
        assert!(!less.is_empty() && less.iter().all(|plan| plan.replay().is_err()), "{plan}");
    }
}

/// Swapped slots of a message are different blocks, or two lines of one block, whose trees then differ.
#[test]
fn swapped_slots_are_noticed() {
    let mut swapped = 0;
    for plan in made() {
        for (round, rank) in (0..plan.rounds.len()).flat_map(|round| (0..plan.p).map(move |rank| (round, rank))) {
            for number in 0..plan.rounds[round][rank].receives.len() {
                let slots = &plan.rounds[round][rank].receives[number].slots;
                let Some(other) = slots.iter().position(|slot| slot.block != slots[0].block) else { continue };
                let mut wrong = plan.clone();
                wrong.rounds[round][rank].receives[number].slots.swap(0, other);
                assert!(wrong.replay().is_err());
                swapped += 1;
            }
        }
    }
    assert!(swapped > 100, "{swapped}");
}

/// A local step overwrites a value that is still needed.
#[test]
fn slots_in_use_are_not_used_again() {
    let mut reused = 0;
    for plan in made().into_iter().filter(|plan| plan.kind.reduces()) {
        for (round, rank) in (0..plan.rounds.len()).flat_map(|round| (0..plan.p).map(move |rank| (round, rank))) {
            let turn = &plan.rounds[round][rank];
            // The first step of the turn overwrites another operand of the last one.
            let [first, .., last] = &turn.locals[..] else { continue };
            let victim = last.reads().find(|slot| slot.line >= SCRATCH && slot.block == first.writes().block);
            let Some(victim) =
                victim.filter(|&slot| slot != first.writes() && !first.reads().any(|read| read == slot))
            else {
                continue;
            };
            let mut wrong = plan.clone();
            match &mut wrong.rounds[round][rank].locals[0] {
                Local::Copy { to, .. } => *to = victim,
                Local::Combine { into, .. } => *into = victim,
            }
            assert!(wrong.replay().is_err(), "{plan}round {round}, rank {rank}");
            reused += 1;
        }
    }
    assert!(reused > 10, "{reused}");
}

/// A message arrives in a slot that another message of the round uses.
#[test]
fn messages_do_not_share_slots() {
    let mut shared = 0;
    for plan in made() {
        for (round, rank) in (0..plan.rounds.len()).flat_map(|round| (0..plan.p).map(move |rank| (round, rank))) {
            let mut wrong = plan.clone();
            let turn = &mut wrong.rounds[round][rank];
            let sent = turn.sends.iter().flat_map(|message| message.slots.iter().copied()).collect::<Vec<_>>();
            let received = turn.receives.iter_mut().flat_map(|message| &mut message.slots);
            let mut pairs =
                received.filter_map(|to| sent.iter().find(|from| from.block == to.block).map(|from| (to, from)));
            let Some((to, from)) = pairs.next() else { continue };
            *to = *from;
            assert!(matches!(wrong.replay(), Err(PlanFault::Clash { .. } | PlanFault::InputWritten { .. })));
            shared += 1;
        }
    }
    assert!(shared > 10, "{shared}");
}

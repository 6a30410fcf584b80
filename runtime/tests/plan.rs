//! Plans: recorded, written and read, without what is dead; each checked against its contract.

use roundel::Collective;
use roundel::algorithms::{
    CyclicShiftAllreduce, PairwiseReduceScatter, PrefixAllreduce, RingAllreduce, Visitor, visit_all,
};
use roundel::plan::passes::remove_dead;
use roundel::plan::{Malformed, Message, Plan};
use roundel::{IsAllgather, IsAllreduce, IsBroadcast, IsGather, IsReduce, IsReduceScatter, IsScatter};
use roundel_spec::check::{self, Point};
use roundel_spec::record::Direction;
use roundel_spec::{Action, Arguments, Kind, Line, Place, Placement, Schedule};
use std::collections::BTreeSet;

/// Which plans of the catalogue have dead messages.
#[derive(Default)]
struct Catalogue {
    plans: usize,
    wasteful: BTreeSet<&'static str>,
}

impl Catalogue {
    fn look<C: Collective>(&mut self, name: &'static str, collective: &C) {
        for p in [1, 2, 3, 5, 8, 11, 12] {
            if collective.admits(&Place::flat(0, p)).is_err() {
                continue;
            }
            let (schedule, args, plan) =
                (C::schedule(), collective.arguments(), Plan::record(collective, p as usize));
            assert_eq!(plan.check(&schedule, &args), Ok(()), "{name}, p = {p}");
            assert_eq!(plan.to_string().parse().as_ref(), Ok(&plan), "{name}, p = {p}");
            let mut alive = plan.clone();
            remove_dead(&mut alive);
            assert_eq!(alive.check(&schedule, &args), Ok(()), "{name}, p = {p}");
            self.plans += 1;
            if alive != plan {
                self.wasteful.insert(name);
            }
        }
    }
}

impl Visitor for Catalogue {
    fn allgather<C: IsAllgather + Sync>(&mut self, name: &'static str, collective: &C) {
        self.look(name, collective);
    }

    fn allreduce<C: IsAllreduce + Sync>(&mut self, name: &'static str, collective: &C) {
        self.look(name, collective);
    }

    fn reduce_scatter<C: IsReduceScatter + Sync>(&mut self, name: &'static str, collective: &C) {
        self.look(name, collective);
    }

    fn broadcast<C: IsBroadcast + Sync>(&mut self, name: &'static str, collective: &C) {
        self.look(name, collective);
    }

    fn reduce<C: IsReduce + Sync>(&mut self, name: &'static str, collective: &C) {
        self.look(name, collective);
    }

    fn gather<C: IsGather + Sync>(&mut self, name: &'static str, collective: &C) {
        self.look(name, collective);
    }

    fn scatter<C: IsScatter + Sync>(&mut self, name: &'static str, collective: &C) {
        self.look(name, collective);
    }
}

#[test]
fn nothing_in_the_catalogue_is_dead() {
    let mut catalogue = Catalogue::default();
    visit_all(&mut catalogue);
    assert!(catalogue.plans > 100 && catalogue.wasteful.is_empty(), "{:?}", catalogue.wasteful);
}

/// The number of the memory line in which line k, the reduction over k ranks, lies: first and last line share one.
fn number(k: usize, p: usize) -> Line {
    if k == 1 || k == p { 0 } else { k as Line - 1 }
}

/// Jocksch and others, section 2.1, before anything is removed: the allgather by cyclic shift with a line for each prefix.
fn all_lines(p: usize, ports: &[i64]) -> Plan {
    let mut plan = Plan::new(Kind::Allreduce, p, p.max(2) - 1, 1);
    let mut d = 1;
    for &ports in ports {
        let mut round = vec![Vec::new(); p];
        let parts = || (1..=ports as usize).flat_map(|j| (1..=d.min(p.saturating_sub(j * d))).map(move |k| (j, k)));
        for (rank, messages) in round.iter_mut().enumerate() {
            let message = |direction, peer: usize, line, action| Message {
                direction,
                peer: peer % p,
                line: number(line, p),
                action,
                blocks: vec![0],
            };
            for (j, k) in parts() {
                messages.push(message(Direction::Send, rank + p - j * d, k, Action::Copy));
                let action = Action::CombineRight { with: number(j * d, p) };
                messages.push(message(Direction::Recv, rank + j * d, j * d + k, action));
            }
        }
        plan.rounds.push(round);
        d = p.min(d * (ports as usize + 1));
    }
    plan
}

/// A schedule of an allreduce of one block with so many lines; what its rounds are does not matter.
fn schedule(lines: usize) -> Schedule {
    let names = (0..lines).map(|line| format!("line_{line}")).collect();
    Schedule { lines: names, ..PrefixAllreduce::schedule() }
}

/// In each round, what every rank sends: where to, and the reduction over how many ranks.
fn lines_sent(plan: &Plan, schedule: &Schedule, args: &Arguments) -> Vec<Vec<BTreeSet<(usize, usize)>>> {
    let point = Point { placement: Placement::consecutive(plan.p, plan.p), args: args.clone() };
    let memory = check::contributions(schedule, &point, &plan.trace()).expect("it is a reduction");
    let sent = |round: usize, rank: usize| {
        let sends = plan.rounds[round][rank].iter().filter(|message| message.direction == Direction::Send);
        sends.map(|message| (message.peer, memory.count(round, rank, message.line, 0))).collect()
    };
    (0..plan.rounds.len()).map(|round| (0..plan.p).map(|rank| sent(round, rank)).collect()).collect()
}

const PORTS: [&[i64]; 8] =
    [&[1, 1, 1, 1, 1, 1], &[1, 2, 3], &[3, 2, 1], &[2, 2, 2], &[5, 1], &[1, 5], &[3, 3, 3], &[30]];

/// The lines that are left of all are those that the declarations send.
#[test]
fn the_two_lines_are_those_that_are_alive() {
    for ports in PORTS {
        let capacity: i64 = ports.iter().map(|ports| ports + 1).product();
        for p in 1..=capacity.min(41) as usize {
            let mut plan = all_lines(p, ports);
            let schedule = schedule(plan.lines);
            assert_eq!(plan.check(&schedule, &Arguments::default()), Ok(()), "{ports:?}, p = {p}");
            remove_dead(&mut plan);
            assert_eq!(plan.check(&schedule, &Arguments::default()), Ok(()), "{ports:?}, p = {p}");
            let left = lines_sent(&plan, &schedule, &Arguments::default());
            let shift = CyclicShiftAllreduce { ports: ports.to_vec() };
            let declared = Plan::record(&shift, p);
            let sent = lines_sent(&declared, &CyclicShiftAllreduce::schedule(), &shift.arguments());
            assert_eq!(sent, left, "{ports:?}, p = {p}");
            if ports.iter().all(|&ports| ports == 1) {
                let prefix = lines_sent(
                    &Plan::record(&PrefixAllreduce, p),
                    &PrefixAllreduce::schedule(),
                    &Arguments::default(),
                );
                assert_eq!(prefix, left, "p = {p}");
            }
        }
    }
}

/// What is left is needed: without any of the messages, the contract is broken. And so the check can fail.
#[test]
fn nothing_more_can_be_removed() {
    let mut plan = all_lines(11, &[1, 1, 1, 1]);
    let before: usize = (0..11).map(|rank| plan.sent(rank)).sum();
    remove_dead(&mut plan);
    assert_eq!((before, (0..11).map(|rank| plan.sent(rank)).sum::<usize>()), (110, 55));
    let schedule = schedule(plan.lines);
    for (round, rank) in (0..4).flat_map(|round| (0..11).map(move |rank| (round, rank))) {
        for number in 0..plan.rounds[round][rank].len() {
            let message = &plan.rounds[round][rank][number];
            let mut less = plan.clone();
            // The k-th message to a rank is the k-th that it receives from here.
            let alike = |m: &&Message| (m.direction, m.peer) == (message.direction, message.peer);
            let k = plan.rounds[round][rank][..number].iter().filter(alike).count();
            let there = &mut less.rounds[round][message.peer];
            let meets = |m: &Message| m.peer == rank && m.direction != message.direction;
            let partner = there.iter().enumerate().filter(|(_, m)| meets(m)).map(|(i, _)| i).nth(k);
            there.remove(partner.expect("every message has two ends"));
            less.rounds[round][rank].remove(number);
            assert!(less.check(&schedule, &Arguments::default()).is_err(), "round {round}, rank {rank}, {number}");
        }
    }
}

/// Of an allreduce of which every rank wants its own block alone, a reduce_scatter is left.
#[test]
fn blocks_die_one_by_one() {
    for p in 2..=9 {
        let mut plan = Plan::record(&RingAllreduce, p);
        plan.kind = Kind::ReduceScatter;
        remove_dead(&mut plan);
        let schedule = PairwiseReduceScatter::schedule();
        assert_eq!(plan.check(&schedule, &Arguments::default()), Ok(()), "p = {p}");
        // Once around, and one step more from where a block is complete to where it belongs.
        assert!((0..p).all(|rank| plan.sent(rank) == p), "p = {p}");
    }
}

#[test]
fn texts_that_are_no_plans_are_refused() {
    let read = |text: &str| text.parse::<Plan>();
    let head = "allreduce p 2 root 0 lines 1 blocks 1\n";
    assert_eq!(read(""), Err(Malformed::Head { found: "".into() }));
    assert!(matches!(read("allreduce p 0 root 0 lines 1 blocks 1"), Err(Malformed::Head { .. })));
    assert!(matches!(read("reduce p 2 root 2 lines 1 blocks 1"), Err(Malformed::Head { .. })));
    assert!(matches!(read(&format!("{head}0 > 1 line 0: 0")), Err(Malformed::Message { number: 2, .. })));
    for wrong in
        ["0 = 1 line 0: 0", "0 > 1 line 0 above 0: 0", "0 > 1 line 0: x", "0 > 1 line 0", "0 > 1 line 300: 0"]
    {
        assert!(
            matches!(read(&format!("{head}round\n{wrong}")), Err(Malformed::Message { number: 3, .. })),
            "{wrong}"
        );
    }
    for wrong in
        ["2 > 1 line 0: 0", "0 > 2 line 0: 0", "0 > 1 line 1: 0", "0 < 1 line 0 left of 1: 0", "0 > 1 line 0: 1"]
    {
        assert!(
            matches!(read(&format!("{head}round\n{wrong}")), Err(Malformed::Outside { number: 3, .. })),
            "{wrong}"
        );
    }
    let right = format!(
        "{head}round\n0 > 1 line 0: 0\n0 < 1 line 0 right of 0: 0\n1 > 0 line 0: 0\n1 < 0 line 0 left of 0: 0\n"
    );
    assert_eq!(read(&right).map(|plan| plan.to_string()), Ok(right));
}

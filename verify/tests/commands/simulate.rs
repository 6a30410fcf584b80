//! `roundel simulate`, and one rank of a million: against times computed by hand, against itself, and with bad input.

use crate::common::process::roundel;
use proptest::prelude::*;
use roundel::clock::{Clock, LogGps, RoundCost};
use roundel::profile::Profile;
use roundel_spec::record::RankLog;
use roundel_spec::{Direction, Placement};
use roundel_verify::catalogue;
use roundel_verify::error::Error;
use roundel_verify::params::Params;
use roundel_verify::simulation::align::{Alignment, Keep};
use roundel_verify::simulation::machine::{GivenNumbers, SimulatedMachine};
use roundel_verify::simulation::network::NetworkLevels;
use roundel_verify::simulation::rounds::{RankSource, RoundWatcher};
use roundel_verify::simulation::symmetry::Symmetry;
use roundel_verify::simulation::topology::Topology;
use roundel_verify::simulation::turns::Followed;
use roundel_verify::simulation::window::RoundWindow;
use roundel_verify::simulation::{SimulatedCall, Simulation, goal};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// In seconds, so that sums of small whole numbers are exact.
fn loggps(text: &str) -> LogGps {
    text.parse::<GivenNumbers>().unwrap().0
}

fn messages(text: &str) -> SimulatedMachine {
    SimulatedMachine::Messages { numbers: loggps(text), topology: None }
}

fn with_topology(text: &str, levels: &str) -> SimulatedMachine {
    let text_of = format!("format = \"roundel-topology\"\nversion = 1\n{levels}");
    SimulatedMachine::Messages { numbers: loggps(text), topology: Some(Topology::parse(&text_of).unwrap()) }
}

struct CatalogueCall<'a> {
    name: &'a str,
    placement: Placement,
    bytes: u64,
    set: &'a [&'a str],
}

impl CatalogueCall<'_> {
    fn with<T>(&self, machine: &SimulatedMachine, use_it: impl FnOnce(&SimulatedCall<'_>) -> T) -> T {
        let entry = catalogue::find(self.name).unwrap();
        let schedule = (entry.schedule)();
        let set: Vec<_> = self.set.iter().map(|text| text.parse().unwrap()).collect();
        let args = Params::resolve(self.name, &schedule, &set).unwrap().args;
        let (placement, bytes, kind) = (&self.placement, self.bytes, schedule.kind);
        catalogue::with_rounds(entry, &args, placement, |source| {
            let symmetry = Symmetry::of(&schedule);
            Ok(use_it(&SimulatedCall { source, symmetry, kind, placement, machine, bytes }))
        })
        .unwrap()
    }

    fn simulate(&self, machine: &SimulatedMachine) -> Simulation {
        self.with(machine, |request| request.simulate().unwrap())
    }
}

fn call(name: &str, p: usize, ppn: usize, bytes: u64) -> CatalogueCall<'_> {
    CatalogueCall { name, placement: Placement::consecutive(p, ppn), bytes, set: &[] }
}

fn seconds(name: &str, p: usize, bytes: u64, machine: &SimulatedMachine) -> f64 {
    call(name, p, p, bytes).simulate(machine).seconds
}

/// L = 100, o = 10, and 2 for each byte after the first.
const PLAIN: &str = "L=100s,o=10s,G=2s";

#[test]
fn a_ring_by_hand() {
    // Each round: o + L + 10 G + o = 140, because all ranks are alike.
    let machine = messages(PLAIN);
    for (p, expected) in [(1, 0.0), (2, 140.0), (3, 280.0), (4, 420.0)] {
        assert_eq!(seconds("allgather/ring", p, 11, &machine), expected, "p = {p}");
    }
    let rounds: Vec<f64> =
        call("allgather/ring", 4, 4, 11).simulate(&machine).rounds.iter().map(|r| r.last).collect();
    assert_eq!(rounds, [140.0, 280.0, 420.0]);
}

#[test]
fn recursive_doubling_by_hand() {
    // Rounds of 11, 22 bytes: 20 + 100 + 2 * 10, and 20 + 100 + 2 * 21.
    assert_eq!(seconds("allgather/recursive-doubling", 4, 11, &messages(PLAIN)), 140.0 + 162.0);
    // O counts at the receiver, 10 further bytes at half a second each; at the sender, the bytes are on their way.
    assert_eq!(seconds("allgather/recursive-doubling", 2, 11, &messages("L=100s,o=10s,G=2s,O=0.5s")), 145.0);
}

#[test]
fn gaps_count_where_a_rank_sends_more_than_once() {
    // A binomial broadcast among 4: the root sends at 0 and, because of its port, at g + 10 G = 320; the first message
    // ends at 140, and its receiver sends on at once.
    let machine = messages("L=100s,o=10s,g=300s,G=2s");
    let simulation = call("broadcast/binomial", 4, 4, 11).simulate(&machine);
    assert_eq!(simulation.seconds, 320.0 + 140.0);
    // All of an all-to-all among 3 at once: sent at 0 and 320, each arrives 130 later, and takes 10.
    assert_eq!(seconds("alltoall/spread-out", 3, 11, &machine), 320.0 + 130.0 + 10.0);
    // Without a gap the second is sent at 20, when the port is free; both ports need 20 for each.
    assert_eq!(seconds("alltoall/spread-out", 3, 11, &messages(PLAIN)), 20.0 + 130.0 + 10.0);
}

#[test]
fn long_messages_wait_for_their_receivers() {
    // SimulatedCall: o + L = 110; answer: L more; data: L + 10 G = 120, and o at the receiver.
    let machine = messages("L=100s,o=10s,G=2s,S=10");
    assert_eq!(seconds("allgather/ring", 2, 11, &machine), 110.0 + 100.0 + 120.0 + 10.0);
    assert_eq!(seconds("allgather/ring", 3, 11, &machine), 2.0 * 340.0);
    assert_eq!(seconds("allgather/ring", 2, 10, &machine), 20.0 + 100.0 + 18.0);
    // Three ranks reduce to rank 0, 11 bytes: in round 0 rank 1 sends to rank 0 (340), in round 1 rank 2 does. Its
    // request is there at 110, but rank 0 is in that round only at 340: data leaves at 440 and arrives at 560.
    let simulation = call("reduce/binomial", 3, 3, 11).simulate(&machine);
    assert_eq!(simulation.seconds, 340.0 + 100.0 + 120.0 + 10.0);
    let path: Vec<_> = simulation.path.unwrap().iter().map(|step| (step.from, step.to)).collect();
    assert_eq!(path, [(1, 0)]);
}

#[test]
fn links_are_shared_by_hand() {
    // A pairwise all-to-all on two nodes of two ranks, with links of 1 byte per second: in round 0, the ring, one
    // message leaves each node; in round 1 both ranks of a node send away.
    let levels = "[[level]]\nname = \"node\"\nsize = 2\nlatency = 5.0\nbandwidth = 1.0\nuplink = 1.0\n";
    let machine = with_topology("L=100s,o=10s,G=0.5s", levels);
    let simulation = call("alltoall/pairwise", 4, 2, 11).simulate(&machine);
    let by_round: Vec<Vec<u64>> =
        simulation.rounds.iter().map(|r| r.traffic.iter().map(|level| level.messages).collect()).collect();
    assert_eq!(by_round, [[2, 2], [0, 4], [2, 2]]);
    // Round 0: away 20 + 100 + 10 * 1 = 130 for a message that is alone on a link of 1 byte per second.
    // Round 1: two share the link, 2 seconds a byte: 20 + 100 + 20 = 140 after a rank and its source have begun.
    assert_eq!(simulation.rounds[0].last, 130.0);
    assert_eq!(simulation.rounds[0].first, 20.0 + 5.0 + 10.0);
    assert_eq!(simulation.rounds[1].last, 130.0 + 140.0);
}

#[test]
fn by_a_profile_ranks_that_are_alike_take_what_the_clock_says() {
    let profile = Profile::default();
    let machine = SimulatedMachine::Profile(Box::default());
    for p in [2usize, 5, 16] {
        let round = |blocks: u64| RoundCost { ports: 1, longest: 64 * blocks, ..RoundCost::default() };
        let rounds: Vec<RoundCost> = (0..p - 1).map(|_| round(1)).collect();
        let apart = call("allgather/ring", p, 1, 64).simulate(&machine).seconds;
        assert!((apart / Clock::new(&profile).rounds(&rounds) - 1.0).abs() < 1e-12, "p = {p}");
        let together = call("allgather/ring", p, p, 64).simulate(&machine).seconds;
        assert!((together / ((p - 1) as f64 * profile.inside.seconds(64, 1)) - 1.0).abs() < 1e-12);
    }
    // Combining takes time, and all ranks of a node that send to others slow down each other.
    let reduced = call("allreduce/recursive-doubling", 8, 4, 4096).simulate(&machine);
    let inside = profile.inside.seconds(4096, 1) + 4096.0 / profile.node.combine;
    let between = profile.round(4096, 1, 4) + 4096.0 / profile.node.combine;
    assert!((reduced.seconds / (2.0 * inside + between) - 1.0).abs() < 1e-12);
}

/// All messages of a trace by round, for a comparison with what was simulated.
fn counted(logs: &[RankLog], placement: &Placement, bytes: f64) -> Vec<Vec<(u64, f64)>> {
    let rounds = logs.iter().map(RankLog::rounds).max().unwrap_or(0);
    let mut all = Vec::new();
    for round in 0..rounds {
        let mut levels = vec![(0, 0.0); 2];
        for (rank, log) in logs.iter().enumerate() {
            for sent in log.directed(round, Direction::Send) {
                let level = &mut levels[usize::from(placement.nonlocal(rank, sent.peer))];
                *level = (level.0 + 1, level.1 + log.blocks(sent).len() as f64 * bytes);
            }
        }
        if levels.iter().any(|level| level.0 > 0) {
            all.push(levels);
        }
    }
    all
}

/// Every collective of the catalogue, with parameters that suit many p.
fn everywhere(each: impl Fn(&'static roundel::algorithms::Entry, &Params, &Placement)) {
    for entry in roundel::algorithms::catalogue() {
        let schedule = (entry.schedule)();
        let lists: Vec<String> = schedule.lists.iter().map(|list| format!("{}=2,1,2,1", list.var.name)).collect();
        let set: Vec<_> = lists.iter().map(|text| text.parse().unwrap()).collect();
        let params = Params::resolve(entry.name, &schedule, &set).unwrap();
        for (p, ppn) in
            [(1, 1), (2, 1), (4, 2), (7, 3), (8, 4), (12, 4), (12, 12), (16, 1), (18, 6), (21, 5), (32, 8)]
        {
            each(entry, &params, &Placement::consecutive(p, ppn));
        }
        each(entry, &params, &Placement::cyclic(12, 4));
        each(entry, &params, &Placement::of_sizes(&[3, 1, 4, 2]));
    }
}

const CLUSTER: &str = "[[level]]\nname = \"node\"\nsize = 16\nlatency = \"1us\"\nuplink = \"10GB/s\"\n\
                       [[level]]\nname = \"switch\"\nsize = 2\nuplink = \"15GB/s\"\n";

/// The rounds, messages and bytes are those that are recorded; and following some ranks, or all, or a few rounds at a
/// time, makes no difference.
#[test]
fn what_is_simulated_is_what_is_recorded() {
    let machines = [
        messages("L=2us,o=0.5us,g=0.7us,G=0.1ns,O=0.01ns,S=600"),
        with_topology("L=2us,o=0.5us,g=0.7us,G=0.1ns,S=1000", &CLUSTER.replace("16", "12")),
        SimulatedMachine::Profile(Box::default()),
    ];
    let (folded, compared) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    everywhere(|entry, params, placement| {
        let Ok(trace) = catalogue::record(entry, &params.args, placement).unwrap() else { return };
        let schedule = (entry.schedule)();
        let symmetry = Symmetry::of(&schedule);
        for machine in &machines[..] {
            if machine.topology().is_some_and(|topology| topology.levels[0].size < placement.ppn()) {
                continue;
            }
            let bytes = 300;
            catalogue::with_rounds(entry, &params.args, placement, |source| {
                let request = SimulatedCall { source, symmetry, kind: schedule.kind, placement, machine, bytes };
                let (found, all) = (request.simulate()?, request.following(placement.p(), 10)?);
                let at = format!("{} p = {}, {machine}", entry.name, placement.p());
                if machine.topology().is_none() {
                    let expected = counted(&trace.ranks, placement, request.block());
                    let traffic: Vec<Vec<(u64, f64)>> = all
                        .rounds
                        .iter()
                        .map(|round| round.traffic.iter().map(|level| (level.messages, level.bytes)).collect())
                        .collect();
                    assert_eq!(traffic.len(), expected.len(), "{at}");
                    for (a, b) in traffic.iter().flatten().zip(expected.iter().flatten()) {
                        assert!(a.0 == b.0 && (a.1 - b.1).abs() < 1e-6, "{at}");
                    }
                }
                let same = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(1e-30);
                assert!(same(found.seconds, all.seconds) && same(found.earliest, all.earliest), "{at}");
                for (one, other) in found.rounds.iter().zip(&all.rounds) {
                    assert!(same(one.first, other.first) && same(one.last, other.last), "{at}");
                    let bytes = one.traffic.iter().zip(&other.traffic);
                    assert!(bytes.clone().all(|(a, b)| a.messages == b.messages && (a.bytes - b.bytes).abs() < 1e-6));
                }
                assert_eq!(found.rounds.len(), all.rounds.len(), "{at}");
                folded.set(folded.get() + usize::from(found.followed < placement.p()));
                compared.set(compared.get() + 1);
                Ok(())
            })
            .unwrap();
        }
    });
    assert!(folded.get() > 200 && compared.get() > 600, "{} of {}", folded.get(), compared.get());
}

/// Compares the turns that the walk of the alignment keeps with those of windows of a few rounds. Returns the number of
/// turns with messages.
fn kept_and_walked_again(source: &dyn RankSource, placement: &Placement, at: &str) -> usize {
    let (network, p, limit) = (NetworkLevels::new(placement, None), placement.p(), 1 << 40);
    let ranks = Followed { p, followed: p, block: 3.0 };
    let keep = |room| Alignment::with_turns(source, ranks, limit, Keep { network: &network, room }).unwrap();
    let (alignment, turns) = keep(1 << 40);
    let whole = RoundWindow::whole(turns.unwrap(), &alignment, p);
    assert_eq!(whole.rounds, 0..alignment.rounds(), "{at}");
    let mut busy = 0;
    for rounds_at_once in [1, 3] {
        let room = (rounds_at_once * p * 80) as u64;
        let mut first = 0;
        while first < alignment.rounds() {
            let window = RoundWindow::next(source, &alignment, &network, ranks, first, room).unwrap();
            assert!(window.rounds.start == first && window.rounds.end > first, "{at}");
            for (round, rank) in window.rounds.clone().flat_map(|round| (0..p).map(move |rank| (round, rank))) {
                assert_eq!(whole.turn(rank, round), window.turn(rank, round), "{at}: rank {rank}, round {round}");
                busy += usize::from(!window.turn(rank, round).0.is_empty());
            }
            first = window.rounds.end;
        }
    }
    assert!(busy == 0 || keep(0).1.is_none(), "{at}");
    busy
}

/// Also on nodes of different sizes, whose ranks have different numbers of rounds, and with more ranks than a thread
/// walks at a time.
#[test]
fn turns_are_the_same_whether_kept_or_walked_again() {
    let busy = std::cell::Cell::new(0);
    everywhere(|entry, params, placement| {
        let at = format!("{} p = {}", entry.name, placement.p());
        let compare = |source: &dyn RankSource| Ok(kept_and_walked_again(source, placement, &at));
        if let Ok(found) = catalogue::with_rounds(entry, &params.args, placement, compare) {
            busy.set(busy.get() + found);
        }
    });
    assert!(busy.get() > 10_000, "{}", busy.get());
    let nodes: Vec<usize> = (0..5000).map(|rank| if rank < 4000 { rank / 50 } else { 80 + rank % 7 }).collect();
    for name in ["allreduce/nap", "allreduce/smp", "reduce/binomial"] {
        let placement = Placement::from_nodes(nodes.clone());
        let machine = messages("L=1us");
        let call = CatalogueCall { name, placement: placement.clone(), bytes: 8, set: &[] };
        assert!(call.with(&machine, |call| kept_and_walked_again(call.source, &placement, name)) > 5000, "{name}");
    }
}

/// Rank 0 has a thousand rounds in its group, and the others wait for it.
struct OneLongGroup;

impl RankSource for OneLongGroup {
    fn walk(&self, rank: usize, watcher: &mut dyn RoundWatcher) -> Result<(), Error> {
        watcher.enter_groups();
        for _ in 0..if rank == 0 { 1000 } else { 1 } {
            if watcher.end_round() == ControlFlow::Break(()) {
                return Ok(());
            }
        }
        watcher.leave_groups();
        Ok(())
    }

    fn blocks(&self) -> usize {
        1
    }
}

/// Ranks have turns in all rounds once they are sorted. Windows are for those that do not fit then.
#[test]
fn ranks_that_wait_take_memory_too() {
    let placement = Placement::consecutive(100, 10);
    let (network, ranks) = (NetworkLevels::new(&placement, None), Followed { p: 100, followed: 100, block: 1.0 });
    let kept = |room| {
        let keep = Keep { network: &network, room };
        Alignment::with_turns(&OneLongGroup, ranks, 1 << 40, keep).unwrap().1.is_some()
    };
    assert!(kept(2_000_000), "100 ranks have 1000 turns of 12 bytes");
    assert!(!kept(200_000), "they have 1099 turns of their own, but wait in all the others");
}

/// A discrete-event simulation of the same model, message by message, with queues instead of rounds: an independent
/// opinion for eager messages on one node.
fn by_events(logs: &[RankLog], bytes: f64, machine: &LogGps) -> f64 {
    let p = logs.len();
    let (mut cpu, mut out, mut into) = (vec![0.0f64; p], vec![0.0f64; p], vec![0.0f64; p]);
    let mut mail: BTreeMap<(usize, usize), std::collections::VecDeque<(f64, f64)>> = BTreeMap::new();
    let mut next = vec![(0usize, false); p];
    loop {
        let mut moved = false;
        for rank in 0..p {
            let (round, sent) = next[rank];
            if round >= logs[rank].rounds() {
                continue;
            }
            if !sent {
                for message in logs[rank].directed(round, Direction::Send) {
                    let k = logs[rank].blocks(message).len() as f64 * bytes;
                    let rest = (k - 1.0).max(0.0);
                    let start = cpu[rank].max(out[rank]);
                    cpu[rank] = start + machine.overhead + rest * machine.byte_overhead;
                    out[rank] = start + machine.gap + rest * machine.byte_gap;
                    let arrival = start + machine.overhead + machine.latency + rest * machine.byte_gap;
                    mail.entry((rank, message.peer)).or_default().push_back((arrival, k));
                }
                next[rank].1 = true;
                moved = true;
            }
            let peers: Vec<usize> = logs[rank].directed(round, Direction::Recv).map(|m| m.peer).collect();
            let there = |peer: usize| mail.get(&(peer, rank)).map_or(0, std::collections::VecDeque::len);
            let needed = |peer: usize| peers.iter().filter(|&&other| other == peer).count();
            if !peers.iter().all(|&peer| there(peer) >= needed(peer)) {
                continue;
            }
            let mut arrived: Vec<(f64, f64)> =
                peers.iter().map(|&peer| mail.get_mut(&(peer, rank)).unwrap().pop_front().unwrap()).collect();
            arrived.sort_by(|a, b| a.partial_cmp(b).unwrap());
            for (arrival, k) in arrived {
                let rest = (k - 1.0).max(0.0);
                let begin = (arrival - rest * machine.byte_gap).max(into[rank]);
                into[rank] = begin + rest * machine.byte_gap + machine.gap;
                let last = begin + rest * machine.byte_gap;
                cpu[rank] = cpu[rank].max(last) + machine.overhead + rest * machine.byte_overhead;
            }
            next[rank] = (round + 1, false);
            moved = true;
        }
        if !moved {
            assert!((0..p).all(|rank| next[rank].0 >= logs[rank].rounds()), "a deadlock");
            return cpu.iter().fold(0.0, |a, &b| a.max(b));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn rounds_and_events_agree(
        which in 0usize..1000, p in 1usize..20, ppn in 1usize..6, bytes in 1u64..3000,
        numbers in prop::array::uniform5(0u32..50),
    ) {
        let all = roundel::algorithms::catalogue();
        let entry = &all[which % all.len()];
        let schedule = (entry.schedule)();
        let lists: Vec<String> = schedule.lists.iter().map(|list| format!("{}=2,1,2,1", list.var.name)).collect();
        let set: Vec<_> = lists.iter().map(|text| text.parse().unwrap()).collect();
        let params = Params::resolve(entry.name, &schedule, &set).unwrap();
        let placement = Placement::consecutive(p, ppn.min(p));
        let [latency, overhead, gap, byte_gap, byte_overhead] = numbers.map(f64::from);
        let numbers = LogGps { latency, overhead, gap, byte_gap, byte_overhead, eager: u64::MAX };
        let machine = SimulatedMachine::Messages { numbers, topology: None };
        if let Ok(trace) = catalogue::record(entry, &params.args, &placement).unwrap() {
            catalogue::with_rounds(entry, &params.args, &placement, |source| {
                let (kind, placement, machine) = (schedule.kind, &placement, &machine);
                let symmetry = Symmetry::of(&schedule);
                let request = SimulatedCall { source, symmetry, kind, placement, machine, bytes };
                let (found, expected) = (request.simulate()?.seconds, by_events(&trace.ranks, request.block(), &numbers));
                assert!((found - expected).abs() <= 1e-9 * expected.max(1.0), "{} p = {p}: {found} {expected}", entry.name);
                // Slower machines are not faster.
                let slower = LogGps { latency: latency + 1.0, byte_gap: byte_gap + 1.0, ..numbers };
                let slower = SimulatedMachine::Messages { numbers: slower, topology: None };
                assert!(SimulatedCall { machine: &slower, ..request }.simulate()?.seconds >= found);
                Ok(())
            }).unwrap();
        }
    }
}

/// A rank of a GOAL file: its operations by label, and what each requires.
#[derive(Default)]
struct GoalRank {
    operations: BTreeMap<String, Vec<String>>,
    requires: BTreeMap<String, Vec<String>>,
}

/// Reads GOAL: `num_ranks N`, then `rank R { … }`.
fn parse_goal(text: &str) -> Vec<GoalRank> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let number: usize = lines.next().unwrap().strip_prefix("num_ranks ").unwrap().parse().unwrap();
    let mut ranks: Vec<GoalRank> = Vec::new();
    while let Some(head) = lines.next() {
        assert_eq!(head, format!("rank {} {{", ranks.len()));
        let mut rank = GoalRank::default();
        for line in lines.by_ref().take_while(|line| *line != "}") {
            if let Some((label, operation)) = line.split_once(": ") {
                let words = operation.split_whitespace().map(String::from).collect();
                assert!(rank.operations.insert(label.into(), words).is_none(), "{label} twice");
            } else {
                let (label, before) = line.split_once(" requires ").unwrap();
                assert!(rank.operations.contains_key(label) && rank.operations.contains_key(before), "{line}");
                rank.requires.entry(label.into()).or_default().push(before.into());
            }
        }
        ranks.push(rank);
    }
    assert_eq!(ranks.len(), number);
    ranks
}

impl GoalRank {
    /// For each operation, the number of `calc`s before it: its round among those with messages.
    fn depths(&self) -> BTreeMap<&str, usize> {
        let mut depths: BTreeMap<&str, usize> = BTreeMap::new();
        // A label is required only after it was given.
        for number in 1..=self.operations.len() {
            let (label, words) = self.operations.get_key_value(&format!("l{number}")).unwrap();
            let before = self.requires.get(label).map_or(&[][..], Vec::as_slice);
            let deepest = before.iter().map(|other| depths[other.as_str()]).max().unwrap_or(0);
            // That of a `calc` is the depth of what comes after it.
            depths.insert(label, deepest + usize::from(words[0] == "calc"));
        }
        depths
    }
}

#[test]
fn goal_has_the_recorded_messages_and_their_order() {
    everywhere(|entry, params, placement| {
        let Ok(trace) = catalogue::record(entry, &params.args, placement).unwrap() else { return };
        let mut text = Vec::new();
        catalogue::with_rounds(entry, &params.args, placement, |source| {
            goal::write(source, placement.p(), 8.0, &mut text)
        })
        .unwrap();
        let ranks = parse_goal(&String::from_utf8(text).unwrap());
        assert_eq!(ranks.len(), placement.p());
        for (rank, log) in ranks.iter().zip(&trace.ranks) {
            let mut expected = Vec::new();
            let active = (0..log.rounds()).filter(|&round| !log.round(round).is_empty());
            for (depth, round) in active.enumerate() {
                for message in log.round(round) {
                    let (word, to) =
                        if message.direction == Direction::Send { ("send", "to") } else { ("recv", "from") };
                    let bytes = 8 * log.blocks(message).len();
                    expected.push((depth, format!("{word} {bytes}b {to} {} tag {round}", message.peer)));
                }
            }
            let depths = rank.depths();
            let mut found: Vec<(usize, String)> = rank
                .operations
                .iter()
                .filter(|(_, words)| words[0] != "calc")
                .map(|(label, words)| (depths[label.as_str()], words.join(" ")))
                .collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{}", entry.name);
        }
    });
}

fn json(args: &[&str]) -> serde_json::Value {
    let output = roundel(&[args, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refused(args: &[&str], words: &str) {
    let output = roundel(args);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
    assert!(message.contains(words) && !message.contains("panicked"), "{args:?}: {message}");
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn file(&self, name: &str, text: &str) -> String {
        let path: PathBuf = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

#[test]
fn the_command_says_times_levels_and_the_path() {
    let folder = Folder(tempfile::tempdir().unwrap());
    let topology = folder.file("t.toml", &format!("format = \"roundel-topology\"\nversion = 1\n{CLUSTER}"));
    let (svg, goal) = (folder.file("s.svg", ""), folder.file("s.goal", ""));
    let numbers = "L=2us,o=0.5us,g=0.1us,G=0.08ns,S=8192";
    let args = ["simulate", "nap", "-p", "64", "--bytes", "8", "--loggps", numbers, "--topology", &topology];
    let report = json(&[&args[..], &["--svg", &svg, "--goal", &goal]].concat());
    assert_eq!((&report["p"], &report["ppn"], &report["followed"]), (&64.into(), &16.into(), &64.into()));
    let names: Vec<&str> = report["levels"].as_array().unwrap().iter().map(|l| l["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["inside a node", "inside a switch", "between switches"]);
    let sum: f64 = report["rounds"].as_array().unwrap().iter().map(|r| r["seconds"].as_f64().unwrap()).sum();
    assert!((sum / report["seconds"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    assert!(report["critical_path"]["messages"].as_u64().unwrap() > 0);
    roxmltree::Document::parse(&std::fs::read_to_string(&svg).unwrap()).unwrap();
    assert_eq!(parse_goal(&std::fs::read_to_string(&goal).unwrap()).len(), 64);
    let text = String::from_utf8(roundel(&args).stdout).unwrap();
    for words in ["critical path: ", "inside a node: ", "every rank was followed", "LogGPS L = 2.00 us"] {
        assert!(text.contains(words), "{text}");
    }
    let ports = json(&["simulate", "allreduce", "--ports", "8(-1 1 1 1)", "--bytes", "800", "--loggps", "L=1s"]);
    assert_eq!((&ports["p"], &ports["number_of_rounds"], &ports["seconds"]), (&8.into(), &4.into(), &4.0.into()));
}

#[test]
fn a_million_ranks() {
    for (name, rounds) in [("sparbit", 20), ("allgather/bruck", 20), ("allreduce/prefix", 20)] {
        let report = json(&["simulate", name, "-p", "1000000", "--ppn", "100", "--loggps", "L=1us,o=1us,G=1ns"]);
        assert_eq!((&report["number_of_rounds"], &report["followed"]), (&rounds.into(), &100.into()), "{name}");
    }
    // The ranks of one node stand for all: of 10 000 nodes, each of the 100 ranks but the first fetches from another
    // one.
    let lanes =
        json(&["simulate", "locality-bruck", "-p", "1000000", "--ppn", "100", "--loggps", "L=1us,o=1us,G=1ns"]);
    assert_eq!((&lanes["levels"][1]["messages"], &lanes["followed"]), (&1_980_000.into(), &100.into()));
    let ring = json(&["simulate", "allgather/ring", "-p", "1000000", "--bytes", "1", "--loggps", "L=1us,o=1us"]);
    assert!((ring["seconds"].as_f64().unwrap() / (999_999.0 * 3e-6) - 1.0).abs() < 1e-9);
    for rank in ["0", "999999", "123456"] {
        let shown = json(&["show", "sparbit", "-p", "1000000", "--ppn", "100", "--rank", rank]);
        let rounds = shown["rounds"].as_array().unwrap();
        let blocks: u64 = rounds.iter().map(|r| r["receives"][0]["blocks"].as_u64().unwrap()).sum();
        assert_eq!((rounds.len(), blocks), (20, 999_999));
    }
    let part = json(&["plan", "allreduce/prefix", "-p", "1000000", "--node", "777"]);
    assert_eq!((&part["p"], part["rounds"].as_array().unwrap().len()), (&1_000_000.into(), 21));
    let text =
        String::from_utf8(roundel(&["show", "nap", "-p", "1000000", "--ppn", "64", "--rank", "5"]).stdout).unwrap();
    assert!(text.contains("(other node)") && text.contains("proved for all p"), "{text}");
    let explained = json(&["selection", "explain", "allreduce", "-p", "1000000", "--ppn", "100"]);
    assert_eq!(explained["p"], 1_000_000);
}

#[test]
fn declarations_of_files_are_simulated() {
    let folder = Folder(tempfile::tempdir().unwrap());
    let ring = "#[derive(Collective)]\n#[collective(allgather)]\n#[round(s in 0..p - 1)]\n\
                #[send(to = rank + 1, blocks = [rank - s])]\n#[recv(from = rank - 1, blocks = [rank - 1 - s])]\n\
                struct MyRing;\n";
    let file = folder.file("ring.rs", ring);
    let args =
        |name: &str, p: &str| json(&["simulate", name, "-p", p, "--ppn", "4", "--loggps", "L=1us,o=1us,G=1ns"]);
    let (own, catalogued) = (args(&format!("{file}:MyRing"), "64"), args("allgather/ring", "64"));
    assert_eq!((&own["seconds"], &own["rounds"]), (&catalogued["seconds"], &catalogued["rounds"]));
    let shown = json(&["show", &file, "-p", "5000", "--rank", "4999"]);
    assert_eq!(shown["rounds"][0]["sends"][0]["peer"], 0);
    let part = json(&["plan", &file, "-p", "5000", "--node", "3"]);
    assert_eq!(part["rounds"].as_array().unwrap().len(), 5000);
    // Right up to p = 41, which is as far as its check goes, and wrong beyond: the receiver expects another block.
    let wrong = ring
        .replace("#[collective", "#[check(p <= 41)]\n#[collective")
        .replace("to = rank + 1", "to = rank + 1 + p / 42");
    let file = folder.file("wrong.rs", &wrong);
    refused(&["simulate", &file, "-p", "64"], "it is no correct collective here");
}

#[test]
fn what_cannot_be_simulated_is_said() {
    let folder = Folder(tempfile::tempdir().unwrap());
    let file = |text: &str| folder.file("t.toml", text);
    refused(&["simulate", "sparbit", "-p", "0"], "0 ranks are not possible here");
    refused(&["simulate", "sparbit", "-p", "1000000000"], "give a number in 1..=1048576");
    refused(&["simulate", "sparbit", "-p", "-3"], "is no number of ranks");
    refused(&["simulate", "sparbit", "-p", "8", "--ppn", "0"], "a node needs at least one rank");
    refused(&["simulate", "sparbit", "-p", "8", "--set", "radix=2"], "no parameter `radix`");
    refused(&["simulate", "nothing", "-p", "8"], "there is no collective `nothing`");
    refused(&["simulate", "allgather/recursive-doubling", "-p", "6"], "it requires");
    refused(&["simulate", "sparbit", "-p", "8", "--loggps", "L=-1us"], "times lie in 0..=1000 seconds");
    refused(&["simulate", "sparbit", "-p", "8", "--loggps", "L=1us,x=2"], "there is no `x`");
    refused(&["simulate", "sparbit", "-p", "8", "--topology", "/no/such/file"], "/no/such/file");
    refused(&["simulate", "sparbit", "-p", "8", "--topology", &file("[[level")], "line 1: ");
    let head = "format = \"roundel-topology\"\nversion = 1\n[[level]]\nname = \"node\"\nsize = 4\n";
    refused(
        &["simulate", "sparbit", "-p", "8", "--topology", &file(&format!("{head}speed = 3\n"))],
        "unknown field `speed`",
    );
    refused(
        &["simulate", "sparbit", "-p", "8", "--topology", &file(&format!("{head}latency = -1.0\n"))],
        "`latency` of level",
    );
    refused(&["simulate", "sparbit", "-p", "8", "--ppn", "8", "--topology", &file(head)], "a node has 8 ranks");
    refused(&["simulate", "neighbor-exchange", "-p", "1000000"], "are the limit: give fewer ranks");
    refused(&["simulate", "allreduce", "--ports", "8(1)"], "8(1)");
    refused(&["simulate", "sparbit", "--ports", "8(1 1 1)"], "sparbit");
    refused(&["show", "sparbit", "-p", "1000000"], "with `--rank`, more are possible");
    refused(&["show", "sparbit", "-p", "1000000000", "--rank", "3"], "every rank is placed one by one");
    refused(&["show", "sparbit", "-p", "1000", "--rank", "1000"], "rank 1000 does not exist");
    refused(&["plan", "allreduce/ring", "-p", "2000", "--node", "2000"], "rank 2000 does not exist");
    refused(&["plan", "alltoall/pairwise", "-p", "2000", "--node", "1"], "has no plan");
}

//! What the papers about nodes print, transcribed.
//!
//! *Locality paper*: Bienz, Gautam and Kharel, A Locality-Aware Bruck Allgather, 2022. *NAP paper*: Bienz, Olson and
//! Gropp, Node-Aware Improvements to Allreduce, 2019.

#![allow(clippy::unwrap_used)]

use roundel::Collective;
use roundel::algorithms::{
    Bruck, Hierarchical, LocalityBruck, MultiLane, NapAllreduce, RecursiveDoublingAllreduce, SmpAllreduce,
};
use roundel_spec::Direction;
use roundel_spec::check::{self, Census, Point};
use roundel_spec::record::Trace;
use roundel_spec::{Placement, Recorder, rounds_of};

/// `nodes` nodes with `ppn` ranks each.
fn run<C: Collective + Default>(nodes: usize, ppn: usize) -> (Census, Trace, Placement) {
    let placement = Placement::consecutive(nodes * ppn, ppn);
    let point = Point { placement: placement.clone(), args: C::default().arguments() };
    let trace = check::record_code(&C::default(), &placement);
    let census = check::trace(&C::schedule(), &point, &trace).unwrap().census;
    (census, trace, placement)
}

/// The messages between nodes, round by round: from, to, number of blocks.
fn between_nodes(trace: &Trace, placement: &Placement) -> Vec<Vec<(usize, usize, usize)>> {
    let of = |round: usize| {
        let mut all = Vec::new();
        for (rank, log) in trace.ranks.iter().enumerate() {
            let sends = log.directed(round, Direction::Send).filter(|sent| placement.nonlocal(rank, sent.peer));
            all.extend(sends.map(|sent| (rank, sent.peer, log.blocks(sent).len())));
        }
        all
    };
    (0..trace.rounds()).map(of).filter(|round| !round.is_empty()).collect()
}

fn ceil_log(base: usize, n: usize) -> usize {
    (0..).find(|&k| base.pow(k) >= n).unwrap() as usize
}

/// Locality paper, Example 2.1: 16 processes in 4 regions. Bruck's P0 sends 15 values in 4 non-local messages; with
/// locality no process sends more than 4 values, in one message.
#[test]
fn example_2_1() {
    let (census, ..) = run::<Bruck>(4, 4);
    assert_eq!((census.ranks[0].nonlocal_messages_sent, census.ranks[0].nonlocal_blocks_sent), (4, 15));
    let (census, trace, placement) = run::<LocalityBruck>(4, 4);
    for usage in &census.ranks {
        assert!((usage.nonlocal_messages_sent, usage.nonlocal_blocks_sent) <= (1, 4), "{usage:?}");
    }
    assert_eq!(between_nodes(&trace, &placement).len(), 1);
}

/// Locality paper, Section 3: at 64 processes in 16 regions, in the second step P5 receives from P21, P6 from P38, P7
/// from P55, each the values of four regions; P4 is idle.
#[test]
fn second_step_of_64_processes() {
    let (_, trace, placement) = run::<LocalityBruck>(16, 4);
    let rounds = between_nodes(&trace, &placement);
    assert_eq!(rounds.len(), 2);
    let to =
        |rank: usize| rounds[1].iter().filter(|sent| sent.1 == rank).map(|sent| (sent.0, sent.2)).collect::<Vec<_>>();
    assert_eq!([4, 5, 6, 7].map(to), [vec![], vec![(21, 16)], vec![(38, 16)], vec![(55, 16)]]);
}

/// Locality paper, Eq. 4: log_ppn(regions) non-local messages of a process, one in each non-local round; any region
/// count.
#[test]
fn rounds_between_regions() {
    for ppn in 2..=6 {
        for nodes in 1..=(120 / ppn).min(30) {
            let (census, trace, placement) = run::<LocalityBruck>(nodes, ppn);
            let rounds = between_nodes(&trace, &placement);
            assert_eq!(rounds.len(), ceil_log(ppn, nodes), "{nodes} x {ppn}");
            let most = census.ranks.iter().map(|usage| usage.nonlocal_messages_sent).max();
            assert!(most.unwrap() as usize <= rounds.len(), "{nodes} x {ppn}");
        }
    }
}

/// Leaders: ceil(log2 nodes) messages of one process per node. Lanes: as many of every process, and the data divided.
#[test]
fn leaders_and_lanes() {
    for (nodes, ppn) in [(4, 4), (3, 4), (5, 2), (7, 3), (8, 2)] {
        let (leaders, ..) = run::<Hierarchical>(nodes, ppn);
        let (lanes, ..) = run::<MultiLane>(nodes, ppn);
        for rank in 0..nodes * ppn {
            let (leader, lane) = (leaders.ranks[rank], lanes.ranks[rank]);
            let of_leader = (ceil_log(2, nodes) as i64, ((nodes - 1) * ppn) as i64);
            let expected = if rank % ppn == 0 { of_leader } else { (0, 0) };
            assert_eq!((leader.nonlocal_messages_sent, leader.nonlocal_blocks_sent), expected);
            let of_lane = (ceil_log(2, nodes) as i64, nodes as i64 - 1);
            assert_eq!((lane.nonlocal_messages_sent, lane.nonlocal_blocks_sent), of_lane);
        }
    }
}

fn pairs(rounds: &[Vec<(usize, usize, usize)>], round: usize, of: usize) -> Vec<(usize, usize)> {
    rounds[round].iter().filter(|sent| sent.0 == of || sent.1 == of).map(|sent| (sent.0, sent.1)).collect()
}

/// NAP paper: P9 and P6 exchange at 4 nodes x 4; P9 and P24 in the second round at 16 x 4; P34 serves P14 at 11 x 4.
#[test]
fn pairs_of_the_nap_paper() {
    let (_, trace, placement) = run::<NapAllreduce>(4, 4);
    assert_eq!(pairs(&between_nodes(&trace, &placement), 0, 9), [(6, 9), (9, 6)]);
    let (_, trace, placement) = run::<NapAllreduce>(16, 4);
    assert_eq!(pairs(&between_nodes(&trace, &placement), 1, 9), [(9, 24), (24, 9)]);
    let (_, trace, placement) = run::<NapAllreduce>(11, 4);
    assert!(pairs(&between_nodes(&trace, &placement), 1, 14).contains(&(34, 14)));
}

/// NAP paper: with 12 nodes x 4 the processes with local rank 3 are idle in the last round; 4096 x 16 take three
/// rounds.
#[test]
fn idle_processes_of_the_nap_paper() {
    let (_, trace, placement) = run::<NapAllreduce>(12, 4);
    let rounds = between_nodes(&trace, &placement);
    assert_eq!(rounds.len(), 2);
    assert!(rounds[1].iter().all(|(from, to, _)| from % 4 != 3 && to % 4 != 3), "{:?}", rounds[1]);
    let (placement, mut messages) = (Placement::consecutive(4096 * 16, 16), Vec::new());
    for rank in [0, 5, 16 * 100 + 7, 4096 * 16 - 1] {
        let mut recorder = Recorder::default();
        let Ok(()) =
            rounds_of(&NapAllreduce::<RecursiveDoublingAllreduce>::default(), &placement, rank, &mut recorder);
        let log = recorder.finish();
        let leaves = |round: &usize| log.round(*round).iter().any(|message| placement.nonlocal(rank, message.peer));
        messages.push((0..log.rounds()).filter(leaves).count());
    }
    // A process is idle in the rounds of its own subgroup: those of node 0 with local rank 0 in all of them.
    assert_eq!(messages, [0, 3, 3, 0]);
}

/// The exact rule: for any number of nodes ceil(log_ppn nodes) rounds, in each of which a process sends at most one
/// message to another node and receives at most one.
#[test]
fn one_message_each_way_in_every_round() {
    for ppn in 2..=5 {
        for nodes in 1..=(90 / ppn).min(28) {
            let (_, trace, placement) = run::<NapAllreduce>(nodes, ppn);
            let rounds = between_nodes(&trace, &placement);
            assert_eq!(rounds.len(), ceil_log(ppn, nodes), "{nodes} x {ppn}");
            for round in &rounds {
                for rank in 0..nodes * ppn {
                    let (sent, received) =
                        (|s: &&(usize, usize, usize)| s.0 == rank, |s: &&(usize, usize, usize)| s.1 == rank);
                    assert!(round.iter().filter(sent).count() <= 1 && round.iter().filter(received).count() <= 1);
                }
            }
        }
    }
}

/// NAP paper, Eq. 5: the leaders of an SMP allreduce send log2(nodes) messages where that is a power of two.
#[test]
fn messages_of_leaders() {
    for (nodes, ppn) in [(2, 4), (4, 4), (8, 2), (16, 3)] {
        let (census, ..) = run::<SmpAllreduce>(nodes, ppn);
        for (rank, usage) in census.ranks.iter().enumerate() {
            let expected = if rank % ppn == 0 { ceil_log(2, nodes) as i64 } else { 0 };
            assert_eq!(usage.nonlocal_messages_sent, expected, "{nodes} x {ppn}, rank {rank}");
        }
    }
}

//! What the papers print, transcribed: figures, pseudocode, peers and costs.
//!
//! *Sparbit paper*: Loch and Koslovski, 2021, Sparbit: a new logarithmic-cost and data locality-aware MPI Allgather
//! algorithm. *Locality paper*: Bienz, Gautam and Kharel, 2022, A Locality-Aware Bruck Allgather. The *persistent
//! paper* has its own files.

#![allow(clippy::unwrap_used)]

#[path = "papers/persistent.rs"]
mod persistent;
#[path = "papers/ports.rs"]
mod ports;

use roundel::Collective;
use roundel::algorithms::{
    Bruck, CirculantReduceScatter, KBruck, NeighborExchange, PairwiseReduceScatter, RabenseifnerAllreduce,
    RecursiveDoubling, RecursiveDoublingAllreduce, RecursiveHalvingReduceScatter, Ring, RingAllreduce, Sparbit,
};
use roundel_spec::Direction;
use roundel_spec::Placement;
use roundel_spec::check::{self, Point};
use roundel_spec::record::Trace;
use std::collections::BTreeSet;

/// The largest p of most comparisons.
const MAX_P: usize = 300;

/// A message: the other rank, and the blocks in their order.
type Message = (usize, Vec<usize>);

/// What all ranks do, as plain lists.
struct Run {
    p: usize,
    trace: Trace,
}

impl Run {
    fn of<C: Collective>(collective: &C, p: usize) -> Self {
        Run { p, trace: check::record_code(collective, &Placement::consecutive(p, p)) }
    }

    /// Rounds in which there is a message.
    fn rounds(&self) -> usize {
        (0..self.trace.rounds()).filter(|&round| self.trace.has_messages(round)).count()
    }

    fn messages(&self, rank: usize, round: usize, direction: Direction) -> Vec<Message> {
        let log = &self.trace.ranks[rank];
        let blocks = |message| log.blocks(message).iter().map(|&block| block as usize).collect();
        log.directed(round, direction).map(|message| (message.peer, blocks(message))).collect()
    }

    fn sent(&self, rank: usize, round: usize) -> Vec<Message> {
        self.messages(rank, round, Direction::Send)
    }

    fn received(&self, rank: usize, round: usize) -> Vec<Message> {
        self.messages(rank, round, Direction::Recv)
    }

    fn blocks_sent(&self, rank: usize, round: usize) -> usize {
        self.sent(rank, round).iter().map(|(_, blocks)| blocks.len()).sum()
    }

    /// What `rank` holds before `round`.
    fn held(&self, rank: usize, round: usize) -> BTreeSet<usize> {
        let received = (0..round).flat_map(|round| self.received(rank, round)).flat_map(|(_, blocks)| blocks);
        received.chain([rank]).collect()
    }

    /// The cost in the model of both papers: the number of latencies and of blocks on the critical path. All ranks send
    /// at the same time, so a round costs what its busiest rank sends.
    fn cost(&self) -> (usize, usize) {
        let busiest = |round| (0..self.p).map(|rank| self.blocks_sent(rank, round)).max().unwrap_or(0);
        (self.rounds(), (0..self.trace.rounds()).map(busiest).sum())
    }
}

fn ceil_log2(p: usize) -> usize {
    p.next_power_of_two().ilog2() as usize
}

fn wrap(rank: usize, distance: isize, p: usize) -> usize {
    (rank as isize + distance).rem_euclid(p as isize) as usize
}

fn set(blocks: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
    blocks.into_iter().collect()
}

// Sparbit paper, section II and III: costs.

#[test]
fn costs_of_the_sparbit_paper() {
    for p in 1..=MAX_P {
        let logarithmic = (ceil_log2(p), p - 1);
        assert_eq!(Run::of(&Bruck, p).cost(), logarithmic, "Bruck, p = {p}");
        assert_eq!(Run::of(&Sparbit, p).cost(), logarithmic, "Sparbit, p = {p}");
        if p.is_power_of_two() {
            assert_eq!(Run::of(&RecursiveDoubling, p).cost(), logarithmic, "recursive doubling, p = {p}");
        }
    }
    // Linear algorithms have p rounds times p ranks: fewer p.
    for p in (1..=40).chain([63, 64, 65, 100, 127, 128]) {
        assert_eq!(Run::of(&Ring, p).cost(), (p - 1, p - 1), "ring, p = {p}");
        if p.is_multiple_of(2) {
            assert_eq!(Run::of(&NeighborExchange, p).cost(), (p / 2, p - 1), "neighbor exchange, p = {p}");
        }
    }
}

// Sparbit paper, section II: the algorithms in words.

/// Rank r sends to r + 1 and receives from r - 1, its own block first, then what it received on the previous step.
#[test]
fn ring_forwards_what_it_received() {
    for p in 2..=40 {
        let run = Run::of(&Ring, p);
        for rank in 0..p {
            for step in 0..p - 1 {
                let expected = if step == 0 { vec![rank] } else { run.received(rank, step - 1).remove(0).1 };
                assert_eq!(run.sent(rank, step), [(wrap(rank, 1, p), expected)]);
                assert_eq!(run.received(rank, step)[0].0, wrap(rank, -1, p));
            }
        }
    }
}

/// On step s an even process r exchanges with r + (-1)^s, an odd one with r - (-1)^s; one block on the first step, two
/// on all others.
#[test]
fn neighbor_exchange_peers() {
    for p in (2..=64).step_by(2) {
        let run = Run::of(&NeighborExchange, p);
        for rank in 0..p {
            for step in 0..p / 2 {
                let sign = if step % 2 == 0 { 1 } else { -1 };
                let peer = wrap(rank, if rank % 2 == 0 { sign } else { -sign }, p);
                let (sent, received) = (run.sent(rank, step), run.received(rank, step));
                assert_eq!((sent.len(), sent[0].0, received[0].0), (1, peer, peer), "p = {p}, step {step}");
                assert_eq!(sent[0].1.len(), if step == 0 { 1 } else { 2 });
            }
        }
    }
}

/// On step s, r exchanges with r xor 2^s and sends all it has.
#[test]
fn recursive_doubling_peers() {
    for p in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
        let run = Run::of(&RecursiveDoubling, p);
        for rank in 0..p {
            for step in 0..ceil_log2(p) {
                let sent = run.sent(rank, step);
                assert_eq!((sent.len(), sent[0].0), (1, rank ^ (1 << step)));
                assert_eq!(set(sent[0].1.iter().copied()), run.held(rank, step));
            }
        }
    }
}

/// On step s < floor(log2 p), r sends all it has to r - 2^s and receives from r + 2^s; if p is not a power of two, an
/// additional step sends only the first p - 2^floor(log2 p) blocks.
#[test]
fn bruck_doubles_and_sends_the_rest() {
    for p in 2..=MAX_P {
        let (run, whole) = (Run::of(&Bruck, p), p.ilog2() as usize);
        for rank in (0..p).step_by(1 + p / 7) {
            for step in 0..ceil_log2(p) {
                let (distance, count) = (1 << step, if step < whole { 1 << step } else { p - (1 << whole) });
                let first = |rank: usize| (0..count).map(|k| (rank + k) % p).collect::<Vec<_>>();
                let (to, from) = (wrap(rank, -distance, p), wrap(rank, distance, p));
                assert_eq!(run.sent(rank, step), [(to, first(rank))], "p = {p}, rank {rank}, step {step}");
                assert_eq!(run.received(rank, step), [(from, first(from))]);
            }
        }
    }
}

// Sparbit paper, section III.A, figure 2: the binomial tree.

/// Who sends the block of `root` to whom on each step, as ranks relative to the root.
fn tree(run: &Run, root: usize) -> Vec<Vec<(usize, usize)>> {
    let relative = |rank: usize| wrap(rank, -(root as isize), run.p);
    let edges = |step: usize| {
        let sends = (0..run.p).flat_map(|rank| run.sent(rank, step).into_iter().map(move |m| (rank, m)));
        let mut edges: Vec<_> = sends
            .filter(|(_, (_, blocks))| blocks.contains(&root))
            .map(|(rank, (peer, _))| (relative(rank), relative(peer)))
            .collect();
        edges.sort_unstable();
        edges
    };
    (0..run.rounds()).map(edges).collect()
}

#[test]
fn figure_2_of_the_sparbit_paper() {
    let eight = [vec![(0, 4)], vec![(0, 2), (4, 6)], vec![(0, 1), (2, 3), (4, 5), (6, 7)]];
    // With five processes the sends to 5, 6 and 7 are left out.
    let five = [vec![(0, 4)], vec![(0, 2)], vec![(0, 1), (2, 3)]];
    for (p, expected) in [(8, eight), (5, five)] {
        let run = Run::of(&Sparbit, p);
        for root in 0..p {
            assert_eq!(tree(&run, root), expected, "p = {p}, root {root}");
        }
    }
}

/// Every block travels down the binomial tree over 2^ceil(log2 p) ranks, without the ranks from p on.
#[test]
fn sparbit_runs_one_binomial_tree_for_each_block() {
    for p in 1..=64 {
        let (run, steps) = (Run::of(&Sparbit, p), ceil_log2(p));
        let expected: Vec<Vec<(usize, usize)>> = (0..steps)
            .map(|step| {
                let distance = 1 << (steps - 1 - step);
                let roots = (0..p).step_by(2 * distance);
                roots.map(|root| (root, root + distance)).filter(|&(_, to)| to < p).collect()
            })
            .collect();
        for root in [0, p / 2, p - 1] {
            assert_eq!(tree(&run, root), expected, "p = {p}, root {root}");
        }
    }
}

// Sparbit paper, section III.B, figure 3: the buffers of five processes.

#[test]
fn figure_3_of_the_sparbit_paper() {
    let run = Run::of(&Sparbit, 5);
    let after_step_0 = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]];
    let after_step_1 = [[0, 1, 3], [1, 2, 4], [2, 3, 0], [3, 4, 1], [4, 0, 2]];
    for rank in 0..5 {
        assert_eq!(run.held(rank, 0), set([rank]));
        assert_eq!(run.held(rank, 1), set(after_step_0[rank]));
        assert_eq!(run.held(rank, 2), set(after_step_1[rank]));
        assert_eq!(run.held(rank, 3), set(0..5));

        let below = |distance: usize| wrap(rank, -(distance as isize), 5);
        assert_eq!(run.sent(rank, 0), [(wrap(rank, 4, 5), vec![rank])]);
        assert_eq!(run.received(rank, 0), [(below(4), vec![below(4)])]);
        // The block received on step 0 comes from a tree where this process is a leaf: it is never forwarded.
        assert_eq!(run.sent(rank, 1), [(wrap(rank, 2, 5), vec![rank])]);
        assert_eq!(run.sent(rank, 2), [(wrap(rank, 1, 5), vec![rank, below(2)])]);
    }
}

// Sparbit paper, section III.B, algorithm 1.

/// The steps in which a block is ignored, as bits.
type Mask = fn(u32) -> u32;

/// `(NOT(p >> last) OR 1) << last`, which is what the text and figure 4 say.
const RIGHT: Mask = |p| {
    let last_ignore = p.trailing_zeros();
    (!(p >> last_ignore) | 1) << last_ignore
};

/// `NOT((p >> last) OR 1) << last`, which line 5 can be taken for.
const WRONG: Mask = |p| {
    let last_ignore = p.trailing_zeros();
    !((p >> last_ignore) | 1) << last_ignore
};

/// Algorithm 1, line by line: for each step what is sent and what is received.
fn algorithm_1(p: u32, rank: u32, mask: Mask) -> Vec<(Message, Message)> {
    let mut steps = Vec::new();
    let mut data = 1;
    let mut ignore = 0;
    // The loop has no step at p = 1, where line 3 would shift by -1.
    let mut d: u32 = if p == 1 { 0 } else { 1 << (ceil_log2(p as usize) - 1) };
    let ignore_steps = mask(p);
    for _ in 0..ceil_log2(p as usize) {
        if d & ignore_steps != 0 {
            ignore = 1;
        }
        let at = |offset: i64| (i64::from(rank) + offset).rem_euclid(i64::from(p)) as usize;
        let distance = i64::from(d);
        let mut send = (at(distance), Vec::new());
        let mut receive = (at(-distance), Vec::new());
        for j in 0..data - ignore {
            send.1.push(at(-(2 * j) * distance));
            receive.1.push(at(-(2 * j + 1) * distance));
        }
        steps.push((send, receive));
        d >>= 1;
        data = (data << 1) - ignore;
        ignore = 0;
    }
    steps
}

#[test]
fn algorithm_1_of_the_sparbit_paper() {
    for p in 1..=MAX_P {
        let run = Run::of(&Sparbit, p);
        for rank in 0..p {
            let steps = algorithm_1(p as u32, rank as u32, RIGHT);
            assert_eq!(run.rounds(), steps.len());
            for (step, (send, receive)) in steps.into_iter().enumerate() {
                assert_eq!(run.sent(rank, step), [send], "p = {p}, rank {rank}, step {step}");
                assert_eq!(run.received(rank, step), [receive], "p = {p}, rank {rank}, step {step}");
            }
        }
    }
}

/// With the other reading of line 5 something is written twice, or never, unless p is a power of two.
#[test]
fn the_other_reading_of_line_5_is_wrong() {
    let right = |p: &u32| {
        let received = algorithm_1(*p, 0, WRONG).into_iter().flat_map(|(_, (_, blocks))| blocks);
        let mut all: Vec<usize> = received.chain([0]).collect();
        all.sort_unstable();
        all.into_iter().eq(0..*p as usize)
    };
    let right: Vec<u32> = (1..=300).filter(right).collect();
    assert_eq!(right, [1, 2, 4, 8, 16, 32, 64, 128, 256]);
}

/// If p is a power of two, 2^s blocks travel 2^(log2 p - (s + 1)) far on step s.
#[test]
fn sparbit_with_a_power_of_two() {
    for log in 0..=8 {
        let run = Run::of(&Sparbit, 1 << log);
        for step in 0..log {
            let (to, blocks) = run.sent(0, step).remove(0);
            assert_eq!((to, blocks.len()), (1 << (log - (step + 1)), 1 << step));
        }
    }
}

/// The powers of two that compose p are subtrees. A tree expansion, on which every process sends all it has, happens at
/// the distance of each but the smallest of them; below the smallest, too, everything is sent; on all other steps one
/// block is ignored. With 21 processes the subtrees have 16, 4 and 1.
#[test]
fn tree_expansions() {
    let ignored = |p: usize| -> Vec<usize> {
        let run = Run::of(&Sparbit, p);
        let distances = (0..run.rounds()).map(|step| 1 << (run.rounds() - 1 - step));
        let ignores = |step| run.held(0, step).len() - run.blocks_sent(0, step);
        distances.enumerate().filter(|&(step, _)| ignores(step) == 1).map(|(_, distance)| distance).collect()
    };
    assert_eq!(ignored(21), [8, 2, 1]);
    assert_eq!(ignored(5), [2, 1]);
    for p in 1..=MAX_P {
        let smallest = 1 << p.trailing_zeros();
        let expected = |&d: &usize| d > smallest && p & d == 0 || d == smallest;
        let distances: Vec<usize> = (0..ceil_log2(p)).rev().map(|bit| 1 << bit).filter(expected).collect();
        assert_eq!(ignored(p), distances, "p = {p}");
    }
}

// Locality paper, section 2: example 2.1, 16 processes in regions of 4.

fn region(rank: usize) -> usize {
    rank / 4
}

/// Figure 2: the values on each process, in the order in which the steps bring them.
#[test]
fn figure_2_of_the_locality_paper() {
    let run = Run::of(&Bruck, 16);
    for rank in 0..16 {
        let mut column = vec![rank];
        for step in 0..4 {
            column.extend(run.received(rank, step).into_iter().flat_map(|(_, blocks)| blocks));
            assert_eq!(column.len(), 2 << step);
        }
        assert!(column.into_iter().eq((0..16).map(|k| (rank + k) % 16)), "process {rank}");
    }
}

/// Figure 1, and what section 2.1 says about it. The paper counts steps from 1.
#[test]
fn figure_1_of_the_locality_paper() {
    let run = Run::of(&Bruck, 16);
    for step in 1..=4 {
        for rank in 0..16 {
            let (to, blocks) = run.sent(rank, step - 1).remove(0);
            assert_eq!(to, wrap(rank, -(1 << (step - 1)), 16));
            assert_eq!(blocks.len(), 1 << (step - 1));
        }
    }
    let to_regions = |step: usize| -> Vec<usize> {
        let peers = (0..4).flat_map(|rank| run.sent(rank, step - 1)).map(|(to, _)| region(to));
        peers.filter(|&to| to != 0).collect()
    };
    assert_eq!(to_regions(1), [3]);
    assert_eq!(to_regions(2), [3, 3]);
    assert_eq!(to_regions(3), [3, 3, 3, 3]);
    assert_eq!(to_regions(4), [2, 2, 2, 2]);

    // During step 3 each process of region 0 sends the value 3; 1, 2, 4 and 5 are sent in several messages.
    let times = |value: usize| (0..4).filter(|&rank| run.sent(rank, 2)[0].1.contains(&value)).count();
    assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(times), [1, 2, 3, 4, 3, 2, 1, 0]);
}

/// Section 4: P0 sends 15 values in 4 non-local messages and none locally, and no process sends more.
#[test]
fn non_local_messages_of_the_locality_paper() {
    let point = Point { placement: Placement::consecutive(16, 4), args: Bruck.arguments() };
    let trace = check::record_code(&Bruck, &point.placement);
    let census = check::trace(&Bruck::schedule(), &point, &trace).unwrap().census;
    let of = |rank: usize| (census.ranks[rank].nonlocal_messages_sent, census.ranks[rank].nonlocal_blocks_sent);
    assert_eq!(of(0), (4, 15));
    assert_eq!(census.ranks[0].messages_sent, 4);
    assert!((0..16).all(|rank| of(rank) <= of(0)));
    // P3 sends to P2 and P1 first: two of its messages stay in the region.
    assert_eq!(of(3), (2, 12));
}

/// In general the busiest process sends log2(p) non-local messages with p - 1 values.
#[test]
fn non_local_messages_in_general() {
    for (p, ppn) in [(4, 2), (16, 2), (64, 4), (64, 8), (128, 16), (256, 16)] {
        let run = Run::of(&Bruck, p);
        let nonlocal: Vec<Message> =
            (0..run.rounds()).flat_map(|step| run.sent(0, step)).filter(|(to, _)| to / ppn != 0).collect();
        let values: usize = nonlocal.iter().map(|(_, blocks)| blocks.len()).sum();
        assert_eq!((nonlocal.len(), values), (ceil_log2(p), p - 1), "p = {p}, ppn = {ppn}");
    }
}

// Bruck and others, 1997: with k = radix - 1 ports, ceil(log_radix p) rounds and p - 1 blocks.

#[test]
fn bruck_with_several_ports() {
    for radix in 2usize..=9 {
        for p in (1..=100).chain([125, 128, 216, 243, 256]) {
            let run = Run::of(&KBruck { radix: radix as i64 }, p);
            let rounds = (0u32..).find(|&rounds| radix.pow(rounds) >= p).unwrap();
            assert_eq!(run.rounds(), rounds as usize, "radix {radix}, p = {p}");
            for rank in [0, p / 3, p - 1] {
                let messages: Vec<usize> = (0..run.rounds()).map(|step| run.sent(rank, step).len()).collect();
                assert!(messages.iter().all(|&count| (1..radix).contains(&count)));
                let blocks: usize = (0..run.rounds()).map(|step| run.blocks_sent(rank, step)).sum();
                assert_eq!(blocks, p - 1);
            }
        }
    }
}

/// With one port it is Bruck's algorithm.
#[test]
fn bruck_with_one_port() {
    for p in 1..=100 {
        let (one, plain) = (Run::of(&KBruck { radix: 2 }, p), Run::of(&Bruck, p));
        assert_eq!(one.trace, plain.trace, "p = {p}");
    }
}

/// Thakur, Rabenseifner and Gropp 2005, Patarasuk and Yuan 2009, Träff 2024: rounds, and blocks on the critical path,
/// of which there are p in a vector (for recursive doubling, one).
#[test]
fn reductions_cost_what_the_papers_say() {
    for p in 1..=64 {
        let circulant = Run::of(&CirculantReduceScatter, p).cost();
        assert_eq!(circulant, (ceil_log2(p), p - 1), "p = {p}");
        assert_eq!(Run::of(&RingAllreduce, p).cost(), (2 * (p - 1), 2 * (p - 1)), "p = {p}");
        assert_eq!(Run::of(&PairwiseReduceScatter, p).cost(), (p - 1, p - 1), "p = {p}");
        if p.is_power_of_two() {
            let log = ceil_log2(p);
            assert_eq!(Run::of(&RecursiveHalvingReduceScatter, p).cost(), (log, p - 1), "p = {p}");
            assert_eq!(Run::of(&RabenseifnerAllreduce, p).cost(), (2 * log, 2 * (p - 1)), "p = {p}");
            assert_eq!(Run::of(&RecursiveDoublingAllreduce, p).cost(), (log, log), "p = {p}");
        }
    }
}

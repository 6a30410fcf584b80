//! *Persistent paper*: Jocksch, Ohana, Lanti, Koutsaniti, Karakasis and Villard, An optimisation of allreduce
//! communication in message-passing systems, 2021.

use super::{Run, ceil_log2, set, wrap};
use cyclic_shift::CyclicShift;
use roundel::Collective;
use roundel::algorithms::{CyclicShiftAllreduce, CyclicShiftReduceScatter, PrefixAllreduce};
use roundel_spec::Direction;
use roundel_spec::check::{self, Point, ReductionStates};
use roundel_spec::{Line, Placement};
use std::collections::BTreeSet;

fn reduced<C: Collective>(collective: &C, p: usize) -> (Run, ReductionStates) {
    let run = Run::of(collective, p);
    let point = Point { placement: Placement::consecutive(p, p), args: collective.arguments() };
    let reduction = check::trace(&C::schedule(), &point, &run.trace).unwrap().reduction.unwrap();
    (run, reduction)
}

/// The ranks that have contributed to a block of a line before a round.
fn from(reduction: &ReductionStates, round: usize, rank: usize, line: Line, block: usize) -> BTreeSet<usize> {
    let value = reduction.before(round, rank, line, block);
    value.iter().flat_map(|value| reduction.trees.contributors(value.tree)).collect()
}

/// Figure 5: five nodes, radix 2. The distances are 4, 2 and 1; column n0, then all others, which are the same further
/// on.
#[test]
fn figure_5_of_the_persistent_paper() {
    let (run, reduction) = reduced(&CyclicShiftReduceScatter { ports: vec![1, 1, 1] }, 5);
    // What n0 has of the messages 0 to 3 that are not yet handed over: initially, and after each step.
    let columns: [&[&[usize]]; 4] =
        [&[&[0], &[0], &[0], &[0], &[0]], &[&[0, 1], &[0], &[0], &[0]], &[&[0, 1, 3], &[0, 3]], &[&[0, 1, 2, 3, 4]]];
    for (step, column) in columns.iter().enumerate() {
        for (message, sources) in column.iter().enumerate() {
            for node in 0..5 {
                let expected = set(sources.iter().map(|source| (node + source) % 5));
                assert_eq!(from(&reduction, step, node, 0, (node + message) % 5), expected, "n{node} after {step}");
            }
        }
    }
    let sent = |step| run.sent(0, step);
    assert_eq!([sent(0), sent(1), sent(2)], [vec![(4, vec![4])], vec![(2, vec![2, 3])], vec![(1, vec![1])]]);
}

/// Section 2.2.2: "the same algorithms are applied in reverse order", with any numbers of ports.
#[test]
fn reduce_scatter_is_the_reversed_allgather() {
    let lists: [&[i64]; 7] = [&[], &[1, 1, 1], &[1, 2, 3], &[3, 1, 2], &[5], &[2, 2, 1], &[1, 1, 1, 1, 1, 1]];
    for ports in lists {
        let capacity: i64 = ports.iter().map(|ports| ports + 1).product();
        for p in 1..=capacity.min(40) as usize {
            let forwards = Run::of(&CyclicShift { ports: ports.to_vec() }, p);
            let reversed = ports.iter().rev().copied().collect();
            let backwards = Run::of(&CyclicShiftReduceScatter { ports: reversed }, p);
            for (rank, step) in (0..p).flat_map(|rank| (0..ports.len()).map(move |step| (rank, step))) {
                let mirrored = ports.len() - 1 - step;
                for (one, other) in [(Direction::Send, Direction::Recv), (Direction::Recv, Direction::Send)] {
                    let expected = forwards.messages(rank, mirrored, one);
                    assert_eq!(backwards.messages(rank, step, other), expected, "{ports:?}, p = {p}, {rank}, {step}");
                }
            }
        }
    }
}

/// The lines that every rank sends in each step, by how many ranks they cover, and where to.
fn lines_sent(run: &Run, reduction: &ReductionStates) -> Vec<BTreeSet<usize>> {
    let p = run.p;
    (0..run.trace.rounds())
        .map(|step| {
            let of = |rank: usize| {
                let sent = run.trace.ranks[rank].directed(step, Direction::Send);
                sent.map(move |message| {
                    let ranks = from(reduction, step, rank, message.site.line, 0);
                    assert_eq!(ranks, set((0..ranks.len()).map(|k| wrap(rank, k as isize, p))), "p = {p}");
                    ranks.len()
                })
            };
            let first: Vec<usize> = of(0).collect();
            assert!((1..p).all(|rank| of(rank).eq(first.iter().copied())), "p = {p}, step {step}");
            set(first)
        })
        .collect()
}

/// The same, from the text of section 2.1 and its algorithm 1: backwards from line p, line D + k needs line D here and
/// line k there; lines that exist before the step are needed before it.
fn lines_needed(p: usize) -> Vec<BTreeSet<usize>> {
    let mut needed = set([p]);
    let mut steps: Vec<BTreeSet<usize>> = (0..ceil_log2(p))
        .rev()
        .map(|step| {
            let d = 1 << step;
            let sent = set(needed.iter().filter(|&&line| line > d).map(|line| line - d));
            let mut before = set(needed.iter().copied().filter(|&line| line <= d));
            before.extend(sent.iter().copied());
            before.extend(sent.first().map(|_| d));
            needed = before;
            sent
        })
        .collect();
    steps.reverse();
    steps
}

/// Figure 3: eleven nodes, lines 1 to 4, 8 and 11 are required; the others are displayed for illustration only.
#[test]
fn figure_3_of_the_persistent_paper() {
    let (run, reduction) = reduced(&PrefixAllreduce, 11);
    let sent = lines_sent(&run, &reduction);
    assert_eq!(sent, [set([1]), set([1, 2]), set([4]), set([3])]);
    let held = (0..=4).flat_map(|step| [0, 1].map(|line| from(&reduction, step, 0, line, 0).len()));
    assert_eq!(set(held.filter(|&line| line > 0)), set([1, 2, 3, 4, 8, 11]));
    let (ported, reduction) = reduced(&CyclicShiftAllreduce { ports: vec![1; 4] }, 11);
    assert_eq!(lines_sent(&ported, &reduction), sent);
    assert!((0..4).all(|step| run.sent(7, step).iter().all(|(to, _)| *to == wrap(7, -(1 << step), 11))));
}

#[test]
fn prefixes_send_the_lines_that_are_needed() {
    for p in 1..=70 {
        let (run, reduction) = reduced(&PrefixAllreduce, p);
        assert_eq!(lines_sent(&run, &reduction), lines_needed(p), "p = {p}");
    }
}

/// An allreduce inside groups of `factor` ranks that follow each other, and then among those at that distance.
#[derive(Collective, Default)]
#[collective(allreduce, factor: 1.., inner: allreduce)]
#[requires(p % factor == 0)]
#[round]
#[within(ranks(rank / factor * factor, factor), inner)]
#[within(stride(factor, p / factor), inner)]
#[check(p <= 12, factor <= 4)]
struct OverFactors<I> {
    factor: i64,
    inner: I,
}

/// The second row of Table 1 as it runs: groups of 3, then of 13, the whole checked.
#[test]
fn factors_of_the_persistent_paper() {
    for (p, factor, cost) in [(39, 3, (6, 7)), (39, 13, (6, 7)), (39, 39, (6, 8)), (39, 1, (6, 8)), (12, 4, (4, 4))] {
        let collective = OverFactors { factor, inner: PrefixAllreduce };
        let (run, _) = reduced(&collective, p);
        assert_eq!(run.cost(), cost, "{p} over {factor}");
    }
}

/// Table 1: 39(1 1 1 1 1 1) takes 6 steps and sends 8 times the message. 3(1 1) 13(1 1 1 1) runs inside groups of 3 and
/// then of 13, and costs what the two cost one after the other: 6 steps, 7 times the message. The two rows with
/// reduce_scatter take 12 and send 76/39 of it, which are 38 blocks each way.
#[test]
fn table_1_of_the_persistent_paper() {
    let shift = |p: usize| Run::of(&CyclicShiftAllreduce { ports: vec![1; ceil_log2(p)] }, p).cost();
    assert_eq!([Run::of(&PrefixAllreduce, 39).cost(), shift(39)], [(6, 8); 2]);
    assert_eq!((shift(3).0 + shift(13).0, shift(3).1 + shift(13).1), (6, 7));
    let ports = vec![1; 6];
    let scatter = Run::of(&CyclicShiftReduceScatter { ports: ports.clone() }, 39).cost();
    let gather = Run::of(&CyclicShift { ports }, 39).cost();
    assert_eq!((scatter.0 + gather.0, scatter.1 + gather.1), (12, 76));
}

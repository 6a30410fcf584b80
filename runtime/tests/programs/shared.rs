//! Calls of the ranks of one node: replayed for all kinds and many lengths, and refused if anything in them is wrong.

use roundel::program::shared::replay::{RankCall, SharedFault, SharedOrder, replay};
use roundel::program::shared::{CopyPath, FetchStep, MOST_RANKS, SharedBlocks, SharedCall, SharedOp};
use roundel::program::{CombineStep, CopyStep};
use roundel_spec::Kind;

const KINDS: [Kind; 8] = [
    Kind::Allreduce,
    Kind::Reduce,
    Kind::ReduceScatter,
    Kind::Broadcast,
    Kind::Allgather,
    Kind::Gather,
    Kind::Scatter,
    Kind::Alltoall,
];

/// All kinds through slots, and those that only move data also by the kernel.
fn paths() -> impl Iterator<Item = (Kind, CopyPath)> {
    let slots = KINDS.into_iter().map(|kind| (kind, CopyPath::Slot));
    slots.chain(KINDS.into_iter().filter(|kind| !kind.reduces()).map(|kind| (kind, CopyPath::Kernel)))
}

fn is_vector(kind: Kind) -> bool {
    matches!(kind, Kind::Allreduce | Kind::Reduce | Kind::Broadcast)
}

/// A call of all ranks; `in_place` where the collective allows it.
#[derive(Clone, Debug)]
struct Case {
    kind: Kind,
    p: usize,
    root: usize,
    size: usize,
    /// The length of the vector or of each block; several are the lengths of all blocks.
    lengths: Vec<usize>,
    /// The distance between blocks.
    gap: usize,
    in_place: bool,
    path: CopyPath,
    slot: usize,
}

impl Case {
    fn displs(&self) -> Vec<usize> {
        let ends = self.lengths.iter().scan(self.gap, |at, len| Some(std::mem::replace(at, *at + len + self.gap)));
        ends.collect()
    }

    /// The recorded calls of all ranks, if they fit.
    fn record<'a>(&'a self, displs: &'a [usize]) -> Option<Vec<RankCall<'a>>> {
        let blocks = match self.lengths[..] {
            [len] if is_vector(self.kind) => SharedBlocks::Vector(len),
            [len] => SharedBlocks::Equal(len),
            ref counts => SharedBlocks::Listed { counts, displs },
        };
        let &Case { kind, p, root, size, path, slot, .. } = self;
        let own = |rank: usize| {
            // Only the root of a collective with a root has its input where its result will be.
            let in_place = self.in_place && (!kind.has_root() || rank == root && kind != Kind::Broadcast);
            RankCall::record(SharedCall { kind, p, root, size, blocks, in_place, path, slot }, rank)
        };
        (0..p).map(own).collect()
    }
}

/// Replays cases one after the other, with this many slots.
fn replayed(cases: &[Case], slots: usize) -> Option<Result<SharedOrder, SharedFault>> {
    let displs: Vec<Vec<usize>> = cases.iter().map(Case::displs).collect();
    let calls: Vec<Vec<RankCall<'_>>> =
        cases.iter().zip(&displs).map(|(case, displs)| case.record(displs)).collect::<Option<_>>()?;
    let of_rank = |rank: usize| calls.iter().map(|call| call[rank].clone()).collect();
    let by_rank: Vec<Vec<RankCall<'_>>> = (0..cases[0].p).map(of_rank).collect();
    Some(replay(&by_rank, slots, cases[0].slot))
}

const BOTH: SharedOrder = SharedOrder { same_tree: true, rank_order: true };

fn case(kind: Kind, p: usize, lengths: Vec<usize>) -> Case {
    Case { kind, p, root: p / 3, size: 2, lengths, gap: 0, in_place: false, path: CopyPath::Slot, slot: 8 * 1024 }
}

fn holds(cases: &[Case], slots: usize) {
    assert_eq!(replayed(cases, slots), Some(Ok(BOTH)), "{cases:?}");
}

/// Every kind with every small number of ranks, every root, short and long, in one and in several segments.
#[test]
fn every_kind_is_right() {
    for ((kind, path), p) in paths().flat_map(|way| (1..=6).map(move |p| (way, p))) {
        for root in 0..if kind.has_root() { p } else { 1 } {
            for (length, slot) in [(0, 1024), (1, 4096), (7, 4096), (40, 8192), (1100, 1 << 16), (1100, 8192)] {
                for in_place in [false, true] {
                    let one = Case { root, in_place, path, slot, ..case(kind, p, vec![length]) };
                    holds(&[one.clone(), one.clone(), one], 2);
                }
            }
        }
    }
}

/// Every number of ranks that is served, and every kind: in and out of place, short and in several segments, blocks of
/// different lengths, the first, an inner and the last root.
#[test]
fn every_number_of_ranks_that_is_served() {
    for p in 7..=MOST_RANKS {
        let slot = 1 << 18;
        for (kind, path) in paths() {
            let one = |root: usize, length: usize, in_place: bool| Case {
                root,
                in_place,
                path,
                slot,
                ..case(kind, p, vec![length])
            };
            holds(&[one(p / 3, 1, false), one(0, 3, true), one(p - 1, 2, false)], 2);
        }
        let segmented = |kind: Kind, in_place: bool| Case { slot: 1024 * p, in_place, ..case(kind, p, vec![1100]) };
        holds(&[segmented(Kind::Allreduce, false), segmented(Kind::Allreduce, true)], 2);
        let lengths: Vec<usize> = (0..p).map(|rank| rank * 37 % 5).collect();
        for (kind, gap) in [(Kind::Allgather, 3), (Kind::ReduceScatter, 0)] {
            let one = |in_place: bool| Case { gap, in_place, slot, ..case(kind, p, lengths.clone()) };
            holds(&[one(false), one(true)], 2);
        }
    }
}

/// Blocks of different lengths, some of them empty, with gaps between them.
#[test]
fn blocks_of_different_lengths() {
    for p in 2..=6 {
        let lengths: Vec<usize> = (0..p).map(|rank| rank * 37 % 5 * 40).collect();
        for (kind, gap) in [(Kind::Allgather, 0), (Kind::Allgather, 3), (Kind::ReduceScatter, 0)] {
            for (in_place, slot) in [(false, 1 << 14), (true, 1 << 14), (false, 4096), (true, 4096)] {
                let one = Case { gap, in_place, slot, ..case(kind, p, lengths.clone()) };
                holds(&[one.clone(), Case { path: CopyPath::Kernel, ..one.clone() }, one], 3);
            }
        }
    }
}

/// Different calls one after the other, with different numbers of slots: no slot is overwritten too early.
#[test]
fn different_calls_share_the_slots() {
    for (p, slots) in [(2, 1), (3, 2), (4, 3), (5, 8)] {
        let mut cases = Vec::new();
        for round in 0..4 {
            for (i, (kind, path)) in paths().enumerate() {
                let length = [1, 0, 90, 1200, 5][(i * 3 + round) % 5];
                cases.push(Case { root: (i + round) % p, path, ..case(kind, p, vec![length]) });
            }
        }
        // A root may run ahead of all others here.
        cases.extend((0..2 * slots).map(|_| Case { root: 0, ..case(Kind::Broadcast, p, vec![2]) }));
        holds(&cases, slots);
    }
}

#[test]
fn calls_that_do_not_fit_are_refused() {
    let huge = Case { slot: 8 * 1024, ..case(Kind::Alltoall, 64, vec![2]) };
    assert!(huge.record(&huge.displs()).is_none());
    let fits = Case { slot: 1 << 16, ..huge };
    assert!(fits.record(&fits.displs()).is_some());
}

/// Whether a replay accepts calls after one rank's steps were changed.
fn survives(case: &Case, slots: usize, change: impl Fn(&mut Vec<SharedOp>)) -> Result<SharedOrder, SharedFault> {
    let displs = case.displs();
    let calls = case.record(&displs).expect("fits");
    let mut by_rank: Vec<Vec<RankCall<'_>>> = calls.into_iter().map(|call| vec![call; 2 * slots + 2]).collect();
    by_rank.iter_mut().flatten().flat_map(|call| &mut call.segments).for_each(change);
    replay(&by_rank, slots, case.slot)
}

/// Every kind of step is needed: a replay refuses calls in which all steps of one kind are left out.
#[test]
fn no_step_can_be_left_out() {
    let mut tried = 0;
    for (kind, path) in paths() {
        for length in [5, 1100] {
            let case = Case { root: 0, path, ..case(kind, 3, vec![length]) };
            let is: [fn(&SharedOp) -> bool; 6] = [
                |op| matches!(op, SharedOp::Await { .. }),
                |op| matches!(op, SharedOp::Signal),
                |op| matches!(op, SharedOp::Copy(_)),
                |op| matches!(op, SharedOp::Combine(_)),
                |op| matches!(op, SharedOp::Publish(_)),
                |op| matches!(op, SharedOp::Fetch(_)),
            ];
            assert_eq!(survives(&case, 2, |_| ()), Ok(BOTH));
            let displs = case.displs();
            let all = case.record(&displs).expect("fits");
            let has =
                |is: &fn(&SharedOp) -> bool| all.iter().flat_map(|call| call.segments.concat()).any(|op| is(&op));
            for (number, is) in is.iter().enumerate().filter(|(_, is)| has(is)) {
                let outcome = survives(&case, 2, |ops| ops.retain(|op| !is(op)));
                assert!(outcome.is_err(), "{kind}, {length} elements, without step {number}");
                tried += 1;
            }
        }
    }
    assert!(tried > 90, "{tried}");
}

/// With one slot every kind needs its claim. With more slots, only those in which some rank waits for no other: if all
/// ranks wait for all others in every call, the calls in between order the accesses.
#[test]
fn a_slot_is_claimed() {
    for (kind, slots) in KINDS.into_iter().flat_map(|kind| (1..=3).map(move |slots| (kind, slots))) {
        let case = Case { root: 0, ..case(kind, 3, vec![5]) };
        let outcome = survives(&case, slots, |ops| ops.retain(|op| *op != SharedOp::Claim));
        let races = matches!(outcome, Err(SharedFault::Race { .. }));
        assert_eq!(races, slots == 1 || kind.has_root(), "{kind}: {outcome:?}");
    }
}

/// A rank that has published where its data is waits until the others have read it.
#[test]
fn memory_is_not_given_back_too_early() {
    for kind in KINDS.into_iter().filter(|kind| !kind.reduces()) {
        let case = Case { root: 0, path: CopyPath::Kernel, ..case(kind, 3, vec![5]) };
        let outcome = survives(&case, 2, |ops| {
            // Of the last waits, those behind everything that this rank reads.
            let last = ops.iter().rposition(|op| !matches!(op, SharedOp::Await { .. })).map_or(0, |last| last + 1);
            ops.truncate(last);
        });
        assert!(matches!(outcome, Err(SharedFault::ReadAfterCall { .. })), "{kind}: {outcome:?}");
    }
}

/// An alltoall in place overwrites what others would read, so it goes through slots.
#[test]
fn an_alltoall_in_place_is_not_fetched() {
    let case = Case { path: CopyPath::Kernel, in_place: true, ..case(Kind::Alltoall, 3, vec![5]) };
    let calls = case.record(&[]).expect("fits");
    assert!(!calls.iter().flat_map(|call| call.segments.concat()).any(|op| matches!(op, SharedOp::Fetch(_))));
}

/// Altered steps: another position, another length, another rank, swapped operands.
#[test]
fn altered_steps_are_found() {
    let mut found = 0;
    for (kind, path) in paths() {
        for length in [5, 1100] {
            let case = Case { root: 0, path, ..case(kind, 3, vec![length]) };
            let displs = case.displs();
            let steps: usize =
                case.record(&displs).expect("fits").iter().map(|call| call.segments[0].len()).max().unwrap_or(0);
            for (at, way) in (0..steps).flat_map(|at| (0..5).map(move |way| (at, way))) {
                let original = survives(&case, 2, |_| ());
                let outcome = survives(&case, 2, |ops| {
                    if let Some(op) = ops.get_mut(at) {
                        alter(op, way);
                    }
                });
                let changes = case.record(&displs).expect("fits").iter().any(|call| {
                    call.segments[0].get(at).is_some_and(|op| {
                        let mut other = *op;
                        alter(&mut other, way);
                        other != *op
                    })
                });
                if changes {
                    assert_ne!(outcome, original, "{kind}, {length} elements, step {at}, way {way}");
                    found += 1;
                }
            }
        }
    }
    assert!(found > 200, "{found}");
}

fn alter(op: &mut SharedOp, way: usize) {
    match (op, way) {
        (SharedOp::Copy(CopyStep { from, .. }), 0) => from.offset += 2,
        (SharedOp::Copy(CopyStep { to, .. }), 1) => to.offset += 2,
        (SharedOp::Copy(CopyStep { elements, .. }), 2) if *elements > 0 => *elements -= 1,
        (SharedOp::Combine(CombineStep { left, right, .. }), 0) => std::mem::swap(left, right),
        (SharedOp::Combine(CombineStep { into, .. }), 1) => into.offset += 2,
        (SharedOp::Combine(CombineStep { elements, .. }), 2) if *elements > 0 => *elements -= 1,
        (SharedOp::Fetch(FetchStep { offset, .. }), 0) => *offset += 2,
        (SharedOp::Fetch(FetchStep { to, .. }), 1) => to.offset += 2,
        (SharedOp::Fetch(FetchStep { elements, .. }), 2) if *elements > 0 => *elements -= 1,
        (SharedOp::Fetch(FetchStep { rank, .. }), 3) => *rank = (*rank + 1) % 3,
        (SharedOp::Publish(from), 0) => from.offset += 2,
        (SharedOp::Await { times, .. }, 3) => *times += 1,
        (op @ SharedOp::Signal, 4) => *op = SharedOp::Claim,
        _ => {}
    }
}

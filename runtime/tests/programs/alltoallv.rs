//! Alltoallvs of the ranks of one node: replayed with random and with extreme lists, and refused if anything in them is
//! wrong.

use roundel::program::shared::replay::{RankCall, SharedFault, SharedOrder, replay};
use roundel::program::shared::{BlockSpans, CopyPath, MOST_RANKS, SharedBlocks, SharedCall, SharedOp};
use roundel::program::{CopyStep, MemoryRegion};
use roundel_spec::Kind;

/// The lists of one rank.
#[derive(Clone, Debug, Default)]
struct OwnLists {
    sends: Vec<usize>,
    sends_at: Vec<usize>,
    takes: Vec<usize>,
    takes_at: Vec<usize>,
}

/// The lists of all ranks, and the bytes of a slot.
#[derive(Clone, Debug)]
struct Exchange {
    lists: Vec<OwnLists>,
    slot: usize,
}

/// Where blocks begin, with gaps between them.
fn after_each_other(lengths: &[usize], gap: usize) -> Vec<usize> {
    lengths.iter().scan(gap, |at, len| Some(std::mem::replace(at, *at + len + gap))).collect()
}

/// The same, with the last block first.
fn backwards(lengths: &[usize], gap: usize) -> Vec<usize> {
    let turned: Vec<usize> = lengths.iter().rev().copied().collect();
    after_each_other(&turned, gap).into_iter().rev().collect()
}

impl Exchange {
    /// What each rank sends to each, and the room for it there.
    fn new(
        p: usize,
        slot: usize,
        sent: impl Fn(usize, usize) -> usize,
        room: impl Fn(usize, usize) -> usize,
    ) -> Self {
        let of = |rank: usize| {
            let sends: Vec<usize> = (0..p).map(|to| sent(rank, to)).collect();
            let takes: Vec<usize> = (0..p).map(|from| room(from, rank)).collect();
            let (sends_at, takes_at) = (after_each_other(&sends, rank % 3), backwards(&takes, rank % 2));
            OwnLists { sends, sends_at, takes, takes_at }
        };
        Exchange { lists: (0..p).map(of).collect(), slot }
    }

    /// Ranks that agree about all lengths.
    fn of(p: usize, slot: usize, sent: impl Fn(usize, usize) -> usize) -> Self {
        Exchange::new(p, slot, &sent, &sent)
    }

    fn calls(&self) -> Vec<SharedCall<'_>> {
        self.lists.iter().map(|lists| self.call(lists)).collect()
    }

    fn call<'a>(&'a self, OwnLists { sends, sends_at, takes, takes_at }: &'a OwnLists) -> SharedCall<'a> {
        let leaving = BlockSpans { counts: sends, displs: sends_at };
        let blocks = SharedBlocks::Private { leaving, arriving: BlockSpans { counts: takes, displs: takes_at } };
        let p = self.lists.len();
        SharedCall {
            kind: Kind::Alltoall,
            p,
            root: 0,
            size: 1,
            blocks,
            in_place: false,
            path: CopyPath::Slot,
            slot: self.slot,
        }
    }

    /// The recorded calls of all ranks.
    fn record(&self) -> Vec<RankCall<'_>> {
        let calls = self.calls();
        (0..calls.len()).map(|rank| RankCall::record_alltoallv(&calls, rank).expect("fits")).collect()
    }

    /// How many segments the call takes.
    fn segments(&self) -> usize {
        self.record()[0].segments.len()
    }
}

/// Calls after one another, and their replay.
fn replayed(calls: Vec<Vec<RankCall<'_>>>, slots: usize, slot: usize) -> Result<SharedOrder, SharedFault> {
    let of_rank = |rank: usize| calls.iter().map(|call| call[rank].clone()).collect();
    let by_rank: Vec<Vec<RankCall<'_>>> = (0..calls[0].len()).map(of_rank).collect();
    replay(&by_rank, slots, slot)
}

fn holds(exchanges: &[Exchange], slots: usize) {
    let outcome = replayed(exchanges.iter().map(Exchange::record).collect(), slots, exchanges[0].slot);
    assert!(outcome.is_ok(), "{outcome:?}: {exchanges:?}");
}

/// Numbers below a bound that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    /// Lengths up to a bound for each pair of ranks; one in so many is not zero.
    fn matrix(&mut self, p: usize, bound: usize, sparse: usize) -> Vec<Vec<usize>> {
        let mut length = || if self.below(sparse) == 0 { self.below(bound) } else { 0 };
        (0..p).map(|_| (0..p).map(|_| length()).collect()).collect()
    }
}

#[test]
fn random_lists_arrive() {
    let mut numbers = Numbers(7);
    let mut segments = 0;
    for (p, slots) in (1..=6).flat_map(|p| [1, 2, 4].map(|slots| (p, slots))) {
        for (bound, sparse) in [(9, 1), (40, 3), (700, 1), (3000, 5)] {
            let slot = [1024, 1536, 4096][numbers.below(3)].max(p * 128);
            let calls: Vec<Exchange> = (0..3)
                .map(|_| numbers.matrix(p, bound, sparse))
                .map(|lengths| Exchange::of(p, slot, |from, to| lengths[from][to]))
                .collect();
            segments = calls.iter().map(Exchange::segments).max().unwrap_or(0).max(segments);
            holds(&calls, slots);
        }
    }
    assert!(segments > 10, "{segments}");
}

/// One rank sends much to one, all send much to one, one sends much to all, nobody sends anything.
#[test]
fn skewed_lists_arrive() {
    for p in 2..=5 {
        let (one, other, much, slot) = (p / 2, (p / 2 + 1) % p, 7001, 1024);
        let pair = Exchange::of(p, slot, |from, to| if (from, to) == (one, other) { much } else { 0 });
        let funnel = Exchange::of(p, slot, |_, to| if to == one { much } else { 1 });
        let fan = Exchange::of(p, slot, |from, _| if from == one { much } else { 0 });
        let nothing = Exchange::of(p, slot, |_, _| 0);
        let own = Exchange::of(p, slot, |from, to| if from == to { much } else { 0 });
        // Alone in the slot, a stream needs few segments.
        assert_eq!((pair.segments(), nothing.segments(), own.segments()), (1 + much.div_ceil(slot), 1, 1));
        for slots in [1, 2, 4] {
            holds(&[pair.clone(), fan.clone(), nothing.clone(), funnel.clone(), own.clone(), pair.clone()], slots);
        }
    }
}

#[test]
fn every_number_of_ranks_that_is_served() {
    for p in 7..=MOST_RANKS {
        let slot = p * (p * 8).next_multiple_of(64) + p * 64;
        let short = Exchange::of(p, slot, |from, to| (from * 7 + to * 3) % 2);
        let long = Exchange::of(p, slot, |from, to| if from % 9 == 4 { (from + to) % 5 * 9 } else { 0 });
        assert!(short.segments() == 1 && long.segments() > 1, "{p}: {}, {}", short.segments(), long.segments());
        holds(&[short, long], 2);
    }
}

/// What ranks disagree about: a shorter block arrives as it is, and of a longer one as much as there is room for.
#[test]
fn a_rank_takes_no_more_than_it_has_room_for() {
    let mut numbers = Numbers(3);
    for p in 1..=5 {
        for bound in [20, 900] {
            let (sent, room) = (numbers.matrix(p, bound, 1), numbers.matrix(p, bound, 1));
            let call = Exchange::new(p, 1024, |from, to| sent[from][to], |from, to| room[from][to]);
            holds(&[call.clone(), call], 2);
        }
    }
}

/// Alltoallvs and other calls share the slots.
#[test]
fn other_calls_come_between() {
    let (p, slot) = (3, 2048);
    let long = Exchange::of(p, slot, |from, to| 300 * from + to);
    let short = Exchange::of(p, slot, |from, to| from + to);
    let other = |kind, len| {
        let call = SharedCall {
            kind,
            p,
            root: 1,
            size: 1,
            blocks: SharedBlocks::Vector(len),
            in_place: false,
            path: CopyPath::Slot,
            slot,
        };
        (0..p).map(|rank| RankCall::record(call, rank).expect("fits")).collect::<Vec<_>>()
    };
    for slots in [1, 2, 3] {
        let calls = vec![
            long.record(),
            other(Kind::Broadcast, 9),
            other(Kind::Broadcast, 3000),
            short.record(),
            other(Kind::Allreduce, 700),
            long.record(),
            other(Kind::Broadcast, 1),
        ];
        assert!(replayed(calls, slots, slot).is_ok());
    }
}

#[test]
fn calls_that_do_not_fit_are_refused() {
    let record = |p: usize, slot: usize| {
        let call = Exchange::of(p, slot, |_, _| 0);
        RankCall::record_alltoallv(&call.calls(), 0).is_some()
    };
    assert!(!record(64, 64 * 512) && record(64, 64 * 576));
    assert!(!record(4, 255) && record(4, 256));
}

/// Changes a step of a rank, or removes it, and replays the call several times.
fn survives(call: &Exchange, slots: usize, rank: usize, change: impl Fn(&mut Vec<Vec<SharedOp>>)) -> bool {
    let once = |_| {
        let mut recorded = call.record();
        change(&mut recorded[rank].segments);
        recorded
    };
    replayed((0..2 * slots + 2).map(once).collect(), slots, call.slot).is_ok()
}

/// Calls in which every rank does something of every kind: short and long streams, and both.
fn calls_of_all_kinds() -> [Exchange; 3] {
    [
        Exchange::of(3, 1024, |from, to| 2 + from + 2 * to),
        Exchange::of(3, 1024, |from, to| 500 + 100 * from + to),
        Exchange::of(3, 1024, |from, to| if from == 1 { 700 } else { 4 + to }),
    ]
}

/// Every step of every segment is needed: each copy, each signal, each wait. Of the claims, only those of calls without
/// long streams: in others a rank may have learned from another one that the slot is free.
#[test]
fn no_step_can_be_left_out() {
    let mut tried = 0;
    for call in calls_of_all_kinds() {
        for (rank, recorded) in call.record().iter().enumerate() {
            for (segment, ops) in recorded.segments.iter().enumerate() {
                let needed = |step: &usize| recorded.segments.len() == 1 || ops[*step] != SharedOp::Claim;
                for step in (0..ops.len()).filter(needed) {
                    let kept = survives(&call, 1, rank, |segments| {
                        segments[segment].remove(step);
                    });
                    assert!(!kept, "rank {rank}, segment {segment}, without {:?}", ops[step]);
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

/// Without any claim, a slot is overwritten too early, however long the streams are.
#[test]
fn a_slot_is_claimed() {
    for call in calls_of_all_kinds() {
        let mut recorded = call.record();
        recorded
            .iter_mut()
            .flat_map(|call| &mut call.segments)
            .for_each(|ops| ops.retain(|op| *op != SharedOp::Claim));
        let outcome = replayed(vec![recorded; 4], 1, call.slot);
        assert!(matches!(outcome, Err(SharedFault::Race { .. })), "{outcome:?}");
    }
}

/// Steps at other places, of other lengths, and from other ranks.
#[test]
fn altered_steps_are_found() {
    let mut tried = 0;
    for call in calls_of_all_kinds() {
        for (rank, recorded) in call.record().iter().enumerate() {
            for (segment, ops) in recorded.segments.iter().enumerate() {
                for (step, way) in (0..ops.len()).flat_map(|step| (0..4).map(move |way| (step, way))) {
                    let mut other = ops[step];
                    alter(&mut other, way);
                    if other == ops[step] {
                        continue;
                    }
                    let kept = survives(&call, 2, rank, |segments| segments[segment][step] = other);
                    assert!(!kept, "rank {rank}, segment {segment}: {:?} instead of {:?}", other, ops[step]);
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 200, "{tried}");
}

fn alter(op: &mut SharedOp, way: usize) {
    match (op, way) {
        (SharedOp::Copy(CopyStep { from, .. }), 0) => from.offset += 1,
        (SharedOp::Copy(CopyStep { to, .. }), 1) => to.offset += 1,
        (SharedOp::Copy(CopyStep { elements, .. }), 2) => *elements -= 1,
        (SharedOp::Copy(CopyStep { from, .. }), 3) if from.region == MemoryRegion::Shared => from.offset += 8,
        (SharedOp::Await { times, .. }, 0) => *times += 1,
        (SharedOp::Await { rank, .. }, 1) => *rank = (*rank + 1) % 3,
        _ => {}
    }
}

//! Plans: recorded, written and read, replayed, without dead blocks; and invalid ones, which are refused.

use crate::numbers;

use crate::broken::without_one_block;
use crate::everything::{Look, each};
use roundel::Collective;
use roundel::algorithms::{
    BinomialBroadcast, CyclicShiftAllreduce, PairwiseReduceScatter, PrefixAllreduce, RecursiveDoublingAllreduce,
    Ring, RingAllreduce, SpreadOut,
};
use roundel::plan::passes::remove_dead;
use roundel::plan::{
    INPUT, Local, Malformed, Mismatch, OUTPUT, Plan, PlanFault, RankPlan, SCRATCH, Slot, SlotMessage, Turn, Unplanned,
};
use roundel_spec::Kind;

struct Recorded(usize);

impl Look for Recorded {
    fn look<C: Collective>(&mut self, name: &'static str, _: &C, plan: Plan) {
        let p = plan.p;
        let order = plan.replay().unwrap_or_else(|fault| panic!("{name}, p = {p}: {fault}"));
        assert!(numbers::come_out_right(&plan), "{name}, p = {p}");
        assert!(order.same_tree || !C::ORDER.same_tree, "{name}, p = {p}");
        assert!(order.rank_order || !C::ORDER.rank_order, "{name}, p = {p}");
        assert_eq!(plan.to_string().parse().as_ref(), Ok(&plan), "{name}, p = {p}");
        let parts = plan.parts();
        assert!(
            parts.iter().all(|part| part.to_string().parse::<RankPlan>().as_ref() == Ok(part)),
            "{name}, p = {p}"
        );
        assert_eq!(Plan::from_parts(parts).as_ref(), Ok(&plan), "{name}, p = {p}");
        let mut alive = plan.clone();
        remove_dead(&mut alive);
        assert_eq!(alive.replay(), Ok(order), "{name}, p = {p}");
        assert_eq!(
            (0..p).map(|rank| alive.sent(rank)).sum::<usize>(),
            (0..p).map(|rank| plan.sent(rank)).sum::<usize>()
        );
        self.0 += 1;
    }
}

/// No message of the catalogue is dead, and all of it keeps its contract and the order that it claims.
#[test]
fn all_of_the_catalogue_replays() {
    let mut recorded = Recorded(0);
    each(&mut recorded);
    assert!(recorded.0 > 100, "{}", recorded.0);
}

#[test]
fn what_has_no_plan_says_so() {
    assert_eq!(Plan::record(&SpreadOut, 4), Err(Unplanned::Moves { kind: Kind::Alltoall }));
    let refused = Plan::record(&CyclicShiftAllreduce { ports: vec![1] }, 3);
    assert!(matches!(refused, Err(Unplanned::Refused(_))), "{refused:?}");
    assert_eq!(Plan::record(&Ring, 3).map(|plan| plan.part(3)), Ok(None));
}

#[test]
fn parts_of_different_calls_make_no_plan() {
    let (three, four) = (Plan::record(&Ring, 3).unwrap(), Plan::record(&Ring, 4).unwrap());
    assert_eq!(Plan::from_parts(Vec::new()), Err(Mismatch::Nobody));
    let mut parts = three.parts();
    parts.swap(0, 1);
    assert_eq!(Plan::from_parts(parts), Err(Mismatch::Rank { place: 0, rank: 1 }));
    let parts = [three.parts(), four.parts()].concat();
    assert_eq!(Plan::from_parts(parts), Err(Mismatch::Other { rank: 0, what: "its number of ranks" }));
}

/// A broadcast and a reduce, as the collectives that they are made of, with all blocks empty but one.
#[test]
fn blocks_of_length_zero_do_not_travel() {
    let sizes = [0, 0, 7, 0, 0];
    for plan in [Plan::record(&Ring, 5).unwrap(), Plan::record(&PairwiseReduceScatter, 5).unwrap()] {
        let less = plan.clone().without_empty(&sizes);
        assert!(less.replay_where(|block| sizes[block] > 0).is_ok());
        assert!(matches!(less.replay(), Err(PlanFault::Incomplete { .. })));
        assert_eq!((0..5).map(|rank| less.sent(rank)).sum::<usize>(), 4);
        let parts: Vec<RankPlan> = plan.parts().into_iter().map(|part| part.without_empty(&sizes)).collect();
        assert_eq!(Plan::from_parts(parts), Ok(less));
    }
}

/// The memory line in which line k, the reduction over k ranks, lies.
fn number(k: usize) -> u32 {
    if k == 1 { INPUT } else { SCRATCH + k as u32 - 2 }
}

/// Jocksch and others, section 2.1, before anything is removed: the allgather by cyclic shift with a line for each
/// prefix.
fn all_lines(p: usize, ports: &[i64]) -> Plan {
    let mut plan = Plan::new(Kind::Allreduce, p, 2 * p + 2, 1);
    let mut d = 1;
    for &ports in ports {
        let mut round = vec![Turn::default(); p];
        for (rank, turn) in round.iter_mut().enumerate() {
            for j in 1..=ports as usize {
                for k in 1..=d.min(p.saturating_sub(j * d)) {
                    let (aside, line) = (Slot::new(number(p + j * d + k), 0), Slot::new(number(j * d + k), 0));
                    turn.sends.push(SlotMessage::new((rank + p - j * d) % p, vec![Slot::new(number(k), 0)]));
                    turn.receives.push(SlotMessage::new((rank + j * d) % p, vec![aside]));
                    turn.locals.push(Local::Combine { left: Slot::new(number(j * d), 0), right: aside, into: line });
                }
            }
        }
        plan.rounds.push(round);
        d = p.min(d * (ports as usize + 1));
    }
    let result = Local::Copy { from: Slot::new(number(p), 0), to: Slot::new(OUTPUT, 0) };
    plan.rounds.push(vec![Turn { locals: vec![result], ..Turn::default() }; p]);
    plan
}

/// The destinations of every rank in each round with messages.
fn destinations(plan: &Plan) -> Vec<Vec<Vec<usize>>> {
    let peers = |turn: &Turn| {
        let mut peers: Vec<usize> = turn.sends.iter().map(|message| message.peer).collect();
        peers.sort_unstable();
        peers
    };
    let rounds = plan.rounds.iter().map(|round| round.iter().map(peers).collect::<Vec<_>>());
    rounds.filter(|round| round.iter().any(|peers| !peers.is_empty())).collect()
}

const PORTS: [&[i64]; 8] =
    [&[1, 1, 1, 1, 1, 1], &[1, 2, 3], &[3, 2, 1], &[2, 2, 2], &[5, 1], &[1, 5], &[3, 3, 3], &[30]];

/// The live lines have the same number and destinations as in the declarations.
#[test]
fn the_lines_that_are_alive_are_those_that_are_declared() {
    for ports in PORTS {
        let capacity: i64 = ports.iter().map(|ports| ports + 1).product();
        for p in 1..=capacity.min(41) as usize {
            let mut plan = all_lines(p, ports);
            assert!(plan.replay().is_ok(), "{ports:?}, p = {p}: {:?}", plan.replay());
            remove_dead(&mut plan);
            assert!(plan.replay().is_ok(), "{ports:?}, p = {p}");
            let declared = Plan::record(&CyclicShiftAllreduce { ports: ports.to_vec() }, p).unwrap();
            assert_eq!(destinations(&plan), destinations(&declared), "{ports:?}, p = {p}");
        }
    }
}

/// Everything that is left is needed: without any block of any message the contract is broken. So the replay can fail.
#[test]
fn nothing_more_can_be_removed() {
    let mut plan = all_lines(11, &[1, 1, 1, 1]);
    let before: usize = (0..11).map(|rank| plan.sent(rank)).sum();
    remove_dead(&mut plan);
    assert_eq!((before, (0..11).map(|rank| plan.sent(rank)).sum::<usize>()), (110, 55));
    let fewer = without_one_block(&plan);
    assert_eq!(fewer.len(), 55);
    assert!(fewer.iter().all(|less| less.replay().is_err()));
}

/// If every rank of an allreduce needs only its own block, a reduce_scatter is left.
#[test]
fn blocks_die_one_by_one() {
    for p in 2..=9 {
        let mut plan = Plan::record(&RingAllreduce, p).unwrap();
        plan.kind = Kind::ReduceScatter;
        remove_dead(&mut plan);
        assert!(plan.replay().is_ok(), "p = {p}");
        // Once around, and one more step from where a block is complete to where it belongs.
        assert!((0..p).all(|rank| plan.sent(rank) == p), "p = {p}");
    }
}

/// Breaks each rule of the replay.
#[test]
fn wrong_plans_are_refused() {
    let right = Plan::record(&PrefixAllreduce, 3).unwrap();
    let refused = |change: &dyn Fn(&mut Plan)| {
        let mut plan = right.clone();
        change(&mut plan);
        plan.replay().expect_err("it is wrong")
    };
    let slot = Slot::new(9, 0);
    assert!(matches!(
        refused(&|plan| drop(plan.rounds[1].pop())),
        PlanFault::Turns { round: 1, expected: 3, found: 2 }
    ));
    assert!(matches!(refused(&|plan| plan.rounds[1][0].sends[0].slots[0] = slot), PlanFault::NoSuchSlot { .. }));
    assert!(matches!(refused(&|plan| plan.rounds[1][0].sends[0].peer = 0), PlanFault::NoSuchPeer { peer: 0, .. }));
    assert!(matches!(refused(&|plan| plan.rounds[1][0].sends[0].peer = 3), PlanFault::NoSuchPeer { peer: 3, .. }));
    assert!(matches!(refused(&|plan| plan.rounds[1][0].sends[0].peer = 1), PlanFault::Unmatched { round: 1, .. }));
    assert!(matches!(refused(&|plan| drop(plan.rounds[1][0].sends.pop())), PlanFault::Unmatched { sent: 0, .. }));
    assert!(matches!(
        refused(&|plan| drop(plan.rounds[1][2].receives.pop())),
        PlanFault::Unmatched { received: 0, .. }
    ));
    assert!(matches!(
        refused(&|plan| plan.rounds[0].iter_mut().for_each(|t| t.locals.clear())),
        PlanFault::Empty { .. }
    ));
    let input = |plan: &mut Plan| plan.rounds[1][1].receives[0].slots[0].line = INPUT;
    assert!(matches!(refused(&input), PlanFault::InputWritten { rank: 1, round: 1, .. }));
    let clash = |plan: &mut Plan| plan.rounds[1][1].receives[0].slots[0] = plan.rounds[1][1].sends[0].slots[0];
    assert!(matches!(refused(&clash), PlanFault::Clash { rank: 1, round: 1, .. }));
    let mut twice = Plan::record(&RecursiveDoublingAllreduce, 4).unwrap();
    twice.rounds[1].iter_mut().for_each(|turn| turn.locals.extend(turn.locals.clone()));
    assert!(matches!(twice.replay(), Err(PlanFault::Twice { rank: 0, round: 1, contributor: 1, .. })));
    assert!(matches!(refused(&|plan| drop(plan.rounds.pop())), PlanFault::Incomplete { expected: 3, .. }));
}

/// Numbers that would make every promise empty, or need all memory.
#[test]
fn shapes_that_no_plan_has_are_refused() {
    let right = Plan::record(&Ring, 3).unwrap();
    let changes: [fn(&mut Plan); 6] = [
        |plan| plan.root = 3,
        |plan| plan.lines = 1,
        |plan| plan.blocks = 2,
        |plan| plan.kind = Kind::Alltoall,
        |plan| plan.lines = usize::MAX,
        |plan| (plan.p, plan.blocks, plan.rounds) = (0, 0, Vec::new()),
    ];
    for change in changes {
        let mut plan = right.clone();
        change(&mut plan);
        assert!(matches!(plan.replay(), Err(PlanFault::Shape { .. })), "{:?}", plan.replay());
    }
}

#[test]
fn wrong_blocks_are_refused() {
    let right = Plan::record(&Ring, 3).unwrap();
    let mut other = right.clone();
    other.rounds[1][0].sends[0].slots[0].block = 1;
    assert!(matches!(other.replay(), Err(PlanFault::Empty { .. })));
    let mut other = right.clone();
    other.rounds[1][1].receives[0].slots[0].block = 2;
    let expected = PlanFault::OtherBlocks { round: 1, from: 0, to: 1, expected: vec![2], found: vec![0] };
    assert_eq!(other.replay(), Err(expected));
    let (from, to) = (Slot::new(INPUT, 0), Slot::new(OUTPUT, 1));
    let mut other = right.clone();
    other.rounds[0][0].locals = vec![Local::Copy { from, to }];
    assert!(matches!(other.replay(), Err(PlanFault::OtherBlock { rank: 0, round: 0, expected: 1, .. })));
    let mut other = right;
    other.rounds[0][0].locals = vec![Local::Combine { left: from, right: from, into: Slot::new(OUTPUT, 0) }];
    assert!(matches!(other.replay(), Err(PlanFault::NothingToReduce { .. })));
    let mut other = Plan::record(&BinomialBroadcast { root: 1 }, 4).unwrap();
    other.root = 2;
    assert!(other.replay().is_err());
}

const HEAD: &str = "allreduce p 2 root 0 lines 3 blocks 2\n";

#[test]
fn texts_that_are_no_plans_are_refused() {
    let read = |text: &str| text.parse::<Plan>();
    for wrong in ["", "allreduce p 0 root 0 lines 2 blocks 1", "reduce p 2 root 2 lines 2 blocks 1", "allreduce p 2"]
    {
        assert!(matches!(read(wrong), Err(Malformed::Head { .. })), "{wrong}");
    }
    let large = ["allreduce p 99999999999 root 0 lines 2 blocks 1", "allreduce p 2 root 0 lines 99999 blocks 99999"];
    assert!(large.iter().all(|text| read(text) == Err(Malformed::TooLarge)));
    assert!(matches!(read(&format!("{HEAD}0 > 1: 1.0")), Err(Malformed::Step { number: 2, .. })));
    let steps = ["0 = 1: 1.0", "0 > 1 1.0", "0 > 1: x", "0 > 1: 1", "0 copy 0.0 1.0", "0 copy 0.0-1 to 1.0", "0"];
    for wrong in steps.into_iter().chain(["0 > 1: 1.1-0", "x > 1: 1.0", "0 combine 0.0 1.0 to 1.0"]) {
        let read = read(&format!("{HEAD}round\n{wrong}"));
        assert!(matches!(read, Err(Malformed::Step { number: 3, .. })), "{wrong}: {read:?}");
    }
    for wrong in ["2 > 1: 1.0", "0 > 2: 1.0", "0 > 1: 3.0", "0 > 1: 1.2", "0 < 1: 1.0-2", "0 copy 0.0 to 3.0"] {
        let read = read(&format!("{HEAD}round\n{wrong}"));
        assert!(matches!(read, Err(Malformed::Outside { number: 3, .. })), "{wrong}: {read:?}");
    }
}

#[test]
fn texts_are_written_as_they_are_read() {
    let plan = format!(
        "{HEAD}round\n0 > 1: 0.0-1\n0 < 1: 2.0-1\n0 combine 0.0 with 2.0 to 1.0\n1 > 0: 0.0 0.1\n\
         round\n1 copy 0.1 to 1.1\n"
    );
    let read: Plan = plan.parse().unwrap();
    assert_eq!(read.to_string(), plan.replace("0.0 0.1", "0.0-1"));
    let part = "gather p 3 rank 1 root 2 lines 2 blocks 3\nround\n> 2: 0.1\n";
    assert_eq!(part.parse::<RankPlan>().map(|part| part.to_string()).as_deref(), Ok(part));
    assert!(matches!("gather p 3 rank 3 root 2 lines 2 blocks 3".parse::<RankPlan>(), Err(Malformed::Head { .. })));
}

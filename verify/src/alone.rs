//! One rank of a call by itself, for commands that ask about one of a million: its rounds, and its part of a plan.
//!
//! Nothing of other ranks is known here, so nothing is checked, and rounds in which this rank is silent do not appear.

use crate::error::Error;
use crate::simulation::rounds::{RankMessage, RankSource, RoundWatcher};
use roundel::plan::{INPUT, Local, OUTPUT, Plan, RankPlan, Slot};
use roundel_spec::contract::ends;
use roundel_spec::sink::infallible;
use roundel_spec::{Arguments, Direction, Kind, Recorder, Schedule, Sink, Stripe, StripeList, Trace};
use serde::Serialize;
use std::ops::ControlFlow;

/// Up to this many ranks, commands about one rank record all of them and check the whole; beyond, the rank is by
/// itself.
pub const RECORDED_TOGETHER: usize = 64;

/// The largest number of ranks of such a call.
pub const MAX_P: usize = 1 << 24;

/// The number of blocks of a message that are written out.
const LISTED: usize = 6;

/// A message of the rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AloneMessage {
    /// The other rank.
    pub peer: usize,
    /// The number of blocks.
    pub blocks: usize,
    /// The blocks as progressions, in the order in which they are sent: first block, step, number. They wrap around
    /// the number of blocks.
    pub stripes: Vec<(usize, usize, usize)>,
}

/// A round in which the rank sends or receives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AloneRound {
    /// Its number among all rounds of the rank.
    pub round: usize,
    /// What it sends.
    pub sends: Vec<AloneMessage>,
    /// What it receives.
    pub receives: Vec<AloneMessage>,
}

#[derive(Default)]
struct RoundsOfOne {
    rounds: Vec<AloneRound>,
    now: AloneRound,
}

impl RoundWatcher for RoundsOfOne {
    fn message(&mut self, message: &RankMessage<'_>) {
        let stripes = message.blocks.iter().filter(|stripe| !stripe.is_empty());
        let stripes = joined(stripes.map(|stripe| (stripe.first(), stripe.step(), stripe.len())));
        let kept = AloneMessage { peer: message.peer, blocks: message.count, stripes };
        match message.direction {
            Direction::Send => self.now.sends.push(kept),
            Direction::Recv => self.now.receives.push(kept),
        }
    }

    fn end_round(&mut self) -> ControlFlow<()> {
        let next = AloneRound { round: self.now.round + 1, ..AloneRound::default() };
        let passed = std::mem::replace(&mut self.now, next);
        if !(passed.sends.is_empty() && passed.receives.is_empty()) {
            self.rounds.push(passed);
        }
        ControlFlow::Continue(())
    }
}

/// Joins single blocks that follow one another at equal distances.
fn joined(stripes: impl Iterator<Item = (usize, usize, usize)>) -> Vec<(usize, usize, usize)> {
    let mut all: Vec<(usize, usize, usize)> = Vec::new();
    for (first, step, count) in stripes {
        if let (Some((begin, distance, many)), 1) = (all.last_mut(), count) {
            let last = *begin + *distance * (*many - 1);
            let continues = first > last && (*many == 1 || first - last == *distance);
            if continues {
                (*distance, *many) = (first - last, *many + 1);
                continue;
            }
        }
        all.push((first, step, count));
    }
    all
}

/// The rounds of one rank.
pub fn rounds(source: &dyn RankSource, rank: usize) -> Result<Vec<AloneRound>, Error> {
    let mut watcher = RoundsOfOne::default();
    source.walk(rank, &mut watcher)?;
    Ok(watcher.rounds)
}

impl AloneMessage {
    /// The blocks as text; those of an all-to-all of `p` ranks as pairs.
    pub fn text(&self, kind: Kind, p: usize, blocks: usize) -> String {
        let name = |block: usize| match kind.moves() {
            true => {
                let (source, destination) = ends(block, p);
                format!("{source}→{destination}")
            }
            false => block.to_string(),
        };
        let around = if kind.moves() { p * p } else { blocks } as i64;
        let stripe = |&(first, step, count): &(usize, usize, usize)| {
            Stripe::new(first as i64, step as i64, count as i64, around)
        };
        let each = || self.stripes.iter().map(stripe).flat_map(|stripe| stripe.iter());
        if self.blocks <= LISTED {
            return each().map(name).collect::<Vec<_>>().join(" ");
        }
        let first: Vec<String> = each().take(LISTED / 2).map(name).collect();
        let last = self.stripes.last().map(|&(first, step, count)| {
            name(((first as i128 + step as i128 * (count as i128 - 1)) % i128::from(around.max(1))) as usize)
        });
        format!("{} … {} ({} blocks)", first.join(" "), last.unwrap_or_default(), self.blocks)
    }
}

/// A rank and its call.
#[derive(Clone, Copy, Debug)]
pub struct AloneCall<'a> {
    /// The declaration.
    pub schedule: &'a Schedule,
    /// The parameters.
    pub args: &'a Arguments,
    /// The number of ranks.
    pub p: usize,
    /// The rank.
    pub rank: usize,
}

/// One rank's part of the plan of a collective that is no all-to-all: its own rounds, and the lines that it needs.
pub fn part(source: &dyn RankSource, call: AloneCall<'_>) -> Result<RankPlan, Error> {
    let AloneCall { schedule, args, p, rank } = call;
    let mut recorded = RecordedRank(Recorder::default());
    source.walk(rank, &mut recorded)?;
    let (blocks, trace) = (source.blocks(), Trace::lockstep(vec![recorded.0.finish()]));
    // A plan of this rank alone, which therefore has number 0.
    let Plan { kind, root, lines, rounds, .. } = Plan::of_trace(schedule, args, blocks, &trace);
    let mut turns: Vec<_> = rounds.into_iter().flatten().collect();
    if let Some(beginning) = turns.first_mut() {
        let held = (0..blocks).filter(|&block| kind.initially_holds(rank, block, root, p));
        let copy =
            |block: usize| Local::Copy { from: Slot::new(INPUT, block as u32), to: Slot::new(OUTPUT, block as u32) };
        beginning.locals = held.map(copy).collect();
    }
    Ok(RankPlan { kind, p, rank, root, blocks, lines, turns })
}

struct RecordedRank(Recorder);

impl RoundWatcher for RecordedRank {
    fn message(&mut self, message: &RankMessage<'_>) {
        let blocks = StripeList(message.blocks);
        infallible(match message.direction {
            Direction::Send => self.0.send(message.site, message.peer, blocks),
            Direction::Recv => self.0.recv(message.site, message.peer, blocks),
        });
    }

    fn end_round(&mut self) -> ControlFlow<()> {
        infallible(self.0.end_round());
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;
    use crate::params::Params;
    use roundel::algorithms;
    use roundel_spec::{Blocks, Placement};

    /// The parameters of an entry, with lists that cover up to 54 ranks.
    fn params(entry: &algorithms::Entry) -> Params {
        let schedule = (entry.schedule)();
        let lists: Vec<String> = schedule.lists.iter().map(|list| format!("{}=2,1,2,1", list.var.name)).collect();
        let set: Vec<_> = lists.iter().map(|text| text.parse().expect("an assignment")).collect();
        Params::resolve(entry.name, &schedule, &set).expect("has values")
    }

    #[test]
    fn a_rank_by_itself_does_what_it_does_among_all() {
        for entry in algorithms::catalogue() {
            let params = params(entry);
            for (p, ppn) in [(1, 1), (2, 1), (7, 3), (8, 4), (12, 12), (16, 4), (21, 5)] {
                let placement = Placement::consecutive(p, ppn);
                let Ok(trace) = catalogue::record(entry, &params.args, &placement).expect("can be recorded") else {
                    continue;
                };
                for rank in 0..p {
                    let alone =
                        catalogue::with_rounds(entry, &params.args, &placement, |source| rounds(source, rank));
                    let log = &trace.ranks[rank];
                    let directed = |round: usize, direction| {
                        let blocks = |m| log.blocks(m).iter().map(|&b| b as usize).collect::<Vec<_>>();
                        log.directed(round, direction).map(|m| (m.peer, blocks(m))).collect::<Vec<_>>()
                    };
                    let both = |round: usize| (directed(round, Direction::Send), directed(round, Direction::Recv));
                    let expected: Vec<_> =
                        (0..log.rounds()).map(both).filter(|(a, b)| !(a.is_empty() && b.is_empty())).collect();
                    let listed = |message: &AloneMessage| {
                        let stripes = message.stripes.iter();
                        let stripe = |&(f, s, c): &(usize, usize, usize)| {
                            Stripe::new(f as i64, s as i64, c as i64, around(&(entry.schedule)(), &placement))
                        };
                        (message.peer, stripes.map(stripe).flat_map(|s| s.into_each()).collect::<Vec<usize>>())
                    };
                    let found: Vec<_> = alone
                        .expect("has rounds")
                        .iter()
                        .map(|round| {
                            let list = |all: &[AloneMessage]| all.iter().map(listed).collect::<Vec<_>>();
                            (list(&round.sends), list(&round.receives))
                        })
                        .collect();
                    assert_eq!(found, expected, "{} p = {p}, ppn = {ppn}, rank {rank}", entry.name);
                }
            }
        }
    }

    fn around(schedule: &Schedule, placement: &Placement) -> i64 {
        let p = placement.p() as i64;
        let args = Params::of(schedule, &Arguments::default()).args;
        match schedule.kind.moves() {
            true => p * p,
            false => roundel_spec::eval::blocks::<()>(schedule, &args, &placement.place(0)).unwrap_or(p),
        }
    }

    #[test]
    fn a_part_is_that_of_the_plan() {
        for entry in algorithms::catalogue() {
            let (schedule, params) = ((entry.schedule)(), params(entry));
            for (p, ppn) in [(1, 1), (6, 2), (8, 8), (13, 4)] {
                let placement = Placement::consecutive(p, ppn);
                let Ok(plan) = catalogue::plan(entry, &params.args, &placement) else { continue };
                for rank in 0..p {
                    let call = AloneCall { schedule: &schedule, args: &params.args, p, rank };
                    let alone = catalogue::with_rounds(entry, &params.args, &placement, |source| part(source, call));
                    let (alone, whole) = (alone.expect("has a part"), plan.part(rank).expect("exists"));
                    let active = |part: &RankPlan| {
                        part.turns.iter().filter(|turn| !turn.is_empty()).cloned().collect::<Vec<_>>()
                    };
                    assert!(alone.lines <= whole.lines, "{}", entry.name);
                    assert_eq!((alone.kind, alone.p, alone.rank), (whole.kind, whole.p, whole.rank));
                    assert_eq!((alone.root, alone.blocks), (whole.root, whole.blocks));
                    assert_eq!(active(&alone), active(&whole), "{} p = {p}, rank {rank}", entry.name);
                }
            }
        }
    }

    #[test]
    fn blocks_are_joined_and_shortened() {
        let joined: Vec<_> = joined([(3, 1, 1), (5, 1, 1), (7, 1, 1), (2, 1, 1), (9, 4, 2)].into_iter());
        assert_eq!(joined, [(3, 2, 3), (2, 1, 1), (9, 4, 2)]);
        let long = AloneMessage { peer: 0, blocks: 100, stripes: vec![(95, 1, 100)] };
        assert_eq!(long.text(Kind::Allgather, 100, 100), "95 96 97 … 94 (100 blocks)");
        let pairs = AloneMessage { peer: 0, blocks: 2, stripes: vec![(1, 5, 2)] };
        assert_eq!(pairs.text(Kind::Alltoall, 4, 4), "0→1 1→2");
    }
}

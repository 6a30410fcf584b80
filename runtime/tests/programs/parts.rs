//! Parts between nodes that are simple enough to be obviously right.

use roundel::plan::part::{INPUT, Local, OUTPUT, RankPlan, SCRATCH, Slot, SlotMessage, Turn};
use roundel_spec::Kind;

/// A part between nodes: its name, its kind, and the part of each of a number of nodes.
pub(crate) struct Between {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) part: fn(usize, usize) -> RankPlan,
}

pub(crate) const BETWEEN: [Between; 7] = [
    Between { name: "all at once", kind: Kind::Allreduce, part: all_at_once },
    Between { name: "fractions", kind: Kind::Allreduce, part: fractions },
    Between { name: "ring allgather", kind: Kind::Allgather, part: ring_allgather },
    Between { name: "Bruck", kind: Kind::Allgather, part: bruck },
    Between { name: "pairwise", kind: Kind::ReduceScatter, part: pairwise },
    Between { name: "ring reduce_scatter", kind: Kind::ReduceScatter, part: ring_reduce_scatter },
    Between { name: "through rank 0", kind: Kind::ReduceScatter, part: through_root },
];

fn slot(line: u32, block: usize) -> Slot {
    Slot { line, block: block as u32 }
}

fn message(peer: usize, slots: Vec<Slot>) -> SlotMessage {
    SlotMessage { peer, slots }
}

fn others(p: usize, rank: usize) -> impl Iterator<Item = usize> {
    (0..p).filter(move |&other| other != rank)
}

fn part(kind: Kind, p: usize, rank: usize, blocks: usize, lines: usize, turns: Vec<Turn>) -> RankPlan {
    RankPlan { kind, p, rank, root: 0, blocks, lines, turns }
}

/// Combines the data from all other ranks with the own block, in the order of ranks.
fn in_rank_order(p: usize, rank: usize, block: usize) -> Vec<Local> {
    let operand = |other| if other == rank { slot(INPUT, block) } else { slot(SCRATCH + other as u32, block) };
    let into = slot(OUTPUT, block);
    let first = Local::Combine { left: operand(0), right: operand(1), into };
    let rest = (2..p).map(|other| Local::Combine { left: into, right: operand(other), into });
    [first].into_iter().chain(rest).collect()
}

/// All ranks send everything to all others.
fn all_at_once(p: usize, rank: usize) -> RankPlan {
    let sends = others(p, rank).map(|peer| message(peer, vec![slot(INPUT, 0)])).collect();
    let receives = others(p, rank).map(|peer| message(peer, vec![slot(SCRATCH + peer as u32, 0)])).collect();
    let turn = Turn { sends, receives, locals: in_rank_order(p, rank, 0) };
    part(Kind::Allreduce, p, rank, 1, SCRATCH as usize + p, vec![turn])
}

/// Each rank reduces one fraction and sends it to all others.
fn fractions(p: usize, rank: usize) -> RankPlan {
    let gather = Turn {
        sends: others(p, rank).map(|peer| message(peer, vec![slot(OUTPUT, rank)])).collect(),
        receives: others(p, rank).map(|peer| message(peer, vec![slot(OUTPUT, peer)])).collect(),
        locals: Vec::new(),
    };
    let mut part = pairwise(p, rank);
    part.kind = Kind::Allreduce;
    part.turns.push(gather);
    part
}

/// Each rank sends every other rank the block that belongs there.
fn pairwise(p: usize, rank: usize) -> RankPlan {
    let sends = others(p, rank).map(|peer| message(peer, vec![slot(INPUT, peer)])).collect();
    let receives = others(p, rank).map(|peer| message(peer, vec![slot(SCRATCH + peer as u32, rank)])).collect();
    let turn = Turn { sends, receives, locals: in_rank_order(p, rank, rank) };
    part(Kind::ReduceScatter, p, rank, p, SCRATCH as usize + p, vec![turn])
}

/// The whole result is computed in the output line, as in recorded schedules.
fn ring_reduce_scatter(p: usize, rank: usize) -> RankPlan {
    let copies = (0..p).map(|block| Local::Copy { from: slot(INPUT, block), to: slot(OUTPUT, block) }).collect();
    let rounds = (0..p - 1).map(|round| {
        let (sent, received) = ((rank + 2 * p - 1 - round) % p, (rank + 2 * p - 2 - round) % p);
        let into = slot(OUTPUT, received);
        Turn {
            sends: vec![message((rank + 1) % p, vec![slot(OUTPUT, sent)])],
            receives: vec![message((rank + p - 1) % p, vec![slot(SCRATCH, received)])],
            locals: vec![Local::Combine { left: slot(SCRATCH, received), right: into, into }],
        }
    });
    let first = Turn { locals: copies, ..Turn::default() };
    part(Kind::ReduceScatter, p, rank, p, 3, [first].into_iter().chain(rounds).collect())
}

/// All ranks send everything to rank 0, which reduces it; blocks travel in reverse order and return one by one.
fn through_root(p: usize, rank: usize) -> RankPlan {
    let all = |line| (0..p).rev().map(|block| slot(line, block)).collect::<Vec<_>>();
    let line = |other: usize| SCRATCH + other as u32;
    let (mut to_root, mut from_root) = (Turn::default(), Turn::default());
    if rank == 0 {
        to_root.receives = others(p, 0).map(|peer| message(peer, all(line(peer)))).collect();
        to_root.locals = (0..p).flat_map(|block| in_rank_order(p, 0, block)).collect();
        from_root.sends = others(p, 0).map(|peer| message(peer, vec![slot(OUTPUT, peer)])).collect();
    } else {
        to_root.sends = vec![message(0, all(INPUT))];
        from_root.receives = vec![message(0, vec![slot(OUTPUT, rank)])];
    }
    part(Kind::ReduceScatter, p, rank, p, SCRATCH as usize + p, vec![to_root, from_root])
}

fn own_copy(rank: usize) -> Turn {
    Turn { locals: vec![Local::Copy { from: slot(INPUT, rank), to: slot(OUTPUT, rank) }], ..Turn::default() }
}

fn ring_allgather(p: usize, rank: usize) -> RankPlan {
    let rounds = (0..p - 1).map(|round| Turn {
        sends: vec![message((rank + 1) % p, vec![slot(OUTPUT, (rank + p - round) % p)])],
        receives: vec![message((rank + p - 1) % p, vec![slot(OUTPUT, (rank + 2 * p - 1 - round) % p)])],
        locals: Vec::new(),
    });
    part(Kind::Allgather, p, rank, p, 2, [own_copy(rank)].into_iter().chain(rounds).collect())
}

/// Messages of several blocks, which need not be adjacent.
fn bruck(p: usize, rank: usize) -> RankPlan {
    let mut turns = vec![own_copy(rank)];
    let mut held = 1;
    while held < p {
        let blocks = held.min(p - held);
        let slots = |first: usize| (first..first + blocks).map(|block| slot(OUTPUT, block % p)).collect();
        turns.push(Turn {
            sends: vec![message((rank + p - held) % p, slots(rank))],
            receives: vec![message((rank + held) % p, slots(rank + held))],
            locals: Vec::new(),
        });
        held += blocks;
    }
    part(Kind::Allgather, p, rank, p, 2, turns)
}

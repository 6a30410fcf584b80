//! Runs plans on numbers: uses only the plain definition of each kind, and no code of the replay.

use roundel::plan::{INPUT, Local, OUTPUT, Plan, Slot};
use roundel_spec::Kind;
use std::collections::HashMap;

/// A rank's contribution to a block, so random that no wrong sum is right by chance.
fn number(rank: usize, block: usize) -> u64 {
    let seed = (rank * 1009 + block + 1) as u64;
    (seed ^ (seed << 21)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The expected content of a rank's block at the end, if any.
fn expected(plan: &Plan, rank: usize, block: usize) -> Option<u64> {
    let sum = || (0..plan.p).map(|rank| number(rank, block)).fold(0, u64::wrapping_add);
    match plan.kind {
        Kind::Allgather => Some(number(block, block)),
        Kind::Allreduce => Some(sum()),
        Kind::ReduceScatter => (rank == block).then(sum),
        Kind::Broadcast => Some(number(plan.root, block)),
        Kind::Reduce => (rank == plan.root).then(sum),
        Kind::Gather => (rank == plan.root).then(|| number(block, block)),
        Kind::Scatter => (rank == block).then(|| number(plan.root, block)),
        Kind::Alltoall => None,
    }
}

/// Runs a plan. All inputs have numbers, even if the kind does not use them: a plan that reads those gives a wrong
/// result.
pub(crate) fn come_out_right(plan: &Plan) -> bool {
    let input = |rank| (0..plan.blocks).map(move |block| (Slot::new(INPUT, block as u32), number(rank, block)));
    let mut memory: Vec<HashMap<Slot, u64>> = (0..plan.p).map(|rank| input(rank).collect()).collect();
    for round in &plan.rounds {
        let mut wires: HashMap<(usize, usize), Vec<u64>> = HashMap::new();
        for (rank, message) in
            round.iter().enumerate().flat_map(|(rank, turn)| turn.sends.iter().map(move |m| (rank, m)))
        {
            let data = message.slots.iter().map(|slot| memory[rank].get(slot).copied().unwrap_or(0));
            wires.entry((rank, message.peer)).or_default().extend(data);
        }
        let mut wires: HashMap<_, _> = wires.into_iter().map(|(pair, data)| (pair, data.into_iter())).collect();
        for (rank, turn) in round.iter().enumerate() {
            for (peer, &slot) in turn.receives.iter().flat_map(|m| m.slots.iter().map(|slot| (m.peer, slot))) {
                let Some(value) = wires.get_mut(&(peer, rank)).and_then(Iterator::next) else { return false };
                memory[rank].insert(slot, value);
            }
            turn.locals.iter().for_each(|local| step(&mut memory[rank], local));
        }
    }
    let right = |rank: usize, block: usize| {
        expected(plan, rank, block).is_none_or(|sum| memory[rank].get(&Slot::new(OUTPUT, block as u32)) == Some(&sum))
    };
    (0..plan.p).all(|rank| (0..plan.blocks).all(|block| right(rank, block)))
}

fn step(memory: &mut HashMap<Slot, u64>, local: &Local) {
    let sum = local.reads().map(|slot| memory.get(&slot).copied().unwrap_or(0)).fold(0, u64::wrapping_add);
    memory.insert(local.writes(), sum);
}

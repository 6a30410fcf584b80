//! One slot of a rank: where its content comes from.

use super::Refusal;
use super::recording::{Recording, Rows, States};
use super::step::rank_of;
use roundel_spec::check::ReductionStates;
use roundel_spec::contract::ends;
use roundel_spec::trees::Tree;
use roundel_spec::{Direction, Line};
use serde_json::{Value, json};

/// The largest tree that is sent as a whole.
const LARGEST_TREE: usize = 256;

/// Describes a slot, by its row in the picture: its content after each step at which it changes.
pub(super) fn cell(recording: &Recording, rank: usize, row: usize) -> Result<Value, Refusal> {
    let (rank, p) = (rank_of(recording, rank)?, recording.p());
    let rows = recording.rows();
    if row >= rows.count(p) {
        return Err(Refusal::Question { name: "row", reason: format!("there are {} rows", rows.count(p)) });
    }
    Ok(match (&recording.states, rows) {
        (States::Lines(memory), Rows::Contributors { .. }) => slot(recording, memory, rank, (row / p) as Line, 0),
        (States::Lines(memory), _) => {
            slot(recording, memory, rank, (row / memory.blocks()) as Line, row % memory.blocks())
        }
        (States::Blocks(_), Rows::Destinations) => for_destination(recording, rank, row),
        (States::Blocks(_), _) => json!({ "kind": "block", "rank": rank, "block": row,
            "hops": hops(recording, rank, row) }),
        (States::Unknown, _) => Value::Null,
    })
}

/// The way of a block of an all-to-all.
pub(super) fn route(recording: &Recording, block: usize) -> Result<Value, Refusal> {
    let p = recording.p();
    let States::Blocks(provenance) = &recording.states else { return Ok(Value::Null) };
    if block >= provenance.blocks() {
        let reason = format!("there are {} blocks", provenance.blocks());
        return Err(Refusal::Question { name: "block", reason });
    }
    let way = provenance.way(block);
    let hop = |pair: &[(usize, usize)]| {
        let step = recording.step_of_panel(pair[1].0);
        json!({ "step": step, "from": pair[0].1, "to": pair[1].1 })
    };
    let (source, destination) = ends(block, p);
    Ok(json!({ "kind": "route", "source": source, "destination": destination,
        "hops": way.windows(2).map(hop).collect::<Vec<_>>() }))
}

/// The messages that bring a block to a rank, from where it was at the start.
fn hops(recording: &Recording, rank: usize, block: usize) -> Vec<Value> {
    let States::Blocks(provenance) = &recording.states else { return Vec::new() };
    let (mut at, mut hops) = (rank, Vec::new());
    while let Some(round) = provenance.arrived_in(at, block) {
        let brings = |from: usize| {
            let log = &recording.trace.ranks[from];
            log.directed(round, Direction::Send).any(|m| m.peer == at && log.blocks(m).contains(&(block as u32)))
        };
        let Some(from) = (0..recording.p()).find(|&from| brings(from)) else { break };
        hops.push(json!({ "step": recording.step_of_panel(round + 1), "from": from, "to": at }));
        // A wrong schedule may send what it does not hold.
        if hops.len() > recording.active.len() {
            break;
        }
        at = from;
    }
    hops.reverse();
    hops
}

/// The blocks for a destination that a rank holds after each step, by their sources.
fn for_destination(recording: &Recording, rank: usize, destination: usize) -> Value {
    let States::Blocks(provenance) = &recording.states else { return Value::Null };
    let p = recording.p();
    let block = |source: usize| source * p + destination;
    let held = |step: usize| {
        let before = recording.before(step);
        (0..p).filter(|&source| provenance.holds(rank, block(source), before)).collect::<Vec<_>>()
    };
    let all: Vec<Vec<usize>> = (0..=recording.active.len()).map(held).collect();
    json!({ "kind": "sources", "rank": rank, "destination": destination, "p": p, "sources": all })
}

/// The content of a slot of a reduction after each step at which it changes.
fn slot(recording: &Recording, memory: &ReductionStates, rank: usize, line: Line, block: usize) -> Value {
    let (mut values, mut last) = (Vec::new(), None);
    for step in 0..=recording.active.len() {
        let now = memory.before(recording.before(step), rank, line, block).map(|value| value.tree);
        if step == 0 || now != last {
            let contributors: Vec<usize> =
                now.map_or_else(Vec::new, |tree| memory.trees.contributors(tree).collect());
            let tree = now.filter(|&tree| memory.trees.count(tree) <= LARGEST_TREE);
            values.push(json!({ "step": step, "contributors": contributors,
                "tree": tree.map(|tree| nested(memory, tree)) }));
        }
        last = now;
    }
    let name = recording.subject.schedule.lines.get(usize::from(line)).cloned().unwrap_or_default();
    json!({ "kind": "slot", "rank": rank, "line": name, "block": block, "p": recording.p(), "values": values })
}

/// A tree as nested pairs of ranks.
fn nested(memory: &ReductionStates, tree: Tree) -> Value {
    match memory.trees.operands(tree) {
        Some((left, right)) => json!([nested(memory, left), nested(memory, right)]),
        None => memory.trees.contributors(tree).next().map_or(Value::Null, Value::from),
    }
}

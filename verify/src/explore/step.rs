//! A step of a call: the messages of its round, and what every rank holds afterwards.

use super::Refusal;
use super::recording::{Recording, Rows, States};
use crate::error::Error;
use crate::report::picture::short;
use crate::report::rounds::{Naming, bits};
use roundel_spec::check::ReductionStates;
use roundel_spec::provenance::Provenance;
use roundel_spec::{Direction, Line};
use serde_json::{Value, json};

/// Up to this many messages have words for what they carry.
const IN_WORDS: usize = 256;

/// Up to this many slots have labels.
const LABELLED: usize = 4096;

/// What a slot holds, in one byte.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// How much of it there is, in 15 parts.
    level: u8,
    /// Whether it was there from the start.
    own: bool,
    /// Whether something arrived in this step, and whether from another node.
    fresh: bool,
    remote: bool,
}

impl Slot {
    fn part(have: usize, of: usize) -> Self {
        let level = if have == 0 { 0 } else { (15 * have / of.max(1)).clamp(1, 15) };
        // Only what is complete looks complete.
        let level = if have < of { level.min(14) } else { level };
        Slot { level: level as u8, ..Slot::default() }
    }

    fn byte(self) -> u8 {
        self.level << 4 | u8::from(self.own) << 2 | u8::from(self.remote) << 1 | u8::from(self.fresh)
    }
}

/// Describes a step; step 0 is the start.
pub(super) fn step(recording: &Recording, step: usize) -> Result<Value, Refusal> {
    let last = recording.active.len();
    if step > last {
        return Err(Refusal::Question { name: "step", reason: format!("there are {last} rounds") });
    }
    let round = step.checked_sub(1).map(|at| recording.active[at]);
    let slots = slots(recording, step, round);
    let labels = (slots.len() <= LABELLED).then(|| labels(recording, step)).flatten();
    Ok(json!({
        "step": step,
        "messages": round.map_or_else(Vec::new, |round| messages(recording, round)),
        "slots": base64(&slots.iter().map(|slot| slot.byte()).collect::<Vec<u8>>()),
        "labels": labels,
    }))
}

/// Checks that a rank exists.
pub(super) fn rank_of(recording: &Recording, rank: usize) -> Result<usize, Refusal> {
    let p = recording.p();
    if rank < p { Ok(rank) } else { Err(Error::NoSuchRank { rank, p }.into()) }
}

/// The messages of a round: from, to, blocks, between nodes, the clauses of both sides, and the content in words.
fn messages(recording: &Recording, round: usize) -> Vec<Value> {
    let Recording { trace, point, .. } = recording;
    let sent = |rank: usize| trace.ranks[rank].directed(round, Direction::Send).count();
    let in_words = (0..trace.p()).map(sent).sum::<usize>() <= IN_WORDS;
    let run = in_words.then(|| recording.run());
    let drawn = run.as_ref().map(|run| run.round(round).messages);
    let mut all = Vec::new();
    for (from, log) in trace.ranks.iter().enumerate() {
        let mut earlier: Vec<usize> = Vec::new();
        for sent in log.directed(round, Direction::Send) {
            let nth = earlier.iter().filter(|&&peer| peer == sent.peer).count();
            earlier.push(sent.peer);
            let received = trace
                .ranks
                .get(sent.peer)
                .and_then(|log| log.directed(round, Direction::Recv).filter(|message| message.peer == from).nth(nth));
            let nonlocal = point.placement.nonlocal(from, sent.peer);
            let (blocks, clauses) = (log.blocks(sent).len(), (sent.site.number, received.map(|m| m.site.number)));
            all.push(((from, sent.peer), blocks, nonlocal, clauses));
        }
    }
    // The order of `show`, which is also that of the words.
    all.sort_by_key(|((from, to), ..)| (*from, *to));
    let words = |at: usize| {
        let message = drawn.as_ref()?.get(at)?;
        let effect = message.effect.as_ref().map_or(String::new(), |effect| format!(", {effect}"));
        Some(run.as_ref()?.content(message) + &effect)
    };
    let whole = |(at, ((from, to), blocks, nonlocal, clauses)): (usize, _)| {
        json!([from, to, blocks, u8::from(nonlocal), clauses, words(at)])
    };
    all.into_iter().enumerate().map(whole).collect()
}

/// What every rank holds, rank by rank and row by row.
fn slots(recording: &Recording, step: usize, round: Option<usize>) -> Vec<Slot> {
    let (p, before) = (recording.p(), recording.before(step));
    let rows = recording.rows();
    let mut all = vec![Slot::default(); p * rows.count(p)];
    match (&recording.states, rows) {
        (States::Blocks(provenance), Rows::Destinations) => moved(provenance, p, before, &mut all),
        (States::Blocks(provenance), _) => kept(provenance, p, before, round, &mut all),
        (States::Lines(memory), rows) => reduced(memory, rows, p, before, round, &mut all),
        (States::Unknown, _) => {}
    }
    if let Some(round) = round {
        mark_remote(recording, rows, round, &mut all);
    }
    all
}

fn kept(provenance: &Provenance, p: usize, before: usize, round: Option<usize>, all: &mut [Slot]) {
    let blocks = provenance.blocks();
    for rank in 0..p {
        for block in (0..blocks).filter(|&block| provenance.holds(rank, block, before)) {
            let arrived = provenance.arrived_in(rank, block);
            let fresh = arrived.is_some() && arrived == round;
            all[rank * blocks + block] = Slot { level: 15, own: arrived.is_none(), fresh, remote: false };
        }
    }
}

fn moved(provenance: &Provenance, p: usize, before: usize, all: &mut [Slot]) {
    let mut counts = vec![0usize; p * p];
    let mut fresh = vec![false; p * p];
    for block in 0..provenance.blocks() {
        if let Some((rank, since)) = provenance.seat(block, before) {
            let at = rank * p + roundel_spec::contract::ends(block, p).1;
            counts[at] += 1;
            fresh[at] |= since > 0 && since == before;
        }
    }
    for (at, slot) in all.iter_mut().enumerate() {
        *slot = Slot { fresh: fresh[at], ..Slot::part(counts[at], p) };
    }
}

fn reduced(memory: &ReductionStates, rows: Rows, p: usize, before: usize, round: Option<usize>, all: &mut [Slot]) {
    let count = rows.count(p);
    for (rank, slots) in all.chunks_mut(count.max(1)).enumerate() {
        match rows {
            Rows::Contributors { .. } => {
                let lines = slots.chunks_mut(p).enumerate();
                lines.for_each(|(line, slots)| contributors(memory, rank, line as Line, before, round, slots));
            }
            _ => {
                for (row, slot) in slots.iter_mut().enumerate() {
                    let (line, block) = ((row / memory.blocks()) as Line, row % memory.blocks());
                    let have = |round: usize| memory.before(round, rank, line, block);
                    let fresh = round.is_some_and(|round| have(before) != have(round));
                    *slot = Slot { fresh, ..Slot::part(memory.count(before, rank, line, block), p) };
                }
            }
        }
    }
}

/// The contributors to one line of a rank. A line is looked up once, because there are up to a million contributions.
fn contributors(
    memory: &ReductionStates,
    rank: usize,
    line: Line,
    before: usize,
    round: Option<usize>,
    slots: &mut [Slot],
) {
    let Some(now) = memory.before(before, rank, line, 0) else { return };
    let earlier = round.map(|round| memory.before(round, rank, line, 0));
    for contributor in memory.trees.contributors(now.tree) {
        let had = |value| memory.trees.contains(value, contributor);
        let fresh = earlier.is_some_and(|earlier| !earlier.is_some_and(|value| had(value.tree)));
        slots[contributor] = Slot { level: 15, own: rank == contributor, fresh, remote: false };
    }
}

/// Marks what arrived from other nodes.
fn mark_remote(recording: &Recording, rows: Rows, round: usize, all: &mut [Slot]) {
    let Recording { trace, point, .. } = recording;
    let (p, count) = (trace.p(), rows.count(trace.p()));
    for (rank, log) in trace.ranks.iter().enumerate() {
        let received = log.directed(round, Direction::Recv);
        for message in received.filter(|message| point.placement.nonlocal(rank, message.peer)) {
            let line = usize::from(message.site.line);
            for &block in log.blocks(message) {
                let block = block as usize;
                let touched = match rows {
                    Rows::Blocks { .. } => block..block + 1,
                    Rows::Destinations => {
                        let to = roundel_spec::contract::ends(block, p).1;
                        to..to + 1
                    }
                    Rows::Contributors { .. } => line * p..(line + 1) * p,
                    Rows::Slots { blocks, .. } => line * blocks + block..line * blocks + block + 1,
                    Rows::None => 0..0,
                };
                for slot in touched.filter_map(|row| (row < count).then_some(rank * count + row)) {
                    all[slot].remote |= all[slot].fresh;
                }
            }
        }
    }
}

/// Short texts for the slots of a reduction and of an all-to-all.
fn labels(recording: &Recording, step: usize) -> Option<Vec<String>> {
    let (p, before, rows) = (recording.p(), recording.before(step), recording.rows());
    let count = rows.count(p);
    match (&recording.states, rows) {
        (States::Lines(memory), Rows::Slots { blocks, .. }) if p <= 64 => {
            let label = |at: usize| {
                let (rank, row) = (at / count, at % count);
                short(bits(memory.contributors(before, rank, (row / blocks) as Line, row % blocks).0), p)
            };
            Some((0..p * count).map(label).collect())
        }
        (States::Blocks(provenance), Rows::Destinations) if p <= 64 => {
            let mut sources = vec![0u64; p * p];
            for block in 0..provenance.blocks() {
                if let Some((rank, _)) = provenance.seat(block, before) {
                    let (source, destination) = roundel_spec::contract::ends(block, p);
                    sources[rank * p + destination] |= 1 << source;
                }
            }
            Some(sources.into_iter().map(|sources| short(sources, p)).collect())
        }
        _ => None,
    }
}

/// How blocks are named.
pub(super) fn naming(recording: &Recording) -> Naming {
    Naming::of(recording.subject.schedule.kind, recording.p())
}

/// Bytes as text.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= three.len() { digit as char } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_text_as_everywhere() {
        assert_eq!(base64(b""), "");
        assert_eq!(base64(b"f"), "Zg==");
        assert_eq!(base64(b"fo"), "Zm8=");
        assert_eq!(base64(b"foobar"), "Zm9vYmFy");
    }

    #[test]
    fn only_what_is_complete_looks_complete() {
        assert_eq!(Slot::part(0, 1024).level, 0);
        assert_eq!(Slot::part(1, 1024).level, 1);
        assert_eq!(Slot::part(1023, 1024).level, 14);
        assert_eq!(Slot::part(1024, 1024).level, 15);
    }
}

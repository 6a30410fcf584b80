//! Derives the waits between processes from the memory that their stages touch.
//!
//! Two stages of different processes that touch the same memory, one of them writing, must not happen at the same time.
//! Their phases say which comes first *within* a call; and the later one comes before the earlier one of the next call
//! that uses this memory: the next call, or the next but one where memory alternates. Each such pair of neighbours is a
//! need. A need is met by a wait only if the waits before do not imply it already: a process knows what those that it
//! waited for knew when they raised their counters. So every wait is there because of a pair of stages that would race
//! without it.
//!
//! Most needs across calls are met for nothing, because memory alternates: whoever writes it again has waited, in the
//! call between, for all who read it. Where that is not so (a process that wants nothing of the result need not wait
//! for anybody) a process waits, before it writes, until the other one has raised its counter in the last call as often
//! as it does; one that has no other reason to raise it does so when a call begins.

use std::ops::Range;

use super::stage::{END, Stage};

/// A stage: the process, and which of its stages.
type Key = (usize, usize);

/// What surrounds the steps of a stage.
#[derive(Clone, Debug, Default)]
pub(super) struct Sync {
    /// Before it, the processes that must have done with the last call.
    last_call: Vec<usize>,
    /// Before it, the stages of this call that must be over.
    this_call: Vec<Key>,
    /// Whether the counter is raised after it.
    pub(super) signal: bool,
}

/// `before` must be over when `after` begins, in the call that is so many calls later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Need {
    after: Key,
    before: Key,
    later: usize,
}

/// The stages of all processes of a node, and the waits between them.
pub(super) struct Weave<'a> {
    stages: &'a [Vec<Stage>],
    /// All of them, in an order in which they can happen.
    order: Vec<Key>,
    /// What is needed, sorted by the later stage.
    needs: Vec<Need>,
    sync: Vec<Vec<Sync>>,
    /// Whether a process raises its counter when a call begins, to say that it has done with the last one.
    opens: Vec<bool>,
}

/// What a process knows: how many stages of every process are over.
type Known = Vec<usize>;

impl<'a> Weave<'a> {
    /// Finds the waits. Shared memory up to `fixed` is the same in all calls; what lies behind it alternates.
    pub(super) fn new(stages: &'a [Vec<Stage>], fixed: usize) -> Self {
        let keys = stages.iter().enumerate().flat_map(|(local, own)| (0..own.len()).map(move |stage| (local, stage)));
        let mut order: Vec<Key> = keys.collect();
        order.sort_by_key(|&(local, stage)| (stages[local][stage].phase, local, stage));
        let sync = stages.iter().map(|own| vec![Sync::default(); own.len()]).collect();
        let mut weave = Weave { stages, order, needs: needs(stages, fixed), sync, opens: vec![false; stages.len()] };
        weave.within_calls();
        weave.across_calls();
        weave.prune();
        weave
    }

    /// Which counters reach which value before a stage, as pairs of process and times in this call.
    pub(super) fn awaits(&self, (local, stage): Key) -> impl Iterator<Item = (usize, u32)> + '_ {
        let sync = &self.sync[local][stage];
        let last = sync.last_call.iter().map(|&other| (other, 0));
        last.chain(sync.this_call.iter().map(|&(other, stage)| (other, self.raised(other, stage + 1))))
    }

    /// Whether a counter is raised when a call begins.
    pub(super) fn opens(&self, local: usize) -> bool {
        self.opens[local]
    }

    /// Whether a counter is raised after a stage.
    pub(super) fn signals(&self, (local, stage): Key) -> bool {
        self.sync[local][stage].signal
    }

    /// How many times a process raises its counter in a call.
    pub(super) fn total(&self, local: usize) -> u32 {
        self.raised(local, self.stages[local].len())
    }

    /// How many times a process raises its counter in its first stages.
    fn raised(&self, local: usize, stages: usize) -> u32 {
        let signals = self.sync[local][..stages].iter().map(|sync| u32::from(sync.signal));
        u32::from(self.opens[local]) + signals.sum::<u32>()
    }

    fn phase(&self, (local, stage): Key) -> usize {
        self.stages[local][stage].phase
    }

    /// The needs of a stage.
    fn needs_of(&self, after: Key) -> Range<usize> {
        let first = self.needs.partition_point(|need| need.after < after);
        first..self.needs.partition_point(|need| need.after <= after)
    }

    /// Waits for what is needed of the same call, unless it is known: first for what comes last, which may imply the
    /// rest.
    fn within_calls(&mut self) {
        let mut known: Vec<Known> = vec![vec![0; self.stages.len()]; self.stages.len()];
        let mut told: Vec<Vec<Known>> = vec![Vec::new(); self.stages.len()];
        for after in self.order.clone() {
            let of_this_call = self.needs[self.needs_of(after)].iter().filter(|need| need.later == 0);
            let mut needed: Vec<Key> = of_this_call.map(|need| need.before).collect();
            needed.sort_by_key(|&before| std::cmp::Reverse(self.phase(before)));
            for before in needed {
                if known[after.0][before.0] <= before.1 {
                    self.sync[after.0][after.1].this_call.push(before);
                    self.sync[before.0][before.1].signal = true;
                    learn(&mut known[after.0], &told[before.0][before.1]);
                }
            }
            self.sync[after.0][after.1].this_call.sort_unstable();
            told[after.0].push(self.tell(after, 0, &mut known[after.0]));
        }
    }

    /// What a process tells with a signal after a stage. What the user does with the buffers is not over then; it is
    /// when the next call begins.
    fn tell(&self, (local, stage): Key, call: usize, known: &mut Known) -> Known {
        let over = call * self.stages[local].len() + stage;
        known[local] = over + usize::from(self.stages[local][stage].phase != END);
        known.clone()
    }

    /// Waits for what is needed of calls before, until nothing is missing.
    fn across_calls(&mut self) {
        while let Some((after, missing)) = self.missing() {
            for need in missing {
                let waits = &mut self.sync[after.0][after.1].last_call;
                if !waits.contains(&need.before.0) {
                    waits.push(need.before.0);
                }
                let (other, stage) = need.before;
                if need.later == 1 {
                    self.sync[other][stage].signal = true;
                } else if self.total(other) == 0 {
                    self.opens[other] = true;
                }
            }
        }
    }

    /// Takes out waits for the last call that others imply.
    fn prune(&mut self) {
        for (local, stage) in self.order.clone() {
            for other in self.sync[local][stage].last_call.clone() {
                let before = self.sync[local][stage].last_call.clone();
                self.sync[local][stage].last_call.retain(|&waited| waited != other);
                if self.missing().is_some() {
                    self.sync[local][stage].last_call = before;
                }
            }
        }
    }

    /// The first stage that does not know what it needs to know of the calls before it, and these needs. No need
    /// reaches further back than two calls, so what is known after three is what is known forever.
    fn missing(&self) -> Option<(Key, Vec<Need>)> {
        let processes = self.stages.len();
        let mut known: Vec<Known> = vec![vec![0; processes]; processes];
        let mut last: Vec<Known> = known.clone();
        for call in 0..3 {
            let mut told: Vec<Vec<Known>> = vec![Vec::new(); processes];
            let mut opened: Vec<Known> = last.clone();
            for &after in &self.order {
                let (local, stage) = after;
                if stage == 0 {
                    known[local][local] = call * self.stages[local].len();
                    opened[local].clone_from(&known[local]);
                }
                let sync = &self.sync[local][stage];
                sync.last_call.iter().for_each(|&other| learn(&mut known[local], &last[other]));
                sync.this_call.iter().for_each(|&(other, stage)| learn(&mut known[local], &told[other][stage]));
                let unknown = |need: &&Need| {
                    let (other, stage) = need.before;
                    known[local][other] <= (2 - need.later) * self.stages[other].len() + stage
                };
                if call == 2 {
                    let needs = self.needs[self.needs_of(after)].iter().filter(|need| need.later > 0);
                    let missing: Vec<Need> = needs.filter(unknown).copied().collect();
                    if !missing.is_empty() {
                        return Some((after, missing));
                    }
                }
                told[local].push(self.tell(after, call, &mut known[local]));
            }
            for (local, told) in told.iter().enumerate() {
                let stage = self.sync[local].iter().rposition(|sync| sync.signal);
                last[local].clone_from(stage.map_or(&opened[local], |stage| &told[stage]));
            }
        }
        None
    }
}

fn learn(known: &mut Known, told: &Known) {
    known.iter_mut().zip(told).for_each(|(known, &told)| *known = told.max(*known));
}

/// What the memory asks for: whoever reads waits for the last writer, whoever writes for all who have read since then.
/// Everything else follows.
fn needs(stages: &[Vec<Stage>], fixed: usize) -> Vec<Need> {
    let mut needs = Vec::new();
    for (begin, mut touching) in touched(stages, fixed) {
        touching.sort_by_key(|&((local, stage), _)| (stages[local][stage].phase, local, stage));
        chain(&touching, if begin < fixed { 1 } else { 2 }, &mut needs);
    }
    needs.sort_unstable();
    needs.dedup();
    needs
}

/// The needs of those that touch one piece of memory, in their order, in a call and in the next one that uses it.
fn chain(touching: &[(Key, bool)], later: usize, needs: &mut Vec<Need>) {
    let mut since: Vec<(usize, Key)> = Vec::new();
    let mut writer: Option<(usize, Key)> = None;
    for call in 0..2 {
        for &(after, writes) in touching {
            let readers = if writes { since.as_slice() } else { &[] };
            let before = if readers.is_empty() { writer.as_slice() } else { readers };
            let others = before.iter().filter(|(_, before)| call == 1 && before.0 != after.0);
            needs.extend(others.map(|&(of, before)| Need { after, before, later: later * (call - of) }));
            if writes {
                (writer, since) = (Some((call, after)), Vec::new());
            } else {
                since.push((call, after));
            }
        }
    }
}

/// Shared memory in pieces that every stage touches as a whole or not at all: where each begins, who touches it, who
/// writes.
fn touched(stages: &[Vec<Stage>], fixed: usize) -> Vec<(usize, Vec<(Key, bool)>)> {
    let all = || stages.iter().flatten().flat_map(|stage| stage.reads.iter().chain(&stage.writes));
    let mut cuts: Vec<usize> = all().flat_map(|range| [range.start, range.end]).chain([fixed]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let mut pieces: Vec<(usize, Vec<(Key, bool)>)> = cuts.iter().map(|&cut| (cut, Vec::new())).collect();
    for (local, own) in stages.iter().enumerate() {
        for (number, stage) in own.iter().enumerate() {
            let reads = stage.reads.iter().map(|range| (range, false));
            for (range, writes) in reads.chain(stage.writes.iter().map(|range| (range, true))) {
                let first = cuts.partition_point(|&cut| cut < range.start);
                let end = cuts.partition_point(|&cut| cut < range.end);
                pieces[first..end].iter_mut().for_each(|piece| touch(&mut piece.1, (local, number), writes));
            }
        }
    }
    pieces
}

/// Notes that a stage touches a piece, once; writing counts for more.
fn touch(touching: &mut Vec<(Key, bool)>, key: Key, writes: bool) {
    match touching.last_mut() {
        Some((last, written)) if *last == key => *written |= writes,
        _ => touching.push((key, writes)),
    }
}

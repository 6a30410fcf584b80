//! Derives the waits between processes from the memory that their stages access.
//!
//! Two stages of different processes that access the same memory, one of them writing, must not run at the same time.
//! Their phases order them *within* a call; and the later one comes before the earlier one of the next call that uses
//! this memory: the next call, or the one after it where memory alternates. Each such pair of neighbours is a
//! dependence. A dependence gets a wait only if earlier waits do not imply it: a process knows what the processes
//! that it waited for knew when they incremented their counters. So every wait prevents a race between a pair of
//! stages.
//!
//! Most dependences across calls need no wait, because memory alternates: a process that overwrites it has waited, in
//! the call in between, for all readers. Where that does not hold (a process that needs no part of the result need
//! not wait for any other), a process waits, before it writes, until the other one has completed all increments of its
//! counter in the last call. A process without any other increment increments its counter when a call begins.

use std::ops::Range;

use super::stage::{END, Stage};

/// A stage: the process, and the number of its stage.
type Key = (usize, usize);

/// The synchronisation around the steps of a stage.
#[derive(Clone, Debug, Default)]
pub(super) struct Sync {
    /// The processes that must have completed the last call before the stage.
    last_call: Vec<usize>,
    /// The stages of this call that must be complete before the stage.
    this_call: Vec<Key>,
    /// Whether the counter is incremented after the stage.
    pub(super) signal: bool,
}

/// A dependence: `before` must be complete when `after` begins, `later` calls later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Need {
    after: Key,
    before: Key,
    later: usize,
}

/// The stages of all processes of a node, and the waits between them.
pub(super) struct Weave<'a> {
    stages: &'a [Vec<Stage>],
    /// All stages, in an order in which they can run.
    order: Vec<Key>,
    /// The dependences, sorted by the later stage.
    needs: Vec<Need>,
    sync: Vec<Vec<Sync>>,
    /// Whether a process increments its counter when a call begins, to signal that it has completed the last one.
    opens: Vec<bool>,
}

/// The knowledge of a process: how many stages of every process are complete.
type Known = Vec<usize>;

impl<'a> Weave<'a> {
    /// Finds the waits. Shared memory up to `fixed` is the same in all calls; the memory after it alternates.
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

    /// The waits before a stage, as pairs of process and the number of increments in this call.
    pub(super) fn awaits(&self, (local, stage): Key) -> impl Iterator<Item = (usize, u32)> + '_ {
        let sync = &self.sync[local][stage];
        let last = sync.last_call.iter().map(|&other| (other, 0));
        last.chain(sync.this_call.iter().map(|&(other, stage)| (other, self.raised(other, stage + 1))))
    }

    /// Whether a process increments its counter when a call begins.
    pub(super) fn opens(&self, local: usize) -> bool {
        self.opens[local]
    }

    /// Whether a process increments its counter after a stage.
    pub(super) fn signals(&self, (local, stage): Key) -> bool {
        self.sync[local][stage].signal
    }

    /// How often a process increments its counter in a call.
    pub(super) fn total(&self, local: usize) -> u32 {
        self.raised(local, self.stages[local].len())
    }

    /// How often a process increments its counter in its first stages.
    fn raised(&self, local: usize, stages: usize) -> u32 {
        let signals = self.sync[local][..stages].iter().map(|sync| u32::from(sync.signal));
        u32::from(self.opens[local]) + signals.sum::<u32>()
    }

    fn phase(&self, (local, stage): Key) -> usize {
        self.stages[local][stage].phase
    }

    /// The dependences of a stage.
    fn needs_of(&self, after: Key) -> Range<usize> {
        let first = self.needs.partition_point(|need| need.after < after);
        first..self.needs.partition_point(|need| need.after <= after)
    }

    /// Waits for dependences within a call, unless they are known to be met. The latest ones come first, because they
    /// may imply the rest.
    fn within_calls(&mut self) {
        let mut known: Vec<Known> = vec![vec![0; self.stages.len()]; self.stages.len()];
        let mut published: Vec<Vec<Known>> = vec![Vec::new(); self.stages.len()];
        for after in self.order.clone() {
            let of_this_call = self.needs[self.needs_of(after)].iter().filter(|need| need.later == 0);
            let mut needed: Vec<Key> = of_this_call.map(|need| need.before).collect();
            needed.sort_by_key(|&before| std::cmp::Reverse(self.phase(before)));
            for before in needed {
                if known[after.0][before.0] <= before.1 {
                    self.sync[after.0][after.1].this_call.push(before);
                    self.sync[before.0][before.1].signal = true;
                    learn(&mut known[after.0], &published[before.0][before.1]);
                }
            }
            self.sync[after.0][after.1].this_call.sort_unstable();
            published[after.0].push(self.tell(after, 0, &mut known[after.0]));
        }
    }

    /// The knowledge that a process passes on with a signal after a stage. The user's accesses to the buffers are
    /// complete only when the next call begins.
    fn tell(&self, (local, stage): Key, call: usize, known: &mut Known) -> Known {
        let over = call * self.stages[local].len() + stage;
        known[local] = over + usize::from(self.stages[local][stage].phase != END);
        known.clone()
    }

    /// Adds waits for dependences on earlier calls until none is missing.
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

    /// Removes waits for the last call that other waits imply.
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

    /// The first stage that does not know that its dependences on earlier calls are met, and these dependences. No
    /// dependence spans more than two calls, so the knowledge after three calls no longer changes.
    fn missing(&self) -> Option<(Key, Vec<Need>)> {
        let processes = self.stages.len();
        let mut known: Vec<Known> = vec![vec![0; processes]; processes];
        let mut last: Vec<Known> = known.clone();
        for call in 0..3 {
            let mut published: Vec<Vec<Known>> = vec![Vec::new(); processes];
            let mut opened: Vec<Known> = last.clone();
            for &after in &self.order {
                let (local, stage) = after;
                if stage == 0 {
                    known[local][local] = call * self.stages[local].len();
                    opened[local].clone_from(&known[local]);
                }
                let sync = &self.sync[local][stage];
                sync.last_call.iter().for_each(|&other| learn(&mut known[local], &last[other]));
                sync.this_call.iter().for_each(|&(other, stage)| learn(&mut known[local], &published[other][stage]));
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
                published[local].push(self.tell(after, call, &mut known[local]));
            }
            for (local, published) in published.iter().enumerate() {
                let stage = self.sync[local].iter().rposition(|sync| sync.signal);
                last[local].clone_from(stage.map_or(&opened[local], |stage| &published[stage]));
            }
        }
        None
    }
}

fn learn(known: &mut Known, published: &Known) {
    known.iter_mut().zip(published).for_each(|(known, &published)| *known = published.max(*known));
}

/// The dependences through memory: a reader waits for the last writer, and a writer waits for all readers since then.
/// All other dependences follow.
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

/// The dependences of the accesses to one piece of memory, in their order, in a call and in the next call that uses
/// it.
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

/// Divides shared memory into pieces that every stage accesses entirely or not at all: where each begins, which
/// stages access it, and which write to it.
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

/// Records that a stage accesses a piece, once; a write takes precedence over a read.
fn touch(touching: &mut Vec<(Key, bool)>, key: Key, writes: bool) {
    match touching.last_mut() {
        Some((last, written)) if *last == key => *written |= writes,
        _ => touching.push((key, writes)),
    }
}

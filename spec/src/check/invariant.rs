//! Rule 6: `holds` is true before every round of its loop and once after the last. In a round without an index, no
//! variable can tell before from after: there, `holds` is true after the round. A `hint` is true in every round.

use super::CheckInput;
use super::bounds::{RankProgress, RoundCount};
use super::reduce::ReductionStates;
use crate::check::violation::{Problem, Set, Violation};
use crate::meaning::eval::{self, Env, EvalFault, Halt, Walker, at};
use crate::schedule::blocks::BlockSet;
use crate::schedule::expr::Var;
use crate::schedule::message::Line;
use crate::schedule::{Hold, Loop, SchedulePart};
use crate::trace::provenance::Provenance;

/// What ranks hold, as far as `holds` can express it.
#[derive(Clone, Copy, Debug)]
pub enum Memory<'a> {
    /// Blocks of a gather.
    Blocks(&'a Provenance),
    /// Lines of a reduction.
    Lines(&'a ReductionStates),
}

/// Checks all invariants on all ranks.
pub fn check(scene: &CheckInput<'_>, memory: Memory<'_>) -> Result<(), Violation> {
    // What the reverse of a collective declares is checked of the forward one.
    if scene.schedule.reverse_of.is_some()
        || scene.schedule.loops.iter().all(|l| l.holds.is_empty() && l.hints.is_empty())
    {
        return Ok(());
    }
    let each = RoundCount::each(scene);
    for rank in 0..scene.trace.p() {
        let mut env = Env::new(scene.schedule, &scene.point.args, &scene.point.place(scene.schedule, rank));
        if let Memory::Blocks(provenance) = memory {
            env.wrap_around(provenance.blocks() as i64);
        }
        let mut walker = Invariant {
            scene,
            memory,
            rank,
            progress: RankProgress::new(scene, rank, &each),
            renumbered: scene.point.is_renumbered(scene.schedule),
            claimed: Vec::new(),
            seen: Vec::new(),
        };
        match eval::walk(&mut env, &mut walker) {
            Ok(()) => {}
            Err(Halt::Stopped(violation)) => return Err(*violation),
            Err(Halt::Fault(spot, fault)) => {
                return Err(scene.violation(spot, Some(walker.progress.round), Problem::Fault { rank, fault }));
            }
        }
    }
    Ok(())
}

struct Invariant<'a, 'b> {
    scene: &'a CheckInput<'b>,
    memory: Memory<'a>,
    rank: usize,
    progress: RankProgress<'a, 'b>,
    /// Whether `holds` refers to ranks numbered node by node.
    renumbered: bool,
    claimed: Vec<usize>,
    seen: Vec<bool>,
}

impl Invariant<'_, '_> {
    fn all(&mut self, env: &mut Env<'_>, n: usize, l: &Loop) -> Result<(), Halt<Box<Violation>>> {
        for (i, hold) in l.holds.iter().enumerate() {
            let spot = SchedulePart::Hold(n, i);
            let problem = match hold {
                Hold::Blocks(set) => {
                    self.claimed.clear();
                    at(spot, env.many_blocks(set, &mut self.claimed))?;
                    if self.renumbered {
                        let (placement, kind) = (&self.scene.point.placement, self.scene.schedule.kind);
                        self.claimed.iter_mut().for_each(|block| *block = placement.real_block(kind, *block));
                    }
                    self.blocks()
                }
                Hold::Contributors { line, block, ranks } => at(spot, self.contributors(env, *line, block, ranks))?,
                Hold::Counter(metric, value) => {
                    let claimed = at(spot, env.eval(value))?;
                    let found = self.progress.used.get(*metric, self.progress.rounds);
                    let what = metric.name();
                    (claimed != found).then_some(Problem::OtherCount { rank: self.rank, what, claimed, found })
                }
                Hold::Fact(fact) => {
                    let holds = at(spot, env.holds(fact))?;
                    (!holds).then(|| Problem::FalseFact { rank: self.rank, fact: fact.to_string() })
                }
            };
            if let Some(problem) = problem {
                return Err(Halt::Stopped(Box::new(self.scene.violation(spot, Some(self.progress.round), problem))));
            }
        }
        Ok(())
    }

    /// Translates the contributors that `holds` names to real ranks.
    fn make_real(&mut self) {
        if self.renumbered {
            let order = self.scene.point.placement.order();
            self.claimed.iter_mut().for_each(|rank| *rank = order[*rank]);
        }
    }

    /// Compares the claimed contributors of a line with the actual ones, block by block.
    fn contributors(
        &mut self,
        env: &mut Env<'_>,
        line: Line,
        block: &Option<Var>,
        ranks: &BlockSet,
    ) -> Result<Option<Problem>, EvalFault> {
        let Memory::Lines(reduction) = self.memory else { return Ok(None) };
        for b in 0..reduction.blocks() {
            if let Some(var) = block {
                env.set(var.slot, b as i64);
            }
            self.claimed.clear();
            env.many_blocks(ranks, &mut self.claimed)?;
            self.make_real();
            let b =
                if self.renumbered { self.scene.point.placement.real_block(self.scene.schedule.kind, b) } else { b };
            self.seen.clear();
            self.seen.resize(self.scene.trace.p(), false);
            let seen = &mut self.seen;
            if let Some(&block) = self.claimed.iter().find(|&&rank| std::mem::replace(&mut seen[rank], true)) {
                return Ok(Some(Problem::ClaimedTwice { rank: self.rank, block }));
            }
            if !reduction.is_from(self.progress.round, self.rank, line, b, &self.claimed) {
                let claimed = Set(self.claimed.iter().copied().collect());
                let found = reduction.contributors(self.progress.round, self.rank, line, b);
                let line = self.scene.schedule.lines[line as usize].clone();
                return Ok(Some(Problem::OtherContributors { rank: self.rank, line, block: b, claimed, found }));
            }
        }
        Ok(None)
    }

    /// A hint is a lemma for provers: true in every round.
    fn hints(&mut self, env: &mut Env<'_>, n: usize, l: &Loop) -> Result<(), Halt<Box<Violation>>> {
        for (i, hint) in l.hints.iter().enumerate() {
            let spot = SchedulePart::Hint(n, i);
            if !at(spot, env.holds(hint))? {
                let problem = Problem::FalseHint { rank: self.rank, hint: hint.to_string() };
                return Err(Halt::Stopped(Box::new(self.scene.violation(spot, Some(self.progress.round), problem))));
            }
        }
        Ok(())
    }

    /// The number of blocks held.
    fn held(&self, provenance: &Provenance) -> usize {
        match self.scene.schedule.kind.moves() {
            // Initially one block for every rank, plus those received, minus those sent.
            true => {
                let used = &self.progress.used;
                (self.scene.trace.p() as i64 + used.blocks_received - used.blocks_sent) as usize
            }
            false => provenance.count(self.rank, self.progress.round),
        }
    }

    /// Compares the claimed blocks with those held.
    fn blocks(&self) -> Option<Problem> {
        let Memory::Blocks(provenance) = self.memory else { return None };
        let rank = self.rank;
        let all_held = self.claimed.iter().all(|&block| provenance.holds(rank, block, self.progress.round));
        let mut seen = vec![false; provenance.blocks()];
        if let Some(&block) = self.claimed.iter().find(|&&block| std::mem::replace(&mut seen[block], true)) {
            return Some(Problem::ClaimedTwice { rank, block });
        }
        if all_held && self.claimed.len() == self.held(provenance) {
            return None;
        }
        let claimed = Set(self.claimed.iter().copied().collect());
        let held = Set(provenance.held(rank, self.progress.round));
        Some(Problem::OtherBlocks { rank, claimed, held })
    }
}

impl Walker for Invariant<'_, '_> {
    type Stop = Box<Violation>;

    fn round(&mut self, env: &mut Env<'_>, n: usize, l: &Loop) -> Result<(), Halt<Self::Stop>> {
        if !l.indices.is_empty() {
            self.all(env, n, l)?;
        }
        self.hints(env, n, l)?;
        self.progress.advance();
        Ok(())
    }

    fn settled(&mut self, env: &mut Env<'_>, n: usize, l: &Loop) -> Result<(), Halt<Self::Stop>> {
        self.all(env, n, l)
    }
}

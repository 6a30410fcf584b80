//! What ranks have after some stages of a sequence, as formulas.

use super::stage::Stage;
use crate::proving::smt::numbering::CyclicTerm;
use crate::proving::smt::obligations::{ProofContext, Step};
use crate::proving::smt::term::{Term, and, eq, int, ite, not, or};
use roundel_spec::Kind;

/// What the contract of the whole begins and ends with.
pub(super) struct Whole {
    pub(super) kind: Kind,
    /// The root; 0 if there is none.
    pub(super) root: Term,
}

impl Whole {
    /// That a rank has a block before the first stage; where contributions are reduced, its own.
    fn starts(&self, rank: &CyclicTerm, block: &str) -> Term {
        match self.kind {
            Kind::Allgather | Kind::Gather => eq(&rank.number, block),
            Kind::Broadcast | Kind::Scatter => eq(&rank.number, &self.root),
            _ => "true".into(),
        }
    }

    /// That a rank must have a block after the last stage.
    pub(super) fn ends(&self, rank: &CyclicTerm, block: &str) -> Term {
        match self.kind {
            Kind::ReduceScatter | Kind::Scatter => eq(&rank.number, block),
            Kind::Reduce | Kind::Gather => eq(&rank.number, &self.root),
            _ => "true".into(),
        }
    }
}

/// That two ranks are the same.
pub(super) fn is(a: &CyclicTerm, b: &CyclicTerm) -> Term {
    and([eq(&a.number, &b.number), eq(&a.seat, &b.seat)])
}

/// The name of a tree: the stage that made it, and a rank that stands for those to which it made the same.
#[derive(Clone)]
pub(super) struct TreeName {
    stage: Term,
    rank: CyclicTerm,
}

impl TreeName {
    fn of(stage: usize, rank: CyclicTerm) -> Self {
        TreeName { stage: int(stage as i64), rank }
    }

    fn choice(condition: &str, one: TreeName, other: TreeName) -> Self {
        let rank = CyclicTerm {
            number: ite(condition, &one.rank.number, &other.rank.number),
            seat: ite(condition, &one.rank.seat, &other.rank.seat),
        };
        TreeName { stage: ite(condition, &one.stage, &other.stage), rank }
    }

    /// That two trees have the same name.
    pub(super) fn same(&self, other: &TreeName) -> Term {
        and([eq(&self.stage, &other.stage), is(&self.rank, &other.rank)])
    }
}

/// What ranks have after some stages.
pub(super) struct Contents<'s> {
    pub(super) whole: &'s Whole,
    pub(super) stages: &'s [Stage<'s>],
}

impl<'s> Contents<'s> {
    fn before(&self) -> Option<(Contents<'s>, &'s Stage<'s>)> {
        let (last, earlier) = self.stages.split_last()?;
        Some((Contents { whole: self.whole, stages: earlier }, last))
    }

    /// That `x` has contributed to what a rank has of a block; where nothing is reduced, that the rank has it.
    pub(super) fn has(
        &self,
        frame: &mut ProofContext<'_>,
        rank: &CyclicTerm,
        block: &str,
        x: &CyclicTerm,
    ) -> Step<Term> {
        let Some((before, stage)) = self.before() else {
            return Ok(if self.whole.kind.reduces() { is(x, rank) } else { self.whole.starts(rank, block) });
        };
        let untouched = before.has(frame, rank, block, x)?;
        let runs = stage.runs_on(frame, rank, block)?;
        let here = match stage.kind.reduces() {
            true => and([stage.ends(rank, block), before.witnessed(frame, stage, rank, block, x)?]),
            false => {
                let (starts, ends) = (stage.starts(rank, block), stage.ends(rank, block));
                let comes = before.has(frame, &stage.source(rank, block), block, x)?;
                or([and([starts.clone(), untouched.clone()]), and([not(&starts), ends, comes])])
            }
        };
        Ok(or([and([runs.clone(), here]), and([not(&runs), untouched])]))
    }

    /// That the one member of a rank's group that may have the contribution of `x` has it.
    pub(super) fn witnessed(
        &self,
        frame: &mut ProofContext<'_>,
        stage: &Stage<'_>,
        rank: &CyclicTerm,
        block: &str,
        x: &CyclicTerm,
    ) -> Step<Term> {
        let witness = stage.witness(rank, x);
        let is_member = stage.is_member(&mut frame.cx, rank, &witness);
        Ok(and([is_member, self.has(frame, &witness, block, x)?]))
    }

    /// The name of the tree that a rank has of a block.
    pub(super) fn tree(&self, frame: &mut ProofContext<'_>, rank: &CyclicTerm, block: &str) -> Step<TreeName> {
        let Some((before, stage)) = self.before() else { return Ok(TreeName::of(0, rank.clone())) };
        let number = self.stages.len();
        let untouched = before.tree(frame, rank, block)?;
        let here = match stage.kind {
            Kind::Allreduce => TreeName::of(number, stage.first_member(rank)),
            kind if kind.reduces() => TreeName::of(number, rank.clone()),
            _ => {
                let comes = before.tree(frame, &stage.source(rank, block), block)?;
                TreeName::choice(&stage.starts(rank, block), untouched.clone(), comes)
            }
        };
        Ok(TreeName::choice(&stage.runs_on(frame, rank, block)?, here, untouched))
    }
}

//! The steps of all ranks in one call: rounds of messages and of local steps as plain data.
//!
//! A schedule describes each rank for every p; a [`Plan`] does so for one p and one set of parameters. It is recorded
//! from generated code ([`Plan::record`]) or made from [`Ports`](ports::Ports), the notation of ports and factors.
//! One rank's share of it is a [`RankPlan`], which is all that a rank needs to run.
//!
//! A plan shows all ranks at once, so optimisations that need all of them work on it: the [`passes`] remove or
//! rearrange messages and copies. A pass is never trusted: its result is [replayed](Plan::replay) like its input,
//! every slot of every rank against the specification.
//!
//! Memory consists of lines of blocks: the input (0), which is only read, the output (1), and working memory. The
//! output has a slot for every block; slots that are not part of the result are working memory, too.
//!
//! The MPI transport has its own plans, which are different: one rank's addresses and lengths for buffers of one
//! shape.
//!
//! ```
//! use roundel::algorithms::PrefixAllreduce;
//! use roundel::plan::Plan;
//!
//! let plan = Plan::record(&PrefixAllreduce, 11)?;
//! assert_eq!((plan.steps(), plan.sent(0)), (4, 5));
//! assert_eq!(plan.to_string().parse().as_ref(), Ok(&plan));
//! assert!(plan.replay().is_ok());
//! # Ok::<(), roundel::plan::Unplanned>(())
//! ```

mod fault;
pub mod listing;
pub mod order;
mod pairs;
pub mod part;
pub mod passes;
pub mod ports;
mod record;
mod replay;
mod sizes;
mod text;

pub use fault::PlanFault;
pub use part::{INPUT, Local, OUTPUT, RankPlan, SCRATCH, Slot, SlotMessage, Turn};
pub use record::Unplanned;
pub use sizes::cost;
pub use text::Malformed;

use roundel_spec::Kind;

/// The steps of all ranks in one call. With the feature `serde` it is serialised as its text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "String", try_from = "String"))]
pub struct Plan {
    /// The collective.
    pub kind: Kind,
    /// The number of ranks.
    pub p: usize,
    /// The root, or 0 for collectives without one.
    pub root: usize,
    /// The number of blocks in a line.
    pub blocks: usize,
    /// The number of lines of each rank's memory, input and output included.
    pub lines: usize,
    /// The rounds; each has one turn for every rank.
    pub rounds: Vec<Vec<Turn>>,
}

/// Why parts do not make a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// There are no parts.
    #[error("a plan needs the part of at least one rank")]
    Nobody,
    /// A part is not at the position of its rank.
    #[error("part {place} is that of rank {rank}: hand over the parts of ranks 0, 1, 2 and so on, each once")]
    Rank {
        /// Its position.
        place: usize,
        /// Its rank.
        rank: usize,
    },
    /// A part belongs to another call than the first one.
    #[error("the part of rank {rank} differs from that of rank 0 in {what}: make all parts from the same request")]
    Other {
        /// Its rank.
        rank: usize,
        /// The difference.
        what: &'static str,
    },
}

impl Plan {
    /// An empty plan.
    pub fn new(kind: Kind, p: usize, lines: usize, blocks: usize) -> Self {
        Plan { kind, p, root: 0, blocks, lines, rounds: Vec::new() }
    }

    /// The part of one rank; `None` if the rank does not exist.
    pub fn part(&self, rank: usize) -> Option<RankPlan> {
        let turns = self.rounds.iter().map(|round| round.get(rank).cloned().unwrap_or_default()).collect();
        let Plan { kind, p, root, blocks, lines, .. } = *self;
        (rank < p).then_some(RankPlan { kind, p, rank, root, blocks, lines, turns })
    }

    /// The parts of all ranks.
    pub fn parts(&self) -> Vec<RankPlan> {
        (0..self.p).filter_map(|rank| self.part(rank)).collect()
    }

    /// Joins the parts of all ranks, in the order of ranks. Lines that only some parts have stay unused by the
    /// others.
    ///
    /// # Errors
    /// If they are not the parts of all ranks of one call.
    pub fn from_parts(parts: Vec<RankPlan>) -> Result<Self, Mismatch> {
        let Some(first) = parts.first() else { return Err(Mismatch::Nobody) };
        let mut plan = Plan::new(first.kind, first.p, first.lines, first.blocks);
        plan.root = first.root;
        plan.rounds = vec![Vec::with_capacity(first.p); first.turns.len()];
        for (place, part) in parts.into_iter().enumerate() {
            plan.belongs(place, &part)?;
            plan.lines = plan.lines.max(part.lines);
            plan.rounds.iter_mut().zip(part.turns).for_each(|(round, turn)| round.push(turn));
        }
        Ok(plan)
    }

    /// Returns an error if a part is not the one that the plan needs next.
    fn belongs(&self, place: usize, part: &RankPlan) -> Result<(), Mismatch> {
        let same = [
            ("its kind", self.kind == part.kind),
            ("its number of ranks", self.p == part.p),
            ("its root", self.root == part.root),
            ("its number of blocks", self.blocks == part.blocks),
            ("its number of rounds", self.rounds.len() == part.turns.len()),
        ];
        match same.iter().find(|(_, same)| !same) {
            Some((what, _)) => Err(Mismatch::Other { rank: part.rank, what }),
            None if part.rank != place || place >= self.p => Err(Mismatch::Rank { place, rank: part.rank }),
            None => Ok(()),
        }
    }

    /// The number of blocks that a rank sends.
    pub fn sent(&self, rank: usize) -> usize {
        let turns = self.rounds.iter().filter_map(|round| round.get(rank));
        turns.flat_map(|turn| &turn.sends).map(|message| message.slots.len()).sum()
    }

    /// The number of rounds that have messages.
    pub fn steps(&self) -> usize {
        self.rounds.iter().filter(|round| round.iter().any(|turn| !turn.sends.is_empty())).count()
    }

    /// Changes the part of each rank separately.
    fn map_parts(&mut self, change: impl Fn(&mut RankPlan)) {
        let mut lines = SCRATCH as usize;
        for rank in 0..self.p {
            let Some(mut part) = self.part(rank) else { continue };
            change(&mut part);
            lines = lines.max(part.lines);
            for (round, turn) in self.rounds.iter_mut().zip(part.turns) {
                if let Some(place) = round.get_mut(rank) {
                    *place = turn;
                }
            }
        }
        self.lines = lines;
    }
}

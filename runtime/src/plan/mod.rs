//! What all ranks do in one call, written down: rounds of messages and of local steps as plain data.
//!
//! A schedule says what each rank does for every p; a [`Plan`] is that for one p and one set of parameters. It is
//! recorded from generated code ([`Plan::record`]) or made from [`Ports`](ports::Ports), the notation of numbers of
//! ports and factors. One rank's share of it is a [`RankPlan`], which is all that a rank needs to run.
//!
//! On a plan one can see all ranks at once, so this is where what only all of them together know is used: the
//! [`passes`] take away or rearrange messages and copies. A pass is never trusted: what it makes is
//! [replayed](Plan::replay) like what it was made from, every slot of every rank against the contract.
//!
//! Memory is lines of blocks: the input (0), which is only read, the output (1), and working memory. The output has a
//! slot for every block; what the contract does not promise of it is working memory, too.
//!
//! The MPI transport has plans of its own, which are something else: one rank's addresses and lengths for buffers of
//! one shape.
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

/// What all ranks do in one call. With the feature `serde` it is its text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "String", try_from = "String"))]
pub struct Plan {
    /// What it promises.
    pub kind: Kind,
    /// The number of ranks.
    pub p: usize,
    /// The root, where there is one, and 0 elsewhere.
    pub root: usize,
    /// The number of blocks of a line.
    pub blocks: usize,
    /// The number of lines of each rank's memory, input and output included.
    pub lines: usize,
    /// The rounds, and in each of them a turn for every rank.
    pub rounds: Vec<Vec<Turn>>,
}

/// Parts that make no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// There are none.
    #[error("a plan needs the part of at least one rank")]
    Nobody,
    /// One is not where its rank says.
    #[error("part {place} is that of rank {rank}: hand over the parts of ranks 0, 1, 2 and so on, each once")]
    Rank {
        /// Where it stands.
        place: usize,
        /// Whose it is.
        rank: usize,
    },
    /// One is of another call than the first one.
    #[error("the part of rank {rank} differs from that of rank 0 in {what}: make all parts from the same request")]
    Other {
        /// Whose it is.
        rank: usize,
        /// What is different.
        what: &'static str,
    },
}

impl Plan {
    /// A plan in which nothing happens.
    pub fn new(kind: Kind, p: usize, lines: usize, blocks: usize) -> Self {
        Plan { kind, p, root: 0, blocks, lines, rounds: Vec::new() }
    }

    /// One rank's share. There is none of a rank that does not exist.
    pub fn part(&self, rank: usize) -> Option<RankPlan> {
        let turns = self.rounds.iter().map(|round| round.get(rank).cloned().unwrap_or_default()).collect();
        let Plan { kind, p, root, blocks, lines, .. } = *self;
        (rank < p).then_some(RankPlan { kind, p, rank, root, blocks, lines, turns })
    }

    /// The shares of all ranks.
    pub fn parts(&self) -> Vec<RankPlan> {
        (0..self.p).filter_map(|rank| self.part(rank)).collect()
    }

    /// Puts the shares of all ranks together, in the order of ranks. Lines that only some of them have, the others do
    /// not use.
    ///
    /// # Errors
    /// When they are not the parts of all ranks of one call.
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

    /// Whether a part is the one that the plan needs next.
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

    /// How many blocks a rank sends.
    pub fn sent(&self, rank: usize) -> usize {
        let turns = self.rounds.iter().filter_map(|round| round.get(rank));
        turns.flat_map(|turn| &turn.sends).map(|message| message.slots.len()).sum()
    }

    /// How many rounds have messages.
    pub fn steps(&self) -> usize {
        self.rounds.iter().filter(|round| round.iter().any(|turn| !turn.sends.is_empty())).count()
    }

    /// Changes each rank's share by itself.
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

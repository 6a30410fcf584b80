//! Violations: what is wrong with a schedule, and the smallest case that shows it.

use crate::meaning::eval::EvalFault;
use crate::schedule::contract::ends;
use crate::schedule::message::Direction;
use crate::schedule::{Bound, BoundScope, SchedulePart};
use std::collections::BTreeSet;
use std::fmt;

/// A concrete call: one value for everything a schedule depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// The number of ranks.
    pub p: usize,
    /// Ranks per node, if the schedule depends on it.
    pub ppn: Option<usize>,
    /// The node of each rank, if `ppn` does not determine it.
    pub nodes: Option<Vec<usize>>,
    /// Parameters by name.
    pub params: Vec<(String, String)>,
    /// Whether blocks are pairs of ranks.
    pub pairs: bool,
}

impl Case {
    /// A block, for people: its number, or its source and destination.
    pub fn block(&self, block: usize) -> String {
        if !self.pairs {
            return block.to_string();
        }
        let (source, destination) = ends(block, self.p);
        format!("{source}->{destination}")
    }

    /// A list of blocks as text.
    fn blocks<'a>(&self, blocks: impl IntoIterator<Item = &'a usize>) -> String {
        blocks.into_iter().map(|&block| self.block(block)).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p = {}", self.p)?;
        match (&self.nodes, self.ppn) {
            (Some(nodes), _) => write!(f, ", nodes = {}", nodes_in_words(nodes))?,
            (None, Some(ppn)) => write!(f, ", ppn = {ppn}")?,
            (None, None) => {}
        }
        self.params.iter().try_for_each(|(name, value)| write!(f, ", {name} = {value}"))
    }
}

/// The ranks of each node: `{0}, {1..=3}`, or a full list if they are not consecutive.
pub fn nodes_in_words(nodes: &[usize]) -> String {
    let count = nodes.iter().max().map_or(0, |last| last + 1);
    let one = |node| {
        let ranks: Vec<usize> = (0..nodes.len()).filter(|&rank| nodes[rank] == node).collect();
        match (ranks.first(), ranks.last()) {
            (Some(first), Some(last)) if last - first + 1 == ranks.len() && ranks.len() > 2 => {
                format!("{{{first}..={last}}}")
            }
            _ => Set(ranks.into_iter().collect()).to_string(),
        }
    };
    (0..count).map(one).collect::<Vec<_>>().join(", ")
}

/// A set of blocks, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set(pub BTreeSet<usize>);

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items: Vec<String> = self.0.iter().map(usize::to_string).collect();
        write!(f, "{{{}}}", items.join(", "))
    }
}

/// What is wrong. Ranks, blocks and rounds are the smallest that show the problem.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Problem {
    /// An expression has no value.
    Fault { rank: usize, fault: EvalFault },
    /// A rank sends to itself or receives from itself.
    SelfMessage { rank: usize, direction: Direction },
    /// A send without a matching receive.
    UnmatchedSend { from: usize, to: usize, blocks: Vec<usize> },
    /// A receive without a matching send.
    UnmatchedRecv { to: usize, from: usize, blocks: Vec<usize> },
    /// A send and its receive name different blocks.
    DifferentBlocks { from: usize, to: usize, sent: Vec<usize>, expected: Vec<usize> },
    /// Several messages of one pair of ranks in the wrong order.
    Confused { from: usize, to: usize, sent: Vec<usize>, expected: Vec<usize> },
    /// A rank sends a block that it does not hold.
    Phantom { rank: usize, block: usize, held: Set },
    /// A block is sent twice in a round, although a message moves it.
    SentTwice { rank: usize, block: usize },
    /// A slot is written twice; `earlier` is the round of the first write, `None` for the initial content.
    WrittenTwice { rank: usize, block: usize, earlier: Option<usize> },
    /// A rank lacks a block at the end: the contract is not met.
    Missing { rank: usize, block: usize, held: Set },
    /// A bound is exceeded, or an exact one not met.
    Bound { bound: Box<Bound>, value: i64, found: i64, rank: Option<usize> },
    /// `holds` claims other blocks than those held.
    OtherBlocks { rank: usize, claimed: Set, held: Set },
    /// `holds` names a block twice.
    ClaimedTwice { rank: usize, block: usize },
    /// `holds` claims a wrong count.
    OtherCount { rank: usize, what: &'static str, claimed: i64, found: i64 },
    /// A fact of `holds` is false.
    FalseFact { rank: usize, fact: String },
    /// A `hint` is false.
    FalseHint { rank: usize, hint: String },
    /// An empty line is read.
    Empty { rank: usize, line: String, block: usize },
    /// A line that is not empty is filled.
    Overwritten { rank: usize, line: String, block: usize },
    /// The new value of a line lacks contributions of the old one.
    Forgets { rank: usize, line: String, block: usize },
    /// Another message of the same round reads or writes a value that is replaced.
    ReplacedInUse { rank: usize, line: String, block: usize },
    /// A contribution is reduced twice.
    CountedTwice { rank: usize, block: usize, contributor: usize },
    /// A contribution is missing at the end.
    Incomplete { rank: usize, block: usize, missing: usize, found: Set },
    /// Operands are not in rank order.
    OutOfOrder { rank: usize, block: usize },
    /// Two ranks reduce different trees.
    OtherTree { ranks: (usize, usize), block: usize },
    /// `holds` claims other contributors than the actual ones.
    OtherContributors { rank: usize, line: String, block: usize, claimed: Set, found: Set },
    /// The number of blocks is not the number of ranks, although every rank must end with a block of its own.
    NotABlockEach { found: usize },
    /// The domain admits a root that is not a rank.
    NoSuchRoot { root: usize },
    /// No point of the range lies in the domain: nothing was checked.
    NothingChecked { up_to: usize },
}

/// A fault of a schedule: what, where, and the smallest case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The part of the declaration at fault.
    pub spot: SchedulePart,
    /// The other clause that is involved: the send of a receive, or the receive that wrote a block first.
    pub other: Option<SchedulePart>,
    /// The case.
    pub case: Case,
    /// The round, counted from 0 over the whole run; `None` if the problem does not belong to a round. One past the
    /// last round means the end.
    pub round: Option<usize>,
    /// What is wrong.
    pub problem: Problem,
}

impl Violation {
    /// The same, with the other clause that is involved.
    pub fn against(self, other: SchedulePart) -> Self {
        Violation { other: Some(other), ..self }
    }

    /// The kind of violation as a machine-readable name.
    pub fn code(&self) -> &'static str {
        match self.problem {
            Problem::Fault { .. } => "domain",
            Problem::SelfMessage { .. } => "self-message",
            Problem::UnmatchedSend { .. } => "unmatched-send",
            Problem::UnmatchedRecv { .. } => "unmatched-recv",
            Problem::DifferentBlocks { .. } => "different-blocks",
            Problem::Confused { .. } => "confused-messages",
            Problem::Phantom { .. } => "phantom-data",
            Problem::SentTwice { .. } => "sent-twice",
            Problem::WrittenTwice { .. } => "written-twice",
            Problem::Missing { .. } => "coverage",
            Problem::Bound { .. } => "bound",
            Problem::OtherBlocks { .. }
            | Problem::ClaimedTwice { .. }
            | Problem::OtherCount { .. }
            | Problem::FalseFact { .. } => "holds",
            Problem::FalseHint { .. } => "hint",
            Problem::Empty { .. } => "empty-line",
            Problem::Overwritten { .. } | Problem::Forgets { .. } | Problem::ReplacedInUse { .. } => "overwritten",
            Problem::CountedTwice { .. } => "counted-twice",
            Problem::Incomplete { .. } => "coverage",
            Problem::OutOfOrder { .. } | Problem::OtherTree { .. } => "order",
            Problem::OtherContributors { .. } => "holds",
            Problem::NotABlockEach { .. } => "split",
            Problem::NoSuchRoot { .. } => "root",
            Problem::NothingChecked { .. } => "nothing-checked",
        }
    }

    fn headline(&self) -> String {
        let round = match self.round {
            Some(round) => format!("round {round}"),
            None => "the schedule".into(),
        };
        match &self.problem {
            Problem::Fault { fault: EvalFault::TooLong { .. }, .. } => "this is too long to be checked".into(),
            Problem::Fault { fault: EvalFault::NotTogether { .. }, .. } => {
                "only some members of a group run an inner collective".into()
            }
            Problem::Fault { .. } => "an expression has no value".into(),
            Problem::SelfMessage { direction: Direction::Send, .. } => {
                format!("{round} sends a message to its own rank")
            }
            Problem::SelfMessage { .. } => format!("{round} receives a message from its own rank"),
            Problem::UnmatchedSend { .. } => format!("{round} sends a message that nobody receives"),
            Problem::UnmatchedRecv { .. } => format!("{round} waits for a message that nobody sends"),
            Problem::DifferentBlocks { .. } => format!("{round} sends other blocks than the receiver expects"),
            Problem::Confused { .. } => {
                format!("{round} has messages of one pair of ranks that are taken for each other")
            }
            Problem::Phantom { .. } => format!("{round} sends a block the sender does not hold"),
            Problem::SentTwice { .. } => format!("{round} sends a block twice"),
            Problem::WrittenTwice { .. } => format!("{round} writes a block twice"),
            Problem::Missing { .. } => "a block never arrives".into(),
            Problem::Bound { bound, .. } => format!("the bound `{bound}` does not hold"),
            Problem::OtherBlocks { .. } | Problem::ClaimedTwice { .. } => {
                format!("`holds` is wrong before {round}")
            }
            Problem::OtherCount { what, .. } => format!("`holds` is wrong about {what} before {round}"),
            Problem::FalseFact { fact, .. } => format!("`holds` is wrong before {round}: `{fact}` is false"),
            Problem::FalseHint { hint, .. } => format!("the hint `{hint}` is false in {round}"),
            Problem::Empty { line, .. } => format!("{round} reads line `{line}` where it is empty"),
            Problem::Overwritten { line, .. } => format!("{round} writes line `{line}` where it is in use"),
            Problem::Forgets { line, .. } => format!("{round} replaces line `{line}` by less"),
            Problem::ReplacedInUse { line, .. } => format!("{round} replaces line `{line}` while it is in use"),
            Problem::CountedTwice { .. } => format!("{round} counts a contribution twice"),
            Problem::Incomplete { .. } => "a contribution is missing".into(),
            Problem::OutOfOrder { .. } => "the order of reduction is not the order of ranks".into(),
            Problem::OtherTree { .. } => "ranks reduce different trees".into(),
            Problem::OtherContributors { line, .. } => format!("`holds` is wrong about `{line}` before {round}"),
            Problem::NotABlockEach { .. } => "there is not one block for each rank".into(),
            Problem::NoSuchRoot { .. } => "the root is not a rank".into(),
            Problem::NothingChecked { .. } => "nothing could be checked".into(),
        }
    }

    fn details(&self) -> String {
        let one = |block: &usize| self.case.block(*block);
        let list = |blocks: &[usize]| self.case.blocks(blocks);
        let set = |blocks: &Set| format!("{{{}}}", self.case.blocks(&blocks.0));
        match &self.problem {
            Problem::Fault { rank, fault } => format!("on rank {rank} {fault}"),
            Problem::SelfMessage { rank, .. } => format!("the peer of rank {rank} is {rank}"),
            Problem::UnmatchedSend { from, to, blocks } => {
                format!("rank {from} sends [{}] to rank {to}, which has no receive for it", list(blocks))
            }
            Problem::UnmatchedRecv { to, from, blocks } => {
                format!("rank {to} expects [{}] from rank {from}, which does not send them", list(blocks))
            }
            Problem::DifferentBlocks { from, to, sent, expected } => {
                format!("rank {from} sends [{}] to rank {to}, which expects [{}]", list(sent), list(expected))
            }
            Problem::Confused { from, to, sent, expected } => format!(
                "rank {from} sends [{}] first and rank {to} takes it for [{}]; \
                 write the receives in the order of the sends",
                list(sent),
                list(expected)
            ),
            Problem::Phantom { rank, block, held } => {
                format!("rank {rank} holds {} but sends {}", set(held), one(block))
            }
            Problem::SentTwice { rank, block } => {
                format!("rank {rank} sends block {} twice, but the first message takes it along", one(block))
            }
            Problem::WrittenTwice { rank, block, earlier: None } => {
                format!("rank {rank} receives block {}, which it holds from the start", one(block))
            }
            Problem::WrittenTwice { rank, block, earlier } if *earlier == self.round => {
                format!("rank {rank} receives block {} twice in this round", one(block))
            }
            Problem::WrittenTwice { rank, block, earlier: Some(round) } => {
                format!("rank {rank} receives block {}, which it received in round {round}", one(block))
            }
            Problem::Missing { rank, block, held } => {
                format!("rank {rank} ends with {} and lacks block {}", set(held), one(block))
            }
            Problem::Bound { bound, value, found, rank: Some(rank) } => {
                let who = if bound.scope == BoundScope::Node { "the node of rank" } else { "rank" };
                format!("the bound is {value}, but {who} {rank} has {found}")
            }
            Problem::Bound { value, found, rank: None, .. } => {
                let round = self.round.map_or(String::new(), |round| format!("in round {round} "));
                format!("{round}the bound is {value}, but {found} was found")
            }
            Problem::OtherBlocks { rank, claimed, held } => {
                format!("rank {rank} holds {}, but `holds` says {}", set(held), set(claimed))
            }
            Problem::Empty { rank, line, block } => {
                format!("on rank {rank} block {block} of `{line}` holds nothing")
            }
            Problem::Overwritten { rank, line, block } => format!(
                "on rank {rank} block {block} of `{line}` holds something; write `combine` or `replaces`, or another \
                 line"
            ),
            Problem::Forgets { rank, line, block } => format!(
                "on rank {rank} block {block} of `{line}` has contributions that what arrives has not; write `combine`, or \
                 reduce all of them before"
            ),
            Problem::ReplacedInUse { rank, line, block } => format!(
                "on rank {rank} another message of the round uses block {block} of `{line}`; receive into another \
                 line, or in another round"
            ),
            Problem::CountedTwice { rank, block, contributor } => {
                format!("on rank {rank} block {block} gets the contribution of rank {contributor} a second time")
            }
            Problem::Incomplete { rank, block, missing, found } => {
                format!(
                    "rank {rank} ends with the contributions {found} to block {block} and lacks that of rank {missing}"
                )
            }
            Problem::OutOfOrder { rank, block } => {
                format!(
                    "on rank {rank} the operands of block {block} are not 0, 1, 2, …; swap `left` and `right`, or \
                     remove `rank_order`"
                )
            }
            Problem::OtherTree { ranks: (a, b), block } => {
                format!("ranks {a} and {b} reduce block {block} in different orders; remove `same_tree`")
            }
            Problem::OtherContributors { rank, block, claimed, found, .. } => {
                format!("on rank {rank} block {block} has {found}, but `holds` says {claimed}")
            }
            Problem::ClaimedTwice { rank, block } => format!("on rank {rank} it names block {} twice", one(block)),
            Problem::OtherCount { rank, claimed, found, .. } => {
                format!("on rank {rank} it says {claimed}, but {found} was found")
            }
            Problem::FalseFact { rank, .. } | Problem::FalseHint { rank, .. } => format!("on rank {rank}"),
            Problem::NotABlockEach { found } => {
                format!("the vector is split into {found} blocks; write `split(p)`, or nothing")
            }
            Problem::NoSuchRoot { root } => {
                format!("the domain admits root {root}; add `requires(root < p)`")
            }
            Problem::NothingChecked { up_to } => {
                format!("`requires` excludes every case up to p = {up_to}; widen it or raise `check`")
            }
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            Problem::NothingChecked { .. } => write!(f, "{}: {}", self.headline(), self.details()),
            _ => write!(f, "{}: with {}, {}", self.headline(), self.case, self.details()),
        }
    }
}

impl std::error::Error for Violation {}

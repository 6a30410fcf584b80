//! Highlights a violation: which rounds lead to it, and what a picture of them marks.

use crate::report::rounds::DrawnMessage;
use crate::report::run::PointRun;
use roundel_spec::Direction;
use roundel_spec::violation::Problem;
use roundel_spec::{Placement, Trace, Violation};

/// The fault in terms of a picture, which has a panel for the start and one for each round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Highlight {
    /// The number of rounds that lead to it.
    pub rounds: usize,
    /// The panel that shows it: 0 is the start, n + 1 is after round n.
    pub panel: usize,
    /// Ranks at fault.
    pub ranks: Vec<usize>,
    /// Messages at fault, by sender and receiver.
    pub messages: Vec<(usize, usize)>,
    /// A message that is expected but not sent.
    pub expected: Option<DrawnMessage>,
    /// Slots at fault, by rank and row.
    pub slots: Vec<(usize, usize)>,
}

impl Highlight {
    /// The highlight of a violation in the rounds of `trace`; `run` has the details.
    pub fn of(violation: &Violation, trace: &Trace, run: &PointRun<'_>, placement: &Placement) -> Self {
        let round = violation.round.filter(|&round| round < trace.rounds());
        let rounds = round.map_or(trace.rounds(), |round| round + 1);
        let in_round = Highlight { rounds, panel: rounds, ..Highlight::default() };
        // `holds` describes the state before a round.
        let before = violation.round.map_or(rounds, |round| round.min(trace.rounds()));
        let between = Highlight { rounds: before, panel: before, ..Highlight::default() };
        let slot = |rank: &usize, line: &str, block: &usize| vec![(*rank, run.row(line, *block))];
        let last = rounds.saturating_sub(1);
        let from = |rank: &usize, block: &usize| {
            sends(trace, last, |from, _, blocks| from == *rank && blocks.contains(block))
        };
        let to =
            |rank: &usize, block: &usize| sends(trace, last, |_, to, blocks| to == *rank && blocks.contains(block));
        match &violation.problem {
            Problem::SelfMessage { rank, .. } => in_round.on([*rank]).messages(vec![(*rank, *rank)]),
            Problem::UnmatchedSend { from, to, .. }
            | Problem::DifferentBlocks { from, to, .. }
            | Problem::Confused { from, to, .. } => in_round.on([*from, *to]).messages(vec![(*from, *to)]),
            Problem::UnmatchedRecv { to, from, blocks } => {
                let expected = Some(unsent(*from, *to, blocks, run, placement));
                Highlight { expected, ..in_round.on([*to, *from]) }
            }
            Problem::Phantom { rank, block, .. } | Problem::SentTwice { rank, block } => {
                in_round.on([*rank]).messages(from(rank, block)).slots(slot(rank, "", block))
            }
            Problem::WrittenTwice { rank, block, .. } | Problem::CountedTwice { rank, block, .. } => {
                in_round.on([*rank]).messages(to(rank, block)).slots(slot(rank, "", block))
            }
            Problem::Overwritten { rank, line, block }
            | Problem::Forgets { rank, line, block }
            | Problem::ReplacedInUse { rank, line, block } => {
                in_round.on([*rank]).messages(to(rank, block)).slots(slot(rank, line, block))
            }
            Problem::Missing { rank, block, .. }
            | Problem::Incomplete { rank, block, .. }
            | Problem::OutOfOrder { rank, block } => in_round.on([*rank]).slots(slot(rank, "", block)),
            Problem::Empty { rank, line, block } => in_round.on([*rank]).slots(slot(rank, line, block)),
            Problem::OtherTree { ranks: (a, b), block } => {
                in_round.on([*a, *b]).slots(vec![(*a, *block), (*b, *block)])
            }
            Problem::FalseHint { rank, .. } | Problem::Fault { rank, .. } => in_round.on([*rank]),
            Problem::Bound { rank, .. } => in_round.on(*rank),
            Problem::OtherBlocks { rank, claimed, held } => {
                let slots = claimed.0.symmetric_difference(&held.0).flat_map(|block| slot(rank, "", block));
                between.on([*rank]).slots(slots.collect())
            }
            Problem::ClaimedTwice { rank, block } => between.on([*rank]).slots(slot(rank, "", block)),
            Problem::OtherContributors { rank, line, block, .. } => {
                between.on([*rank]).slots(slot(rank, line, block))
            }
            Problem::OtherCount { rank, .. } | Problem::FalseFact { rank, .. } => between.on([*rank]),
            Problem::NotABlockEach { .. } | Problem::NoSuchRoot { .. } | Problem::NothingChecked { .. } => in_round,
        }
    }

    fn on(self, ranks: impl IntoIterator<Item = usize>) -> Self {
        Highlight { ranks: ranks.into_iter().collect(), ..self }
    }

    fn messages(self, messages: Vec<(usize, usize)>) -> Self {
        Highlight { messages, ..self }
    }

    fn slots(self, slots: Vec<(usize, usize)>) -> Self {
        Highlight { slots, ..self }
    }
}

/// The message that a receive waits for.
fn unsent(from: usize, to: usize, blocks: &[usize], run: &PointRun<'_>, placement: &Placement) -> DrawnMessage {
    let (nonlocal, naming, blocks) = (placement.nonlocal(from, to), run.naming(), blocks.to_vec());
    DrawnMessage { from, to, blocks, naming, contributors: None, nonlocal, effect: None }
}

/// The messages of a round that `wanted` picks, by sender, receiver and blocks.
fn sends(trace: &Trace, round: usize, wanted: impl Fn(usize, usize, &Vec<usize>) -> bool) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (from, log) in trace.ranks.iter().enumerate() {
        for message in log.directed(round, Direction::Send) {
            let blocks = log.blocks(message).iter().map(|&block| block as usize).collect();
            if wanted(from, message.peer, &blocks) {
                found.push((from, message.peer));
            }
        }
    }
    found
}

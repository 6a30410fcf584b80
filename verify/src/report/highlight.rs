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
        match &violation.problem {
            Problem::SelfMessage { rank, .. } => {
                Highlight { ranks: vec![*rank], messages: vec![(*rank, *rank)], ..in_round }
            }
            Problem::UnmatchedSend { from, to, .. }
            | Problem::DifferentBlocks { from, to, .. }
            | Problem::Confused { from, to, .. } => {
                Highlight { ranks: vec![*from, *to], messages: vec![(*from, *to)], ..in_round }
            }
            Problem::UnmatchedRecv { to, from, blocks } => {
                let nonlocal = placement.nonlocal(*from, *to);
                let (from, to, blocks) = (*from, *to, blocks.clone());
                let naming = run.naming();
                let expected =
                    Some(DrawnMessage { from, to, blocks, naming, contributors: None, nonlocal, effect: None });
                Highlight { ranks: vec![to, from], expected, ..in_round }
            }
            Problem::Phantom { rank, block, .. } | Problem::SentTwice { rank, block } => {
                let messages =
                    sends(trace, rounds.saturating_sub(1), |from, _, blocks| from == *rank && blocks.contains(block));
                Highlight { ranks: vec![*rank], messages, slots: vec![(*rank, run.row("", *block))], ..in_round }
            }
            Problem::WrittenTwice { rank, block, .. } => {
                let messages =
                    sends(trace, rounds.saturating_sub(1), |_, to, blocks| to == *rank && blocks.contains(block));
                Highlight { ranks: vec![*rank], messages, slots: vec![(*rank, run.row("", *block))], ..in_round }
            }
            Problem::Missing { rank, block, .. } => {
                Highlight { ranks: vec![*rank], slots: vec![(*rank, run.row("", *block))], ..in_round }
            }
            Problem::OtherBlocks { rank, claimed, held } => {
                let slots =
                    claimed.0.symmetric_difference(&held.0).map(|&block| (*rank, run.row("", block))).collect();
                Highlight { ranks: vec![*rank], slots, ..between }
            }
            Problem::ClaimedTwice { rank, block } => {
                Highlight { ranks: vec![*rank], slots: vec![(*rank, run.row("", *block))], ..between }
            }
            Problem::OtherCount { rank, .. } | Problem::FalseFact { rank, .. } => {
                Highlight { ranks: vec![*rank], ..between }
            }
            Problem::FalseHint { rank, .. } | Problem::Fault { rank, .. } => {
                Highlight { ranks: vec![*rank], ..in_round }
            }
            Problem::Bound { rank, .. } => Highlight { ranks: rank.iter().copied().collect(), ..in_round },
            Problem::Empty { rank, line, block } => {
                Highlight { ranks: vec![*rank], slots: vec![(*rank, run.row(line, *block))], ..in_round }
            }
            Problem::Overwritten { rank, line, block }
            | Problem::Forgets { rank, line, block }
            | Problem::ReplacedInUse { rank, line, block } => {
                let messages =
                    sends(trace, rounds.saturating_sub(1), |_, to, blocks| to == *rank && blocks.contains(block));
                Highlight { ranks: vec![*rank], messages, slots: vec![(*rank, run.row(line, *block))], ..in_round }
            }
            Problem::CountedTwice { rank, block, .. } => {
                let messages =
                    sends(trace, rounds.saturating_sub(1), |_, to, blocks| to == *rank && blocks.contains(block));
                Highlight { ranks: vec![*rank], messages, slots: vec![(*rank, run.row("", *block))], ..in_round }
            }
            Problem::Incomplete { rank, block, .. } | Problem::OutOfOrder { rank, block } => {
                Highlight { ranks: vec![*rank], slots: vec![(*rank, run.row("", *block))], ..in_round }
            }
            Problem::OtherTree { ranks: (a, b), block } => {
                Highlight { ranks: vec![*a, *b], slots: vec![(*a, *block), (*b, *block)], ..in_round }
            }
            Problem::OtherContributors { rank, line, block, .. } => {
                Highlight { ranks: vec![*rank], slots: vec![(*rank, run.row(line, *block))], ..between }
            }
            Problem::NotABlockEach { .. } | Problem::NoSuchRoot { .. } | Problem::NothingChecked { .. } => in_round,
        }
    }
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

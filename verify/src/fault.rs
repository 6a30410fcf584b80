//! Where a violation shows: which rounds lead to it, and what a picture of them marks.

use crate::rounds::Message;
use crate::run::Run;
use roundel_spec::record::Direction;
use roundel_spec::violation::Problem;
use roundel_spec::{Placement, Trace, Violation};

/// What is at fault, in terms of a picture: a panel for the start and one for each round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// How many rounds lead to it.
    pub rounds: usize,
    /// The panel that shows it: 0 is the start, n + 1 is after round n.
    pub panel: usize,
    /// Ranks at fault.
    pub ranks: Vec<usize>,
    /// Messages at fault, by sender and receiver.
    pub messages: Vec<(usize, usize)>,
    /// A message that is expected and that nobody sends.
    pub expected: Option<Message>,
    /// Slots at fault, by rank and row.
    pub slots: Vec<(usize, usize)>,
}

impl Fault {
    /// The fault that a violation is, in the rounds of `trace`, of which `run` tells more.
    pub fn of(violation: &Violation, trace: &Trace, run: &Run<'_>, placement: &Placement) -> Self {
        let round = violation.round.filter(|&round| round < trace.rounds());
        let rounds = round.map_or(trace.rounds(), |round| round + 1);
        let in_round = Fault { rounds, panel: rounds, ..Fault::default() };
        // `holds` speaks of what is true before a round.
        let before = violation.round.map_or(rounds, |round| round.min(trace.rounds()));
        let between = Fault { rounds: before, panel: before, ..Fault::default() };
        match &violation.problem {
            Problem::SelfMessage { rank, .. } => {
                Fault { ranks: vec![*rank], messages: vec![(*rank, *rank)], ..in_round }
            }
            Problem::UnmatchedSend { from, to, .. }
            | Problem::DifferentBlocks { from, to, .. }
            | Problem::Confused { from, to, .. } => {
                Fault { ranks: vec![*from, *to], messages: vec![(*from, *to)], ..in_round }
            }
            Problem::UnmatchedRecv { to, from, blocks } => {
                let nonlocal = placement.nonlocal(*from, *to);
                let (from, to, blocks) = (*from, *to, blocks.clone());
                let naming = run.naming();
                let expected = Some(Message { from, to, blocks, naming, contributors: None, nonlocal, effect: None });
                Fault { ranks: vec![to, from], expected, ..in_round }
            }
            Problem::Phantom { rank, block, .. } | Problem::SentTwice { rank, block } => {
                let messages =
                    sends(trace, rounds.saturating_sub(1), |from, _, blocks| from == *rank && blocks.contains(block));
                Fault { ranks: vec![*rank], messages, slots: vec![(*rank, run.row("", *block))], ..in_round }
            }
            Problem::WrittenTwice { rank, block, .. } => {
                let messages =
                    sends(trace, rounds.saturating_sub(1), |_, to, blocks| to == *rank && blocks.contains(block));
                Fault { ranks: vec![*rank], messages, slots: vec![(*rank, run.row("", *block))], ..in_round }
            }
            Problem::Missing { rank, block, .. } => {
                Fault { ranks: vec![*rank], slots: vec![(*rank, run.row("", *block))], ..in_round }
            }
            Problem::OtherBlocks { rank, claimed, held } => {
                let slots =
                    claimed.0.symmetric_difference(&held.0).map(|&block| (*rank, run.row("", block))).collect();
                Fault { ranks: vec![*rank], slots, ..between }
            }
            Problem::ClaimedTwice { rank, block } => {
                Fault { ranks: vec![*rank], slots: vec![(*rank, run.row("", *block))], ..between }
            }
            Problem::OtherCount { rank, .. } | Problem::FalseFact { rank, .. } => {
                Fault { ranks: vec![*rank], ..between }
            }
            Problem::FalseHint { rank, .. } | Problem::Fault { rank, .. } => Fault { ranks: vec![*rank], ..in_round },
            Problem::Bound { rank, .. } => Fault { ranks: rank.iter().copied().collect(), ..in_round },
            Problem::Empty { rank, line, block } => {
                Fault { ranks: vec![*rank], slots: vec![(*rank, run.row(line, *block))], ..in_round }
            }
            Problem::Overwritten { rank, line, block }
            | Problem::Forgets { rank, line, block }
            | Problem::ReplacedInUse { rank, line, block } => {
                let messages =
                    sends(trace, rounds.saturating_sub(1), |_, to, blocks| to == *rank && blocks.contains(block));
                Fault { ranks: vec![*rank], messages, slots: vec![(*rank, run.row(line, *block))], ..in_round }
            }
            Problem::CountedTwice { rank, block, .. } => {
                let messages =
                    sends(trace, rounds.saturating_sub(1), |_, to, blocks| to == *rank && blocks.contains(block));
                Fault { ranks: vec![*rank], messages, slots: vec![(*rank, run.row("", *block))], ..in_round }
            }
            Problem::Incomplete { rank, block, .. } | Problem::OutOfOrder { rank, block } => {
                Fault { ranks: vec![*rank], slots: vec![(*rank, run.row("", *block))], ..in_round }
            }
            Problem::OtherTree { ranks: (a, b), block } => {
                Fault { ranks: vec![*a, *b], slots: vec![(*a, *block), (*b, *block)], ..in_round }
            }
            Problem::OtherContributors { rank, line, block, .. } => {
                Fault { ranks: vec![*rank], slots: vec![(*rank, run.row(line, *block))], ..between }
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

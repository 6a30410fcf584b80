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
        let problem = &violation.problem;
        of_messages(problem, trace, run, placement, &in_round)
            .or_else(|| of_contents(problem, run, &in_round))
            .or_else(|| of_claims(problem, run, &between))
            .unwrap_or(in_round)
    }
}

/// The row of a slot, on a rank.
fn slot(run: &PointRun<'_>, rank: usize, line: &str, block: usize) -> Vec<(usize, usize)> {
    vec![(rank, run.row(line, block))]
}

/// Problems with the messages of a round.
fn of_messages(
    problem: &Problem,
    trace: &Trace,
    run: &PointRun<'_>,
    placement: &Placement,
    in_round: &Highlight,
) -> Option<Highlight> {
    let last = in_round.rounds.saturating_sub(1);
    let from =
        |rank: &usize, block: &usize| sends(trace, last, |from, _, blocks| from == *rank && blocks.contains(block));
    let to = |rank: &usize, block: &usize| sends(trace, last, |_, to, blocks| to == *rank && blocks.contains(block));
    let (ranks, messages, expected, slots) = match problem {
        Problem::SelfMessage { rank, .. } => (vec![*rank], vec![(*rank, *rank)], None, Vec::new()),
        Problem::UnmatchedSend { from, to, .. }
        | Problem::DifferentBlocks { from, to, .. }
        | Problem::Confused { from, to, .. } => (vec![*from, *to], vec![(*from, *to)], None, Vec::new()),
        Problem::UnmatchedRecv { to, from, blocks } => {
            let expected = unsent(*from, *to, blocks, run, placement);
            (vec![*to, *from], Vec::new(), Some(expected), Vec::new())
        }
        Problem::Phantom { rank, block, .. } | Problem::SentTwice { rank, block } => {
            (vec![*rank], from(rank, block), None, slot(run, *rank, "", *block))
        }
        Problem::WrittenTwice { rank, block, .. } | Problem::CountedTwice { rank, block, .. } => {
            (vec![*rank], to(rank, block), None, slot(run, *rank, "", *block))
        }
        Problem::Overwritten { rank, line, block }
        | Problem::Forgets { rank, line, block }
        | Problem::ReplacedInUse { rank, line, block } => {
            (vec![*rank], to(rank, block), None, slot(run, *rank, line, *block))
        }
        _ => return None,
    };
    Some(Highlight { ranks, messages, expected, slots, ..in_round.clone() })
}

/// Problems with what ranks hold after a round.
fn of_contents(problem: &Problem, run: &PointRun<'_>, in_round: &Highlight) -> Option<Highlight> {
    let (ranks, slots) = match problem {
        Problem::Missing { rank, block, .. }
        | Problem::Incomplete { rank, block, .. }
        | Problem::OutOfOrder { rank, block } => (vec![*rank], slot(run, *rank, "", *block)),
        Problem::Empty { rank, line, block } => (vec![*rank], slot(run, *rank, line, *block)),
        Problem::OtherTree { ranks: (a, b), block } => (vec![*a, *b], vec![(*a, *block), (*b, *block)]),
        Problem::FalseHint { rank, .. } | Problem::Fault { rank, .. } => (vec![*rank], Vec::new()),
        Problem::Bound { rank, .. } => (rank.iter().copied().collect(), Vec::new()),
        _ => return None,
    };
    Some(Highlight { ranks, slots, ..in_round.clone() })
}

/// Problems with what `holds` claims before a round.
fn of_claims(problem: &Problem, run: &PointRun<'_>, between: &Highlight) -> Option<Highlight> {
    let (rank, slots) = match problem {
        Problem::OtherBlocks { rank, claimed, held } => {
            let different = claimed.0.symmetric_difference(&held.0);
            (rank, different.flat_map(|block| slot(run, *rank, "", *block)).collect())
        }
        Problem::ClaimedTwice { rank, block } => (rank, slot(run, *rank, "", *block)),
        Problem::OtherContributors { rank, line, block, .. } => (rank, slot(run, *rank, line, *block)),
        Problem::OtherCount { rank, .. } | Problem::FalseFact { rank, .. } => (rank, Vec::new()),
        _ => return None,
    };
    Some(Highlight { ranks: vec![*rank], slots, ..between.clone() })
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

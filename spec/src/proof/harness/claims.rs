//! The claims of a schedule's harnesses: whether a single round can be checked on its own, and which facts and bounds
//! are claimed. The derive uses this when it emits harnesses, and so do the mutants on which the bodies are tested.

use crate::check::{self, Point, Points};
use crate::schedule::contract::Kind;
use crate::schedule::expr::Expr;
use crate::schedule::message::Direction;
use crate::schedule::{Bound, BoundScope, Hold, Loop, Schedule, State, Transfer};
use crate::trace::record::{Message, Trace};

/// Whether a schedule has harnesses: their bodies follow blocks, not contributions, and no inner collectives.
pub fn has_harnesses(schedule: &Schedule) -> bool {
    schedule.kind == Kind::Allgather && schedule.inners.is_empty()
}

/// The facts of `holds`.
pub fn facts(l: &Loop) -> impl Iterator<Item = &Expr> {
    l.holds.iter().filter_map(|hold| match hold {
        Hold::Fact(fact) => Some(fact),
        _ => None,
    })
}

/// Whether a single round can be checked on its own: it has one index at most, a fact about every state, and as many
/// receives as sends.
pub fn has_steps(schedule: &Schedule) -> bool {
    !schedule.uses_placement()
        && schedule.loops.iter().all(|l| {
            let with_fact = |state: &State| facts(l).any(|fact| fact.mentions(state.var.slot));
            let sends = l.transfers.iter().filter(|t| t.direction == Direction::Send).count();
            l.indices.len() <= 1 && l.states.iter().all(with_fact) && 2 * sends == l.transfers.len() && paired(l)
        })
        && meet_in_order(schedule)
}

/// Whether the k-th send clause matches the k-th receive clause, message by message. Only small p are tried, for which
/// the declaration has been checked. Another pairing may be correct as well, but a single round does not claim it.
fn meet_in_order(schedule: &Schedule) -> bool {
    let most = usize::try_from(schedule.limits.p).unwrap_or(1).max(1);
    let admitted = |point: &Point| check::in_domain(schedule, point).unwrap_or(false);
    let meets = |point: Point| {
        check::record_schedule(schedule, &point).is_ok_and(|trace| trace_meets_in_order(schedule, &trace))
    };
    let points = Points::new(schedule, 1..=most.min(9));
    let mut small = points.iter().take(60).filter(admitted).peekable();
    if small.peek().is_some() {
        return small.all(meets);
    }
    // The domain begins at larger p.
    Points::new(schedule, most.min(10)..=most).iter().filter(admitted).take(3).all(meets)
}

fn trace_meets_in_order(schedule: &Schedule, trace: &Trace) -> bool {
    let clauses = |direction| schedule.transfers().filter(move |t| t.direction == direction).map(|t| t.site);
    let clause = |message: &Message| clauses(message.direction).position(|site| site == message.site);
    // The clause, and the number of the message within it in this round.
    let label = |rank: usize, round: usize, message: &Message| {
        let earlier = trace.ranks[rank].round(round).iter().take_while(|other| !std::ptr::eq(*other, message));
        (clause(message), earlier.filter(|other| other.site == message.site).count())
    };
    let labels = |from: usize, to: usize, round: usize, direction| {
        let (rank, peer) = if direction == Direction::Send { (from, to) } else { (to, from) };
        let messages = trace.ranks[rank].directed(round, direction).filter(move |message| message.peer == peer);
        messages.map(|message| label(rank, round, message)).collect::<Vec<_>>()
    };
    let pairs = || (0..trace.p()).flat_map(|from| (0..trace.p()).map(move |to| (from, to)));
    (0..trace.rounds()).all(|round| {
        pairs().all(|(from, to)| labels(from, to, round, Direction::Send) == labels(from, to, round, Direction::Recv))
    })
}

/// The k-th send paired with the k-th receive, as a single round claims.
pub fn pairs(l: &Loop) -> impl Iterator<Item = (&Transfer, &Transfer)> {
    let of = |direction| l.transfers.iter().filter(move |t| t.direction == direction);
    of(Direction::Send).zip(of(Direction::Recv))
}

/// Whether the two clauses of each pair have equally many indices.
fn paired(l: &Loop) -> bool {
    pairs(l).all(|(send, recv)| send.each.len() == recv.each.len())
}

/// The relation that a bound claims for every rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It has exactly this value.
    Met,
    /// It has at most this value.
    Kept,
}

/// The relation that a bound claims; `None` if the rounds of a single rank cannot decide it. Here, rounds are those in
/// which the rank has a message, which may be fewer than all.
pub fn claimed(bound: &Bound) -> Option<Relation> {
    let each = bound.exact && bound.scope == BoundScope::Each && !bound.metric.counts_rounds();
    match bound.scope {
        BoundScope::PerRound(_) | BoundScope::Node => None,
        _ if bound.metric.is_nonlocal() => None,
        _ if each => Some(Relation::Met),
        _ => Some(Relation::Kept),
    }
}

//! Rule 2: each send matches exactly one receive of the same round, with the same blocks in the same order, and vice
//! versa. Several messages of one pair in one round match in the order of their clauses.

use super::CheckInput;
use crate::check::violation::{Problem, Violation};
use crate::meaning::arith;
use crate::meaning::eval::{self, Env, EvalFault, Halt, Walker};
use crate::schedule::message::Direction;
use crate::schedule::message::Site;
use crate::schedule::{Field, Loop, SchedulePart, Transfer};
use crate::trace::record::Message;

/// Checks one round.
pub fn check(scene: &CheckInput<'_>, round: usize) -> Result<(), Violation> {
    for from in 0..scene.trace.p() {
        for sent in scene.trace.ranks[from].directed(round, Direction::Send) {
            check_pair(scene, round, from, sent.peer)?;
        }
    }
    // A pair with receives only is found from the receiver's side.
    for to in 0..scene.trace.p() {
        for received in scene.trace.ranks[to].directed(round, Direction::Recv) {
            if between(scene, round, received.peer, to, Direction::Send).next().is_none() {
                return Err(unmatched_recv(scene, round, to, received));
            }
        }
    }
    Ok(())
}

/// The messages from `from` to `to`, as the sender or as the receiver sees them.
fn between<'a>(
    scene: &'a CheckInput<'_>,
    round: usize,
    from: usize,
    to: usize,
    side: Direction,
) -> impl Iterator<Item = &'a Message> {
    let (log, peer) = match side {
        Direction::Send => (&scene.trace.ranks[from], to),
        Direction::Recv => (&scene.trace.ranks[to], from),
    };
    log.directed(round, side).filter(move |message| message.peer == peer)
}

fn check_pair(scene: &CheckInput<'_>, round: usize, from: usize, to: usize) -> Result<(), Violation> {
    let mut sends = between(scene, round, from, to, Direction::Send);
    let mut recvs = between(scene, round, from, to, Direction::Recv);
    loop {
        match (sends.next(), recvs.next()) {
            (None, None) => return Ok(()),
            (Some(sent), None) => {
                if let Some(site) = empty_recv(scene, round, from, to) {
                    let (clause, sent) = (sent.site, blocks(scene, from, sent));
                    let problem = Problem::DifferentBlocks { from, to, sent, expected: Vec::new() };
                    let spot = SchedulePart::Transfer(site, Field::Blocks);
                    return Err(scene.violation(spot, Some(round), problem).against(whole(clause)));
                }
                let problem = Problem::UnmatchedSend { from, to, blocks: blocks(scene, from, sent) };
                return Err(scene.violation(SchedulePart::Transfer(sent.site, Field::Whole), Some(round), problem));
            }
            (None, Some(received)) => return Err(unmatched_recv(scene, round, to, received)),
            (Some(sent), Some(received)) => {
                if raw(scene, from, sent) != raw(scene, to, received) {
                    return Err(different(scene, round, (from, to), sent, received));
                }
            }
        }
    }
}

fn raw<'a>(scene: &'a CheckInput<'_>, rank: usize, message: &Message) -> &'a [u32] {
    scene.trace.ranks[rank].blocks(message)
}

fn blocks(scene: &CheckInput<'_>, rank: usize, message: &Message) -> Vec<usize> {
    raw(scene, rank, message).iter().map(|&block| block as usize).collect()
}

fn unmatched_recv(scene: &CheckInput<'_>, round: usize, to: usize, received: &Message) -> Violation {
    let problem = Problem::UnmatchedRecv { to, from: received.peer, blocks: blocks(scene, to, received) };
    scene.violation(SchedulePart::Transfer(received.site, Field::Whole), Some(round), problem)
}

/// Reports two messages that should match: either their order is wrong, or they really differ.
fn different(
    scene: &CheckInput<'_>,
    round: usize,
    (from, to): (usize, usize),
    sent: &Message,
    received: &Message,
) -> Violation {
    let mut all_sent: Vec<_> =
        between(scene, round, from, to, Direction::Send).map(|m| raw(scene, from, m)).collect();
    let mut all_received: Vec<_> =
        between(scene, round, from, to, Direction::Recv).map(|m| raw(scene, to, m)).collect();
    all_sent.sort_unstable();
    all_received.sort_unstable();
    let (sent_blocks, expected) = (blocks(scene, from, sent), blocks(scene, to, received));
    if all_sent == all_received {
        let problem = Problem::Confused { from, to, sent: sent_blocks, expected };
        return scene.violation(whole(received.site), Some(round), problem).against(whole(sent.site));
    }
    let problem = Problem::DifferentBlocks { from, to, sent: sent_blocks, expected };
    let spot = SchedulePart::Transfer(received.site, Field::Blocks);
    scene.violation(spot, Some(round), problem).against(whole(sent.site))
}

fn whole(site: Site) -> SchedulePart {
    SchedulePart::Transfer(site, Field::Whole)
}

/// The receive of `to` that is meant for a message of `from` in this round but names no block: the receive is at fault,
/// not the send.
fn empty_recv(scene: &CheckInput<'_>, round: usize, from: usize, to: usize) -> Option<Site> {
    // The rounds of inner collectives are not counted here.
    if scene.schedule.loops.iter().any(|l| !l.within.is_empty()) {
        return None;
    }
    let at = scene.point.placement.place(to);
    let mut search = EmptyRecv { rounds_before: round, from: from as i64, p: at.p };
    match eval::walk(&mut Env::new(scene.schedule, &scene.point.args, &at), &mut search) {
        Err(Halt::Stopped(found)) => found,
        _ => None,
    }
}

/// Runs up to a round, and stops with the receive found there.
struct EmptyRecv {
    rounds_before: usize,
    from: i64,
    p: i64,
}

impl EmptyRecv {
    fn is_meant(&self, env: &mut Env<'_>, t: &Transfer) -> Result<bool, EvalFault> {
        if let Some(when) = &t.when
            && !env.holds(when)?
        {
            return Ok(false);
        }
        let mut blocks = Vec::new();
        env.blocks(&t.blocks, &mut blocks)?;
        Ok(blocks.is_empty() && arith::wrap(env.eval(&t.peer)?, self.p) == self.from)
    }
}

impl Walker for EmptyRecv {
    type Stop = Option<Site>;

    fn round(&mut self, env: &mut Env<'_>, _n: usize, l: &Loop) -> Result<(), Halt<Self::Stop>> {
        if self.rounds_before > 0 {
            self.rounds_before -= 1;
            return Ok(());
        }
        let mut found = None;
        for t in l.transfers.iter().filter(|t| t.direction == Direction::Recv) {
            // An expression without a value is reported elsewhere.
            let _ = env.over(&t.each, &mut |env| {
                if self.is_meant(env, t)? {
                    found.get_or_insert(t.site);
                }
                Ok::<(), EvalFault>(())
            });
        }
        Err(Halt::Stopped(found))
    }

    fn settled(&mut self, _env: &mut Env<'_>, _n: usize, _l: &Loop) -> Result<(), Halt<Self::Stop>> {
        Ok(())
    }
}

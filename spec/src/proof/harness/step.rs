//! One arbitrary round: every send has a matching receive, and no function panics.
//!
//! There is no loop, so p may be large: the k-th send clause is compared with the k-th receive clause, for the same
//! values of the round's variables and of the clause's own indices, as in the proofs for all p.

use super::{Ask, FULL, Probe, STEP, Stop, Verdict, assume, claim, cover, place, shim};
use crate::meaning::place::Place;
use crate::meaning::stripes::{Blocks, Stripe};

/// A message, as one rank sees it.
#[derive(Clone, Debug)]
pub struct StepMessage<B> {
    /// The other rank.
    pub peer: usize,
    /// Its blocks.
    pub blocks: B,
}

/// The message, if there is a block in it.
#[inline]
pub fn message<B: Blocks>(blocks: B, peer: impl FnOnce() -> usize) -> Option<StepMessage<B>> {
    if blocks.none() { None } else { Some(StepMessage { peer: peer(), blocks }) }
}

/// Whether two block sets contain the same blocks in the same order.
pub(super) fn same(a: &impl Blocks, b: &impl Blocks) -> bool {
    match (a.as_stripe(), b.as_stripe()) {
        (Some(a), Some(b)) => same_stripe(&a, &b),
        _ => a.each().eq(b.each()),
    }
}

fn same_stripe(a: &Stripe, b: &Stripe) -> bool {
    a.len() == b.len() && a.first() == b.first() && (a.len() < 2 || a.step() == b.step())
}

/// The place of the peer of my message, if there is a message.
///
/// # Errors
/// Returns what is wrong with the peer.
pub fn peer<B>(at: &Place, mine: Option<&StepMessage<B>>) -> Result<Option<Place<'static>>, Stop> {
    let Some(mine) = mine else { return Ok(None) };
    cover!(true, "there is a message");
    let peer = mine.peer as i64;
    claim!(peer < at.p, "the peer is a rank");
    claim!(peer != at.rank, "the peer is another rank");
    Ok(Some(Place::flat(peer, at.p)))
}

/// Claims that my message has its counterpart among those of its [`peer`]: `theirs`, if there is one.
///
/// # Errors
/// Returns what is wrong with the message.
pub fn matched<A: Blocks, B: Blocks>(
    at: &Place,
    mine: Option<StepMessage<A>>,
    theirs: Option<StepMessage<B>>,
) -> Verdict {
    let Some(mine) = mine else { return Ok(()) };
    let Some(theirs) = theirs else {
        claim!(false, "the peer has the counterpart");
        return Ok(());
    };
    claim!(theirs.peer as i64 == at.rank, "the counterpart names this rank");
    claim!(same(&mine.blocks, &theirs.blocks), "both carry the same blocks in the same order");
    Ok(())
}

/// Claims that a message names only valid ranks, and only blocks below `blocks`.
///
/// # Errors
/// Returns what is wrong with the message.
pub fn valid<B: Blocks>(at: &Place, blocks: i64, message: Option<StepMessage<B>>) -> Verdict {
    let Some(message) = message else { return Ok(()) };
    cover!(true, "there is a message");
    claim!((message.peer as i64) < at.p, "the peer is a rank");
    if let Some(stripe) = message.blocks.as_stripe() {
        claim!((stripe.first() as i64) < blocks && (stripe.step() as i64) < blocks, "blocks lie in their range");
    }
    Ok(())
}

fn step<C: Probe>(ask: Ask) -> Verdict {
    let at = place(shim::width(STEP))?;
    let collective = C::sample()?;
    assume(collective.admits(&at).is_ok())?;
    collective.round(&at, ask, STEP)
}

/// Claims that every send of an arbitrary round has a matching receive.
pub fn sends_match<C: Probe>() -> Verdict {
    step::<C>(Ask::Sends)
}

/// Claims that every receive of an arbitrary round has a matching send.
pub fn receives_match<C: Probe>() -> Verdict {
    step::<C>(Ask::Receives)
}

/// Claims that no generated function panics or overflows, for any p below 2^31.
pub fn functions<C: Probe>() -> Verdict {
    let at = place(shim::width(FULL))?;
    let collective = C::any(FULL)?;
    assume(collective.admits(&at).is_ok())?;
    let _ = collective.rotation(&at);
    collective.round(&at, Ask::Functions, FULL)
}

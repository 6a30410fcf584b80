//! The sets of `holds`, for one arbitrary element: a round makes of them what the next round finds.
//!
//! What a rank holds before a round is what `holds` says; nothing is executed, so there is no loop over ranks, rounds
//! or blocks, and p may be large. An [`Element`] is one block, or one rank's contribution to one block, and what is
//! claimed is how often a rank has it. So a contribution that is reduced twice and a block that arrives twice are
//! found, wherever they come from. Neither written nor found sets are trusted: they are what the contract says before
//! the first round, every round keeps them, and after the last round they fulfil the contract.

use super::step::{StepMessage, same};
use super::{NODES, Probe, SETS, SETS_MOST, Stop, Verdict, assume, claim, cover, draw, pick};
use crate::meaning::arith;
use crate::meaning::collective::Collective;
use crate::meaning::place::Place;
use crate::meaning::stripes::Stripe;
use crate::schedule::message::{Action, Site};

/// The largest number of lines that a reduction with this harness may have.
pub const LINES: usize = 4;

/// How often a rank has an element, in each line.
pub type Counts = [i64; LINES];

/// One block, or one rank's contribution to one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// The rank that contributes; the source of a block of an all-to-all.
    pub rank: i64,
    /// The block; its destination in an all-to-all.
    pub block: i64,
    /// The node of the rank that contributes, or of the rank to which the block belongs.
    pub node: i64,
}

/// A message, as far as an element is concerned.
#[derive(Clone, Copy, Debug)]
pub struct Carried {
    /// The other rank.
    pub peer: i64,
    /// How often the message names the block.
    pub times: i64,
    /// The blocks, if they are one stripe.
    pub stripe: Option<Stripe>,
}

/// What the counterpart of a receive brings.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The message, as its sender sees it.
    pub message: Carried,
    /// How often the sender has the element.
    pub held: i64,
}

/// How often a progression names a number: `first`, `first + 1`, …, or downwards. The position where it does is passed
/// to `counts`, which may refuse it.
///
/// # Errors
/// Returns an error if the progression names a number twice.
#[inline]
pub fn times(
    number: i64,
    count: i64,
    modulus: i64,
    downwards: bool,
    first: impl FnOnce() -> i64,
    counts: impl FnOnce(i64) -> bool,
) -> Result<i64, Stop> {
    claim!(count <= modulus, "a set names nothing twice");
    if count <= 0 {
        return Ok(0);
    }
    let first = arith::wrap(first(), modulus);
    let position = arith::wrap(if downwards { first - number } else { number - first }, modulus);
    Ok((position < count && counts(position)) as i64)
}

/// How often a set `[k; k in lo..hi, …]` names a number.
///
/// # Errors
/// Returns an error if the numbers would wrap around.
#[inline]
pub fn among(number: i64, lo: i64, hi: i64, modulus: i64, counts: impl FnOnce(i64) -> bool) -> Result<i64, Stop> {
    claim!(lo >= hi || 0 <= lo && hi <= modulus, "a set names nothing twice");
    Ok((lo <= number && number < hi && counts(number)) as i64)
}

/// What a message with one stripe of blocks means for a block.
///
/// # Errors
/// Returns an error if the message names a block twice.
pub fn carried(message: Option<StepMessage<Stripe>>, block: i64, modulus: i64) -> Result<Option<Carried>, Stop> {
    let Some(message) = message else { return Ok(None) };
    let stripe = message.blocks;
    let count = stripe.len() as i64;
    claim!(count == 1 || stripe.step() == 1, "the blocks of a message are consecutive");
    let times = times(block, count, modulus, false, || stripe.first() as i64, |_| true)?;
    Ok(Some(Carried { peer: message.peer as i64, times, stripe: Some(stripe) }))
}

/// The place of the other rank of a message.
///
/// # Errors
/// Returns an error if it is not another rank.
pub fn other<'a>(at: &Place<'a>, message: &Carried) -> Result<Place<'a>, Stop> {
    toward(at, message.peer)
}

/// The place of another rank.
///
/// # Errors
/// Returns an error if it is not another rank.
pub fn toward<'a>(at: &Place<'a>, peer: i64) -> Result<Place<'a>, Stop> {
    claim!(peer < at.p, "the peer is a rank");
    claim!(peer != at.rank, "the peer is another rank");
    Ok(if at.nodes == 1 { Place::flat(peer, at.p) } else { at.of(peer) })
}

/// Claims that what is sent is held; if messages move their blocks, takes the element from its rank.
///
/// # Errors
/// Returns what is wrong with the message.
pub fn send<C: Collective>(message: &Carried, site: Site, before: &Counts, counts: &mut Counts) -> Verdict {
    cover!(message.times > 0, "there is a message");
    let line = site.line as usize;
    if !C::KIND.reduces() {
        claim!(message.times <= before[line], "what is sent is held");
    }
    if C::KIND.moves() {
        counts[line] -= message.times;
    }
    Ok(())
}

/// Does to a rank's lines what a receive does.
///
/// # Errors
/// Returns what is wrong with the message.
pub fn receive<C: Collective>(mine: &Carried, site: Site, arrival: Option<Arrival>, counts: &mut Counts) -> Verdict {
    let Some(arrival) = arrival else {
        claim!(mine.times == 0, "the peer sends what is received");
        return Ok(());
    };
    agree(mine, &arrival.message)?;
    if mine.times == 0 {
        return Ok(());
    }
    let line = site.line as usize;
    counts[line] = match site.action {
        Action::Copy => {
            claim!(counts[line] == 0, "what arrives is new");
            arrival.held
        }
        Action::Replace | Action::Overwrite => arrival.held,
        Action::CombineLeft { with } | Action::CombineRight { with } => counts[with as usize] + arrival.held,
    };
    claim!(counts[line] <= 1, "no contribution is reduced twice");
    Ok(())
}

/// Claims that the two ends of a message agree on its blocks.
///
/// # Errors
/// Returns an error if they do not.
pub fn agree(mine: &Carried, theirs: &Carried) -> Verdict {
    match (&mine.stripe, &theirs.stripe) {
        (Some(a), Some(b)) => claim!(same(a, b), "both carry the same blocks in the same order"),
        _ => claim!(mine.times == theirs.times, "both carry the same blocks"),
    }
    Ok(())
}

/// Claims that a member of a group knows the same group, and its own index in it.
///
/// # Errors
/// Returns an error if it does not.
pub fn member(index: i64, group: &Place, theirs: Option<Place>) -> Verdict {
    let Some(theirs) = theirs else {
        claim!(false, "all members of a group run its collective");
        return Ok(());
    };
    claim!(theirs.p == group.p && theirs.rank == index, "the members of a group agree on it");
    Ok(())
}

/// Whether two counts are equal. Kani compares arrays byte by byte.
pub fn equal(a: &Counts, b: &Counts) -> bool {
    a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3]
}

/// What a rank with everything has.
pub fn complete() -> Counts {
    let mut counts = Counts::default();
    counts[0] = 1;
    counts
}

/// What a rank has before the first round.
pub fn initially<C: Collective>(collective: &C, at: &Place, element: &Element) -> Counts {
    let kind = C::KIND;
    let held = match kind.reduces() || kind.moves() {
        true => element.rank == at.rank,
        false => kind.initially_holds(at.rank as usize, element.block as usize, collective.root() as usize, 0),
    };
    let mut counts = [0; LINES];
    counts[0] = held as i64;
    counts
}

/// Claims that what a rank has after the last round fulfils the contract.
///
/// # Errors
/// Returns an error if the element is missing.
pub fn finally<C: Collective>(collective: &C, at: &Place, element: &Element, counts: &Counts) -> Verdict {
    let kind = C::KIND;
    let needed = match kind.moves() {
        true => element.block == at.rank,
        false => kind.must_hold(at.rank as usize, element.block as usize, collective.root() as usize, 0),
    };
    claim!(!needed || counts[0] == 1, "every block arrives, with every contribution once");
    Ok(())
}

/// Claims for every p of the range that the sets of `holds` are what an arbitrary round makes of them, for an arbitrary
/// rank and element, and that they begin and end as the contract says.
pub fn sets<C: Probe>() -> Verdict {
    let p = draw(1, SETS_MOST + 1, SETS.p)?;
    let at = Place::flat(draw(0, p, SETS.p)?, p);
    let collective = if C::KIND.has_root() { C::any(SETS)? } else { C::sample()? };
    assume(collective.admits(&at).is_ok() && collective.root() < at.p)?;
    let named = C::KIND.reduces() || C::KIND.moves();
    let element = Element {
        rank: draw(0, if named { at.p } else { 1 }, SETS.p)?,
        block: pick(0, if C::KIND.moves() { at.p } else { collective.blocks(&at) }, SETS.p)?,
        node: 0,
    };
    collective.sets(&at, &element, SETS)
}

/// The messages of one rank between nodes, in all rounds and in the current one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Crossings {
    pub sent: i64,
    pub received: i64,
    pub rounds: i64,
    pub sent_now: i64,
    pub received_now: i64,
    messages: i64,
}

impl Crossings {
    /// Begins a round.
    pub fn begin(&mut self) {
        (self.sent_now, self.received_now, self.messages) = (0, 0, 0);
    }

    /// Notes a message with the rank at `there`.
    pub fn message(&mut self, at: &Place, there: &Place, sends: bool) {
        let crosses = (at.node != there.node) as i64;
        self.messages += 1;
        if sends {
            self.sent_now += crosses;
        } else {
            self.received_now += crosses;
        }
    }

    /// Whether the rank has had no message in this round.
    pub fn quiet(&self) -> bool {
        self.messages == 0
    }

    /// Ends a round.
    pub fn end(&mut self) {
        self.sent += self.sent_now;
        self.received += self.received_now;
        self.rounds += (self.sent_now + self.received_now > 0) as i64;
    }
}

/// Any rank among those of the same nodes.
///
/// # Errors
/// Skips a case that is none.
pub fn anywhere<'a>(at: &Place<'a>) -> Result<Place<'a>, Stop> {
    let (node, local) = (draw(0, at.nodes, 31)?, draw(0, at.ppn, 7)?);
    Ok(Place { rank: node * at.ppn + local, node, local, ..*at })
}

/// Any rank and any element, on up to `most` nodes of `ppn` ranks.
fn somewhere<C: Probe>(collective: &C, most: i64, ppn: i64) -> Result<(Place<'static>, Element), Stop> {
    let nodes = draw(1, most + 1, 31)?;
    let first = Place { rank: 0, p: nodes * ppn, node: 0, nodes, local: 0, ppn, lanes: ppn, regions: None };
    let (at, other) = (anywhere(&first)?, anywhere(&first)?);
    let element = match C::KIND.reduces() {
        true => Element { rank: other.rank, block: draw(0, collective.blocks(&at), 63)?, node: other.node },
        false => Element { rank: 0, block: other.rank, node: other.node },
    };
    cover!(at.p == 1 || at.rank != other.rank, "there is another rank");
    Ok((at, element))
}

/// Follows one element through all rounds of one rank, on nodes of equal size, and counts messages between nodes.
pub fn walk<C: Probe>(most: i64, ppn: i64) -> Verdict {
    let collective = C::sample()?;
    let (at, element) = somewhere(&collective, most, ppn)?;
    collective.walk(&at, &element, &mut Crossings::default())
}

/// Follows one element through an arbitrary turn of a loop, on nodes of equal size, and counts messages between nodes.
pub fn turn<C: Probe>(part: usize, most: i64, ppn: i64) -> Verdict {
    let collective = C::sample()?;
    let (at, element) = somewhere(&collective, most, ppn)?;
    collective.turn(part, &at, &element, &mut Crossings::default(), NODES)
}

//! A collective inside a group, as part of another one.
//!
//! The inner collective numbers members and their contributions from 0. [`Inside`] passes its rounds to the outer
//! collective's sink: it translates members to ranks, and contributions to the blocks that a member contributes.

use crate::meaning::collective::Collective;
use crate::meaning::place::{Place, Placement};
use crate::meaning::sink::{Sink, infallible};
use crate::meaning::stripes::{Blocks, Stripe, StripeList};
use crate::schedule::contract::Kind;
use crate::schedule::message::{Action, Line, Site};
use crate::trace::record::{RankLog, Recorder};

/// An inner collective's group, as part of the outer collective.
#[derive(Debug)]
pub struct Inside<'s, S, M, E> {
    /// The sink of the outer collective.
    pub sink: &'s mut S,
    /// The rank of a member.
    pub member: M,
    /// The blocks of the outer collective that a block of the inner one represents.
    pub brings: E,
    /// The clause that runs the inner collective.
    pub site: Site,
    /// The number of lines of the outer collective; the additional lines of the inner collective follow them.
    pub lines: usize,
}

impl<S: Sink, M: Fn(usize) -> usize, B: Blocks, E: Fn(usize) -> B> Inside<'_, S, M, E> {
    /// Runs an inner collective.
    ///
    /// # Errors
    /// Returns the errors of the sink.
    pub fn run<C: Collective>(self, inner: &C, at: &Place<'_>) -> Result<(), S::Error> {
        self.pass(|outward| inner.rounds(at, outward))
    }

    /// Passes on the recorded rounds of an inner collective.
    pub(crate) fn replay(self, rounds: &RankLog) -> Result<(), S::Error> {
        self.pass(|outward| rounds.replay(outward))
    }

    /// Passes on what `rounds` hands over.
    fn pass(self, rounds: impl FnOnce(&mut Outward<'_>) -> Result<(), Stopped>) -> Result<(), S::Error> {
        let Inside { sink, member, brings, site, lines } = self;
        let brings = |block, list: &mut Vec<Stripe>| brings(block).append_to(list);
        let mut outer = Outer { sink, error: None };
        let stripes = Vec::new();
        // The sink has stopped the rounds if and only if it has left an error.
        let _ = rounds(&mut Outward { sink: &mut outer, member: &member, brings: &brings, site, lines, stripes });
        outer.error.map_or(Ok(()), Err)
    }
}

/// The sink of the outer collective has returned an error.
struct Stopped;

/// A sink of any type. A sink around the outer one would be a new type, with a new copy of all code, at every depth.
trait AnySink {
    fn begin_round(&mut self) -> Result<(), Stopped>;
    fn send(&mut self, site: Site, to: usize, stripes: &[Stripe]) -> Result<(), Stopped>;
    fn recv(&mut self, site: Site, from: usize, stripes: &[Stripe]) -> Result<(), Stopped>;
    fn end_round(&mut self) -> Result<(), Stopped>;
    fn enter_groups(&mut self) -> Result<(), Stopped>;
    fn leave_groups(&mut self) -> Result<(), Stopped>;
}

/// The sink of the outer collective, and its error.
struct Outer<'s, S: Sink> {
    sink: &'s mut S,
    error: Option<S::Error>,
}

impl<S: Sink> Outer<'_, S> {
    fn keep(&mut self, result: Result<(), S::Error>) -> Result<(), Stopped> {
        result.map_err(|error| {
            self.error = Some(error);
            Stopped
        })
    }
}

impl<S: Sink> AnySink for Outer<'_, S> {
    fn begin_round(&mut self) -> Result<(), Stopped> {
        let result = self.sink.begin_round();
        self.keep(result)
    }

    fn send(&mut self, site: Site, to: usize, stripes: &[Stripe]) -> Result<(), Stopped> {
        let result = self.sink.send(site, to, StripeList(stripes));
        self.keep(result)
    }

    fn recv(&mut self, site: Site, from: usize, stripes: &[Stripe]) -> Result<(), Stopped> {
        let result = self.sink.recv(site, from, StripeList(stripes));
        self.keep(result)
    }

    fn end_round(&mut self) -> Result<(), Stopped> {
        let result = self.sink.end_round();
        self.keep(result)
    }

    fn enter_groups(&mut self) -> Result<(), Stopped> {
        let result = self.sink.enter_groups();
        self.keep(result)
    }

    fn leave_groups(&mut self) -> Result<(), Stopped> {
        let result = self.sink.leave_groups();
        self.keep(result)
    }
}

/// A sink for the rounds of an inner collective: it translates its ranks, blocks and lines.
struct Outward<'a> {
    sink: &'a mut dyn AnySink,
    member: &'a dyn Fn(usize) -> usize,
    /// Appends the blocks that a block of the inner collective represents.
    brings: &'a dyn Fn(usize, &mut Vec<Stripe>),
    site: Site,
    lines: usize,
    /// The blocks of the current message.
    stripes: Vec<Stripe>,
}

impl Outward<'_> {
    /// A line of the inner collective: its first one is the line that it runs on.
    fn line(&self, inner: Line) -> Line {
        if inner == 0 { self.site.line } else { self.lines as Line + inner - 1 }
    }

    /// The clause, with the action of the message.
    fn site(&self, inner: Site) -> Site {
        let action = match inner.action {
            Action::Copy => Action::Copy,
            Action::Replace => Action::Replace,
            Action::Overwrite => Action::Overwrite,
            Action::CombineLeft { with } => Action::CombineLeft { with: self.line(with) },
            Action::CombineRight { with } => Action::CombineRight { with: self.line(with) },
        };
        Site { number: self.site.number, line: self.line(inner.line), action }
    }

    /// Translates the blocks of a message; whether there are any.
    fn translate(&mut self, blocks: &impl Blocks) -> bool {
        self.stripes.clear();
        for block in blocks.each() {
            (self.brings)(block, &mut self.stripes);
        }
        !StripeList(&self.stripes).none()
    }
}

impl Sink for Outward<'_> {
    type Error = Stopped;

    fn begin_round(&mut self) -> Result<(), Stopped> {
        self.sink.begin_round()
    }

    fn send<I: Blocks>(&mut self, site: Site, to: usize, blocks: I) -> Result<(), Stopped> {
        if !self.translate(&blocks) {
            return Ok(());
        }
        let site = self.site(site);
        self.sink.send(site, (self.member)(to), &self.stripes)
    }

    fn recv<I: Blocks>(&mut self, site: Site, from: usize, blocks: I) -> Result<(), Stopped> {
        if !self.translate(&blocks) {
            return Ok(());
        }
        let site = self.site(site);
        self.sink.recv(site, (self.member)(from), &self.stripes)
    }

    fn end_round(&mut self) -> Result<(), Stopped> {
        self.sink.end_round()
    }

    fn enter_groups(&mut self) -> Result<(), Stopped> {
        self.sink.enter_groups()
    }

    fn leave_groups(&mut self) -> Result<(), Stopped> {
        self.sink.leave_groups()
    }
}

/// Hands the rounds of `rank` to `sink`, for any placement: a collective that looks at nodes sees ranks numbered node
/// by node, and its peers and blocks are translated back.
///
/// # Errors
/// Returns the errors of the sink.
pub fn rounds_of<C: Collective, S: Sink>(
    collective: &C,
    placement: &Placement,
    rank: usize,
    sink: &mut S,
) -> Result<(), S::Error> {
    let place = placement.seen(rank, C::LOOKS_AT_NODES);
    if !C::LOOKS_AT_NODES || placement.is_sorted() {
        return collective.rounds(&place, sink);
    }
    let mut recorder = Recorder::default();
    infallible(collective.rounds(&place, &mut recorder));
    renumber(&recorder.finish(), placement, C::KIND, collective.blocks(&place), sink)
}

/// Passes on the rounds of a collective that sees ranks numbered node by node, with the real ranks and blocks.
///
/// # Errors
/// Returns the errors of the sink.
pub(crate) fn renumber<S: Sink>(
    rounds: &RankLog,
    placement: &Placement,
    kind: Kind,
    around: i64,
    sink: &mut S,
) -> Result<(), S::Error> {
    rounds.replay(&mut Renumbered { sink, placement, kind, around, stripes: Vec::new() })
}

struct Renumbered<'a, S> {
    sink: &'a mut S,
    placement: &'a Placement,
    kind: Kind,
    around: i64,
    /// The blocks of the current message.
    stripes: Vec<Stripe>,
}

impl<S> Renumbered<'_, S> {
    fn translate(&mut self, blocks: &impl Blocks) {
        self.stripes.clear();
        for block in blocks.each() {
            self.stripes.push(Stripe::one(self.placement.real_block(self.kind, block) as i64, self.around));
        }
    }
}

impl<S: Sink> Sink for Renumbered<'_, S> {
    type Error = S::Error;

    fn begin_round(&mut self) -> Result<(), S::Error> {
        self.sink.begin_round()
    }

    fn send<I: Blocks>(&mut self, site: Site, to: usize, blocks: I) -> Result<(), S::Error> {
        self.translate(&blocks);
        self.sink.send(site, self.placement.order()[to], StripeList(&self.stripes))
    }

    fn recv<I: Blocks>(&mut self, site: Site, from: usize, blocks: I) -> Result<(), S::Error> {
        self.translate(&blocks);
        self.sink.recv(site, self.placement.order()[from], StripeList(&self.stripes))
    }

    fn end_round(&mut self) -> Result<(), S::Error> {
        self.sink.end_round()
    }

    fn enter_groups(&mut self) -> Result<(), S::Error> {
        self.sink.enter_groups()
    }

    fn leave_groups(&mut self) -> Result<(), S::Error> {
        self.sink.leave_groups()
    }
}

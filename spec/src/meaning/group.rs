//! A collective inside a group, as part of another one.
//!
//! The inner collective numbers members and their contributions from 0. [`Inside`] passes its rounds to the outer
//! collective's sink: it translates members to ranks, and contributions to the blocks that a member contributes.

use crate::meaning::collective::Collective;
use crate::meaning::place::{Place, Placement};
use crate::meaning::sink::{Sink, infallible};
use crate::meaning::stripes::{Blocks, Stripe};
use crate::schedule::contract::Kind;
use crate::schedule::message::{Action, Line, Site};
use crate::trace::record::Recorder;

/// A sink for an inner collective.
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

impl<S, M, E> Inside<'_, S, M, E> {
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
}

impl<S: Sink, M: Fn(usize) -> usize, B: Blocks, E: Fn(usize) -> B + Clone> Inside<'_, S, M, E> {
    /// Runs an inner collective. Its rounds are recorded first: nested sinks would be a new type, with a new copy of
    /// all code, at every depth.
    ///
    /// # Errors
    /// Returns the errors of the sink.
    pub fn run<C: Collective>(mut self, inner: &C, at: &Place<'_>) -> Result<(), S::Error> {
        let mut recorder = Recorder::default();
        infallible(inner.rounds(at, &mut recorder));
        recorder.finish().replay(&mut self)
    }
}

impl<S: Sink, M: Fn(usize) -> usize, B: Blocks, E: Fn(usize) -> B + Clone> Sink for Inside<'_, S, M, E> {
    type Error = S::Error;

    fn begin_round(&mut self) -> Result<(), S::Error> {
        self.sink.begin_round()
    }

    fn send<I: Blocks>(&mut self, site: Site, to: usize, blocks: I) -> Result<(), S::Error> {
        let blocks = Brought { blocks, brings: self.brings.clone() };
        if blocks.none() { Ok(()) } else { self.sink.send(self.site(site), (self.member)(to), blocks) }
    }

    fn recv<I: Blocks>(&mut self, site: Site, from: usize, blocks: I) -> Result<(), S::Error> {
        let blocks = Brought { blocks, brings: self.brings.clone() };
        if blocks.none() { Ok(()) } else { self.sink.recv(self.site(site), (self.member)(from), blocks) }
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

/// Blocks of an inner collective, translated to those of the outer one.
#[derive(Clone, Debug)]
struct Brought<I, E> {
    blocks: I,
    brings: E,
}

impl<I: Blocks, B: Blocks, E: Fn(usize) -> B + Clone> Blocks for Brought<I, E> {
    fn into_stripes(self) -> impl Iterator<Item = Stripe> + Clone {
        let Brought { blocks, brings } = self;
        blocks.into_each().flat_map(move |block| brings(block).into_stripes())
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
    let around = collective.blocks(&place);
    collective.rounds(&place, &mut renumbered(placement, C::KIND, around, sink))
}

/// A sink for a collective that sees ranks numbered node by node: it passes on the real ranks and blocks.
pub fn renumbered<'a, S: Sink>(
    placement: &'a Placement,
    kind: Kind,
    around: i64,
    sink: &'a mut S,
) -> impl Sink<Error = S::Error> + 'a {
    let brings = move |block: usize| Stripe::one(placement.real_block(kind, block) as i64, around);
    Renumbered { sink, order: placement.order(), brings }
}

struct Renumbered<'s, 'o, S, E> {
    sink: &'s mut S,
    order: &'o [usize],
    brings: E,
}

impl<S: Sink, E: Fn(usize) -> Stripe + Clone> Sink for Renumbered<'_, '_, S, E> {
    type Error = S::Error;

    fn begin_round(&mut self) -> Result<(), S::Error> {
        self.sink.begin_round()
    }

    fn send<I: Blocks>(&mut self, site: Site, to: usize, blocks: I) -> Result<(), S::Error> {
        self.sink.send(site, self.order[to], Brought { blocks, brings: self.brings.clone() })
    }

    fn recv<I: Blocks>(&mut self, site: Site, from: usize, blocks: I) -> Result<(), S::Error> {
        self.sink.recv(site, self.order[from], Brought { blocks, brings: self.brings.clone() })
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

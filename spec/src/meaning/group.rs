//! A collective inside a group, as part of another one.
//!
//! The inner collective numbers members and their contributions from 0. [`Inside`] passes its rounds to the outer
//! collective's sink: it translates members to ranks, and contributions to the blocks that a member contributes. When
//! the inner collective is over, the outer one knows what the inner contract promises, and forgets everything else.

use crate::meaning::collective::{Collective, Refusal};
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

/// What an outer collective knows of an inner one, as one rank runs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InnerContract {
    /// Its kind.
    pub(crate) kind: Kind,
    /// The index of this rank among the members.
    pub(crate) member: usize,
    /// The number of members.
    pub(crate) members: usize,
    /// The index of its root, if it has one.
    pub(crate) root: usize,
    /// The number of its blocks.
    pub(crate) blocks: usize,
    /// The number of its lines.
    pub(crate) lines: usize,
}

impl InnerContract {
    fn of<C: Collective>(inner: &C, at: &Place<'_>) -> Self {
        let (member, members) = (at.rank as usize, at.p as usize);
        let (root, blocks) = (inner.root() as usize, inner.blocks(at).max(0) as usize);
        InnerContract { kind: C::KIND, member, members, root, blocks, lines: C::LINES }
    }

    /// The blocks that this rank has reduced, if each is reduced by one member.
    fn reduced(self) -> impl Iterator<Item = usize> {
        let by_one = matches!(self.kind, Kind::Reduce | Kind::ReduceScatter);
        let all = if by_one { 0..self.blocks } else { 0..0 };
        all.filter(move |&block| self.kind.must_hold(self.member, block, self.root, self.members))
    }

    /// The blocks of which the contract says nothing afterwards.
    fn unsaid(self) -> impl Iterator<Item = usize> {
        // An all-to-all takes blocks away, which its messages tell.
        let all = if self.kind.moves() { 0..0 } else { 0..self.blocks };
        all.filter(move |&block| !self.kind.promises(self.member, block, self.root, self.members))
    }
}

impl<S: Sink, M: Fn(usize) -> usize, B: Blocks, E: Fn(usize) -> B> Inside<'_, S, M, E> {
    /// Runs an inner collective.
    ///
    /// # Errors
    /// Returns the errors of the sink.
    pub fn run<C: Collective>(self, inner: &C, at: &Place<'_>) -> Result<(), S::Error> {
        self.pass(InnerContract::of(inner, at), |outward| inner.rounds(at, outward))
    }

    /// Runs an inner collective with the root that the outer one chooses. One that does not let it choose has been
    /// refused.
    ///
    /// # Errors
    /// Returns the errors of the sink.
    pub fn run_rooted<C: Collective>(self, inner: &C, root: i64, at: &Place<'_>) -> Result<(), S::Error> {
        inner.rooted_at(root).map_or(Ok(()), |inner| self.run(&inner, at))
    }

    /// Passes on the recorded rounds of an inner collective.
    pub(crate) fn replay(self, contract: InnerContract, rounds: &RankLog) -> Result<(), S::Error> {
        self.pass(contract, |outward| rounds.replay(outward))
    }

    /// Passes on what `rounds` hands over.
    fn pass(
        self,
        contract: InnerContract,
        rounds: impl FnOnce(&mut Outward<'_>) -> Result<(), Stopped>,
    ) -> Result<(), S::Error> {
        let Inside { sink, member, brings, site, lines } = self;
        let brings = |block, list: &mut Vec<Stripe>| brings(block).append_to(list);
        let mut outer = Outer { sink, error: None };
        let stripes = Vec::new();
        let mut outward = Outward { sink: &mut outer, member: &member, brings: &brings, site, lines, stripes };
        // The sink has stopped the rounds if and only if it has left an error.
        let _ = rounds(&mut outward).and_then(|()| outward.conclude(contract));
        outer.error.map_or(Ok(()), Err)
    }
}

/// An inner collective with the root that the outer one chooses. For generated code.
#[doc(hidden)]
pub fn rooted_at<C: Collective>(inner: &C, root: i64) -> Result<C, Refusal> {
    inner.rooted_at(root).ok_or(Refusal::Unrooted { name: C::NAME })
}

/// Refuses an inner collective that divides the vector where the outer one runs it on the vector as a whole. For
/// generated code.
#[doc(hidden)]
pub fn undivided<C: Collective>(inner: &C, group: &Place<'_>) -> Result<(), Refusal> {
    match inner.blocks(group) {
        1 => Ok(()),
        blocks => Err(Refusal::Divided { name: C::NAME, blocks, p: group.p }),
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
    fn forget(&mut self, line: Line, stripes: &[Stripe]) -> Result<(), Stopped>;
    fn reduced_here(&mut self, line: Line, stripes: &[Stripe]) -> Result<(), Stopped>;
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

    fn forget(&mut self, line: Line, stripes: &[Stripe]) -> Result<(), Stopped> {
        let result = self.sink.forget(line, StripeList(stripes));
        self.keep(result)
    }

    fn reduced_here(&mut self, line: Line, stripes: &[Stripe]) -> Result<(), Stopped> {
        let result = self.sink.reduced_here(line, StripeList(stripes));
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

    /// The clause, with the action of an arriving message. What a collective that only moves data copies may replace
    /// what the outer one has there, as the clause says.
    fn arrival(&self, inner: Site) -> Site {
        let action = match inner.action {
            Action::Copy if inner.line == 0 => self.site.action,
            action => action,
        };
        self.site(Site { action, ..inner })
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
        self.translate_all(blocks.each())
    }

    /// Translates blocks of the inner collective; whether there are any.
    fn translate_all(&mut self, blocks: impl Iterator<Item = usize>) -> bool {
        self.stripes.clear();
        blocks.for_each(|block| (self.brings)(block, &mut self.stripes));
        !StripeList(&self.stripes).none()
    }

    /// Says what is known after the inner collective: it forgets what the contract does not promise, and additional
    /// lines.
    fn conclude(&mut self, contract: InnerContract) -> Result<(), Stopped> {
        self.forget_blocks(0, contract.unsaid())?;
        (1..contract.lines).try_for_each(|line| self.forget_blocks(line as Line, 0..contract.blocks))?;
        match self.translate_all(contract.reduced()) {
            true => self.sink.reduced_here(self.site.line, &self.stripes),
            false => Ok(()),
        }
    }

    /// Forgets blocks of a line of the inner collective.
    fn forget_blocks(&mut self, line: Line, blocks: impl Iterator<Item = usize>) -> Result<(), Stopped> {
        match self.translate_all(blocks) {
            true => self.sink.forget(self.line(line), &self.stripes),
            false => Ok(()),
        }
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
        let site = self.arrival(site);
        self.sink.recv(site, (self.member)(from), &self.stripes)
    }

    fn end_round(&mut self) -> Result<(), Stopped> {
        self.sink.end_round()
    }

    fn enter_groups(&mut self) -> Result<(), Stopped> {
        self.sink.enter_groups()
    }

    fn forget<I: Blocks>(&mut self, line: Line, blocks: I) -> Result<(), Stopped> {
        if !self.translate(&blocks) {
            return Ok(());
        }
        let line = self.line(line);
        self.sink.forget(line, &self.stripes)
    }

    fn reduced_here<I: Blocks>(&mut self, line: Line, blocks: I) -> Result<(), Stopped> {
        if !self.translate(&blocks) {
            return Ok(());
        }
        let line = self.line(line);
        self.sink.reduced_here(line, &self.stripes)
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

    fn forget<I: Blocks>(&mut self, line: Line, blocks: I) -> Result<(), S::Error> {
        self.translate(&blocks);
        self.sink.forget(line, StripeList(&self.stripes))
    }

    fn reduced_here<I: Blocks>(&mut self, line: Line, blocks: I) -> Result<(), S::Error> {
        self.translate(&blocks);
        self.sink.reduced_here(line, StripeList(&self.stripes))
    }

    fn leave_groups(&mut self) -> Result<(), S::Error> {
        self.sink.leave_groups()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::message::Direction;

    /// Calls of a sink: the direction, the rank, the line and the blocks of messages; the name of others.
    #[derive(Clone, Debug, PartialEq, Eq)]
    enum SinkCall {
        Named(&'static str),
        Message(Direction, usize, Line, Vec<usize>),
        Forget(Line, Vec<usize>),
        ReducedHere(Line, Vec<usize>),
    }

    /// Keeps the calls, and refuses those after the first `patience`.
    #[derive(Default)]
    struct ImpatientSink {
        calls: Vec<SinkCall>,
        patience: usize,
    }

    #[derive(Debug, PartialEq, Eq)]
    struct Refused {
        at: usize,
    }

    impl ImpatientSink {
        fn keep(&mut self, call: SinkCall) -> Result<(), Refused> {
            self.calls.push(call);
            let at = self.calls.len();
            if at > self.patience { Err(Refused { at }) } else { Ok(()) }
        }
    }

    impl Sink for ImpatientSink {
        type Error = Refused;

        fn begin_round(&mut self) -> Result<(), Refused> {
            self.keep(SinkCall::Named("begin"))
        }

        fn send<B: Blocks>(&mut self, site: Site, to: usize, blocks: B) -> Result<(), Refused> {
            self.keep(SinkCall::Message(Direction::Send, to, site.line, blocks.each().collect()))
        }

        fn recv<B: Blocks>(&mut self, site: Site, from: usize, blocks: B) -> Result<(), Refused> {
            self.keep(SinkCall::Message(Direction::Recv, from, site.line, blocks.each().collect()))
        }

        fn end_round(&mut self) -> Result<(), Refused> {
            self.keep(SinkCall::Named("end"))
        }

        fn enter_groups(&mut self) -> Result<(), Refused> {
            self.keep(SinkCall::Named("enter"))
        }

        fn forget<B: Blocks>(&mut self, line: Line, blocks: B) -> Result<(), Refused> {
            self.keep(SinkCall::Forget(line, blocks.each().collect()))
        }

        fn reduced_here<B: Blocks>(&mut self, line: Line, blocks: B) -> Result<(), Refused> {
            self.keep(SinkCall::ReducedHere(line, blocks.each().collect()))
        }

        fn leave_groups(&mut self) -> Result<(), Refused> {
            self.keep(SinkCall::Named("leave"))
        }
    }

    /// Two rounds of member 0 of two, in groups of its own.
    fn two_rounds() -> RankLog {
        let mut log = Recorder::default();
        let second_line = Site { line: 1, ..Site::plain(0) };
        infallible(log.enter_groups());
        infallible(log.begin_round());
        infallible(log.send(Site::plain(0), 1, Stripe::one(0, 2)));
        infallible(log.recv(second_line, 1, Stripe::one(1, 2)));
        infallible(log.end_round());
        infallible(log.leave_groups());
        infallible(log.begin_round());
        infallible(log.send(Site::plain(0), 1, Stripe::one(1, 2)));
        infallible(log.end_round());
        log.finish()
    }

    /// The rounds inside a group of every third rank, from 6 on, inside a group of every second one. Block 1 represents
    /// nothing if it is `silent`.
    fn inside_two_groups(sink: &mut ImpatientSink, silent: bool) -> Result<(), Refused> {
        let outer = Inside {
            sink,
            member: |member| 2 * member,
            brings: |block| Stripe::new(block as i64, 1, 1, 64),
            site: Site { line: 5, ..Site::plain(7) },
            lines: 20,
        };
        let contract = |kind, blocks, lines| InnerContract { kind, member: 0, members: 2, root: 0, blocks, lines };
        outer.pass(contract(Kind::Allgather, 64, 1), |outward| {
            let brings = |block| Stripe::new(10 * block as i64, 1, if silent && block == 1 { 0 } else { 2 }, 64);
            let member = |member: usize| 6 + 3 * member;
            let inside = Inside { sink: outward, member, brings, site: Site::plain(3), lines: 4 };
            inside.replay(contract(Kind::ReduceScatter, 2, 2), &two_rounds())
        })
    }

    fn calls(silent: bool, patience: usize) -> (Vec<SinkCall>, Result<(), Refused>) {
        let mut sink = ImpatientSink { patience, ..ImpatientSink::default() };
        let result = inside_two_groups(&mut sink, silent);
        (sink.calls, result)
    }

    #[test]
    fn ranks_blocks_and_lines_are_those_of_the_outermost_collective() {
        use Direction::{Recv, Send};
        use SinkCall::{Forget, Message, Named, ReducedHere};
        let expected = [
            Named("enter"),
            Named("begin"),
            Message(Send, 18, 5, vec![0, 1]),
            // Line 1 of the innermost is line 4 of the middle one, which is line 23.
            Message(Recv, 18, 23, vec![10, 11]),
            Named("end"),
            Named("leave"),
            Named("begin"),
            Message(Send, 18, 5, vec![10, 11]),
            Named("end"),
            // Of a reduce_scatter, member 0 has block 0 alone, and no other line.
            Forget(5, vec![10, 11]),
            Forget(23, vec![0, 1, 10, 11]),
            ReducedHere(5, vec![0, 1]),
        ];
        assert_eq!(calls(false, 100), (expected.to_vec(), Ok(())));
        let silenced = |call: SinkCall| match call {
            Message(.., blocks) | Forget(_, blocks) if blocks[0] == 10 => None,
            Forget(line, _) => Some(Forget(line, vec![0, 1])),
            call => Some(call),
        };
        let without: Vec<SinkCall> = expected.into_iter().filter_map(silenced).collect();
        assert_eq!(calls(true, 100), (without, Ok(())));
    }

    /// Whichever call it is, the sink sees none after it has refused one, and its own error comes out.
    #[test]
    fn a_sink_that_refuses_a_call_sees_no_other() {
        let (all, _) = calls(false, 100);
        for patience in 0..all.len() {
            let seen = patience + 1;
            assert_eq!(calls(false, patience), (all[..seen].to_vec(), Err(Refused { at: seen })));
        }
    }
}

//! The reverse of a collective, without a declaration of its own.
//!
//! An allgather that runs backwards, with sends and receives exchanged, is a reduce_scatter, a broadcast is a reduce,
//! and an all-to-all is an all-to-all. That the forward collective is right shows that its reverse is
//! (docs/proofs.md), so the reverse is proved for the calls for which the forward one is.

use crate::{IsAllgather, IsAlltoall, IsBroadcast, IsReduce, IsReduceScatter};
use roundel_spec::contract::{ends, pair};
use roundel_spec::schedule::{CombineSide, Order};
use roundel_spec::{
    Action, Arguments, Blocks, Collective, Direction, Kind, Place, Refusal, Schedule, Sink, Site, Stripe, StripeList,
};
use std::convert::Infallible;

/// The reverse of an allgather, a broadcast or an all-to-all. It combines what arrives as the left operand, and makes
/// no claim about the order.
///
/// ```
/// use roundel::algorithms::{ReduceScatterAllgather, Reverse, Sparbit};
/// use roundel::{Allreduce, operation::Sum, threads};
///
/// let both = ReduceScatterAllgather { scatter: Reverse::of(Sparbit)?, gather: Sparbit };
/// let sums = threads::run(5, |comm| {
///     let mut sums = [0; 10];
///     both.allreduce(comm, &[comm.rank(); 10], &mut sums, &Sum).map(|()| sums)
/// });
/// assert!(sums.into_iter().all(|sums| sums == Ok([10; 10])));
/// # Ok::<(), roundel::Refusal>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Reverse<C>(C);

impl<C: Collective> Reverse<C> {
    /// The reverse of a collective.
    ///
    /// # Errors
    /// Refuses one that has no reverse: with inner collectives, or with states that run backwards.
    pub fn of(forward: C) -> Result<Self, Refusal> {
        match C::schedule().has_no_reverse() {
            Some(reason) => Err(Refusal::Irreversible { name: C::NAME, reason }),
            None => Ok(Reverse(forward)),
        }
    }

    /// The messages of one rank of the forward collective, round by round.
    fn forward_rounds(&self, at: &Place<'_>) -> Vec<Vec<ForwardMessage>> {
        let mut rounds = ForwardRounds::default();
        match self.0.rounds(at, &mut rounds) {
            Ok(()) => rounds.rounds,
            Err(never) => match never {},
        }
    }
}

/// The kind of the reverse.
const fn turned(kind: Kind) -> Kind {
    match kind {
        Kind::Allgather => Kind::ReduceScatter,
        Kind::Broadcast => Kind::Reduce,
        Kind::Scatter => Kind::Gather,
        Kind::Gather => Kind::Scatter,
        other => other,
    }
}

impl<C: IsAllgather> IsReduceScatter for Reverse<C> {}
impl<C: IsBroadcast> IsReduce for Reverse<C> {}
impl<C: IsAlltoall> IsAlltoall for Reverse<C> {}

impl<C: Collective> Collective for Reverse<C> {
    const NAME: &'static str = C::NAME;
    const KIND: Kind = turned(C::KIND);
    const LOOKS_AT_NODES: bool = C::LOOKS_AT_NODES;
    const PREFERS_ROTATION: bool = false;
    const ORDER: Order = Order { same_tree: false, rank_order: false };
    const RECORD: Option<&'static str> = C::RECORD;

    fn schedule() -> Schedule {
        C::schedule().reversed(Self::KIND, CombineSide::Left)
    }

    fn arguments(&self) -> Arguments {
        self.0.arguments()
    }

    fn has_arguments(&self, args: &Arguments) -> bool {
        self.0.has_arguments(args)
    }

    fn from_arguments(args: &Arguments) -> Option<Self> {
        Reverse::of(C::from_arguments(args)?).ok()
    }

    fn rooted_at(&self, root: i64) -> Option<Self> {
        self.0.rooted_at(root).map(Reverse)
    }

    fn admits(&self, at: &Place) -> Result<(), Refusal> {
        self.0.admits(at)
    }

    fn proved(&self, at: &Place) -> Result<(), Refusal> {
        self.0.proved(at)
    }

    fn blocks(&self, at: &Place) -> i64 {
        self.0.blocks(at)
    }

    fn root(&self) -> i64 {
        self.0.root()
    }

    fn rotation(&self, _at: &Place) -> Option<i64> {
        None
    }

    fn rounds<S: Sink>(&self, at: &Place, sink: &mut S) -> Result<(), S::Error> {
        let action = if Self::KIND.reduces() { Action::CombineLeft { with: 0 } } else { Action::Copy };
        for round in self.forward_rounds(at).into_iter().rev() {
            sink.begin_round()?;
            for message in round {
                let ForwardMessage { direction, number, peer, stripes } = message;
                let stripes = if Self::KIND.moves() { ends_exchanged(&stripes, at.p) } else { stripes };
                match direction {
                    Direction::Send => sink.recv(Site { number, line: 0, action }, peer, StripeList(&stripes))?,
                    Direction::Recv => sink.send(Site::plain(number), peer, StripeList(&stripes))?,
                }
            }
            sink.end_round()?;
        }
        Ok(())
    }
}

/// The same blocks of an all-to-all on their way back.
fn ends_exchanged(stripes: &[Stripe], p: i64) -> Vec<Stripe> {
    let back = |block: usize| {
        let (source, destination) = ends(block, p as usize);
        Stripe::one(pair(destination, source, p as usize) as i64, p * p)
    };
    StripeList(stripes).each().map(back).collect()
}

/// A message of the forward collective.
struct ForwardMessage {
    direction: Direction,
    /// The number of its clause.
    number: u16,
    peer: usize,
    stripes: Vec<Stripe>,
}

/// Keeps the rounds of the forward collective, with its stripes.
#[derive(Default)]
struct ForwardRounds {
    rounds: Vec<Vec<ForwardMessage>>,
}

impl ForwardRounds {
    fn push(&mut self, direction: Direction, site: Site, peer: usize, blocks: &impl Blocks) {
        let mut stripes = Vec::new();
        blocks.append_to(&mut stripes);
        if let Some(round) = self.rounds.last_mut() {
            round.push(ForwardMessage { direction, number: site.number, peer, stripes });
        }
    }
}

impl Sink for ForwardRounds {
    type Error = Infallible;

    fn begin_round(&mut self) -> Result<(), Infallible> {
        self.rounds.push(Vec::new());
        Ok(())
    }

    fn send<B: Blocks>(&mut self, site: Site, to: usize, blocks: B) -> Result<(), Infallible> {
        self.push(Direction::Send, site, to, &blocks);
        Ok(())
    }

    fn recv<B: Blocks>(&mut self, site: Site, from: usize, blocks: B) -> Result<(), Infallible> {
        self.push(Direction::Recv, site, from, &blocks);
        Ok(())
    }

    fn end_round(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

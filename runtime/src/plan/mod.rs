//! What all ranks do in one call, written down: rounds of messages as plain data.
//!
//! A schedule says what each rank does for every p; a plan is that for one p and one set of parameters, recorded from the
//! generated code. On a plan one can see all ranks at once, so this is where what only all of them together know is used: the
//! [passes] take away or rearrange messages on both of their ends. A pass is never trusted: what it makes is
//! [checked](Plan::check) like what it was made from, every slot of every rank against the contract.
//!
//! The MPI transport has plans of its own, which are something else: one rank's addresses and lengths for buffers of one shape,
//! with copies and operations as steps. It makes them from rounds, and a plan of this kind gives rounds
//! ([`rounds`](Plan::rounds)); there is nothing for the two to share. There are no copies within a rank in a plan, because no
//! schedule has any: an empty line is filled by a message, alone or combined with another line.
//!
//! ```
//! use roundel::algorithms::PrefixAllreduce;
//! use roundel::plan::Plan;
//!
//! let plan = Plan::record(&PrefixAllreduce, 11);
//! assert_eq!((plan.rounds.len(), plan.sent(0)), (4, 5));
//! assert_eq!(plan.to_string().parse(), Ok(plan));
//! ```

mod check;
pub mod part;
pub mod passes;
mod record;
mod text;

pub use text::Malformed;

use roundel_spec::record::Direction;
use roundel_spec::{Action, Kind, Line, Sink, Site, Stripe, Stripes};

/// One message, as one of its two ranks sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// Whether it leaves or arrives.
    pub direction: Direction,
    /// The other rank.
    pub peer: usize,
    /// The line that it reads or writes.
    pub line: Line,
    /// What it does there.
    pub action: Action,
    /// The blocks, in the order in which they travel.
    pub blocks: Vec<usize>,
}

/// One round: the messages of each rank, in the order in which what arrives is combined.
pub type Round = Vec<Vec<Message>>;

/// What all ranks do in one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What it promises.
    pub kind: Kind,
    /// The number of ranks.
    pub p: usize,
    /// The root, where there is one, and 0 elsewhere.
    pub root: usize,
    /// The number of lines of each rank's memory; the first one holds the input and the result.
    pub lines: usize,
    /// The number of blocks of a line.
    pub blocks: usize,
    /// The rounds, and in each of them a list for every rank.
    pub rounds: Vec<Round>,
}

impl Plan {
    /// A plan without a message.
    pub fn new(kind: Kind, p: usize, lines: usize, blocks: usize) -> Self {
        Plan { kind, p, root: 0, lines, blocks, rounds: Vec::new() }
    }

    /// Hands the rounds of one rank to a sink, as a collective does.
    pub fn rounds<S: Sink>(&self, rank: usize, sink: &mut S) -> Result<(), S::Error> {
        for round in &self.rounds {
            sink.begin_round()?;
            for (number, message) in round[rank].iter().enumerate() {
                let site = Site { number: number as u16, line: message.line, action: message.action };
                let around = self.blocks as i64;
                let blocks = Stripes(message.blocks.iter().map(move |&block| Stripe::one(block as i64, around)));
                match message.direction {
                    Direction::Send => sink.send(site, message.peer, blocks)?,
                    Direction::Recv => sink.recv(site, message.peer, blocks)?,
                }
            }
            sink.end_round()?;
        }
        Ok(())
    }

    /// How many blocks a rank sends.
    pub fn sent(&self, rank: usize) -> usize {
        let messages = self.rounds.iter().flat_map(|round| &round[rank]);
        messages.filter(|message| message.direction == Direction::Send).map(|message| message.blocks.len()).sum()
    }

    /// The receive that a send of `rank` meets, or the reverse, by its number: messages of a pair keep their order.
    fn partner(round: &Round, rank: usize, number: usize) -> Option<usize> {
        let message = &round[rank][number];
        let alike = |other: &&Message| other.peer == message.peer && other.direction == message.direction;
        let before = round[rank][..number].iter().filter(alike).count();
        let meets = |other: &Message| other.peer == rank && other.direction != message.direction;
        let there = round.get(message.peer)?.iter().enumerate().filter(|(_, other)| meets(other));
        there.map(|(number, _)| number).nth(before)
    }
}

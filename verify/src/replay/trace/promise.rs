//! The messages that a schedule declares: evaluated from the declaration as data, without generated code or plans.

use super::file::TracedLengths;
use roundel::algorithms::{Entry, catalogue};
use roundel_spec::Direction;
use roundel_spec::check::{self, Point};
use roundel_spec::contract::{ends, pair};
use roundel_spec::{Arguments, Kind, Placement, Schedule, eval};
use std::convert::Infallible;

/// A message of a call. Its order is that in which differences are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeclaredMessage {
    /// Its round, numbered as in `roundel show`.
    pub round: u64,
    /// The sender, a rank of the communicator.
    pub from: usize,
    /// The receiver.
    pub to: usize,
    /// Its length.
    pub bytes: u64,
}

/// What a schedule declares for a placement.
#[derive(Clone, Debug)]
pub struct Promise {
    kind: Kind,
    p: usize,
    /// The number of blocks.
    blocks: usize,
    messages: Vec<DeclaredBlocks>,
}

/// A message, and its blocks.
#[derive(Clone, Debug)]
struct DeclaredBlocks {
    round: u64,
    from: usize,
    to: usize,
    blocks: Vec<u32>,
}

/// The size in bytes of a block length that is sent ahead.
const LENGTH: u64 = 8;

/// The maximum size of a message of an alltoallv; longer ones are split.
const LONGEST: u64 = i32::MAX as u64;

impl Promise {
    /// The declaration of an algorithm of the catalogue; the error says why it cannot have performed a call.
    pub fn new(kind: Kind, name: &str, args: &Arguments, placement: Placement) -> Result<Self, String> {
        let entry = find(name).ok_or_else(|| format!("the catalogue has no `{name}`"))?;
        let schedule = (entry.schedule)();
        if schedule.kind != kind {
            return Err(format!(
                "{name} is {}, and the call is {}",
                schedule.kind.with_article(),
                kind.with_article()
            ));
        }
        if !fits(&schedule, args) {
            return Err(format!("{name} has other parameters"));
        }
        let point = Point { placement, args: args.clone() };
        Promise::at(&schedule, &point)?.ok_or_else(|| format!("the call lies outside of the domain of {name}"))
    }

    fn at(schedule: &Schedule, point: &Point) -> Result<Option<Self>, String> {
        if !check::in_domain(schedule, point).map_err(|violation| violation.to_string())? {
            return Ok(None);
        }
        let place = point.place(schedule, 0);
        let blocks = eval::blocks::<Infallible>(schedule, &point.args, &place)
            .map_err(|_| "its number of blocks has no value".to_string())?;
        let trace = check::record_schedule(schedule, point).map_err(|violation| violation.to_string())?;
        let mut messages = Vec::new();
        let real = (0..trace.rounds()).filter(|&round| trace.has_messages(round));
        for (number, round) in (0..).zip(real) {
            for (from, log) in trace.ranks.iter().enumerate() {
                messages.extend(log.directed(round, Direction::Send).map(|sent| {
                    let blocks = log.blocks(sent).to_vec();
                    DeclaredBlocks { round: number, from, to: sent.peer, blocks }
                }));
            }
        }
        Ok(Some(Promise { kind: schedule.kind, p: point.placement.p(), blocks: blocks as usize, messages }))
    }

    /// The messages of a call with the block lengths that each rank recorded; the error says why there is no such call.
    pub fn messages(&self, lengths: &[&TracedLengths]) -> Result<Vec<DeclaredMessage>, String> {
        let Some(first) = lengths.first() else { return Err("there are no ranks".into()) };
        if let TracedLengths::Own(_) = first {
            return self.uneven(lengths);
        }
        if lengths.iter().any(|one| one != first) {
            return Err("ranks have blocks of different lengths".into());
        }
        let bytes = |declared: &DeclaredBlocks| self.sum(declared, |block| self.length(first, block));
        self.is_right(first)?;
        Ok(self.messages.iter().map(|one| one.as_long_as(bytes(one))).collect())
    }

    /// Checks that a call of this kind can have these lengths.
    fn is_right(&self, lengths: &TracedLengths) -> Result<(), String> {
        match lengths {
            TracedLengths::List(list) if list.len() != self.blocks => {
                Err(format!("there are {} blocks, and lengths of {}", self.blocks, list.len()))
            }
            _ => Ok(()),
        }
    }

    /// The length of a block, if all ranks know it.
    fn length(&self, lengths: &TracedLengths, block: usize) -> u64 {
        let all = self.blocks as u64;
        match lengths {
            TracedLengths::Each(bytes) => *bytes,
            TracedLengths::List(list) | TracedLengths::Own(list) => list.get(block).copied().unwrap_or(0),
            TracedLengths::Vector(elements, size) => {
                (elements / all + u64::from((block as u64) < elements % all)).saturating_mul(*size)
            }
        }
    }

    fn sum(&self, declared: &DeclaredBlocks, length: impl Fn(usize) -> u64) -> u64 {
        declared.blocks.iter().fold(0, |sum: u64, &block| sum.saturating_add(length(block as usize)))
    }

    /// The messages of an alltoallv. The receiver of a message knows its length only if it consists of just the
    /// sender's block for the receiver. Otherwise the lengths of its blocks are sent ahead, and if they are all zero,
    /// nothing follows.
    fn uneven(&self, lengths: &[&TracedLengths]) -> Result<Vec<DeclaredMessage>, String> {
        if self.kind != Kind::Alltoall {
            return Err("only an alltoall has blocks whose lengths two ranks know".into());
        }
        let row = |lengths: &&TracedLengths| match lengths {
            TracedLengths::Own(row) if row.len() == self.p => Ok(row.clone()),
            _ => Err(format!("a rank does not tell how long its blocks for all {} ranks are", self.p)),
        };
        let rows: Vec<Vec<u64>> = lengths.iter().map(row).collect::<Result<_, _>>()?;
        let length = |block: usize| {
            let (from, to) = ends(block, self.p);
            rows[from][to]
        };
        let mut messages = Vec::new();
        for one in &self.messages {
            let straight = one.blocks == [pair(one.from, one.to, self.p) as u32];
            if !straight {
                messages.push(one.as_long_as(LENGTH * one.blocks.len() as u64));
            }
            let bytes = self.sum(one, length);
            let pieces = bytes.div_ceil(LONGEST).max(u64::from(straight));
            messages.extend((0..pieces).map(|piece| one.as_long_as(LONGEST.min(bytes - piece * LONGEST))));
        }
        Ok(messages)
    }
}

impl DeclaredBlocks {
    fn as_long_as(&self, bytes: u64) -> DeclaredMessage {
        DeclaredMessage { round: self.round, from: self.from, to: self.to, bytes }
    }
}

fn find(name: &str) -> Option<&'static Entry> {
    catalogue().iter().find(|entry| entry.name == name)
}

/// Whether the number of arguments matches the parameters.
fn fits(schedule: &Schedule, args: &Arguments) -> bool {
    let inner: Vec<&Schedule> = schedule.inners.iter().filter_map(|inner| inner.schedule.as_deref()).collect();
    (schedule.numbers.len(), schedule.lists.len(), inner.len())
        == (args.numbers.len(), args.lists.len(), args.inner.len())
        && inner.iter().zip(&args.inner).all(|(inner, args)| fits(inner, args))
}

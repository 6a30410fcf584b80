//! Replays calls of all ranks of a node together, to find every race, every deadlock and every wrong byte.
//!
//! Bytes are symbolic: they track which ranks have contributed, to which byte, in which call. So no result is right by
//! chance.
//! Vector clocks find all races in one replay, however fast ranks are: steps have no branches. Ranks wait for each
//! other through signals and through the numbers of completed segments, as in the engine, and in no other way.

use super::alltoallv::{TakenBlocks, WORD, numbers};
use super::{BlockSpans, COUNTER, FetchStep, LINE, SharedBlocks, SharedCall, SharedOp, segment};
use crate::program::{CombineStep, CopyStep, MemoryRegion, RegionOffset};
use roundel_spec::Kind;
use roundel_spec::trees::{TreeValue, Trees};
use std::collections::BTreeMap;
use std::ops::Range;

/// A fault of the steps of a node's ranks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SharedFault {
    /// Two ranks access a byte without an order, and one of them writes.
    #[error("call {call}, rank {rank}: rank {with} may touch byte {byte} of the slot at the same time")]
    Race {
        /// The call.
        call: usize,
        /// The rank.
        rank: usize,
        /// The other rank.
        with: usize,
        /// The byte.
        byte: usize,
    },
    /// Memory is accessed outside its region, or read before anything was written there.
    #[error("call {call}, rank {rank}: nothing is at {spot}")]
    Nothing {
        /// The call.
        call: usize,
        /// The rank.
        rank: usize,
        /// The position.
        spot: RegionOffset,
    },
    /// The input is written.
    #[error("call {call}, rank {rank}: {spot} is written, and is only to be read")]
    WritesInput {
        /// The call.
        call: usize,
        /// The rank.
        rank: usize,
        /// The position.
        spot: RegionOffset,
    },
    /// A counter is written as if it were data.
    #[error("call {call}, rank {rank}: {spot} is a counter, and no data")]
    WritesCounter {
        /// The call.
        call: usize,
        /// The rank.
        rank: usize,
        /// The position.
        spot: RegionOffset,
    },
    /// Source and destination of a step overlap.
    #[error("call {call}, rank {rank}: {from} and {to} overlap")]
    Overlap {
        /// The call.
        call: usize,
        /// The rank.
        rank: usize,
        /// One end.
        from: RegionOffset,
        /// The other end.
        to: RegionOffset,
    },
    /// Bytes that do not belong together are combined, or a contribution is combined twice.
    #[error("call {call}, rank {rank}: what is combined into {spot} does not belong together, or counts twice")]
    Mixed {
        /// The call.
        call: usize,
        /// The rank.
        rank: usize,
        /// The position.
        spot: RegionOffset,
    },
    /// A byte of a result is wrong.
    #[error("call {call}, rank {rank}: byte {byte} of the output is wrong")]
    Wrong {
        /// The call.
        call: usize,
        /// The rank.
        rank: usize,
        /// The byte.
        byte: usize,
    },
    /// A number of an alltoallv is not what another rank has published.
    #[error("call {call}, rank {rank}: number {number} of those that it keeps is wrong")]
    WrongNumber {
        /// The call.
        call: usize,
        /// The rank.
        rank: usize,
        /// The number.
        number: usize,
    },
    /// A rank reads another's memory without knowing where it is.
    #[error("call {call}, rank {rank}: rank {from} may not have published where its memory is")]
    NotPublished {
        /// The call.
        call: usize,
        /// The rank.
        rank: usize,
        /// The other rank.
        from: usize,
    },
    /// A rank writes its memory while another may read it.
    #[error("call {call}, rank {rank}: rank {with} may read its memory while it is written")]
    WrittenWhileRead {
        /// The call.
        call: usize,
        /// The rank.
        rank: usize,
        /// The other rank.
        with: usize,
    },
    /// A call returns while another rank may still read the memory of this one.
    #[error("call {call}, rank {rank}: rank {with} may read its memory after the call")]
    ReadAfterCall {
        /// The call.
        call: usize,
        /// The rank.
        rank: usize,
        /// The other rank.
        with: usize,
    },
    /// All ranks wait: a deadlock.
    #[error("call {call}, rank {rank}: nobody can go on")]
    Stuck {
        /// The call.
        call: usize,
        /// The first rank that waits.
        rank: usize,
    },
}

/// The order in which contributions were reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedOrder {
    /// Whether all ranks have the same tree for every byte.
    pub same_tree: bool,
    /// Whether contributions stay in the order of ranks.
    pub rank_order: bool,
}

/// The call of one rank: the call with this rank's `in_place`, and the recorded steps of its segments.
#[derive(Clone, Debug)]
pub struct RankCall<'a> {
    /// The call.
    pub call: SharedCall<'a>,
    /// The steps of each segment.
    pub segments: Vec<Vec<SharedOp>>,
}

impl<'a> RankCall<'a> {
    /// Records the steps of a rank; `None` if the call does not fit into a slot.
    pub fn record(call: SharedCall<'a>, rank: usize) -> Option<Self> {
        let segments = call.segments().ok()?;
        let steps = |number| {
            let mut ops = Vec::new();
            segment(&call, &segments, number, rank, &mut ops);
            ops
        };
        Some(RankCall { call, segments: (0..segments.count).map(steps).collect() })
    }

    /// Records the steps of a rank in an alltoallv, given the calls of all ranks: what it does after the lengths of all
    /// streams are known depends on them. `None` if a call is no alltoallv, or does not fit into a slot.
    pub fn record_alltoallv(calls: &[SharedCall<'a>], rank: usize) -> Option<Self> {
        let mut recorded = RankCall::record(calls[rank], rank)?;
        let (exchange, published) = (calls[rank].exchange(rank)?, published(calls)?);
        let numbers = kept_numbers(&published, rank);
        let taken = TakenBlocks::new(&numbers, calls.len());
        let first = recorded.segments.first_mut()?;
        exchange.deliver(&taken, 0, first);
        recorded.segments.extend((1..exchange.segments(&taken)).map(|number| {
            let mut ops = Vec::new();
            exchange.deliver(&taken, number, &mut ops);
            ops
        }));
        Some(recorded)
    }
}

/// What all ranks publish in an alltoallv.
fn published(calls: &[SharedCall<'_>]) -> Option<Vec<Vec<usize>>> {
    let of = |(rank, call): (usize, &SharedCall<'_>)| Some(call.exchange(rank)?.published().collect());
    calls.iter().enumerate().map(of).collect()
}

/// The numbers that a rank must keep after the first segment: its own, and of each rank where this rank's block begins
/// and ends in the rank's stream, and where the stream ends. Of its own stream, the beginning and the end.
fn kept_numbers(published: &[Vec<usize>], rank: usize) -> Vec<usize> {
    kept_places(published.len(), rank).map(|(from, number)| published[from][number]).collect()
}

/// Where the numbers come from that a rank must keep: a rank, and a number that it publishes.
fn kept_places(p: usize, rank: usize) -> impl Iterator<Item = (usize, usize)> {
    let taken = move |from: usize| {
        let number = (rank + p - from) % p;
        let block = if from == rank { [0, 0] } else { [number - 1, number] };
        [(from, block[0]), (from, block[1]), (from, p - 1)]
    };
    (0..p).map(move |number| (rank, number)).chain((0..p).flat_map(taken))
}

/// The content of a byte: a byte of a call, and the ranks that have contributed to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Content {
    call: usize,
    index: usize,
    value: TreeValue,
}

type Clock = Vec<u64>;

/// A byte of a slot.
#[derive(Clone, Default)]
struct Byte {
    content: Option<Content>,
    written: Option<(usize, u64)>,
    /// Ranks in ascending order, and the time of the last read of each.
    read: Vec<(usize, u64)>,
}

impl Byte {
    /// Notes that a rank reads it.
    fn is_read(&mut self, rank: usize, time: u64) {
        match self.read.binary_search_by_key(&rank, |&(reader, _)| reader) {
            Ok(at) => self.read[at].1 = time,
            Err(at) => self.read.insert(at, (rank, time)),
        }
    }
}

/// The slots. Most bytes are never touched, so a page is made when one of its bytes is.
struct SlotBytes(Vec<Vec<Byte>>);

impl SlotBytes {
    const PAGE: usize = 512;

    fn new(bytes: usize) -> Self {
        SlotBytes(vec![Vec::new(); bytes.div_ceil(Self::PAGE)])
    }

    fn byte(&mut self, index: usize) -> &mut Byte {
        let page = &mut self.0[index / Self::PAGE];
        if page.is_empty() {
            page.resize(Self::PAGE, Byte::default());
        }
        &mut page[index % Self::PAGE]
    }
}

/// What a rank has read of another's memory, and when. The output's bytes, if it was output.
struct Fetched {
    by: usize,
    time: u64,
    output: Range<usize>,
}

struct RankState {
    /// The call, the segment in it, and the step.
    at: (usize, usize, usize),
    /// The number of the segment among all calls.
    number: usize,
    /// How often it has signalled in this segment.
    signals: u32,
    clock: Clock,
    /// `None` if the input lies in the output.
    input: Option<Vec<Option<Content>>>,
    output: Vec<Option<Content>>,
    /// When each byte of the output was last written in this call.
    written: Vec<u64>,
    /// What it has published.
    published: Option<RegionOffset>,
    /// What other ranks have read of its memory in this call.
    fetched: Vec<Fetched>,
    /// The numbers that it keeps during an alltoallv.
    scratch: Vec<Option<Content>>,
}

/// What a rank publishes counts as more bytes of its input, far behind it.
const PUBLISHED: usize = 1 << 40;

/// Where a rank publishes the address of its memory: beside its counter.
fn published_at(rank: usize) -> RegionOffset {
    RegionOffset { region: MemoryRegion::Shared, offset: rank * LINE + COUNTER }
}

struct NodeReplay<'a, 'b> {
    /// The calls of each rank.
    calls: &'b [Vec<RankCall<'a>>],
    slots: usize,
    slot: usize,
    trees: Trees,
    processes: Vec<RankState>,
    memory: SlotBytes,
    /// The clock at each signal: by rank, segment and number.
    signalled: BTreeMap<(usize, usize, u32), Clock>,
    /// The clock of each rank when it completed each segment.
    completed: Vec<Vec<Clock>>,
    order: SharedOrder,
    reduced: BTreeMap<(usize, usize), TreeValue>,
}

/// Replays calls: one list for each rank, all of the same calls. The window has `slots` slots of `slot` bytes, besides
/// the lines of counters.
///
/// # Errors
/// The first fault.
pub fn replay(calls: &[Vec<RankCall<'_>>], slots: usize, slot: usize) -> Result<SharedOrder, SharedFault> {
    let p = calls.len();
    let process = |rank: usize| {
        let mut clock = vec![0; p];
        clock[rank] = 1;
        RankState {
            at: (0, 0, 0),
            number: 0,
            signals: 0,
            clock,
            input: None,
            output: Vec::new(),
            written: Vec::new(),
            published: None,
            fetched: Vec::new(),
            scratch: Vec::new(),
        }
    };
    let slot = slot + p * LINE;
    let mut node = NodeReplay {
        calls,
        slots,
        slot,
        trees: Trees::new(p),
        processes: (0..p).map(process).collect(),
        memory: SlotBytes::new(slots * slot),
        signalled: BTreeMap::new(),
        completed: vec![Vec::new(); p],
        order: SharedOrder { same_tree: true, rank_order: true },
        reduced: BTreeMap::new(),
    };
    for rank in 0..p {
        node.begin(rank);
    }
    loop {
        let mut moved = false;
        for rank in 0..p {
            while node.step(rank)? {
                moved = true;
            }
        }
        let waiting = (0..p).find(|&rank| node.processes[rank].at.0 < calls[rank].len());
        match waiting {
            None => return Ok(node.order),
            Some(rank) if !moved => return Err(SharedFault::Stuck { call: node.processes[rank].at.0, rank }),
            Some(_) => {}
        }
    }
}

/// The bytes of a rank's input, and of its output.
pub fn lengths(call: &SharedCall<'_>, rank: usize) -> (usize, usize) {
    if let SharedBlocks::Private { leaving, arriving } = call.blocks {
        return (end_of(leaving) * call.size, end_of(arriving) * call.size);
    }
    let end = |block: usize| call.begin(block) + call.len(block);
    let all = (0..call.p).map(end).max().unwrap_or(0);
    let (own, is_root) = (call.len(rank), rank == call.root);
    let (input, output) = match call.kind {
        Kind::Allreduce => (own, own),
        Kind::Reduce => (own, if is_root { own } else { 0 }),
        Kind::Broadcast => (if is_root { own } else { 0 }, if is_root { 0 } else { own }),
        Kind::Allgather => (own, all),
        Kind::Gather => (own, if is_root { all } else { 0 }),
        Kind::Scatter => (if is_root { all } else { 0 }, own),
        Kind::ReduceScatter => (all, own),
        Kind::Alltoall => (all, all),
    };
    (input * call.size, output * call.size)
}

/// Where the last block ends.
fn end_of(BlockSpans { counts, displs }: BlockSpans<'_>) -> usize {
    counts.iter().zip(displs).map(|(count, begin)| begin + count).max().unwrap_or(0)
}

impl NodeReplay<'_, '_> {
    /// Prepares the memory of a rank for its next call.
    fn begin(&mut self, rank: usize) {
        let number = self.processes[rank].at.0;
        let Some(RankCall { call, .. }) = self.calls[rank].get(number) else { return };
        let ((given, got), value) = (lengths(call, rank), self.trees.leaf(rank));
        let content = |index| Some(Content { call: number, index, value });
        let input: Vec<Option<Content>> = (0..given).map(content).collect();
        let process = &mut self.processes[rank];
        if call.is_private() {
            let numbers = (0..numbers(call.p) * WORD).map(|byte| (byte < call.p * WORD).then_some(byte));
            let published = |byte| Content { call: number, index: PUBLISHED + byte, value };
            process.scratch = numbers.map(|byte| byte.map(published)).collect();
        }
        if !call.in_place {
            (process.input, process.output, process.written) = (Some(input), vec![None; got], vec![0; got]);
            return;
        }
        let own_block = matches!(call.kind, Kind::Allgather | Kind::Gather);
        let begin = if own_block { call.begin(rank) * call.size } else { 0 };
        let mut output = vec![None; got.max(begin + given)];
        output[begin..begin + given].copy_from_slice(&input);
        process.written = vec![0; output.len()];
        (process.input, process.output) = (None, output);
    }

    /// Executes one step of a rank; false if it must wait or is done.
    fn step(&mut self, rank: usize) -> Result<bool, SharedFault> {
        let (call, part, step) = self.processes[rank].at;
        let Some(ours) = self.calls[rank].get(call) else { return Ok(false) };
        let Some(ops) = ours.segments.get(part) else {
            self.judge(rank)?;
            self.give_back(rank)?;
            self.processes[rank].at = (call + 1, 0, 0);
            self.begin(rank);
            return Ok(true);
        };
        let Some(&op) = ops.get(step) else {
            let process = &mut self.processes[rank];
            self.completed[rank].push(process.clock.clone());
            process.clock[rank] += 1;
            (process.at, process.number, process.signals) = ((call, part + 1, 0), process.number + 1, 0);
            return Ok(true);
        };
        let done = match op {
            SharedOp::Claim => self.claim(rank),
            SharedOp::Await { rank: other, times } => self.wait(rank, other, times),
            SharedOp::Signal => {
                let process = &mut self.processes[rank];
                process.signals += 1;
                self.signalled.insert((rank, process.number, process.signals), process.clock.clone());
                process.clock[rank] += 1;
                true
            }
            SharedOp::Publish(from) => {
                let address = [self.address(rank, call); WORD];
                self.write(rank, published_at(rank), &address)?;
                self.processes[rank].published = Some(from);
                true
            }
            SharedOp::Fetch(FetchStep { rank: from, offset, to, elements }) => {
                let contents = self.fetch(rank, from, offset, elements * ours.call.size)?;
                self.write(rank, to, &contents)?;
                true
            }
            SharedOp::Copy(CopyStep { from, to, elements }) => {
                let bytes = elements * ours.call.size;
                if !self.is_same(rank, from, to) {
                    self.apart(rank, from, to, bytes, false)?;
                    let contents = self.read(rank, from, bytes)?;
                    self.write(rank, to, &contents)?;
                }
                true
            }
            SharedOp::Combine(CombineStep { left, right, into, elements }) => {
                let bytes = elements * ours.call.size;
                self.apart(rank, left, into, bytes, false)?;
                self.apart(rank, right, into, bytes, true)?;
                let (left, right) = (self.read(rank, left, bytes)?, self.read(rank, right, bytes)?);
                let contents = self.combine(rank, &left, &right, into)?;
                self.write(rank, into, &contents)?;
                true
            }
        };
        self.processes[rank].at.2 += usize::from(done);
        Ok(done)
    }

    /// What a rank publishes in a call, as the content of a byte.
    fn address(&self, rank: usize, call: usize) -> Content {
        Content { call, index: PUBLISHED, value: self.trees.leaf(rank) }
    }

    /// Reads another rank's memory.
    fn fetch(&mut self, rank: usize, from: usize, offset: usize, bytes: usize) -> Result<Vec<Content>, SharedFault> {
        let address = self.read(rank, published_at(from), WORD)?;
        let (reader, owner) = (&self.processes[rank], &self.processes[from]);
        let (call, time, known) = (reader.at.0, reader.clock[rank], reader.clock[from]);
        let (with, unknown) = (rank, SharedFault::NotPublished { call, rank, from });
        let begin = owner.published.ok_or(unknown.clone())?;
        if address != [self.address(from, call); WORD] {
            return Err(unknown);
        }
        if owner.at.0 > call {
            return Err(SharedFault::ReadAfterCall { call, rank: from, with });
        }
        let spot = RegionOffset { offset: begin.offset + offset, ..begin };
        let range = self.range(from, spot, bytes)?;
        let owner = &mut self.processes[from];
        let is_input = begin.region == MemoryRegion::Input && owner.input.is_some();
        if !is_input && owner.written[range.clone()].iter().any(|&at| at > known) {
            return Err(SharedFault::WrittenWhileRead { call, rank: from, with });
        }
        let found = match &owner.input {
            Some(input) if is_input => input[range.clone()].to_vec(),
            _ => owner.output[range.clone()].to_vec(),
        };
        owner.fetched.push(Fetched { by: rank, time, output: if is_input { 0..0 } else { range } });
        found.into_iter().map(|content| content.ok_or(SharedFault::Nothing { call, rank: from, spot })).collect()
    }

    /// The end of a call: its memory belongs to the program again.
    fn give_back(&mut self, rank: usize) -> Result<(), SharedFault> {
        let process = &mut self.processes[rank];
        let (call, fetched) = (process.at.0, std::mem::take(&mut process.fetched));
        match fetched.iter().find(|read| read.time > process.clock[read.by]) {
            Some(read) => Err(SharedFault::ReadAfterCall { call, rank, with: read.by }),
            None => Ok(()),
        }
    }

    /// Whether two positions are the same memory.
    fn is_same(&self, rank: usize, from: RegionOffset, to: RegionOffset) -> bool {
        let of = |spot: RegionOffset| match spot.region {
            MemoryRegion::Input if self.processes[rank].input.is_none() => MemoryRegion::Output,
            region => region,
        };
        of(from) == of(to) && from.offset == to.offset
    }

    /// Returns an error if two ranges overlap, unless they are identical and may be.
    fn apart(
        &self,
        rank: usize,
        from: RegionOffset,
        to: RegionOffset,
        bytes: usize,
        may_be_same: bool,
    ) -> Result<(), SharedFault> {
        let (same, call) = (self.is_same(rank, from, to), self.processes[rank].at.0);
        let alias = self.is_same(rank, from, RegionOffset { offset: from.offset, ..to });
        let overlap = alias && from.offset.abs_diff(to.offset) < bytes && !(same && may_be_same);
        if overlap { Err(SharedFault::Overlap { call, rank, from, to }) } else { Ok(()) }
    }

    fn claim(&mut self, rank: usize) -> bool {
        let Some(before) = self.processes[rank].number.checked_sub(self.slots) else { return true };
        if self.completed.iter().enumerate().any(|(other, done)| other != rank && done.len() <= before) {
            return false;
        }
        for other in 0..self.completed.len() {
            // A rank reads how many segments another has completed, and learns at least of the one that it needs.
            let told = self.completed[other].get(before).cloned();
            told.into_iter().for_each(|told| self.learn(rank, &told));
        }
        true
    }

    fn wait(&mut self, rank: usize, other: usize, times: u32) -> bool {
        let Some(told) = self.signalled.get(&(other, self.processes[rank].number, times)).cloned() else {
            return false;
        };
        self.learn(rank, &told);
        true
    }

    fn learn(&mut self, rank: usize, told: &Clock) {
        self.processes[rank].clock.iter_mut().zip(told).for_each(|(known, &told)| *known = told.max(*known));
    }

    /// The bytes of the slot of a rank's segment.
    fn range(&self, rank: usize, spot: RegionOffset, bytes: usize) -> Result<Range<usize>, SharedFault> {
        let process = &self.processes[rank];
        let (base, length) = match spot.region {
            MemoryRegion::Input => (0, process.input.as_ref().unwrap_or(&process.output).len()),
            MemoryRegion::Output => (0, process.output.len()),
            MemoryRegion::Shared => (process.number % self.slots * self.slot, self.slot),
            MemoryRegion::Scratch => (0, process.scratch.len()),
        };
        let nothing = SharedFault::Nothing { call: process.at.0, rank, spot };
        let fits = spot.offset.checked_add(bytes).is_some_and(|end| end <= length);
        if fits { Ok(base + spot.offset..base + spot.offset + bytes) } else { Err(nothing) }
    }

    fn read(&mut self, rank: usize, spot: RegionOffset, bytes: usize) -> Result<Vec<Content>, SharedFault> {
        let range = self.range(rank, spot, bytes)?;
        let process = &self.processes[rank];
        let (call, time) = (process.at.0, process.clock[rank]);
        let found: Vec<Option<Content>> = match spot.region {
            MemoryRegion::Shared => {
                let mut found = Vec::with_capacity(bytes);
                for index in range {
                    let byte = self.memory.byte(index);
                    let race = byte.written.filter(|&(writer, at)| at > process.clock[writer]);
                    if let Some((with, _)) = race {
                        return Err(SharedFault::Race { call, rank, with, byte: index % self.slot });
                    }
                    byte.is_read(rank, time);
                    found.push(byte.content);
                }
                found
            }
            MemoryRegion::Input => process.input.as_ref().unwrap_or(&process.output)[range].to_vec(),
            MemoryRegion::Output => process.output[range].to_vec(),
            MemoryRegion::Scratch => process.scratch[range].to_vec(),
        };
        found.into_iter().map(|content| content.ok_or(SharedFault::Nothing { call, rank, spot })).collect()
    }

    fn write(&mut self, rank: usize, spot: RegionOffset, contents: &[Content]) -> Result<(), SharedFault> {
        let range = self.range(rank, spot, contents.len())?;
        let process = &mut self.processes[rank];
        let (call, time) = (process.at.0, process.clock[rank]);
        if spot.region == MemoryRegion::Input {
            return Err(SharedFault::WritesInput { call, rank, spot });
        }
        let lines = self.calls.len() * LINE;
        let counter = |byte: usize| byte < lines && byte % LINE < COUNTER;
        if spot.region == MemoryRegion::Shared && (spot.offset..spot.offset + contents.len()).any(counter) {
            return Err(SharedFault::WritesCounter { call, rank, spot });
        }
        if matches!(spot.region, MemoryRegion::Input | MemoryRegion::Output) {
            let overlaps = |read: &&Fetched| read.output.start < range.end && range.start < read.output.end;
            let unordered = |read: &&Fetched| read.time > process.clock[read.by];
            if let Some(read) = process.fetched.iter().filter(overlaps).find(unordered) {
                return Err(SharedFault::WrittenWhileRead { call, rank, with: read.by });
            }
            process.written[range.clone()].fill(time);
        }
        for (index, &content) in range.zip(contents) {
            match spot.region {
                MemoryRegion::Shared => {}
                MemoryRegion::Scratch => {
                    process.scratch[index] = Some(content);
                    continue;
                }
                MemoryRegion::Input | MemoryRegion::Output => {
                    process.output[index] = Some(content);
                    continue;
                }
            }
            let byte = self.memory.byte(index);
            let race = byte
                .written
                .into_iter()
                .chain(byte.read.iter().copied())
                .find(|&(other, at)| at > process.clock[other]);
            if let Some((with, _)) = race {
                return Err(SharedFault::Race { call, rank, with, byte: index % self.slot });
            }
            *byte = Byte { content: Some(content), written: Some((rank, time)), read: Vec::new() };
        }
        Ok(())
    }

    fn combine(
        &mut self,
        rank: usize,
        left: &[Content],
        right: &[Content],
        spot: RegionOffset,
    ) -> Result<Vec<Content>, SharedFault> {
        let mixed = SharedFault::Mixed { call: self.processes[rank].at.0, rank, spot };
        let both = left.iter().zip(right).map(|(left, right)| {
            if (left.call, left.index) != (right.call, right.index) {
                return Err(mixed.clone());
            }
            let value = self.trees.join(left.value, right.value).map_err(|_| mixed.clone())?;
            Ok(Content { value, ..*left })
        });
        both.collect()
    }

    /// Compares the numbers that a rank has taken in an alltoallv with those that the others have published.
    fn judge_numbers(&mut self, rank: usize) -> Result<(), SharedFault> {
        let (number, p) = (self.processes[rank].at.0, self.calls.len());
        if !self.calls[rank][number].call.is_private() {
            return Ok(());
        }
        for (at, (from, published)) in kept_places(p, rank).enumerate() {
            for byte in 0..WORD {
                let index = PUBLISHED + published * WORD + byte;
                let right = Content { call: number, index, value: self.trees.leaf(from) };
                if self.processes[rank].scratch[at * WORD + byte] != Some(right) {
                    return Err(SharedFault::WrongNumber { call: number, rank, number: at });
                }
            }
        }
        Ok(())
    }

    /// Compares the output of a rank with the definition of the collective.
    fn judge(&mut self, rank: usize) -> Result<(), SharedFault> {
        let (number, calls) = (self.processes[rank].at.0, self.calls);
        let call = &calls[rank][number].call;
        let in_place = call.in_place;
        self.judge_numbers(rank)?;
        let output = std::mem::take(&mut self.processes[rank].output);
        let (_, got) = lengths(call, rank);
        for (byte, content) in output.into_iter().enumerate().take(got) {
            let wrong = SharedFault::Wrong { call: number, rank, byte };
            match (expected(|rank| calls[rank][number].call, rank, byte), content) {
                (ExpectedByte::Sum(index), Some(found)) if call.p > 1 => {
                    let all = self.trees.count(found.value.tree) == call.p;
                    if (found.call, found.index) != (number, index) || !all {
                        return Err(wrong);
                    }
                    let first = *self.reduced.entry((number, index)).or_insert(found.value);
                    self.order.same_tree &= first.tree == found.value.tree;
                    self.order.rank_order &= found.value.run == Some((0, call.p as u32 - 1));
                }
                (ExpectedByte::Sum(index), Some(found)) if (found.call, found.index) == (number, index) => {}
                (ExpectedByte::From(source, index), Some(found)) => {
                    let value = self.trees.leaf(source);
                    if found != (Content { call: number, index, value }) {
                        return Err(wrong);
                    }
                }
                (ExpectedByte::Nothing, None) => {}
                (ExpectedByte::Nothing, Some(_)) if in_place => {}
                _ => return Err(wrong),
            }
        }
        Ok(())
    }
}

/// What a byte of a result must be.
enum ExpectedByte {
    /// The reduction of this byte of all inputs.
    Sum(usize),
    /// This byte of a rank's input.
    From(usize, usize),
    /// It lies between blocks, and is not touched.
    Nothing,
}

fn expected<'a>(call_of: impl Fn(usize) -> SharedCall<'a>, rank: usize, byte: usize) -> ExpectedByte {
    let call = call_of(rank);
    let (size, own) = (call.size, call.begin(rank) * call.size);
    let inside = |block: &usize| {
        let begin = call.begin(*block) * size;
        (begin..begin + call.len(*block) * size).contains(&byte)
    };
    let block = (0..call.p).find(inside);
    if let (SharedBlocks::Private { .. }, Some(block)) = (call.blocks, block) {
        return sent_by(&call_of(block), block, rank, byte - call.begin(block));
    }
    match (call.kind, block) {
        (Kind::Allreduce | Kind::Reduce, _) => ExpectedByte::Sum(byte),
        (Kind::ReduceScatter, _) => ExpectedByte::Sum(own + byte),
        (Kind::Broadcast, _) => ExpectedByte::From(call.root, byte),
        // The root's own block stays where it is.
        (Kind::Scatter, _) if call.in_place => ExpectedByte::From(call.root, byte),
        (Kind::Scatter, _) => ExpectedByte::From(call.root, own + byte),
        (Kind::Allgather | Kind::Gather, Some(block)) => ExpectedByte::From(block, byte - call.begin(block) * size),
        (Kind::Alltoall, Some(block)) => ExpectedByte::From(block, own + byte - call.begin(block) * size),
        (Kind::Allgather | Kind::Gather | Kind::Alltoall, None) => ExpectedByte::Nothing,
    }
}

/// A byte of the block that a rank sends to another in an alltoallv. Nothing arrives beyond its end.
fn sent_by(call: &SharedCall<'_>, from: usize, to: usize, byte: usize) -> ExpectedByte {
    match call.blocks {
        SharedBlocks::Private { leaving, .. } if byte < leaving.counts[to] => {
            ExpectedByte::From(from, leaving.displs[to] + byte)
        }
        _ => ExpectedByte::Nothing,
    }
}

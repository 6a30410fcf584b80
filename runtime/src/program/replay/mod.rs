//! Replays all programs together, several calls in a row, to find every race, every deadlock and every wrong element.
//!
//! Elements are symbolic: they track which ranks have contributed, to which element, in which call. So no result is
//! right by chance. Users take part, too: between calls they write their input and read their output, wherever it
//! lies. A send completes only when it is received. Messages do not order accesses to the shared memory of a node,
//! although a real network may: programs must be correct without that.

mod cell;
mod fault;
mod mail;

pub use fault::{FaultSite, ProgramFault, ReplayError};

use std::collections::BTreeMap;
use std::ops::Range;

use roundel_spec::trees::Trees;
use roundel_spec::{Kind, Placement};

use self::cell::{Clock, ElementContent, SharedCell};
use self::mail::Mail;
use super::{CombineStep, CopyStep, MemoryRegion, MessageDirection, Op, Program, ProgramSpec, RegionOffset};

/// The number of calls that a replay should have: each of the two programs follows each of them, and the memory of
/// the first one is reused.
pub const CALLS: usize = 4;

/// The order in which contributions are reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReductionOrder {
    /// Whether all ranks reduce every element with the same tree, so that their results are bitwise equal.
    pub same_tree: bool,
    /// Whether contributions stay in the order of ranks, so that the operation need not commute.
    pub rank_order: bool,
}

/// Runs the programs of all ranks, for even and odd calls, `calls` times in a row. Of the job, only kind, placement,
/// counts and size are used.
pub fn replay(job: &ProgramSpec, programs: &[[Program; 2]], calls: usize) -> Result<ReductionOrder, ReplayError> {
    let ProgramSpec { kind, placement, size, .. } = *job;
    let elements: Vec<_> = (0..placement.p()).map(|rank| RankElements::of(job, rank)).collect();
    replay_call(&ReplayedCall { reduces: kind.reduces(), placement, size, elements: &elements }, programs, calls)
}

/// What a rank gives and gets in a call, as numbers of elements that all ranks use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankElements {
    /// Its input.
    pub given: Vec<usize>,
    /// Its output.
    pub got: Vec<usize>,
    /// The element of the output at which the input begins, if that is where it lies.
    pub in_place: Option<usize>,
}

impl RankElements {
    fn of(job: &ProgramSpec, rank: usize) -> Self {
        let all = 0..job.counts.iter().sum();
        let own = || {
            let begin: usize = job.counts[..rank].iter().sum();
            begin..begin + job.counts[rank]
        };
        let (given, got) = match job.kind {
            Kind::Allgather => (own(), all),
            Kind::ReduceScatter => (all, own()),
            _ => (all.clone(), all),
        };
        RankElements { given: given.collect(), got: got.collect(), in_place: None }
    }
}

/// A call of all ranks.
#[derive(Clone, Copy, Debug)]
pub struct ReplayedCall<'a> {
    /// Whether each element of the output is reduced from all ranks' elements of this number. Otherwise an element
    /// belongs to the rank that gives it.
    pub reduces: bool,
    /// The placement of ranks on nodes.
    pub placement: &'a Placement,
    /// The number of bytes of an element.
    pub size: usize,
    /// What each rank gives and gets.
    pub elements: &'a [RankElements],
}

/// The same as [`replay`], for a collective of any kind.
///
/// # Errors
/// The first fault.
pub fn replay_call(
    job: &ReplayedCall<'_>,
    programs: &[[Program; 2]],
    calls: usize,
) -> Result<ReductionOrder, ReplayError> {
    let mut replay = ProgramReplay::new(job, programs, calls)?;
    while replay.processes.iter().any(|process| process.call < calls) {
        let mut moved = false;
        for rank in 0..programs.len() {
            moved |= replay.advance(rank)?;
        }
        if !moved {
            return Err(replay.stuck());
        }
    }
    replay.finish()
}

/// An active message of a process.
#[derive(Clone, Copy, Debug)]
struct Active {
    message: usize,
    number: usize,
    direction: MessageDirection,
    spot: RegionOffset,
    elements: usize,
}

/// One rank.
struct Process {
    node: usize,
    local: usize,
    call: usize,
    op: usize,
    /// How often it has incremented its counter in this call.
    raised: u32,
    clock: Clock,
    input: Vec<Option<ElementContent>>,
    output: Vec<Option<ElementContent>>,
    scratch: Vec<Option<ElementContent>>,
    active: Vec<Active>,
}

/// The state that the processes of a node share.
struct Common {
    ranks: Vec<usize>,
    cells: Vec<SharedCell>,
    /// The clock of each process at each increment of its counter.
    published: Vec<Vec<Clock>>,
}

struct ProgramReplay<'a> {
    job: &'a ReplayedCall<'a>,
    programs: &'a [[Program; 2]],
    calls: usize,
    trees: Trees,
    processes: Vec<Process>,
    nodes: Vec<Common>,
    mail: Mail,
    /// The tree of each element of the result, from the first rank that has reduced it.
    reduced: BTreeMap<usize, ElementContent>,
    order: ReductionOrder,
}

impl<'a> ProgramReplay<'a> {
    fn new(job: &'a ReplayedCall<'a>, programs: &'a [[Program; 2]], calls: usize) -> Result<Self, ReplayError> {
        let p = job.placement.p();
        let disagree = |rank, what| {
            let site = FaultSite { call: 0, rank, op: None };
            ReplayError { site, fault: ProgramFault::Disagree { what } }
        };
        if programs.len() != p {
            return Err(disagree(programs.len().min(p), "how many ranks there are"));
        }
        let mut nodes: Vec<Common> = Vec::new();
        let mut processes = Vec::new();
        for rank in 0..p {
            let place = job.placement.place(rank);
            let (node, local) = (place.node as usize, place.local as usize);
            let first = &programs[nodes.get(node).map_or(rank, |node| node.ranks[0])][0];
            for program in &programs[rank] {
                if program.shared != first.shared {
                    return Err(disagree(rank, "the size of shared memory"));
                }
                if program.signals != first.signals || program.signals.len() != place.ppn as usize {
                    return Err(disagree(rank, "how often counters are raised"));
                }
            }
            if node == nodes.len() {
                let cells = vec![SharedCell::default(); first.shared / job.size];
                nodes.push(Common { ranks: Vec::new(), cells, published: vec![Vec::new(); place.ppn as usize] });
            }
            nodes[node].ranks.push(rank);
            let mut clock = vec![0; place.ppn as usize];
            clock[local] = 1;
            processes.push(Process {
                node,
                local,
                call: 0,
                op: 0,
                raised: 0,
                clock,
                input: Vec::new(),
                output: Vec::new(),
                scratch: Vec::new(),
                active: Vec::new(),
            });
        }
        let order = ReductionOrder { same_tree: true, rank_order: true };
        let (trees, mail, reduced) = (Trees::new(p), Mail::default(), BTreeMap::new());
        let mut replay = ProgramReplay { job, programs, calls, trees, processes, nodes, mail, reduced, order };
        if calls > 0 {
            (0..p).try_for_each(|rank| replay.begin(rank))?;
        }
        Ok(replay)
    }

    fn program(&self, rank: usize) -> &'a Program {
        &self.programs[rank][self.processes[rank].call % 2]
    }

    fn error(&self, rank: usize, op: Option<usize>, fault: ProgramFault) -> ReplayError {
        ReplayError { site: FaultSite { call: self.processes[rank].call, rank, op }, fault }
    }

    /// Executes steps of one rank until it must wait or has made all calls; returns whether it executed any.
    fn advance(&mut self, rank: usize) -> Result<bool, ReplayError> {
        let mut moved = false;
        while self.processes[rank].call < self.calls {
            let op = self.processes[rank].op;
            let Some(step) = self.program(rank).ops.get(op) else {
                self.end(rank).map_err(|fault| self.error(rank, None, fault))?;
                self.processes[rank].call += 1;
                if self.processes[rank].call < self.calls {
                    self.begin(rank)?;
                }
                moved = true;
                continue;
            };
            if !self.step(rank, step).map_err(|fault| self.error(rank, Some(op), fault))? {
                break;
            }
            self.processes[rank].op += 1;
            moved = true;
        }
        Ok(moved)
    }

    /// Begins a call: the user writes the input and starts it.
    fn begin(&mut self, rank: usize) -> Result<(), ReplayError> {
        let RankElements { given, got, in_place } = &self.job.elements[rank];
        let value = self.trees.leaf(rank);
        let call = self.processes[rank].call;
        let input: Vec<_> = given.iter().map(|&index| ElementContent { call, index, value }).collect();
        let program = self.program(rank);
        let process = &mut self.processes[rank];
        (process.op, process.raised) = (0, 0);
        process.input = Vec::new();
        process.output = vec![None; if program.output.is_none() { got.len() } else { 0 }];
        process.scratch = vec![None; program.scratch / self.job.size];
        match (program.input, *in_place) {
            (None, None) => process.input = input.into_iter().map(Some).collect(),
            (None, Some(begin)) => {
                let end = begin + input.len();
                process.output.resize(process.output.len().max(end), None);
                process.output[begin..end].iter_mut().zip(input).for_each(|(to, content)| *to = Some(content));
            }
            (Some(offset), _) => self
                .write(rank, RegionOffset { region: MemoryRegion::Shared, offset }, &input)
                .map_err(|fault| self.error(rank, None, fault))?,
        }
        Ok(())
    }

    /// Ends a call: the user reads the output.
    fn end(&mut self, rank: usize) -> Result<(), ProgramFault> {
        let program = self.program(rank);
        let process = &self.processes[rank];
        if let Some(active) = process.active.first() {
            return Err(ProgramFault::LeftOpen { message: active.message });
        }
        let (declared, found) = (program.signals[process.local], process.raised);
        if declared != found {
            return Err(ProgramFault::Signals { declared, found });
        }
        let got = &self.job.elements[rank].got;
        let whole = match program.output {
            Some(offset) => RegionOffset { region: MemoryRegion::Shared, offset },
            None => RegionOffset { region: MemoryRegion::Output, offset: 0 },
        };
        let result = self.read(rank, whole, got.len())?;
        got.iter().zip(result).try_for_each(|(&index, content)| self.judge(rank, index, content))
    }

    /// Checks an element of the result against the specification of the collective.
    fn judge(&mut self, rank: usize, index: usize, content: ElementContent) -> Result<(), ProgramFault> {
        let wrong = |what| Err(ProgramFault::Wrong { index, what });
        if content.call != self.processes[rank].call {
            return wrong("it belongs to another call");
        }
        if content.index != index {
            return wrong("it is another element");
        }
        if !self.job.reduces {
            return Ok(());
        }
        if self.trees.count(content.value.tree) != self.programs.len() {
            return wrong("a contribution is missing");
        }
        let first = self.reduced.entry(index).or_insert(content);
        self.order.same_tree &= first.value.tree == content.value.tree;
        self.order.rank_order &= content.value.run == Some((0, self.programs.len() as u32 - 1));
        Ok(())
    }

    /// Executes one step, unless it must wait.
    fn step(&mut self, rank: usize, step: &Op) -> Result<bool, ProgramFault> {
        match *step {
            Op::Copy(CopyStep { from, to, elements }) => {
                self.clear(from, to, elements, false)?;
                let contents = self.read(rank, from, elements)?;
                self.write(rank, to, &contents)?;
            }
            Op::Combine(CombineStep { left, right, into, elements }) => {
                self.clear(left, into, elements, true)?;
                self.clear(right, into, elements, true)?;
                let (left, right) = (self.read(rank, left, elements)?, self.read(rank, right, elements)?);
                let contents = self.combine(&left, &right, into)?;
                self.write(rank, into, &contents)?;
            }
            Op::Post { first, count } => {
                (first..first.saturating_add(count)).try_for_each(|message| self.post(rank, message))?
            }
            Op::Complete { first, count } => return self.complete(rank, first..first.saturating_add(count)),
            Op::Signal => self.signal(rank),
            Op::Await { local, times } => return self.wait(rank, local, times),
        }
        Ok(true)
    }

    /// Returns an error if the source and destination of a step overlap.
    fn clear(
        &self,
        from: RegionOffset,
        to: RegionOffset,
        elements: usize,
        may_be_equal: bool,
    ) -> Result<(), ProgramFault> {
        let near = from.region == to.region && from.offset.abs_diff(to.offset) / self.job.size < elements;
        let overlap = near && !(may_be_equal && from == to);
        if overlap { Err(ProgramFault::Overlap { from, to, elements }) } else { Ok(()) }
    }

    fn combine(
        &mut self,
        left: &[ElementContent],
        right: &[ElementContent],
        into: RegionOffset,
    ) -> Result<Vec<ElementContent>, ProgramFault> {
        let pairs = left.iter().zip(right).enumerate();
        pairs
            .map(|(number, (left, right))| {
                let spot = RegionOffset { offset: into.offset + number * self.job.size, ..into };
                if (left.call, left.index) != (right.call, right.index) {
                    let (left, right) = ((left.call, left.index), (right.call, right.index));
                    return Err(ProgramFault::Mixed { spot, left, right });
                }
                let joined = self.trees.join(left.value, right.value);
                let value = joined.map_err(|contributor| ProgramFault::Twice { spot, contributor })?;
                Ok(ElementContent { value, ..*left })
            })
            .collect()
    }

    fn signal(&mut self, rank: usize) {
        let process = &mut self.processes[rank];
        self.nodes[process.node].published[process.local].push(process.clock.clone());
        process.clock[process.local] += 1;
        process.raised += 1;
    }

    fn wait(&mut self, rank: usize, local: usize, times: u32) -> Result<bool, ProgramFault> {
        let signals = &self.program(rank).signals;
        let process = &mut self.processes[rank];
        let node = &self.nodes[process.node];
        let each = *signals.get(local).ok_or(ProgramFault::NoSuchProcess { local })?;
        let raised = process.call * each as usize + times as usize;
        if node.published[local].len() < raised {
            return Ok(false);
        }
        if let Some(published) = raised.checked_sub(1).map(|last| &node.published[local][last]) {
            process.clock.iter_mut().zip(published).for_each(|(known, &published)| *known = published.max(*known));
        }
        Ok(true)
    }

    fn post(&mut self, rank: usize, message: usize) -> Result<(), ProgramFault> {
        let known = self.program(rank).messages.get(message);
        let &super::ProgramMessage { direction, peer, spot, elements } =
            known.ok_or(ProgramFault::NoSuchMessage { message })?;
        if peer >= self.programs.len() || peer == rank {
            return Err(ProgramFault::NoSuchPeer { message, peer });
        }
        if self.processes[rank].active.iter().any(|active| active.message == message) {
            return Err(ProgramFault::PostedTwice { message });
        }
        let number = match direction {
            MessageDirection::Out => {
                let contents = self.read(rank, spot, elements)?;
                self.mail.send(rank, peer, contents)
            }
            MessageDirection::In => {
                self.touch(rank, spot, elements, true)?;
                self.mail.receive(peer, rank, elements)
            }
        };
        self.processes[rank].active.push(Active { message, number, direction, spot, elements });
        Ok(())
    }

    /// Completes messages if all of them can complete.
    fn complete(&mut self, rank: usize, messages: Range<usize>) -> Result<bool, ProgramFault> {
        let mut arrived = Vec::new();
        for message in messages.clone() {
            let known = self.program(rank).messages.get(message).ok_or(ProgramFault::NoSuchMessage { message })?;
            let active = self.processes[rank].active.iter().find(|active| active.message == message);
            let active = *active.ok_or(ProgramFault::NotPosted { message })?;
            let (from, to) =
                if active.direction == MessageDirection::Out { (rank, known.peer) } else { (known.peer, rank) };
            match self.mail.met(from, to, active.number) {
                None => return Ok(false),
                Some(Err((sent, received))) => {
                    return Err(ProgramFault::Lengths { peer: known.peer, sent, received });
                }
                Some(Ok(contents)) => arrived.push((active, contents.to_vec())),
            }
        }
        self.processes[rank].active.retain(|active| !messages.contains(&active.message));
        for (active, contents) in arrived {
            match active.direction {
                MessageDirection::Out => self.touch(rank, active.spot, active.elements, false).map(drop)?,
                MessageDirection::In => self.write(rank, active.spot, &contents)?,
            }
        }
        Ok(true)
    }

    /// The elements of a region that a step names, if they exist.
    fn range(&self, rank: usize, spot: RegionOffset, elements: usize) -> Result<Range<usize>, ProgramFault> {
        let process = &self.processes[rank];
        let length = match spot.region {
            MemoryRegion::Input => process.input.len(),
            MemoryRegion::Output => process.output.len(),
            MemoryRegion::Scratch => process.scratch.len(),
            MemoryRegion::Shared => self.nodes[process.node].cells.len(),
        };
        let size = self.job.size;
        if !spot.offset.is_multiple_of(size) {
            return Err(ProgramFault::Misplaced { spot });
        }
        let range = spot.offset / size..(spot.offset / size).saturating_add(elements);
        let outside = ProgramFault::Outside { spot, elements, bytes: length * size };
        if range.end <= length { Ok(range) } else { Err(outside) }
    }

    /// Records an access of a rank; returns an error for races, and for memory of active messages.
    fn touch(
        &mut self,
        rank: usize,
        spot: RegionOffset,
        elements: usize,
        writes: bool,
    ) -> Result<Range<usize>, ProgramFault> {
        if writes && spot.region == MemoryRegion::Input {
            return Err(ProgramFault::WritesInput { spot });
        }
        let range = self.range(rank, spot, elements)?;
        self.under_way(rank, spot, elements, writes)?;
        if spot.region == MemoryRegion::Shared {
            let process = &self.processes[rank];
            let node = &mut self.nodes[process.node];
            for index in range.clone() {
                let cell = &mut node.cells[index];
                let (local, clock) = (process.local, &process.clock);
                let raced = if writes { cell.writes(local, clock) } else { cell.reads(local, clock) };
                let spot = RegionOffset { offset: index * self.job.size, ..spot };
                raced.map_err(|with| ProgramFault::Race { spot, with: node.ranks[with] })?;
            }
        }
        Ok(range)
    }

    /// Returns an error if a step writes memory that a message sends, or accesses memory that a message receives.
    fn under_way(&self, rank: usize, spot: RegionOffset, elements: usize, writes: bool) -> Result<(), ProgramFault> {
        let process = &self.processes[rank];
        let others = &self.nodes[process.node].ranks;
        let owners =
            if spot.region == MemoryRegion::Shared { others.as_slice() } else { std::slice::from_ref(&rank) };
        let end = |spot: RegionOffset, elements: usize| spot.offset + elements * self.job.size;
        let clash = |active: &Active| {
            let overlap = active.spot.region == spot.region
                && active.spot.offset < end(spot, elements)
                && spot.offset < end(active.spot, active.elements);
            overlap && (writes || active.direction == MessageDirection::In)
        };
        match owners.iter().find(|&&owner| self.processes[owner].active.iter().any(clash)) {
            Some(&owner) => Err(ProgramFault::UnderWay { spot, owner }),
            None => Ok(()),
        }
    }

    fn read(
        &mut self,
        rank: usize,
        spot: RegionOffset,
        elements: usize,
    ) -> Result<Vec<ElementContent>, ProgramFault> {
        let range = self.touch(rank, spot, elements, false)?;
        let process = &self.processes[rank];
        let content = |index: usize| match spot.region {
            MemoryRegion::Input => process.input[index],
            MemoryRegion::Output => process.output[index],
            MemoryRegion::Scratch => process.scratch[index],
            MemoryRegion::Shared => self.nodes[process.node].cells[index].content,
        };
        let unwritten =
            |index| ProgramFault::Unwritten { spot: RegionOffset { offset: index * self.job.size, ..spot } };
        range.map(|index| content(index).ok_or(unwritten(index))).collect()
    }

    fn write(&mut self, rank: usize, spot: RegionOffset, contents: &[ElementContent]) -> Result<(), ProgramFault> {
        let range = self.touch(rank, spot, contents.len(), true)?;
        let process = &mut self.processes[rank];
        for (index, &content) in range.zip(contents) {
            match spot.region {
                MemoryRegion::Input => {}
                MemoryRegion::Output => process.output[index] = Some(content),
                MemoryRegion::Scratch => process.scratch[index] = Some(content),
                MemoryRegion::Shared => self.nodes[process.node].cells[index].content = Some(content),
            }
        }
        Ok(())
    }

    /// The error for the first rank that waits forever.
    fn stuck(&self) -> ReplayError {
        let waiting = |rank: &usize| self.processes[*rank].call < self.calls;
        let rank = (0..self.programs.len()).find(waiting).unwrap_or(0);
        self.error(rank, Some(self.processes[rank].op), ProgramFault::Stuck)
    }

    fn finish(self) -> Result<ReductionOrder, ReplayError> {
        match self.mail.unmatched() {
            Some((rank, fault)) => Err(self.error(rank, None, fault)),
            None => Ok(self.order),
        }
    }
}

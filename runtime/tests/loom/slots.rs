//! Calls through a ring of slots, and calls in which ranks read each other's memory: the first few hundred orders of
//! events with up to two preemptions. Users take part: between calls they write their input and read their output.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use roundel::program::shared::{
    COUNTER, CopyPath, FetchStep, LINE, SharedBlocks, SharedCall, SharedOp, completed_before, segment, signal_value,
};
use roundel::program::{CombineStep, CopyStep, MemoryRegion, RegionOffset};
use roundel_spec::Kind;
use std::sync::atomic::AtomicUsize;

/// The bytes of an element.
const SIZE: usize = 8;
/// The data of a slot besides its counters. Blocks are so short that they lie beside the counters.
const DATA: usize = 64;

/// Elements that several processes may access.
struct Cells(Vec<UnsafeCell<u64>>);

impl Cells {
    fn new(bytes: usize) -> Self {
        Cells((0..bytes / SIZE).map(|_| UnsafeCell::new(0)).collect())
    }

    fn get(&self, offset: usize) -> u64 {
        // SAFETY: loom rejects a run in which another thread writes the cell at the same time.
        self.0[offset / SIZE].with(|cell| unsafe { *cell })
    }

    fn set(&self, offset: usize, value: u64) {
        // SAFETY: loom rejects a run in which another thread accesses the cell at the same time.
        self.0[offset / SIZE].with_mut(|cell| unsafe { *cell = value });
    }
}

/// The window, and the private memory of all processes.
struct Node {
    slots: Vec<Cells>,
    /// By slot and process.
    signals: Vec<Vec<AtomicU64>>,
    completed: Vec<AtomicU64>,
    inputs: Vec<Cells>,
    outputs: Vec<Cells>,
}

/// Calls of one kind, one after the other.
#[derive(Clone)]
struct Case {
    kind: Kind,
    path: CopyPath,
    p: usize,
    slots: usize,
    calls: u64,
    release: Ordering,
    /// The last process leaves out the step with this number.
    without: Option<usize>,
}

/// One process in one segment.
struct Process<'a> {
    case: &'a Case,
    node: &'a Node,
    rank: usize,
    segment: u64,
    signals: u64,
}

impl Process<'_> {
    fn slot(&self) -> usize {
        self.segment as usize % self.case.slots
    }

    fn get(&self, spot: RegionOffset) -> u64 {
        match spot.region {
            MemoryRegion::Shared => self.node.slots[self.slot()].get(spot.offset),
            MemoryRegion::Input => self.node.inputs[self.rank].get(spot.offset),
            _ => self.node.outputs[self.rank].get(spot.offset),
        }
    }

    fn set(&self, spot: RegionOffset, value: u64) {
        match spot.region {
            MemoryRegion::Shared => self.node.slots[self.slot()].set(spot.offset, value),
            MemoryRegion::Input => panic!("the input is never written"),
            _ => self.node.outputs[self.rank].set(spot.offset, value),
        }
    }

    /// Lets others go first, and polls once. A poll that finds nothing changes nothing, so whatever can happen after
    /// many polls can happen after one: no behaviour is lost in runs that end here.
    fn reached(&self, counter: &AtomicU64, value: u64) -> bool {
        loom::thread::yield_now();
        counter.load(Ordering::Acquire) >= value
    }

    /// Executes a step; false if it would have to wait.
    fn step(&mut self, op: SharedOp) -> bool {
        match op {
            SharedOp::Claim => {
                let needed = completed_before(self.segment, self.case.slots);
                let others = (0..self.case.p).filter(|&rank| rank != self.rank);
                return needed == 0
                    || others.into_iter().all(|rank| self.reached(&self.node.completed[rank], needed));
            }
            SharedOp::Await { rank, times } => {
                let value = signal_value(self.segment, times.into());
                return self.reached(&self.node.signals[self.slot()][rank], value);
            }
            SharedOp::Signal => {
                self.signals += 1;
                let value = signal_value(self.segment, self.signals);
                self.node.signals[self.slot()][self.rank].store(value, self.case.release);
            }
            SharedOp::Copy(CopyStep { from, to, elements }) => {
                (0..elements).for_each(|i| self.set(at(to, i), self.get(at(from, i))));
            }
            SharedOp::Combine(CombineStep { left, right, into, elements }) => {
                (0..elements).for_each(|i| self.set(at(into, i), self.get(at(left, i)) + self.get(at(right, i))));
            }
            SharedOp::Publish(from) => {
                assert_eq!(from.region, MemoryRegion::Input, "nothing is in place here");
                self.set(published(self.rank), from.offset as u64);
            }
            SharedOp::Fetch(FetchStep { rank, offset, to, elements }) => {
                let begin = self.get(published(rank)) as usize + offset;
                let theirs = &self.node.inputs[rank];
                (0..elements).for_each(|i| self.set(at(to, i), theirs.get(begin + i * SIZE)));
            }
        }
        true
    }
}

fn at(spot: RegionOffset, i: usize) -> RegionOffset {
    RegionOffset { offset: spot.offset + i * SIZE, ..spot }
}

fn published(rank: usize) -> RegionOffset {
    RegionOffset { region: MemoryRegion::Shared, offset: rank * LINE + COUNTER }
}

impl Case {
    fn new(kind: Kind, path: CopyPath, p: usize, slots: usize) -> Self {
        Case { kind, path, p, slots, calls: slots as u64 + 2, release: Ordering::Release, without: None }
    }

    fn call(&self) -> SharedCall<'static> {
        let one = matches!(self.kind, Kind::Allreduce | Kind::Reduce | Kind::Broadcast);
        let blocks = if one { SharedBlocks::Vector(1) } else { SharedBlocks::Equal(1) };
        let &Case { kind, path, p, .. } = self;
        SharedCall { kind, p, root: 0, size: SIZE, blocks, in_place: false, path, slot: DATA }
    }

    /// The steps of a process in a call.
    fn steps(&self, rank: usize) -> Vec<SharedOp> {
        let (call, mut ops) = (self.call(), Vec::new());
        let segments = call.segments().expect("fits");
        assert_eq!(segments.count, 1);
        segment(&call, &segments, 0, rank, &mut ops);
        if let Some(step) = self.without.filter(|_| rank == self.p - 1) {
            ops.remove(step);
        }
        ops
    }

    /// What a rank gives for another one, or for all.
    fn given(call: u64, rank: usize, block: usize) -> u64 {
        1000 * call + 10 * rank as u64 + block as u64
    }

    /// The input and the output of a rank, in blocks.
    fn blocks(&self, rank: usize) -> (usize, usize) {
        let root = rank == 0;
        match self.kind {
            Kind::Alltoall => (self.p, self.p),
            Kind::Allgather => (1, self.p),
            Kind::ReduceScatter => (self.p, 1),
            Kind::Allreduce => (1, 1),
            Kind::Gather => (1, if root { self.p } else { 0 }),
            Kind::Scatter => (if root { self.p } else { 0 }, 1),
            Kind::Reduce | Kind::Broadcast => {
                (usize::from(root || self.kind == Kind::Reduce), usize::from(root == (self.kind == Kind::Reduce)))
            }
        }
    }

    /// A block of a rank's result.
    fn expected(&self, call: u64, rank: usize, block: usize) -> u64 {
        let sum = |of: usize| (0..self.p).map(|source| Self::given(call, source, of)).sum();
        match self.kind {
            Kind::Allreduce | Kind::Reduce => sum(0),
            Kind::ReduceScatter => sum(rank),
            Kind::Allgather | Kind::Gather => Self::given(call, block, 0),
            Kind::Alltoall => Self::given(call, block, rank),
            Kind::Broadcast => Self::given(call, 0, 0),
            Kind::Scatter => Self::given(call, 0, rank),
        }
    }

    /// All calls of one process. Returns whether it reached the end.
    fn run(&self, node: &Node, rank: usize) -> bool {
        let (ops, (gives, gets)) = (self.steps(rank), self.blocks(rank));
        for number in 0..self.calls {
            (0..gives).for_each(|block| node.inputs[rank].set(block * SIZE, Self::given(number, rank, block)));
            let mut process = Process { case: self, node, rank, segment: number, signals: 0 };
            if !ops.iter().all(|&op| process.step(op)) {
                return false;
            }
            node.completed[rank].store(number + 1, self.release);
            for block in 0..gets {
                let found = node.outputs[rank].get(block * SIZE);
                assert_eq!(found, self.expected(number, rank, block), "call {number}, rank {rank}");
            }
        }
        true
    }

    /// Explores the runs; returns how many reached their end.
    fn explore(self) -> usize {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(2);
        builder.max_permutations = Some(1_000);
        builder.checkpoint_interval = 500;
        let finished = std::sync::Arc::new(AtomicUsize::new(0));
        let count = finished.clone();
        builder.check(move || {
            let p = self.p;
            let counters = || (0..p).map(|_| AtomicU64::new(0)).collect::<Vec<_>>();
            let node = Arc::new(Node {
                slots: (0..self.slots).map(|_| Cells::new(p * LINE + DATA)).collect(),
                signals: (0..self.slots).map(|_| counters()).collect(),
                completed: counters(),
                inputs: (0..p).map(|_| Cells::new(p * SIZE)).collect(),
                outputs: (0..p).map(|_| Cells::new(p * SIZE)).collect(),
            });
            let others = (1..p).map(|rank| {
                let (case, node) = (self.clone(), node.clone());
                loom::thread::spawn(move || case.run(&node, rank))
            });
            let others: Vec<_> = others.collect();
            let mut all = self.run(&node, 0);
            others.into_iter().for_each(|other| all &= other.join().expect("a process of the node panicked"));
            count.fetch_add(usize::from(all), std::sync::atomic::Ordering::Relaxed);
        });
        finished.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Whether there is a run with unordered accesses to memory.
    fn refuted(self) -> bool {
        crate::refuted(|| self.explore())
    }
}

const PATHS: [(Kind, CopyPath); 13] = [
    (Kind::Allreduce, CopyPath::Slot),
    (Kind::Reduce, CopyPath::Slot),
    (Kind::ReduceScatter, CopyPath::Slot),
    (Kind::Broadcast, CopyPath::Slot),
    (Kind::Allgather, CopyPath::Slot),
    (Kind::Gather, CopyPath::Slot),
    (Kind::Scatter, CopyPath::Slot),
    (Kind::Alltoall, CopyPath::Slot),
    (Kind::Broadcast, CopyPath::Kernel),
    (Kind::Allgather, CopyPath::Kernel),
    (Kind::Gather, CopyPath::Kernel),
    (Kind::Scatter, CopyPath::Kernel),
    (Kind::Alltoall, CopyPath::Kernel),
];

#[test]
fn every_kind_with_one_and_two_slots() {
    for ((kind, path), slots) in PATHS.into_iter().flat_map(|way| [1, 2].map(|slots| (way, slots))) {
        assert!(Case::new(kind, path, 2, slots).explore() > 0, "{kind}, {path:?}, {slots} slots: no run ended");
    }
    for (kind, path) in [(Kind::Allreduce, CopyPath::Slot), (Kind::Allgather, CopyPath::Kernel)] {
        assert!(Case::new(kind, path, 3, 1).explore() > 0);
    }
}

#[test]
fn counters_must_be_released() {
    for (kind, path) in PATHS {
        let case = Case { release: Ordering::Relaxed, ..Case::new(kind, path, 2, 1) };
        assert!(case.refuted(), "{kind}, {path:?}");
    }
}

/// Each wait of the last process is needed, and with one slot its claim, unless the program's own memory is read: there
/// each call waits for all that read, and no slot has data.
#[test]
fn waits_must_be_there() {
    let mut tried = 0;
    for (kind, path) in PATHS {
        let case = Case::new(kind, path, 2, 1);
        for (step, op) in case.steps(1).into_iter().enumerate() {
            let needed = match op {
                SharedOp::Await { .. } => true,
                SharedOp::Claim => path == CopyPath::Slot,
                _ => false,
            };
            if needed {
                assert!(Case { without: Some(step), ..case.clone() }.refuted(), "{kind}, {path:?}, step {step}");
                tried += 1;
            }
        }
    }
    assert!(tried > 15, "{tried}");
}

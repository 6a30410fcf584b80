//! Programs of requests. For two processes, all orders with up to two preemptions are explored. For three there are too
//! many: only the first few thousand.
use std::sync::atomic::AtomicUsize;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use roundel::plan::part::RankPlan;
use roundel::program::machine::{SharedWord, target};
use roundel::program::{
    CombineStep, CopyStep, Counter, Execution, MemoryRegion, Op, Program, ProgramSpec, RegionOffset, Scheme,
    StepExecutor, build,
};
use roundel_spec::{Kind, Placement};

/// A counter's word as loom sees it.
struct Tracked {
    word: AtomicU32,
    release: Ordering,
}

impl SharedWord for Tracked {
    fn own(&self) -> u32 {
        // SAFETY: only the owner writes the counter; loom rejects a run in which another thread writes at the same
        // time.
        unsafe { self.word.unsync_load() }
    }

    fn acquire(&self) -> u32 {
        self.word.load(Ordering::Acquire)
    }

    fn release(&self, value: u32) {
        self.word.store(value, self.release);
    }
}

/// The state that the processes of the node share.
struct Node {
    cells: Vec<UnsafeCell<u64>>,
    counters: Vec<Counter<Tracked>>,
}

/// One process.
struct Process {
    node: Arc<Node>,
    local: usize,
    call: u32,
    signals: Vec<u32>,
    input: Vec<u64>,
    output: Vec<u64>,
    scratch: Vec<u64>,
}

impl Process {
    fn get(&self, spot: RegionOffset, number: usize) -> u64 {
        let index = spot.offset / 8 + number;
        match spot.region {
            MemoryRegion::Input => self.input[index],
            MemoryRegion::Output => self.output[index],
            MemoryRegion::Scratch => self.scratch[index],
            // SAFETY: loom rejects a run in which another thread writes the cell at the same time.
            MemoryRegion::Shared => self.node.cells[index].with(|cell| unsafe { *cell }),
        }
    }

    fn set(&mut self, spot: RegionOffset, number: usize, value: u64) {
        let index = spot.offset / 8 + number;
        match spot.region {
            MemoryRegion::Input => panic!("the input is never written"),
            MemoryRegion::Output => self.output[index] = value,
            MemoryRegion::Scratch => self.scratch[index] = value,
            // SAFETY: loom rejects a run in which another thread accesses the cell at the same time.
            MemoryRegion::Shared => self.node.cells[index].with_mut(|cell| unsafe { *cell = value }),
        }
    }
}

impl StepExecutor for Process {
    type Error = std::convert::Infallible;

    fn copy(&mut self, CopyStep { from, to, elements }: CopyStep) -> Result<(), Self::Error> {
        (0..elements).for_each(|number| self.set(to, number, self.get(from, number)));
        Ok(())
    }

    fn combine(&mut self, CombineStep { left, right, into, elements }: CombineStep) -> Result<(), Self::Error> {
        for number in 0..elements {
            self.set(into, number, self.get(left, number) + self.get(right, number));
        }
        Ok(())
    }

    fn post(&mut self, _: usize, _: usize) -> Result<(), Self::Error> {
        panic!("one node has no messages")
    }

    fn completed(&mut self, _: usize, _: usize) -> Result<bool, Self::Error> {
        panic!("one node has no messages")
    }

    fn signal(&mut self) -> Result<(), Self::Error> {
        self.node.counters[self.local].raise();
        Ok(())
    }

    /// Lets others go first, and polls once. A poll that finds nothing changes nothing, so whatever can happen after
    /// many polls can happen after one: no behaviour is lost in runs that end here.
    fn reached(&mut self, local: usize, times: u32) -> Result<bool, Self::Error> {
        loom::thread::yield_now();
        Ok(self.node.counters[local].reached(target(self.call, self.signals[local], times)))
    }
}

/// A collective on one node.
#[derive(Clone)]
struct Case {
    kind: Kind,
    scheme: Scheme,
    counts: Vec<usize>,
    processes: usize,
    calls: u32,
    release: Ordering,
    /// A process and one of its steps that is left out.
    without: Option<(usize, usize)>,
}

fn no_part(_: usize) -> RankPlan {
    panic!("one node has no part")
}

impl Case {
    fn new(kind: Kind, scheme: Scheme, processes: usize, calls: u32) -> Self {
        let counts = if kind == Kind::Allreduce { vec![processes] } else { vec![1; processes] };
        Case { kind, scheme, counts, processes, calls, release: Ordering::Release, without: None }
    }

    fn programs(&self) -> Vec<[Program; 2]> {
        let placement = Placement::consecutive(self.processes, self.processes);
        let (kind, counts, scheme) = (self.kind, self.counts.as_slice(), self.scheme);
        let job = ProgramSpec { kind, placement: &placement, counts, size: 8, lanes: 1, scheme, parts: &no_part };
        let built = |rank| build(&job, rank).unwrap_or_else(|error| panic!("{error}"));
        let mut programs: Vec<_> = (0..self.processes).map(built).collect();
        if let Some((rank, op)) = self.without {
            for program in &mut programs[rank] {
                program.ops.remove(op);
            }
        }
        programs
    }

    /// A rank's contribution to element `index` of the whole vector.
    fn given(call: u32, rank: usize, index: usize) -> u64 {
        10_u64.pow(rank as u32) * (1 + (index as u64 + u64::from(call)) % 3)
    }

    /// The elements of the whole vector that a rank contributes, and those that it gets.
    fn ranges(&self, rank: usize) -> [std::ops::Range<usize>; 2] {
        let (all, own) = (0..self.processes, rank..rank + 1);
        match self.kind {
            Kind::Allreduce => [all.clone(), all],
            Kind::ReduceScatter => [all, own],
            _ => [own, all],
        }
    }

    /// The expected element `index` of the result.
    fn expected(&self, call: u32, index: usize) -> u64 {
        match self.kind {
            Kind::Allgather => Self::given(call, index, index),
            _ => (0..self.processes).map(|rank| Self::given(call, rank, index)).sum(),
        }
    }

    /// All calls of one rank, and the accesses of its user between them. Returns whether it reached the end.
    fn run(&self, node: Arc<Node>, rank: usize, programs: &[Program; 2]) -> bool {
        let signals = programs[0].signals.clone();
        let (input, output, scratch) = (Vec::new(), vec![0; self.processes], Vec::new());
        let mut process = Process { node, local: rank, call: 0, signals, input, output, scratch };
        for call in 0..self.calls {
            let program = &programs[call as usize % 2];
            let [gives, gets] = self.ranges(rank);
            process.call = call;
            let given: Vec<u64> = gives.map(|index| Self::given(call, rank, index)).collect();
            match program.input {
                None => process.input = given,
                Some(offset) => {
                    let spot = RegionOffset { region: MemoryRegion::Shared, offset };
                    (0..given.len()).for_each(|number| process.set(spot, number, given[number]));
                }
            }
            if Execution::default().advance(&program.ops, &mut process) == Ok(false) {
                return false;
            }
            let region = if program.output.is_some() { MemoryRegion::Shared } else { MemoryRegion::Output };
            let spot = RegionOffset { region, offset: program.output.unwrap_or(0) };
            for (number, index) in gets.enumerate() {
                assert_eq!(process.get(spot, number), self.expected(call, index), "call {call}, rank {rank}");
            }
        }
        true
    }

    /// Explores the runs; returns how many reached their end.
    fn explore(self) -> usize {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(2);
        builder.max_permutations = (self.processes > 2).then_some(4_000);
        builder.checkpoint_interval = 1_000;
        let programs = std::sync::Arc::new(self.programs());
        let finished = std::sync::Arc::new(AtomicUsize::new(0));
        let count = finished.clone();
        builder.check(move || {
            let word = || Tracked { word: AtomicU32::new(0), release: self.release };
            let node = Arc::new(Node {
                cells: (0..programs[0][0].shared / 8).map(|_| UnsafeCell::new(0)).collect(),
                counters: (0..self.processes).map(|_| Counter::new(word())).collect(),
            });
            let others = (1..self.processes).map(|rank| {
                let (case, node, programs) = (self.clone(), node.clone(), programs.clone());
                loom::thread::spawn(move || case.run(node, rank, &programs[rank]))
            });
            let others: Vec<_> = others.collect();
            let mut all = self.run(node, 0, &programs[0]);
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

const KINDS: [Kind; 3] = [Kind::Allreduce, Kind::ReduceScatter, Kind::Allgather];

fn explore_all(scheme: Scheme) {
    for (kind, (processes, calls)) in KINDS.into_iter().flat_map(|kind| [(2, 3), (3, 2)].map(|size| (kind, size))) {
        let finished = Case::new(kind, scheme, processes, calls).explore();
        assert!(finished >= 100, "{kind}, {scheme:?}, {processes} processes: only {finished} runs came to their end");
    }
}

#[test]
fn copies() {
    explore_all(Scheme::Copies);
}

#[test]
fn chunks() {
    explore_all(Scheme::Chunks);
}

#[test]
fn direct() {
    explore_all(Scheme::Direct);
}

#[test]
fn counters_must_be_released() {
    for scheme in [Scheme::Copies, Scheme::Chunks, Scheme::Direct] {
        let case = Case { release: Ordering::Relaxed, ..Case::new(Kind::Allreduce, scheme, 2, 2) };
        assert!(case.refuted(), "{scheme:?}");
    }
}

#[test]
fn waits_must_be_there() {
    for scheme in [Scheme::Copies, Scheme::Chunks, Scheme::Direct] {
        let case = Case::new(Kind::Allreduce, scheme, 2, 2);
        let ops = case.programs()[1][0].ops.clone();
        for op in (0..ops.len()).filter(|&op| matches!(ops[op], Op::Await { .. })) {
            let mutant = Case { without: Some((1, op)), ..case.clone() };
            assert!(mutant.refuted(), "{scheme:?}, step {op}");
        }
    }
}

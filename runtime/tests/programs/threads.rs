//! Programs run on threads, one for each rank, with real counters and real numbers. Counters begin shortly before they
//! wrap around.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use roundel::program::machine::target;
use roundel::program::{
    CombineStep, CopyStep, Counter, Execution, MemoryRegion, MessageDirection, Program, ProgramMessage, RegionOffset,
    StepExecutor,
};
use roundel_spec::Kind;

use crate::cases::{Case, cases};

const FIRST_CALL: u32 = u32::MAX - 5;
const CALLS: u32 = 20;

/// The state that the processes of a node share. Loads and stores of elements order nothing: only counters do.
struct Node {
    elements: Vec<AtomicU64>,
    counters: Vec<Counter>,
}

/// Messages in transit, from each rank to each rank.
type Mail = Vec<Vec<Mutex<VecDeque<Vec<u64>>>>>;

struct Process<'a> {
    rank: usize,
    local: usize,
    call: u32,
    node: &'a Node,
    mail: &'a Mail,
    program: &'a Program,
    private: [Vec<u64>; 3],
    arrived: Vec<bool>,
}

impl Process<'_> {
    fn private(&self, region: MemoryRegion) -> usize {
        match region {
            MemoryRegion::Input => 0,
            MemoryRegion::Output => 1,
            _ => 2,
        }
    }

    fn get(&self, spot: RegionOffset, elements: usize) -> Vec<u64> {
        let range = spot.offset / 8..spot.offset / 8 + elements;
        match spot.region {
            MemoryRegion::Shared => {
                self.node.elements[range].iter().map(|cell| cell.load(Ordering::Relaxed)).collect()
            }
            region => self.private[self.private(region)][range].to_vec(),
        }
    }

    fn set(&mut self, spot: RegionOffset, values: &[u64]) {
        let range = spot.offset / 8..spot.offset / 8 + values.len();
        let region = self.private(spot.region);
        match spot.region {
            MemoryRegion::Shared => {
                let cells = self.node.elements[range].iter();
                cells.zip(values).for_each(|(cell, &value)| cell.store(value, Ordering::Relaxed));
            }
            _ => self.private[region][range].copy_from_slice(values),
        }
    }

    /// Whether a message is complete. A send is complete when it is posted.
    fn arrives(&mut self, number: usize) -> bool {
        let ProgramMessage { direction, peer, spot, elements } = self.program.messages[number];
        if direction == MessageDirection::In && !self.arrived[number] {
            let waiting = self.mail[peer][self.rank].lock().expect("no thread panics with the lock").pop_front();
            let Some(values) = waiting else { return false };
            assert_eq!(values.len(), elements);
            self.set(spot, &values);
            self.arrived[number] = true;
        }
        true
    }
}

impl StepExecutor for Process<'_> {
    type Error = Infallible;

    fn copy(&mut self, CopyStep { from, to, elements }: CopyStep) -> Result<(), Infallible> {
        self.set(to, &self.get(from, elements));
        Ok(())
    }

    fn combine(&mut self, CombineStep { left, right, into, elements }: CombineStep) -> Result<(), Infallible> {
        let (left, right) = (self.get(left, elements), self.get(right, elements));
        let sums: Vec<u64> = left.iter().zip(right).map(|(left, right)| left + right).collect();
        self.set(into, &sums);
        Ok(())
    }

    fn post(&mut self, first: usize, count: usize) -> Result<(), Infallible> {
        for message in &self.program.messages[first..first + count] {
            if message.direction == MessageDirection::Out {
                let values = self.get(message.spot, message.elements);
                self.mail[self.rank][message.peer].lock().expect("no thread panics with the lock").push_back(values);
            }
        }
        Ok(())
    }

    fn completed(&mut self, first: usize, count: usize) -> Result<bool, Infallible> {
        Ok((first..first + count).all(|number| self.arrives(number)))
    }

    fn signal(&mut self) -> Result<(), Infallible> {
        self.node.counters[self.local].raise();
        Ok(())
    }

    fn reached(&mut self, local: usize, times: u32) -> Result<bool, Infallible> {
        Ok(self.node.counters[local].reached(target(self.call, self.program.signals[local], times)))
    }
}

/// A rank's contribution to element `index` of the whole vector.
fn given(call: u32, rank: usize, index: usize) -> u64 {
    u64::from(call % 7) + 10 * index as u64 + 1000 * (rank as u64 + 1)
}

/// The rank to which an element of the whole vector belongs.
fn owner(case: &Case, index: usize) -> usize {
    let ends = case.counts.iter().scan(0, |end, count| {
        *end += count;
        Some(*end)
    });
    ends.take_while(|&end| end <= index).count()
}

/// The expected element `index` of the result, by the definition of the collective.
fn expected(case: &Case, call: u32, index: usize) -> u64 {
    match case.between.kind {
        Kind::Allgather => given(call, owner(case, index), index),
        _ => (0..case.nodes.len()).map(|rank| given(call, rank, index)).sum(),
    }
}

/// All calls of one rank.
fn calls(case: &Case, rank: usize, programs: &[Program; 2], node: &Node, mail: &Mail) {
    let length: usize = case.counts.iter().sum();
    let own = |index: &usize| owner(case, *index) == rank;
    let gives: Vec<usize> = (0..length).filter(|index| case.between.kind != Kind::Allgather || own(index)).collect();
    let gets: Vec<usize> =
        (0..length).filter(|index| case.between.kind != Kind::ReduceScatter || own(index)).collect();
    for call in (0..CALLS).map(|call| FIRST_CALL.wrapping_add(call)) {
        let program = &programs[call as usize % 2];
        let input: Vec<u64> = gives.iter().map(|&index| given(call, rank, index)).collect();
        let private = [input.clone(), vec![0; gets.len()], vec![0; program.scratch / 8]];
        let local = case.placement.place(rank).local as usize;
        let arrived = vec![false; program.messages.len()];
        let mut process = Process { rank, local, call, node, mail, program, private, arrived };
        if let Some(offset) = program.input {
            process.set(RegionOffset { region: MemoryRegion::Shared, offset }, &input);
        }
        let mut run = Execution::default();
        while run.advance(&program.ops, &mut process) == Ok(false) {
            std::thread::yield_now();
        }
        let region = if program.output.is_some() { MemoryRegion::Shared } else { MemoryRegion::Output };
        let result = process.get(RegionOffset { region, offset: program.output.unwrap_or(0) }, gets.len());
        let right: Vec<u64> = gets.iter().map(|&index| expected(case, call, index)).collect();
        assert_eq!(result, right, "{}: call {call}, rank {rank}", case.name());
    }
}

fn run(case: &Case) {
    let programs = case.programs().unwrap_or_else(|error| panic!("{}: {error}", case.name()));
    let p = programs.len();
    let mail: Mail = (0..p).map(|_| (0..p).map(|_| Mutex::default()).collect()).collect();
    let first = |node| (0..p).find(|&rank| case.placement.node(rank) == node).map(|rank| &programs[rank][0]);
    let nodes: Vec<Node> = (0..)
        .map_while(first)
        .map(|program| {
            let counter = |&signals: &u32| Counter::new(AtomicU32::new(target(FIRST_CALL, signals, 0)));
            let elements = (0..program.shared / 8).map(|_| AtomicU64::new(0)).collect();
            Node { elements, counters: program.signals.iter().map(counter).collect() }
        })
        .collect();
    std::thread::scope(|scope| {
        for rank in 0..p {
            let (node, programs, mail) = (&nodes[case.placement.node(rank)], &programs[rank], &mail);
            scope.spawn(move || calls(case, rank, programs, node, mail));
        }
    });
}

#[test]
fn programs_give_the_right_numbers_on_threads() {
    for nodes in [&[0, 0, 0][..], &[0, 0, 1, 1], &[0, 1, 0, 1, 0], &[0, 1, 2]] {
        cases(nodes, &[7], &[0, 1, 2], &[1, 2]).iter().for_each(run);
    }
}

#[test]
fn counters_wrap_around() {
    let counter = Counter::new(AtomicU32::new(u32::MAX));
    assert!(counter.reached(u32::MAX) && !counter.reached(0));
    counter.raise();
    assert!(counter.reached(0) && counter.reached(u32::MAX) && !counter.reached(1));
    assert_eq!((align_of::<Counter>(), size_of::<Counter>()), (64, 64));
}

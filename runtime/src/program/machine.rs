//! What runs a program: a machine that can do single steps, and a place in the program from where to go on.
//!
//! A run never waits by itself. It goes on until a message or a counter is not yet there, and says so; whoever drives
//! it does something else and comes back. Nothing is allocated and nothing is locked.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{Op, RegionOffset};

/// Does single steps of a program, for one process.
pub trait StepExecutor {
    /// What can go wrong in a step.
    type Error;

    /// Copies elements.
    fn copy(&mut self, from: RegionOffset, to: RegionOffset, elements: usize) -> Result<(), Self::Error>;

    /// Combines elements.
    fn combine(
        &mut self,
        left: RegionOffset,
        right: RegionOffset,
        into: RegionOffset,
        elements: usize,
    ) -> Result<(), Self::Error>;

    /// Starts messages.
    fn post(&mut self, first: usize, count: usize) -> Result<(), Self::Error>;

    /// Whether messages are complete. It is not asked again about those that are.
    fn completed(&mut self, first: usize, count: usize) -> Result<bool, Self::Error>;

    /// Raises the own counter: [`Counter::raise`].
    fn signal(&mut self) -> Result<(), Self::Error>;

    /// Whether the counter of a process has been raised so many times in this call: [`Counter::reached`].
    fn reached(&mut self, local: usize, times: u32) -> Result<bool, Self::Error>;
}

/// How far a process is in its program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Execution {
    /// The next step.
    pub pc: usize,
}

impl Execution {
    /// Takes steps until one must wait, or none is left; says whether none is left.
    #[inline]
    pub fn advance<M: StepExecutor>(&mut self, ops: &[Op], machine: &mut M) -> Result<bool, M::Error> {
        while let Some(op) = ops.get(self.pc) {
            if !step(op, machine)? {
                return Ok(false);
            }
            self.pc += 1;
        }
        Ok(true)
    }
}

/// Takes one step, unless it must wait.
#[inline]
fn step<M: StepExecutor>(op: &Op, machine: &mut M) -> Result<bool, M::Error> {
    match *op {
        Op::Copy { from, to, elements } => machine.copy(from, to, elements)?,
        Op::Combine { left, right, into, elements } => machine.combine(left, right, into, elements)?,
        Op::Post { first, count } => machine.post(first, count)?,
        Op::Complete { first, count } => return machine.completed(first, count),
        Op::Signal => machine.signal()?,
        Op::Await { local, times } => return machine.reached(local, times),
    }
    Ok(true)
}

/// A number that one process writes and others read. What was done before a release is seen after an acquire of its
/// value.
pub trait SharedWord {
    /// Reads what the process to which it belongs has written itself.
    fn own(&self) -> u32;

    /// Reads it.
    fn acquire(&self) -> u32;

    /// Writes it.
    fn release(&self, value: u32);
}

impl SharedWord for AtomicU32 {
    #[inline]
    fn own(&self) -> u32 {
        self.load(Ordering::Relaxed)
    }

    #[inline]
    fn acquire(&self) -> u32 {
        self.load(Ordering::Acquire)
    }

    #[inline]
    fn release(&self, value: u32) {
        self.store(value, Ordering::Release);
    }
}

/// How many times a process has raised its counter in all calls, modulo 2^32; alone on its cache line.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Counter<W = AtomicU32>(W);

impl<W: SharedWord> Counter<W> {
    /// A counter that stands where a word stands.
    pub const fn new(word: W) -> Self {
        Counter(word)
    }

    /// Raises it by one. Only the process to which it belongs does that.
    #[inline]
    pub fn raise(&self) {
        self.0.release(self.0.own().wrapping_add(1));
    }

    /// Whether it stands at a value or beyond it. Processes are never so far from each other that this is not clear.
    #[inline]
    pub fn reached(&self, value: u32) -> bool {
        self.0.acquire().wrapping_sub(value) as i32 >= 0
    }
}

/// The value of a counter that is raised `signals` times in each call, after `calls` calls and `times` more.
#[inline]
pub const fn target(calls: u32, signals: u32, times: u32) -> u32 {
    calls.wrapping_mul(signals).wrapping_add(times)
}

//! Runs a program: a machine that executes single steps, and the position in the program.
//!
//! A run never waits by itself. It continues until a message or a counter is not ready, and reports that; the caller
//! does something else and comes back. Nothing is allocated and nothing is locked.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{CombineStep, CopyStep, Op};

/// Executes single steps of a program, for one process.
pub trait StepExecutor {
    /// The error of a step.
    type Error;

    /// Copies elements.
    fn copy(&mut self, step: CopyStep) -> Result<(), Self::Error>;

    /// Combines elements.
    fn combine(&mut self, step: CombineStep) -> Result<(), Self::Error>;

    /// Starts messages.
    fn post(&mut self, first: usize, count: usize) -> Result<(), Self::Error>;

    /// Whether messages are complete. It is not called again for complete ones.
    fn completed(&mut self, first: usize, count: usize) -> Result<bool, Self::Error>;

    /// Increments this process's counter: [`Counter::raise`].
    fn signal(&mut self) -> Result<(), Self::Error>;

    /// Whether a process has incremented its counter `times` times in this call: [`Counter::reached`].
    fn reached(&mut self, local: usize, times: u32) -> Result<bool, Self::Error>;
}

/// The progress of a process in its program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Execution {
    /// The next step.
    pub pc: usize,
}

impl Execution {
    /// Executes steps until one must wait, or none is left; returns whether none is left.
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

/// Executes one step, unless it must wait.
#[inline]
fn step<M: StepExecutor>(op: &Op, machine: &mut M) -> Result<bool, M::Error> {
    match *op {
        Op::Copy(step) => machine.copy(step)?,
        Op::Combine(step) => machine.combine(step)?,
        Op::Post { first, count } => machine.post(first, count)?,
        Op::Complete { first, count } => return machine.completed(first, count),
        Op::Signal => machine.signal()?,
        Op::Await { local, times } => return machine.reached(local, times),
    }
    Ok(true)
}

/// A number that one process writes and others read. An acquire of a value makes everything visible that happened
/// before its release.
pub trait SharedWord {
    /// Reads the value in the process that owns it.
    fn own(&self) -> u32;

    /// Reads the value in another process.
    fn acquire(&self) -> u32;

    /// Writes the value.
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

/// How often a process has incremented its counter in all calls, modulo 2^32; alone on its cache line.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Counter<W = AtomicU32>(W);

impl<W: SharedWord> Counter<W> {
    /// A counter that starts with the value of `word`.
    pub const fn new(word: W) -> Self {
        Counter(word)
    }

    /// Increments the counter. Only the process that owns it does that.
    #[inline]
    pub fn raise(&self) {
        self.0.release(self.0.own().wrapping_add(1));
    }

    /// Whether the counter has reached a value. Processes are always close enough to each other for the comparison
    /// modulo 2^32.
    #[inline]
    pub fn reached(&self, value: u32) -> bool {
        self.0.acquire().wrapping_sub(value) as i32 >= 0
    }
}

/// The value of a counter that is incremented `signals` times in each call, after `calls` calls and `times` more.
#[inline]
pub const fn target(calls: u32, signals: u32, times: u32) -> u32 {
    calls.wrapping_mul(signals).wrapping_add(times)
}

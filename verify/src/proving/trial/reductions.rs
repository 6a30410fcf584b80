//! Reductions on threads, compared with the plain definition: sums of known numbers, and concatenations of words, which
//! show the order of reduction.

use super::{Trial, byte};
use roundel::algorithms::Visitor;
use roundel::operation::{Operation, commutative, ordered};
use roundel::threads::{self, ThreadComm};
use roundel::{Allreduce, Error, IsAllreduce, IsReduceScatter, ReduceScatter};
use roundel_spec::Kind;
use std::fmt::Debug;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Sums bytes: a vector of `bytes` bytes, or a block of that size for each rank.
pub(super) fn uniform(trial: &Trial<'_>, kind: Kind, bytes: usize, repeat: usize) -> Result<Vec<Duration>, String> {
    let p = trial.placement.p();
    let shape = match kind {
        Kind::ReduceScatter => ResultShape::Equal { p, each: bytes },
        _ => ResultShape::Whole { elements: bytes },
    };
    let expected = |i| (0..p).fold(0u8, |sum, rank| sum.wrapping_add(byte(rank, i)));
    let op = commutative(|a: &u8, b: &u8| a.wrapping_add(*b));
    let definition =
        ReductionDefinition { trial, shape: &shape, input: &byte, expected: &expected, op: &op, fill: 0xA5 };
    Ok(definition.run(repeat)?)
}

/// Sums numbers in blocks of different lengths, some of them empty; and concatenates words, if the collective keeps
/// rank order. Otherwise the transport must refuse to concatenate. All of it on the same threads, because starting them
/// takes longer than using them.
pub(super) fn varying(trial: &Trial<'_>, kind: Kind) -> Result<(), String> {
    let p = trial.placement.p();
    let lengths = [0, 1, p + 3, 2 * p + 1].map(|elements| ResultShape::Whole { elements });
    let shapes = match kind {
        Kind::ReduceScatter => vec![ResultShape::Counts((0..p).map(|b| (b * 5 + 3) % 7).collect())],
        _ => lengths.into(),
    };
    let ordered_ranks = trial.performer.keeps_order(trial.placement);
    let rank = |comm: &ThreadComm| {
        shapes.iter().try_for_each(|shape| {
            sums(trial, shape, comm)?;
            concatenates(trial, shape, comm, ordered_ranks)
        })
    };
    threads::run_placed(trial.placement, rank).into_iter().collect()
}

/// A rank's part of a sum of numbers.
fn sums(trial: &Trial<'_>, shape: &ResultShape, comm: &ThreadComm) -> Result<(), String> {
    let number = |rank: usize, i: usize| (rank as u64 + 1) * 1_000_003 + (i * i) as u64;
    let p = comm.size();
    let sum = |i| (0..p).map(|rank| number(rank, i)).sum();
    let plus = commutative(|a: &u64, b: &u64| a + b);
    ReductionDefinition { trial, shape, input: &number, expected: &sum, op: &plus, fill: u64::MAX }.rank(comm, 1)?;
    Ok(())
}

/// A rank's part of a concatenation of words, which must be refused if `ordered_ranks` is false.
fn concatenates(
    trial: &Trial<'_>,
    shape: &ResultShape,
    comm: &ThreadComm,
    ordered_ranks: bool,
) -> Result<(), String> {
    let word = |rank: usize, i: usize| format!("{rank}.{i} ");
    let p = comm.size();
    let words = |i| (0..p).map(|rank| word(rank, i)).collect();
    let append = ordered(|a: &String, b: &String| a.clone() + b);
    let fill = "nothing".to_string();
    let definition = ReductionDefinition { trial, shape, input: &word, expected: &words, op: &append, fill };
    match (ordered_ranks, definition.rank(comm, 1)) {
        (true, result) => Ok(result.map(|_| ())?),
        (false, Err(TrialFault::Refused(Error::NeedsOrder { .. }))) => Ok(()),
        (false, Err(other)) => Err(other.to_string()),
        (false, Ok(_)) => Err("an operation that does not commute is not refused".into()),
    }
}

/// The elements of a call, and those that a rank ends with.
enum ResultShape {
    /// All elements.
    Whole { elements: usize },
    /// Its own block of p equal ones.
    Equal { p: usize, each: usize },
    /// Its own block, with these lengths.
    Counts(Vec<usize>),
}

impl ResultShape {
    fn elements(&self) -> usize {
        match self {
            ResultShape::Whole { elements } => *elements,
            ResultShape::Equal { p, each } => p * each,
            ResultShape::Counts(counts) => counts.iter().sum(),
        }
    }

    fn result(&self, rank: usize) -> Range<usize> {
        match self {
            ResultShape::Whole { elements } => 0..*elements,
            ResultShape::Equal { each, .. } => rank * each..(rank + 1) * each,
            ResultShape::Counts(counts) => {
                let begin = counts[..rank].iter().sum();
                begin..begin + counts[rank]
            }
        }
    }
}

/// Why a run does not give what the definition says.
#[derive(Debug, thiserror::Error)]
enum TrialFault {
    #[error("the collective does not take these parameters")]
    Parameters,
    #[error(transparent)]
    Refused(Error),
    #[error("{0}")]
    Wrong(String),
}

impl From<TrialFault> for String {
    fn from(fault: TrialFault) -> Self {
        fault.to_string()
    }
}

/// A reduction and its definition.
struct ReductionDefinition<'a, T, I, E, O> {
    trial: &'a Trial<'a>,
    shape: &'a ResultShape,
    /// A rank's contribution to an element.
    input: &'a I,
    /// The expected result of an element.
    expected: &'a E,
    op: &'a O,
    /// The initial contents of the receive buffer.
    fill: T,
}

impl<T, I, E, O> ReductionDefinition<'_, T, I, E, O>
where
    T: Clone + Debug + PartialEq + Send + Sync + 'static,
    I: Fn(usize, usize) -> T + Sync,
    E: Fn(usize) -> T + Sync,
    O: Operation<T> + Sync,
{
    /// Runs it `repeat` times; returns the time of the slowest rank for each repetition.
    fn run(&self, repeat: usize) -> Result<Vec<Duration>, TrialFault> {
        let mut slowest = vec![Duration::ZERO; repeat];
        for times in threads::run_placed(self.trial.placement, |comm| self.rank(comm, repeat)) {
            slowest.iter_mut().zip(times?).for_each(|(slowest, time)| *slowest = time.max(*slowest));
        }
        Ok(slowest)
    }

    /// The part of one rank.
    fn rank(&self, comm: &ThreadComm, repeat: usize) -> Result<Vec<Duration>, TrialFault> {
        let (rank, result) = (comm.rank(), self.shape.result(comm.rank()));
        let send: Vec<T> = (0..self.shape.elements()).map(|i| (self.input)(rank, i)).collect();
        let mut times = Vec::with_capacity(repeat);
        for _ in 0..repeat {
            let mut recv = vec![self.fill.clone(); result.len()];
            let mut call =
                ReductionTrial { comm, send: &send, recv: &mut recv, shape: self.shape, op: self.op, outcome: None };
            let start = Instant::now();
            self.trial.performer.visit(self.trial.args, &mut call);
            let (outcome, time) = (call.outcome, start.elapsed());
            outcome.ok_or(TrialFault::Parameters)?.map_err(TrialFault::Refused)?;
            for (found, i) in recv.iter().zip(result.clone()) {
                let expected = (self.expected)(i);
                if *found != expected {
                    return Err(TrialFault::Wrong(format!(
                        "rank {rank} has {found:?} at element {i}, expected {expected:?}"
                    )));
                }
            }
            times.push(time);
        }
        Ok(times)
    }
}

/// One call on one rank.
struct ReductionTrial<'a, T, O> {
    comm: &'a ThreadComm,
    send: &'a [T],
    recv: &'a mut [T],
    shape: &'a ResultShape,
    op: &'a O,
    outcome: Option<Result<(), Error>>,
}

impl<T: Clone + Send + 'static, O: Operation<T>> Visitor for ReductionTrial<'_, T, O> {
    fn allreduce<C: IsAllreduce + Sync>(&mut self, _name: &'static str, collective: &C) {
        let outcome = collective.allreduce(self.comm, self.send, self.recv, self.op);
        self.outcome = Some(outcome);
    }

    fn reduce_scatter<C: IsReduceScatter + Sync>(&mut self, _name: &'static str, collective: &C) {
        let outcome = match self.shape {
            ResultShape::Counts(counts) => {
                collective.reduce_scatter(self.comm, self.send, self.recv, counts, self.op)
            }
            _ => collective.reduce_scatter_block(self.comm, self.send, self.recv, self.op),
        };
        self.outcome = Some(outcome);
    }
}

//! Real runs on threads, compared with the plain definition: block `b` of every result is what rank `b` sent, to all or
//! to that rank, or the reduction of what all ranks have.

mod alltoall;
mod reductions;
mod rooted;

use crate::replayed::ReplayedRounds;
use roundel::algorithms::{self, Entry, Visitor};
use roundel::{Allgather, IsAllgather, Layout, Options, Transport, threads};
use roundel_spec::{Arguments, Kind, Placement, Schedule};
use std::time::{Duration, Instant};

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// The collective.
    pub performer: Performer<'a>,
    /// Its parameters.
    pub args: &'a Arguments,
    /// The placement of the ranks.
    pub placement: &'a Placement,
    /// The positions of blocks during the run.
    pub layout: Layout,
}

/// What performs a collective.
#[derive(Clone, Copy, Debug)]
pub enum Performer<'a> {
    /// The generated code of a catalogue entry.
    Code(&'static Entry),
    /// Recorded rounds of a declaration without generated code, at the point of the trial.
    Replay(&'a ReplayedRounds),
}

impl Performer<'_> {
    /// The declaration as data.
    fn schedule(self) -> Schedule {
        match self {
            Performer::Code(entry) => (entry.schedule)(),
            Performer::Replay(rounds) => rounds.schedule().clone(),
        }
    }

    /// Whether operations that do not commute are served. A collective that looks at nodes reduces in their order,
    /// which is rank order only if ranks are numbered by node; recorded rounds claim no order.
    fn keeps_order(self, placement: &Placement) -> bool {
        let Performer::Code(entry) = self else { return false };
        let schedule = (entry.schedule)();
        schedule.claimed_order().rank_order && (placement.is_sorted() || !schedule.uses_placement())
    }

    /// Shows the collective to a visitor, if it takes these parameters.
    fn visit(self, args: &Arguments, visitor: &mut impl Visitor) {
        match self {
            Performer::Code(entry) => {
                algorithms::visit_one(entry.name, args, visitor);
            }
            Performer::Replay(rounds) => rounds.visit(visitor),
        }
    }
}

/// The byte at position `i` of block `b`: neighbours differ, within a block and between blocks.
pub fn byte(b: usize, i: usize) -> u8 {
    let mixed =
        (b as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (i as u64 + 1).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9).to_be_bytes()[0]
}

/// The contents of every slot before a run, so that untouched slots are detected.
const UNTOUCHED: u8 = 0xA5;

fn block(b: usize, len: usize) -> Vec<u8> {
    (0..len).map(|i| byte(b, i)).collect()
}

impl Trial<'_> {
    /// Gathers blocks of `bytes` bytes, or reduces vectors of that size, `repeat` times. Returns the time of the
    /// slowest rank for each repetition; the error says what went wrong.
    pub fn uniform(&self, bytes: usize, repeat: usize) -> Result<Vec<Duration>, String> {
        match self.performer.schedule().kind {
            Kind::Allgather => self.run(&vec![bytes; self.placement.p()], repeat, false),
            Kind::Alltoall => alltoall::uniform(self, bytes, repeat),
            kind if kind.has_root() => rooted::uniform(self, bytes, repeat),
            kind => reductions::uniform(self, kind, bytes, repeat),
        }
    }

    /// Gathers blocks of different lengths, some of them empty, with gaps between them; or reduces such blocks, also
    /// with a non-commutative operation.
    pub fn varying(&self) -> Result<(), String> {
        let kind = self.performer.schedule().kind;
        if kind.has_root() {
            return rooted::varying(self);
        }
        if kind.reduces() {
            return reductions::varying(self, kind);
        }
        if kind == Kind::Alltoall {
            return alltoall::varying(self);
        }
        let counts: Vec<usize> = (0..self.placement.p()).map(|b| (b * 5 + 3) % 7).collect();
        self.run(&counts, 1, true).map(|_| ())
    }

    fn run(&self, counts: &[usize], repeat: usize, varying: bool) -> Result<Vec<Duration>, String> {
        let gap = varying as usize;
        let displs: Vec<usize> =
            counts.iter().scan(gap, |at, n| Some(std::mem::replace(at, *at + n + gap))).collect();
        let len = counts.iter().map(|n| n + gap).sum::<usize>() + gap;
        let mut expected = vec![UNTOUCHED; len];
        for (b, (&at, &n)) in displs.iter().zip(counts).enumerate() {
            expected[at..at + n].copy_from_slice(&block(b, n));
        }
        let call = |comm: &threads::ThreadComm| {
            let shape = varying.then_some((counts, displs.as_slice()));
            self.rank(comm, counts, shape, &expected, repeat)
        };
        let mut slowest = vec![Duration::ZERO; repeat];
        for times in threads::run_placed(self.placement, call) {
            slowest.iter_mut().zip(times?).for_each(|(slowest, time)| *slowest = time.max(*slowest));
        }
        Ok(slowest)
    }

    /// The part of one rank.
    fn rank<T: Transport<u8>>(
        &self,
        comm: &T,
        counts: &[usize],
        shape: Option<(&[usize], &[usize])>,
        expected: &[u8],
        repeat: usize,
    ) -> Result<Vec<Duration>, String> {
        let rank = comm.here().map_err(|error| error.to_string())?.rank;
        let send = block(rank, counts[rank]);
        let options = Options { layout: self.layout, ..Options::default() };
        let mut times = Vec::with_capacity(repeat);
        for _ in 0..repeat {
            let recv = vec![UNTOUCHED; expected.len()];
            let call = AllgatherTrial { comm, send: &send, recv, shape, options, result: None };
            times.push(self.timed(rank, call, expected)?);
        }
        Ok(times)
    }

    /// Makes one call, compares its result with the definition, and returns how long it took.
    fn timed(&self, rank: usize, mut call: impl TrialCall, expected: &[u8]) -> Result<Duration, String> {
        let start = Instant::now();
        self.performer.visit(self.args, &mut call);
        let time = start.elapsed();
        let (result, received) = call.outcome();
        result.unwrap_or_else(|| Err("the collective does not take these parameters".into()))?;
        agree(rank, &received, expected)?;
        Ok(time)
    }
}

/// One call on one rank, which is made when it sees its collective.
trait TrialCall: Visitor {
    /// What the call returned, if it was made, and what was received.
    fn outcome(self) -> (Option<Result<(), String>>, Vec<u8>);
}

/// Compares a result with the definition, byte by byte; gaps between blocks must be untouched.
fn agree(rank: usize, found: &[u8], expected: &[u8]) -> Result<(), String> {
    match (0..expected.len()).find(|&at| found.get(at) != expected.get(at)) {
        None => Ok(()),
        Some(at) => {
            Err(format!("rank {rank} has {:02x?} at byte {at}, expected {:02x?}", found.get(at), expected.get(at)))
        }
    }
}

/// One call on one rank. The collective is created on each thread, so that it need not be shared.
struct AllgatherTrial<'a, T> {
    comm: &'a T,
    send: &'a [u8],
    recv: Vec<u8>,
    shape: Option<(&'a [usize], &'a [usize])>,
    options: Options,
    result: Option<Result<(), String>>,
}

impl<T: Transport<u8>> TrialCall for AllgatherTrial<'_, T> {
    fn outcome(self) -> (Option<Result<(), String>>, Vec<u8>) {
        (self.result, self.recv)
    }
}

impl<T: Transport<u8>> Visitor for AllgatherTrial<'_, T> {
    fn allgather<C: IsAllgather + Sync>(&mut self, _name: &'static str, collective: &C) {
        let result = match self.shape {
            None => collective.allgather_with(self.comm, self.send, &mut self.recv, self.options),
            Some((counts, displs)) => {
                collective.allgatherv_with(self.comm, self.send, &mut self.recv, counts, displs, self.options)
            }
        };
        self.result = Some(result.map_err(|error| error.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_collective_runs_in_both_forms() {
        for entry in algorithms::catalogue() {
            let schedule = (entry.schedule)();
            let args = Arguments {
                numbers: schedule.numbers.iter().map(|n| n.domain.lo).collect(),
                lists: vec![],
                inner: roundel_spec::check::arguments::least_inner(&schedule),
            };
            if !schedule.lists.is_empty() {
                continue;
            }
            let placement = Placement::consecutive(4, 2);
            let performer = Performer::Code(entry);
            let trial = Trial { performer, args: &args, placement: &placement, layout: Layout::Declared };
            assert_eq!(trial.uniform(3, 2).map(|times| times.len()), Ok(2), "{}", entry.name);
            assert_eq!(trial.varying(), Ok(()), "{}", entry.name);
        }
    }

    #[test]
    fn a_call_that_is_refused_is_an_error() {
        let entry = algorithms::find("allgather/recursive-doubling").expect("in the catalogue");
        let (args, placement) = (Arguments::default(), Placement::consecutive(3, 3));
        let performer = Performer::Code(entry);
        let trial = Trial { performer, args: &args, placement: &placement, layout: Layout::Declared };
        assert!(trial.uniform(3, 1).is_err());
        let wrong = Arguments { numbers: vec![1, 2, 3], ..Arguments::default() };
        assert!(Trial { args: &wrong, ..trial }.uniform(3, 1).is_err());
    }

    #[test]
    fn a_wrong_byte_is_seen() {
        assert_eq!(agree(0, &[1, 2, 3], &[1, 2, 3]), Ok(()));
        assert!(agree(0, &[1, 2, 4], &[1, 2, 3]).is_err());
        assert!(agree(0, &[1, 2], &[1, 2, 3]).is_err());
    }

    #[test]
    fn blocks_differ() {
        let blocks: std::collections::HashSet<Vec<u8>> = (0..64).map(|b| block(b, 8)).collect();
        assert_eq!(blocks.len(), 64);
    }
}

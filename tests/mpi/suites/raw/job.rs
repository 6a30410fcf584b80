//! One communicator: makes calls, and compares all memory with the library's result.

use super::cases::Case;
use super::library;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::Error;
use roundel::mpi::raw::{self, By, CallOutcome, MpiCall, PendingCall, RequestLife};
use roundel_tests::ending::end;

/// Ends the job with a message unless something holds.
pub(crate) fn expect(comm: &SimpleCommunicator, holds: bool, what: impl FnOnce() -> String) {
    if !holds {
        end(comm, &what())
    }
}

pub(crate) struct Job<'a> {
    comm: &'a SimpleCommunicator,
    /// The placement of its ranks.
    place: &'static str,
    pub(crate) calls: usize,
}

/// The buffers of a call, in words, so that they are aligned.
#[derive(Clone, PartialEq, Debug)]
struct Memory {
    send: Vec<u64>,
    recv: Vec<u64>,
}

impl Memory {
    /// Different on each rank and in each call.
    fn new(case: &Case<'_>, rank: usize, call: usize) -> Self {
        let word = |i: usize| (rank as u64 + 3).wrapping_mul(i as u64 + 7).wrapping_add((call as u64) << 32);
        let words = |bytes: usize, from: usize| (0..bytes.div_ceil(8) + 1).map(|i| word(i + from)).collect();
        Memory { send: words(case.send, 0), recv: words(case.recv, 1 << 20) }
    }

    fn call(&mut self, case: &Case<'_>) -> MpiCall {
        (case.call)(self.send.as_mut_ptr().cast(), self.recv.as_mut_ptr().cast())
    }
}

impl<'a> Job<'a> {
    pub(crate) fn new(comm: &'a SimpleCommunicator, place: &'static str) -> Self {
        Job { comm, place, calls: 0 }
    }

    pub(crate) fn rank(&self) -> usize {
        self.comm.rank() as usize
    }

    pub(crate) fn p(&self) -> usize {
        self.comm.size() as usize
    }

    pub(crate) fn fail(&self, what: &str) -> ! {
        end(self.comm, &format!("{}: {what}", self.place))
    }

    pub(crate) fn expect(&self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.fail(&what());
        }
    }

    /// Memory for the next call.
    fn memory(&mut self, case: &Case<'_>) -> Memory {
        self.calls += 1;
        Memory::new(case, self.rank(), self.calls)
    }

    /// The library's result.
    fn expected(&self, case: &Case<'_>, mut memory: Memory) -> Memory {
        let call = memory.call(case);
        // SAFETY: the arguments are such as MPI wants, and the buffers live on.
        let code = unsafe { library::run(self.comm.as_raw(), &call) };
        self.expect(code == 0, || format!("{}: the library says {code}", case.name));
        memory
    }

    /// Compares the first bytes of what was received, and all memory outside the call.
    fn compare(&self, what: &str, found: &Memory, expected: &Memory, defined: usize) {
        let words = defined.div_ceil(8);
        let same = found.send == expected.send
            && found.recv[..words] == expected.recv[..words]
            && found.recv.last() == expected.recv.last();
        self.expect(same, || format!("{what}: {found:?} instead of {expected:?}"));
    }

    /// Makes a blocking call. If it is not served, nothing must change.
    pub(crate) fn blocks(&mut self, what: &str, case: &Case<'_>, by: By<'_>) -> Result<CallOutcome, Error> {
        let mut memory = self.memory(case);
        let before = memory.clone();
        let call = memory.call(case);
        // SAFETY: the arguments are such as MPI wants, and the buffers live on.
        let outcome = unsafe { raw::run(self.comm.as_raw(), &call, by) };
        let (expected, defined) = match outcome {
            Ok(CallOutcome::Done) => (self.expected(case, before), case.defined),
            _ => (before, case.recv),
        };
        self.compare(what, &memory, &expected, defined);
        outcome
    }

    pub(crate) fn expect_done(&mut self, what: &str, case: &Case<'_>, by: By<'_>) {
        let outcome = self.blocks(what, case, by);
        self.expect(outcome == Ok(CallOutcome::Done), || format!("{what}, the second time: {outcome:?}"));
    }

    /// Makes a request, and then two at a time, one of which reuses what the first one cached; false if they go to the
    /// library.
    pub(crate) fn in_background(&mut self, what: &str, case: &Case<'_>, by: By<'_>) -> Result<bool, Error> {
        Ok(self.at_a_time(1, what, case, by)? && self.at_a_time(2, what, case, by)?)
    }

    /// Makes several requests of the same kind, and starts each of them twice.
    fn at_a_time(&mut self, requests: usize, what: &str, case: &Case<'_>, by: By<'_>) -> Result<bool, Error> {
        let mut memories: Vec<Memory> = (0..requests).map(|_| self.memory(case)).collect();
        let mut requests = Vec::new();
        for memory in &mut memories {
            let call = memory.call(case);
            // SAFETY: the arguments are such as MPI wants, and the buffers live on.
            let Some(request) =
                unsafe { raw::prepare(self.comm.as_raw(), &call, by, RequestLife::Persistent)? }.ready()
            else {
                return Ok(false);
            };
            requests.push(request);
        }
        for _ in 0..2 {
            let mut expected = Vec::new();
            for (request, memory) in requests.iter_mut().zip(&mut memories) {
                let fresh = self.memory(case);
                expected.push(self.expected(case, fresh.clone()));
                // In the same memory, because the request has its addresses.
                memory.send.copy_from_slice(&fresh.send);
                memory.recv.copy_from_slice(&fresh.recv);
                // SAFETY: nobody else uses the memory until the request is complete.
                unsafe { request.start()? };
            }
            complete(&mut requests)?;
            memories
                .iter()
                .zip(&expected)
                .for_each(|(memory, expected)| self.compare(what, memory, expected, case.defined));
        }
        Ok(true)
    }
}

/// Progresses all of them until all are complete.
fn complete(requests: &mut [PendingCall]) -> Result<(), Error> {
    loop {
        let mut over = true;
        for request in requests.iter_mut() {
            over &= request.progress()?;
        }
        if over {
            return Ok(());
        }
        std::thread::yield_now();
    }
}

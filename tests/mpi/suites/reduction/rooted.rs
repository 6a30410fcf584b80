//! Broadcast, reduce, gather and scatter with every root, compared with what MPI's own functions give.

use super::{COUNTS, Suite, long};
use crate::alloc::allocations;
use mpi::collective::SystemOperation;
use mpi::traits::*;
use roundel::operation::Sum;
use roundel::{
    Broadcast, Collective, Error, GatherTo, IsBroadcast, IsGather, IsReduce, IsScatter, ReduceTo, ScatterFrom,
};
use roundel_spec::Arguments;

/// One call: its collective, its root and its size.
struct Case<'a, C> {
    name: &'a str,
    collective: C,
    root: usize,
    n: usize,
}

impl<C> Case<'_, C> {
    fn describe(&self, what: &str, outcome: &Result<(), Error>) -> String {
        format!("{}, root {}, {} elements, {what}: {outcome:?}", self.name, self.root, self.n)
    }
}

impl Suite<'_> {
    /// Every root and several sizes, each several times: only the first call of a kind may allocate. A root that is not
    /// a rank is refused.
    fn every_root<C: Collective>(
        &mut self,
        name: &str,
        _collective: &C,
        mut call: impl FnMut(&mut Self, &Case<'_, C>, usize),
    ) {
        let with = |root: usize| C::from_arguments(&Arguments { numbers: vec![root as i64], ..Arguments::default() });
        // The catalogue visits several roots of each; the first visit tests all roots.
        if !self.rooted.insert(name.into()) {
            return;
        }
        for root in 0..self.p() {
            for n in COUNTS.map(|n| n.min(long())) {
                for turn in 0..3 {
                    let Some(collective) = with(root) else { continue };
                    call(self, &Case { name, collective, root, n }, turn);
                }
            }
        }
    }

    /// Records a call that must be right, and must not allocate if it is repeated.
    fn ended<C>(&mut self, case: &Case<'_, C>, outcome: Result<(), Error>, right: bool, what: &str) {
        self.expect(outcome == Ok(()) && right, || case.describe(what, &outcome));
    }

    pub(super) fn broadcasts<C: IsBroadcast>(&mut self, name: &str, collective: &C) {
        self.every_root(name, collective, |suite, case, turn| {
            let mut data = suite.samples(case.n, turn);
            let mut expected = data.clone();
            suite.world.process_at_rank(case.root as i32).broadcast_into(&mut expected[..]);
            let before = allocations();
            let outcome = case.collective.broadcast(suite.world, &mut data);
            let quiet = turn == 0 || allocations() == before;
            suite.ended(case, outcome, data == expected && quiet, "broadcast");
        });
    }

    pub(super) fn reduces<C: IsReduce>(&mut self, name: &str, collective: &C) {
        self.every_root(name, collective, |suite, case, turn| {
            let (is_root, send) = (suite.rank() == case.root, suite.samples(case.n, turn));
            let size = if is_root { case.n } else { 0 };
            let (mut recv, mut expected, mut data) = (vec![0; size], vec![0; size], send.clone());
            let root = suite.world.process_at_rank(case.root as i32);
            // Open MPI takes two empty buffers for the same buffer.
            match (case.n, is_root) {
                (0, _) => {}
                (_, true) => root.reduce_into_root(&send[..], &mut expected[..], SystemOperation::sum()),
                (_, false) => root.reduce_into(&send[..], SystemOperation::sum()),
            }
            let before = allocations();
            let outcome = case.collective.reduce(suite.world, &send, &mut recv, &Sum);
            let quiet = turn == 0 || allocations() == before;
            suite.ended(case, outcome, recv == expected && quiet, "reduce");
            let outcome = case.collective.reduce_in_place(suite.world, &mut data, &Sum);
            suite.ended(case, outcome, data == if is_root { expected } else { send.clone() }, "reduce in place");
            let again = case.collective.reduce(suite.world, &send, &mut recv, &Sum);
            suite.ended(case, again, true, "reduce again");
        });
    }

    pub(super) fn gathers<C: IsGather>(&mut self, name: &str, collective: &C) {
        self.every_root(name, collective, |suite, case, turn| {
            let (rank, n, send) = (suite.rank(), case.n, suite.samples(case.n, turn));
            let is_root = rank == case.root;
            let size = if is_root { n * suite.p() } else { 0 };
            let (mut recv, mut expected) = (vec![0; size], vec![0; size]);
            let root = suite.world.process_at_rank(case.root as i32);
            match (n, is_root) {
                (0, _) => {}
                (_, true) => root.gather_into_root(&send[..], &mut expected[..]),
                (_, false) => root.gather_into(&send[..]),
            }
            let mut data = if is_root { vec![0; size] } else { send.clone() };
            if is_root {
                data[rank * n..(rank + 1) * n].copy_from_slice(&send);
            }
            let before = allocations();
            let outcome = case.collective.gather(suite.world, &send, &mut recv);
            let quiet = turn == 0 || allocations() == before;
            suite.ended(case, outcome, recv == expected && quiet, "gather");
            let outcome = case.collective.gather_in_place(suite.world, &mut data);
            suite.ended(case, outcome, data == if is_root { expected } else { send.clone() }, "gather in place");
            let again = case.collective.gather(suite.world, &send, &mut recv);
            suite.ended(case, again, true, "gather again");
        });
    }

    pub(super) fn scatters<C: IsScatter>(&mut self, name: &str, collective: &C) {
        self.every_root(name, collective, |suite, case, turn| {
            let (is_root, n) = (suite.rank() == case.root, case.n);
            let all = if is_root { suite.samples(n * suite.p(), turn) } else { Vec::new() };
            let (mut recv, mut expected) = (vec![0; n], vec![0; n]);
            let root = suite.world.process_at_rank(case.root as i32);
            match (n, is_root) {
                (0, _) => {}
                (_, true) => root.scatter_into_root(&all[..], &mut expected[..]),
                (_, false) => root.scatter_into(&mut expected[..]),
            }
            let mut data = if is_root { all.clone() } else { vec![0; n] };
            let before = allocations();
            let outcome = case.collective.scatter(suite.world, &all, &mut recv);
            let quiet = turn == 0 || allocations() == before;
            suite.ended(case, outcome, recv == expected && quiet, "scatter");
            let outcome = case.collective.scatter_in_place(suite.world, &mut data);
            suite.ended(case, outcome, data == if is_root { all.clone() } else { expected }, "scatter in place");
            let again = case.collective.scatter(suite.world, &all, &mut recv);
            suite.ended(case, again, true, "scatter again");
        });
    }

    /// A root that is not a rank is refused on all ranks, and buffers of wrong lengths on the root.
    pub(super) fn wrong_roots(&mut self) {
        use roundel::algorithms::{BinomialBroadcast, BinomialGather};
        let root = self.p() as i64;
        let outcome = BinomialBroadcast { root }.broadcast(self.world, &mut [1]);
        self.expect(matches!(outcome, Err(Error::OutsideDomain { .. })), || format!("root {root}: {outcome:?}"));
        if self.rank() == 0 {
            let outcome = BinomialGather { root: 0 }.gather(self.world, &[1], &mut []);
            let refused = matches!(outcome, Err(Error::Length { found: 0, .. }));
            self.expect(refused, || format!("a receive buffer that is too short: {outcome:?}"));
        }
    }
}

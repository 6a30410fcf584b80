//! Every reduction of the catalogue, and every collective with a root, on real MPI, compared with what MPI's own
//! functions give.
//!
//! Run under `mpirun`. Ends with one line on rank 0, or with a message and a failure on the first rank that sees
//! anything wrong. `--panic` runs an operation that panics on one rank, which must end the job.

mod rooted;

use crate::alloc::allocations;
use crate::job::everything_is_requested;
use crate::matrix::{Matrix, product};
use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::algorithms::{RecursiveDoublingAllreduce, Visitor, visit_all};
use roundel::operation::{self, Operation, commutative};
use roundel::{Allreduce, Collective, Error, IsAllreduce, IsReduceScatter, ReduceScatter};
use roundel::{IsBroadcast, IsGather, IsReduce, IsScatter};
use roundel_tests::ending::end;
use std::collections::BTreeSet;

const COUNTS: [usize; 5] = [0, 1, 3, 1000, 100_000];

/// On more ranks than this, and with collectives that have a root, vectors are at most [`long`].
fn few() -> usize {
    if everything_is_requested() { 3 } else { 2 }
}

/// Long enough for every protocol of MPI.
fn long() -> usize {
    if everything_is_requested() { 20_000 } else { 10_000 }
}

pub(crate) fn run(world: &SimpleCommunicator, args: &[String]) {
    let mut suite = Suite { world, calls: 0, rooted: BTreeSet::new() };
    match args.first().map_or("", String::as_str) {
        "--panic" => panic_in_an_operation(world),
        _ => {
            visit_all(&mut suite);
            suite.wrong_arguments();
            suite.wrong_roots();
            let seen = suite.rooted.len();
            suite.expect(seen == 6, || format!("{seen} collectives with a root were tried"));
        }
    }
    if world.rank() == 0 {
        println!("reduction: p = {}, {} calls, all as expected", world.size(), suite.calls);
    }
}

struct Suite<'a> {
    world: &'a SimpleCommunicator,
    calls: usize,
    /// Collectives with a root that were tested already.
    rooted: BTreeSet<String>,
}

/// A collective that makes a call, from one buffer to another.
type Made<'f, T> = &'f dyn Fn(&[T], &mut [T]) -> Result<(), Error>;

/// The same in one buffer.
type MadeInPlace<'f, T> = &'f dyn Fn(&mut [T]) -> Result<(), Error>;

impl Suite<'_> {
    /// The lengths of vectors.
    fn counts(&self) -> [usize; 5] {
        let few = self.p() <= few();
        COUNTS.map(|n| if few { n } else { n.min(long()) })
    }

    fn expect(&mut self, right: bool, what: impl FnOnce() -> String) {
        self.calls += 1;
        if !right {
            end(self.world, &what());
        }
    }

    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn p(&self) -> usize {
        self.world.size() as usize
    }

    /// Whole numbers, so that sums of floating-point numbers are exact in any order.
    fn samples(&self, n: usize, turn: usize) -> Vec<i64> {
        let seed = 31 * (self.rank() + 1) + 7 * turn;
        (0..n).map(|i| ((seed * (i + 3)) % 1009) as i64 - 500).collect()
    }

    fn serves<C: Collective>(&self, collective: &C) -> bool {
        let place =
            roundel::Transport::<u8>::place(self.world).unwrap_or_else(|error| end(self.world, &error.to_string()));
        collective.admits(&place).and_then(|()| collective.proved(&place)).is_ok()
    }

    /// One type and operation, several sizes, several times: only the first call of a size may allocate.
    fn compare<C: IsAllreduce, T, O>(
        &mut self,
        name: &str,
        collective: &C,
        op: &O,
        own: SystemOperation,
        from: fn(i64) -> T,
    ) where
        T: Equivalence + Clone + Default + PartialEq + std::fmt::Debug,
        O: Operation<T>,
    {
        let world = self.world;
        self.compare_calls(
            name,
            &|send, recv| collective.allreduce(world, send, recv, op),
            &|data| collective.allreduce_in_place(world, data, op),
            own,
            from,
        );
    }

    /// The same for a collective's two calls. Only those are compiled for every collective.
    fn compare_calls<T>(
        &mut self,
        name: &str,
        made: Made<'_, T>,
        made_in_place: MadeInPlace<'_, T>,
        own: SystemOperation,
        from: fn(i64) -> T,
    ) where
        T: Equivalence + Clone + Default + PartialEq + std::fmt::Debug,
    {
        for n in self.counts() {
            for turn in 0..3 {
                let send: Vec<T> = self.samples(n, turn).into_iter().map(from).collect();
                let (mut recv, mut data, mut expected) = (vec![T::default(); n], send.clone(), vec![T::default(); n]);
                // Open MPI takes two empty buffers for the same buffer.
                if n > 0 {
                    self.world.all_reduce_into(&send[..], &mut expected[..], own);
                }
                let before = allocations();
                let outcome = made(&send, &mut recv);
                let allocated = allocations() - before;
                self.expect(outcome == Ok(()), || format!("{name}, {n} elements: {outcome:?}"));
                self.expect(recv == expected, || format!("{name}, {n} elements: a wrong result"));
                self.expect(turn == 0 || allocated == 0, || format!("{name}, {n}: {allocated} allocations"));
                // The call in place is another kind of call; the next call of the first kind is planned again.
                let outcome = made_in_place(&mut data);
                self.expect(outcome == Ok(()) && data == expected, || format!("{name}, {n} in place: {outcome:?}"));
                let again = made(&send, &mut recv);
                self.expect(again == Ok(()), || format!("{name}, {n} elements: {again:?}"));
            }
        }
    }

    /// An operation that does not commute: the product of all ranks' matrices in the order of ranks, or a refusal.
    fn matrices<C: IsAllreduce>(&mut self, name: &str, collective: &C) {
        let p = self.p();
        for n in [1, 3, 500] {
            let own = |rank: usize| -> Vec<Matrix> { (0..n).map(|i| Matrix::sample(rank, i)).collect() };
            let mut recv = own(self.rank());
            let outcome = collective.allreduce(self.world, &own(self.rank()), &mut recv, &product());
            if C::ORDER.rank_order {
                let all =
                    |i: usize| (1..p).fold(Matrix::sample(0, i), |left, rank| left.times(&Matrix::sample(rank, i)));
                let right = outcome == Ok(()) && (0..n).all(|i| recv[i] == all(i));
                self.expect(right, || format!("{name}, {n} matrices: {outcome:?}"));
            } else {
                let refused = matches!(outcome, Err(Error::NeedsOrder { .. }));
                self.expect(refused, || format!("{name}, {n} matrices: {outcome:?}"));
            }
        }
    }

    fn wrong_arguments(&mut self) {
        let outcome = RecursiveDoublingAllreduce.allreduce(self.world, &[1, 2], &mut [0], &operation::Sum);
        let refused = matches!(outcome, Err(Error::Length { expected: 2, found: 1, .. }));
        self.expect(refused, || format!("a receive buffer that is too short: {outcome:?}"));
    }
}

impl Visitor for Suite<'_> {
    fn allreduce<C: IsAllreduce + Sync>(&mut self, name: &'static str, collective: &C) {
        if !self.serves(collective) {
            let outcome = collective.allreduce_in_place(self.world, &mut [1], &operation::Sum);
            return self
                .expect(matches!(outcome, Err(Error::OutsideDomain { .. })), || format!("{name}: {outcome:?}"));
        }
        self.compare(name, collective, &operation::Sum, SystemOperation::sum(), |x| x as i32);
        self.compare(name, collective, &operation::Sum, SystemOperation::sum(), |x| x as f64);
        self.compare(name, collective, &operation::Max, SystemOperation::max(), |x| x);
        self.compare(name, collective, &operation::Xor, SystemOperation::bitwise_xor(), |x| x as u8);
        self.matrices(name, collective);
    }

    fn broadcast<C: IsBroadcast + Sync>(&mut self, name: &'static str, collective: &C) {
        self.broadcasts(name, collective);
    }

    fn reduce<C: IsReduce + Sync>(&mut self, name: &'static str, collective: &C) {
        self.reduces(name, collective);
    }

    fn gather<C: IsGather + Sync>(&mut self, name: &'static str, collective: &C) {
        self.gathers(name, collective);
    }

    fn scatter<C: IsScatter + Sync>(&mut self, name: &'static str, collective: &C) {
        self.scatters(name, collective);
    }

    fn reduce_scatter<C: IsReduceScatter + Sync>(&mut self, name: &'static str, collective: &C) {
        let (rank, p) = (self.rank(), self.p());
        if !self.serves(collective) {
            let outcome = collective.reduce_scatter_block(self.world, &vec![1; p], &mut [0], &operation::Sum);
            return self
                .expect(matches!(outcome, Err(Error::OutsideDomain { .. })), || format!("{name}: {outcome:?}"));
        }
        for n in COUNTS.map(|n| n.min(long())) {
            for turn in 0..3 {
                let send = self.samples(n * p, turn);
                let (mut recv, mut expected) = (vec![0; n], vec![0; n]);
                if n > 0 {
                    self.world.reduce_scatter_block_into(&send[..], &mut expected[..], SystemOperation::sum());
                }
                let before = allocations();
                let outcome = collective.reduce_scatter_block(self.world, &send, &mut recv, &operation::Sum);
                let allocated = allocations() - before;
                self.expect(outcome == Ok(()), || format!("{name}, {n} elements: {outcome:?}"));
                self.expect(recv == expected, || format!("{name}, {n} elements: a wrong result"));
                self.expect(turn == 0 || allocated == 0, || format!("{name}, {n}: {allocated} allocations"));
                let mut data = send.clone();
                let outcome = collective.reduce_scatter_block_in_place(self.world, &mut data, &operation::Sum);
                let right = outcome == Ok(()) && data[..n] == expected && data[n..] == send[n..];
                self.expect(right, || format!("{name}, {n} elements in place: {outcome:?}"));
                // Another kind of call; the next call of the first kind is planned again.
                let again = collective.reduce_scatter_block(self.world, &send, &mut recv, &operation::Sum);
                self.expect(again == Ok(()), || format!("{name}, {n} elements: {again:?}"));
            }
        }
        let counts: Vec<usize> = (0..p).map(|b| b * 7 % 5 * 11).collect();
        let begin: usize = counts[..rank].iter().sum();
        let send = self.samples(counts.iter().sum(), 5);
        let (mut recv, mut all) = (vec![0; counts[rank]], vec![0; send.len()]);
        if !send.is_empty() {
            self.world.all_reduce_into(&send[..], &mut all[..], SystemOperation::sum());
        }
        let outcome = collective.reduce_scatter(self.world, &send, &mut recv, &counts, &operation::Sum);
        let right = outcome == Ok(()) && recv == all[begin..begin + counts[rank]];
        self.expect(right, || format!("{name}, different counts: {outcome:?}"));
        let mut data = send.clone();
        let outcome = collective.reduce_scatter_in_place(self.world, &mut data, &counts, &operation::Sum);
        let right = outcome == Ok(()) && data[..counts[rank]] == all[begin..begin + counts[rank]];
        self.expect(right, || format!("{name}, different counts in place: {outcome:?}"));
    }
}

/// Must not return.
fn panic_in_an_operation(world: &SimpleCommunicator) {
    let rank = world.rank();
    let op = commutative(move |a: &i32, b: &i32| if rank == 1 { panic!("no sum today") } else { a + b });
    let outcome = RecursiveDoublingAllreduce.allreduce_in_place(world, &mut [1], &op);
    end(world, &format!("the panic was lost: {outcome:?}"));
}

//! Node-aware collectives on real MPI, with ranks placed in every way, compared with what MPI's own functions give.
//!
//! Run under `mpirun`. The ranks state their own places, so that one machine acts as a cluster of any shape. Ends with
//! one line on rank 0, or with a message and a failure on the first rank that sees anything wrong. `--panic` runs an
//! operation that panics on one rank, which must end the job.

use crate::matrix::{Matrix, product};
use crate::placements::placements;
use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use roundel::algorithms::{
    Bruck, Hierarchical, LocalityBruck, MultiLane, NapAllreduce, RecursiveDoublingAllreduce, Ring, SmpAllreduce,
    Sparbit,
};
use roundel::operation::{Max, Sum, commutative};
use roundel::{Allgather, AllowUnproved, Allreduce, Error, IsAllgather, IsAllreduce};
use roundel_tests::ending::end;

pub(crate) fn run(world: &SimpleCommunicator, args: &[String]) {
    if args.iter().any(|arg| arg == "--panic") {
        panic_in_an_inner_collective(world);
    }
    wrong_places(world);
    let mut calls = 0;
    for (name, path) in placements(world.rank() as usize, world.size() as usize) {
        let comm = world.duplicate();
        let suite = Suite { comm: &comm, name };
        suite.right(roundel::mpi::place(&comm, &path), "place");
        calls += suite.gathers() + suite.reductions();
        suite.expect(roundel::mpi::place(&comm, &path) == Err(Error::Placed), "a second placement");
    }
    if world.rank() == 0 {
        println!("node: p = {}, {calls} calls, all as expected", world.size());
    }
}

/// Inconsistent places: all ranks get the same error, and the communicator accepts correct ones afterwards.
fn wrong_places(world: &SimpleCommunicator) {
    let (rank, p) = (world.rank() as usize, world.size() as usize);
    let comm = world.duplicate();
    let suite = Suite { comm: &comm, name: "wrong places" };
    let odd = rank + 1 == p;
    let deeper: &[usize] = if odd { &[0, 1, 2] } else { &[0] };
    let expected = if p == 1 { Ok(()) } else { Err(Error::PlaceDepth { least: 1, most: 3 }) };
    suite.expect(roundel::mpi::place(&world.duplicate(), deeper) == expected, "a deeper place on one rank");
    let nowhere: &[usize] = if odd { &[] } else { &[0] };
    let expected = if p == 1 { Ok(()) } else { Err(Error::PlaceDepth { least: 0, most: 1 }) };
    suite.expect(roundel::mpi::place(&world.duplicate(), nowhere) == expected, "no place on one rank");
    let far = if odd { usize::MAX } else { 0 };
    let expected = Err(Error::PlaceTooLarge { limit: i32::MAX as usize });
    suite.expect(roundel::mpi::place(&comm, &[far]) == expected, "a node whose number is too large");
    suite.right(roundel::mpi::place(&comm, &[rank / 2]), "a right place after a wrong one");
    suite.gather(&LocalityBruck::<Bruck>::default().unproved());
}

/// An operation that panics on one rank, in an allreduce inside a node. Must not return.
fn panic_in_an_inner_collective(world: &SimpleCommunicator) -> ! {
    let suite = Suite { comm: world, name: "panic" };
    suite.right(roundel::mpi::place(world, &[world.rank() as usize / 2]), "place");
    let last = world.rank() + 1 == world.size();
    let op = commutative(move |a: &i32, b: &i32| if last { panic!("no sum today") } else { a + b });
    let nap = NapAllreduce::<NapAllreduce<RecursiveDoublingAllreduce>>::default();
    let outcome = nap.unproved().allreduce_in_place(world, &mut [1], &op);
    // The others may already have their results; they wait until the job ends.
    if !last {
        world.barrier();
    }
    end(world, &format!("the panic was lost: {outcome:?}"))
}

struct Suite<'a> {
    comm: &'a SimpleCommunicator,
    name: &'static str,
}

impl Suite<'_> {
    fn expect(&self, right: bool, what: &str) {
        if !right {
            end(self.comm, &format!("{}: {what} is wrong", self.name))
        }
    }

    fn right<T>(&self, result: Result<T, Error>, what: &str) {
        if let Err(error) = &result {
            self.expect(false, &format!("{what}: {error}"));
        }
    }

    fn gathers(&self) -> usize {
        self.gather(&LocalityBruck::<Bruck>::default().unproved())
            + self.gather(&LocalityBruck::<LocalityBruck<Sparbit>>::default().unproved())
            + self.gather(&Hierarchical::<Bruck>::default().unproved())
            + self.gather(&MultiLane::<Ring>::default().unproved())
    }

    fn gather<C: IsAllgather>(&self, collective: &C) -> usize {
        let (rank, p) = (self.comm.rank() as u32, self.comm.size() as usize);
        for n in [0, 1, 7, 300] {
            let own: Vec<u32> = (0..n).map(|i| rank * 1000 + i).collect();
            let mut expected = vec![u32::MAX; p * own.len()];
            self.comm.all_gather_into(&own[..], &mut expected[..]);
            // Twice: the second call reuses the plan.
            for _ in 0..2 {
                let mut found = vec![u32::MAX; expected.len()];
                self.right(collective.allgather(self.comm, &own, &mut found), C::NAME);
                self.expect(found == expected, C::NAME);
            }
        }
        let counts: Vec<usize> = (0..p).map(|rank| rank * 5 % 4).collect();
        let displs: Vec<usize> = (0..p).map(|rank| counts[..rank].iter().sum()).collect();
        let own: Vec<u32> = (0..counts[rank as usize] as u32).map(|i| rank * 1000 + i).collect();
        let expected: Vec<u32> =
            (0..p as u32).flat_map(|rank| (0..counts[rank as usize] as u32).map(move |i| rank * 1000 + i)).collect();
        let mut found = vec![u32::MAX; expected.len()];
        self.right(collective.allgatherv(self.comm, &own, &mut found, &counts, &displs), C::NAME);
        self.expect(found == expected, C::NAME);
        9
    }

    fn reductions(&self) -> usize {
        self.reduce(&NapAllreduce::<RecursiveDoublingAllreduce>::default().unproved())
            + self.reduce(&NapAllreduce::<NapAllreduce<RecursiveDoublingAllreduce>>::default().unproved())
            + self.reduce(&SmpAllreduce.unproved())
    }

    fn reduce<C: IsAllreduce>(&self, collective: &C) -> usize {
        let rank = self.comm.rank() as i64;
        for n in [0, 1, 5, 400] {
            let own: Vec<i64> = (0..n).map(|i| (rank + 3) * (i * 7 % 11) - 20).collect();
            let (mut expected, mut found) = (vec![0; own.len()], vec![0; own.len()]);
            self.comm.all_reduce_into(&own[..], &mut expected[..], SystemOperation::sum());
            self.right(collective.allreduce(self.comm, &own, &mut found, &Sum), C::NAME);
            self.expect(found == expected, C::NAME);
            let mut in_place = own.clone();
            self.comm.all_reduce_into(&own[..], &mut expected[..], SystemOperation::max());
            self.right(collective.allreduce_in_place(self.comm, &mut in_place, &Max), C::NAME);
            self.expect(in_place == expected, C::NAME);
        }
        self.words(collective)
    }

    /// An operation that does not commute: the result has the order of ranks if the collective keeps it; otherwise the
    /// call is refused.
    fn words<C: IsAllreduce>(&self, collective: &C) -> usize {
        let (rank, p) = (self.comm.rank() as usize, self.comm.size() as usize);
        let mut found = [Matrix::sample(rank, 0)];
        let expected = (1..p).fold(Matrix::sample(0, 0), |left, rank| left.times(&Matrix::sample(rank, 0)));
        match collective.allreduce_in_place(self.comm, &mut found, &product()) {
            Ok(()) => self.expect(found == [expected], "an operation that does not commute"),
            Err(error) => self.expect(matches!(error, Error::NeedsOrder { .. }), "the refusal"),
        }
        9
    }
}

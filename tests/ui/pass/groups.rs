use roundel::algorithms::{Bruck, RecursiveDoublingAllreduce, Ring};
use roundel::operation::Sum;
use roundel::{Allgather, Allreduce, Collective, threads};

/// Over two factors of p: first the ranks that follow each other, then those at a distance.
#[derive(Collective, Default)]
#[collective(allgather, factor: 1.., first: allgather, second: allgather)]
#[requires(p % factor == 0)]
#[round]
#[within(ranks(rank / factor * factor, factor), first)]
#[within(stride(factor, p / factor), second, brings = [rank / factor * factor + k; k in 0..factor])]
#[check(p <= 12, factor <= 4)]
struct Factors<A, B> {
    factor: i64,
    first: A,
    second: B,
}

#[derive(Collective, Default)]
#[collective(allreduce, inner: allreduce)]
#[requires(lanes * nodes == p)]
#[round]
#[within(node, inner)]
#[within(lane, inner)]
struct Lanes<I> {
    inner: I,
}

#[test]
fn compiles_and_runs() {
    let collective = Factors { factor: 3, first: Bruck, second: Ring };
    let all = threads::run(6, |comm| {
        let mut all = [0; 6];
        collective.allgather(comm, &[10 + comm.rank()], &mut all).map(|()| all)
    });
    assert!(all.iter().all(|all| *all == Ok([10, 11, 12, 13, 14, 15])), "{all:?}");

    let placement = threads::Placement::cyclic(6, 2);
    let lanes = Lanes { inner: RecursiveDoublingAllreduce };
    let sums = threads::run_placed(&placement, |comm| {
        let mut sum = [0];
        lanes.allreduce(comm, &[1 << comm.rank()], &mut sum, &Sum).map(|()| sum)
    });
    assert!(sums.iter().all(|sum| *sum == Ok([63])), "{sums:?}");
}

use roundel::algorithms::{BinomialBroadcast, BinomialGather, BinomialReduce, PairwiseReduceScatter, RingAllreduce};
use roundel::operation::Sum;
use roundel::{Allreduce, Collective, ReduceTo, Refusal, threads};

/// A reduce from two others. The names are those that generated code would choose.
#[derive(Collective)]
#[collective(reduce, root: 0.., inner: reduce_scatter, group: gather)]
#[split(p)]
#[order(same_tree, rank_order)]
#[check(p <= 8, root <= 7)]
#[round]
#[within(all, inner)]
#[within(all, group, root = root)]
struct InTwoSteps<S, SS> {
    root: i64,
    inner: S,
    group: SS,
}

/// An inner root of which the outer collective knows nothing.
#[derive(Collective)]
#[collective(allreduce, up: reduce, down: broadcast)]
#[define(middle = p / 2)]
#[round]
#[within(all, up, root = middle)]
#[within(all, down, root = middle)]
struct ByTheMiddle<U, D> {
    up: U,
    down: D,
}

/// The inner one takes the vector as a whole.
#[derive(Collective)]
#[collective(reduce_scatter, sum: allreduce)]
#[round]
#[within(all, sum)]
struct BySum<A> {
    sum: A,
}

#[test]
fn compiles_and_runs() {
    let (inner, group) = (PairwiseReduceScatter, BinomialGather { root: 5 });
    let collective = InTwoSteps { root: 2, inner, group };
    let sums = threads::run(6, |comm| {
        let mut sum = vec![0; if comm.rank() == 2 { 12 } else { 0 }];
        collective.reduce(comm, &[1 << comm.rank(); 12], &mut sum, &Sum).map(|()| sum)
    });
    let expected = |rank: usize| Ok(if rank == 2 { vec![63; 12] } else { vec![] });
    assert!(sums.iter().enumerate().all(|(rank, sum)| *sum == expected(rank)), "{sums:?}");

    let middle = ByTheMiddle { up: BinomialReduce { root: 9 }, down: BinomialBroadcast { root: 9 } };
    let sums = threads::run(5, |comm| {
        let mut sum = [0];
        middle.allreduce(comm, &[1 << comm.rank()], &mut sum, &Sum).map(|()| sum)
    });
    assert!(sums.iter().all(|sum| *sum == Ok([31])), "{sums:?}");
}

#[test]
fn an_inner_collective_that_divides_the_vector_is_refused() {
    let refused = BySum { sum: RingAllreduce }.admits(&roundel::Place::flat(0, 4));
    assert!(matches!(refused, Err(Refusal::Divided { blocks: 4, .. })), "{refused:?}");
}

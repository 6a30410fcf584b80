//! Sequences with other inner collectives than those of the catalogue, on threads, against the plain definition.

use roundel::algorithms::{
    BinomialBroadcast, BinomialReduce, BinomialScatter, Bruck, CirculantReduceScatter, MultiLaneAllreduce,
    NeighborExchange, OrderedBinomialReduce, PairwiseReduceScatter, RecursiveDoublingAllreduce,
    RecursiveHalvingReduceScatter, ReduceBroadcastAllreduce, ReduceScatterAllgather, Reverse, Ring, RingAllreduce,
    ScatterAllgather, Visitor, visit_all,
};
use roundel::operation::{Sum, ordered};
use roundel::threads::{Placement, run, run_placed};
use roundel::{AllowUnproved, Allreduce, Broadcast, Collective, Error, IsAllgather, IsReduceScatter, Place, Refusal};

/// A reduce_scatter in two steps, which is in order if the reduce is.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(reduce_scatter, up: reduce, out: scatter)]
#[order(same_tree, rank_order)]
#[check(p <= 16)]
#[round]
#[within(all, up, root = p / 2)]
#[within(all, out, root = p / 2)]
struct InTwoSteps<U = OrderedBinomialReduce, O = BinomialScatter> {
    up: U,
    out: O,
}

/// Nodes reduce to one of their ranks, these ranks exchange what they have, and tell their nodes.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allreduce, up: reduce, across: allreduce, down: broadcast)]
#[requires(lanes > 1)]
#[order(same_tree, rank_order)]
#[check(p <= 12)]
#[allow(clippy::duplicated_attributes, reason = "the clauses name different collectives")]
#[round]
#[within(node, up, root = 1)]
#[within(lane, across, when = local == 1)]
#[within(node, down, root = 1)]
struct BySecondRanks<U = OrderedBinomialReduce, A = ReduceBroadcastAllreduce, D = BinomialBroadcast> {
    up: U,
    across: A,
    down: D,
}

/// Whether an allreduce serves a call; if so, it is right.
fn serves<C: Allreduce + Sync>(collective: &C, p: usize, n: usize) -> bool {
    serves_on(collective, &Placement::consecutive(p, p), n)
}

/// The same, with nodes.
fn serves_on<C: Allreduce + Sync>(collective: &C, placement: &Placement, n: usize) -> bool {
    let p = placement.p();
    let input = |rank: usize, i: usize| (rank + 1) * 100 + i;
    let served = run_placed(placement, |comm| {
        let send: Vec<usize> = (0..n).map(|i| input(comm.rank(), i)).collect();
        let mut recv = vec![0; n];
        match collective.allreduce(comm, &send, &mut recv, &Sum) {
            Err(Error::OutsideDomain { .. }) => false,
            outcome => {
                assert_eq!(outcome, Ok(()), "p = {p}");
                let sums: Vec<usize> = (0..n).map(|i| (0..p).map(|rank| input(rank, i)).sum()).collect();
                assert_eq!(recv, sums, "p = {p}, n = {n}");
                true
            }
        }
    });
    assert!(served.iter().all(|one| *one == served[0]), "ranks disagree at p = {p}");
    served[0]
}

/// Tries a reduce_scatter with every allgather of the catalogue.
struct Pairs<S> {
    scatter: fn() -> S,
    served: usize,
}

impl<S: IsReduceScatter + Sync> Visitor for Pairs<S> {
    fn allgather<C: IsAllgather + Sync>(&mut self, name: &'static str, collective: &C) {
        for p in [1, 2, 3, 4, 6, 8] {
            let gather = C::from_arguments(&collective.arguments()).expect(name);
            let (expected, pair) = (collective.admits(&Place::flat(0, p)), (self.scatter)());
            let expected = expected.is_ok() && pair.admits(&Place::flat(0, p)).is_ok();
            let both = ReduceScatterAllgather { scatter: pair, gather };
            assert_eq!(serves(&both, p as usize, 13), expected, "{name}, p = {p}");
            self.served += usize::from(expected);
        }
    }
}

#[test]
fn an_allreduce_of_any_two() {
    let served = |pairs: usize| assert!(pairs > 30, "{pairs}");
    let mut pairs = Pairs { scatter: || CirculantReduceScatter, served: 0 };
    visit_all(&mut pairs);
    served(pairs.served);
    let mut pairs = Pairs { scatter: || PairwiseReduceScatter, served: 0 };
    visit_all(&mut pairs);
    served(pairs.served);
    let mut pairs = Pairs { scatter: || RecursiveHalvingReduceScatter, served: 0 };
    visit_all(&mut pairs);
    served(pairs.served);
    let mut pairs = Pairs { scatter: <InTwoSteps>::default, served: 0 };
    visit_all(&mut pairs);
    served(pairs.served);
    let mut pairs = Pairs { scatter: || Reverse::of(Bruck).expect("it is flat"), served: 0 };
    visit_all(&mut pairs);
    served(pairs.served);
}

fn placements() -> Vec<Placement> {
    let mut all = vec![
        Placement::of_sizes(&[3, 1, 2]),
        Placement::of_sizes(&[2, 5]),
        Placement::of_sizes(&[4, 2, 2, 3]),
        Placement::from_nodes(vec![2, 0, 1, 2, 2, 1, 0, 0, 1, 2, 1]),
    ];
    for (p, ppn) in [(1, 1), (3, 1), (4, 4), (6, 2), (9, 3), (12, 4), (10, 2)] {
        all.extend([Placement::consecutive(p, ppn), Placement::cyclic(p, ppn)]);
    }
    all
}

#[test]
fn inside_of_nodes_and_along_lanes() {
    let in_two_steps = <InTwoSteps>::default();
    for placement in placements() {
        assert!(serves_on(&<MultiLaneAllreduce>::default(), &placement, 13), "{placement:?}");
        let others = MultiLaneAllreduce { scatter: in_two_steps, across: RecursiveDoublingAllreduce, gather: Ring };
        assert!(serves_on(&others, &placement, 2), "{placement:?}");
        let has_second_ranks = placement.place(0).lanes > 1;
        assert_eq!(
            serves_on(&<BySecondRanks>::default().unproved(), &placement, 7),
            has_second_ranks,
            "{placement:?}"
        );
    }
}

/// An inner collective is asked wherever it runs, also if only some lanes run it.
#[test]
fn what_divides_the_vector_does_not_run_in_lanes() {
    let placement = Placement::consecutive(4, 2);
    let whole =
        BySecondRanks { up: BinomialReduce::default(), across: RingAllreduce, down: BinomialBroadcast::default() };
    let lanes = MultiLaneAllreduce { scatter: CirculantReduceScatter, across: RingAllreduce, gather: Ring };
    for rank in 0..4 {
        let at = placement.place(rank);
        assert!(matches!(whole.admits(&at), Err(Refusal::Divided { blocks: 2, .. })), "{:?}", whole.admits(&at));
        assert!(matches!(lanes.admits(&at), Err(Refusal::Divided { blocks: 2, .. })), "{:?}", lanes.admits(&at));
    }
}

/// The root of the inner scatter is that of the whole, whatever its own value says.
#[test]
fn a_broadcast_from_every_root() {
    for (p, root) in (1..=7).flat_map(|p| (0..p).map(move |root| (p, root))) {
        let scatter = BinomialScatter { root: 99 };
        let broadcast = ScatterAllgather { root: root as i64, scatter, gather: Bruck };
        let told = run(p, |comm| {
            let mut data = [0; 10].map(|zero| if comm.rank() == root { 7 } else { zero });
            broadcast.broadcast(comm, &mut data).map(|()| data)
        });
        assert!(told.iter().all(|data| *data == Ok([7; 10])), "p = {p}, root = {root}: {told:?}");
    }
    let beyond = ScatterAllgather { root: 4, scatter: BinomialScatter { root: 0 }, gather: Ring };
    let refused = beyond.admits(&Place::flat(0, 4));
    assert!(matches!(refused, Err(Refusal::Requires { clause: "root < p", p: 4 })), "{refused:?}");
}

/// A call is in the domain, and proved, if it is for the inner collectives.
#[test]
fn the_domain_is_that_of_all_stages() {
    let even = ReduceScatterAllgather { scatter: CirculantReduceScatter, gather: NeighborExchange };
    let refused = even.admits(&Place::flat(0, 3));
    assert!(matches!(refused, Err(Refusal::Requires { clause: "p % 2 == 0", p: 3 })), "{refused:?}");
    assert_eq!(even.admits(&Place::flat(0, 4)), Ok(()));
    // Of `InTwoSteps` no more than the check at compile time is known.
    let checked = ReduceScatterAllgather { scatter: <InTwoSteps>::default(), gather: Ring };
    assert_eq!((checked.proved(&Place::flat(0, 16)), checked.admits(&Place::flat(0, 17))), (Ok(()), Ok(())));
    assert!(matches!(checked.proved(&Place::flat(0, 17)), Err(Refusal::Unproved { .. })));
}

/// All ranks have the tree of one; operands are in order if those of every stage are.
#[test]
fn the_order_is_that_of_the_stages() {
    fn order<C: Collective>(_: &C) -> (bool, bool) {
        (C::ORDER.same_tree, C::ORDER.rank_order)
    }
    let circulant = <ReduceScatterAllgather>::default();
    let in_order = ReduceScatterAllgather { scatter: <InTwoSteps>::default(), gather: Ring };
    let unordered = InTwoSteps { up: BinomialReduce { root: 0 }, out: BinomialScatter { root: 0 } };
    let out_of_order = ReduceScatterAllgather { scatter: unordered, gather: Ring };
    assert_eq!(
        (order(&circulant), order(&in_order), order(&out_of_order)),
        ((true, false), (true, true), (true, false))
    );
    let lanes =
        MultiLaneAllreduce { scatter: <InTwoSteps>::default(), across: RecursiveDoublingAllreduce, gather: Ring };
    assert_eq!((order(&lanes), order(&<MultiLaneAllreduce>::default())), ((true, true), (true, false)));
    let concatenate = ordered(|a: &String, b: &String| a.clone() + b);
    run_placed(&Placement::of_sizes(&[2, 3]), |comm| {
        let mut texts = [String::new(), String::new(), String::new()];
        let mine = ["a", "b", "c"].map(|letter| format!("{letter}{}", comm.rank()));
        assert_eq!(lanes.allreduce(comm, &mine, &mut texts, &concatenate), Ok(()));
        assert_eq!(texts, ["a0a1a2a3a4", "b0b1b2b3b4", "c0c1c2c3c4"]);
    });
    run(5, |comm| {
        let (mine, mut text) = ([format!("({})", comm.rank())], [String::new()]);
        assert_eq!(in_order.allreduce(comm, &mine, &mut text, &concatenate), Ok(()));
        assert_eq!(text, ["(0)(1)(2)(3)(4)"]);
        let refused = circulant.allreduce(comm, &mine, &mut text, &concatenate);
        assert!(matches!(refused, Err(Error::NeedsOrder { .. })), "{refused:?}");
    });
}

//! Node-aware collectives on every kind of placement, against the plain definition.

use roundel::algorithms::{Bruck, Hierarchical, LocalityBruck, MultiLane, RecursiveDoubling, Ring, Sparbit};
use roundel::threads::{Placement, run_placed};
use roundel::{Allgather, AllowUnproved, Error, IsAllgather, Refusal};
use roundel_spec::Collective;
use roundel_spec::check;

/// Runs an allgather in which every rank contributes two numbers.
fn gather<C: IsAllgather + Sync>(collective: &C, placement: &Placement) -> Vec<Result<Vec<u64>, Error>> {
    let p = placement.p();
    run_placed(placement, |comm| {
        let rank = comm.rank() as u64;
        let mut all = vec![u64::MAX; 2 * p];
        collective.allgather(comm, &[3 * rank, 3 * rank + 1], &mut all).map(|()| all)
    })
}

fn expect<C: IsAllgather + Sync>(collective: &C, placement: &Placement) {
    let expected: Vec<u64> = (0..placement.p() as u64).flat_map(|rank| [3 * rank, 3 * rank + 1]).collect();
    for (rank, result) in gather(collective, placement).into_iter().enumerate() {
        assert_eq!(result.as_ref(), Ok(&expected), "{} on rank {rank} of {placement:?}", C::NAME);
    }
}

fn placements() -> Vec<Placement> {
    let mut all = vec![
        Placement::of_sizes(&[3, 1, 2]),
        Placement::of_sizes(&[2, 5]),
        Placement::of_sizes(&[4, 2, 2, 3]),
        Placement::from_nodes(vec![0, 1, 1, 0, 2, 1, 0]),
        Placement::from_nodes(vec![2, 0, 1, 2, 2, 1, 0, 0, 1, 2, 1]),
    ];
    for (p, ppn) in [(1, 1), (2, 1), (4, 4), (5, 2), (6, 2), (9, 3), (11, 2), (12, 4), (10, 2), (16, 4)] {
        all.extend([Placement::consecutive(p, ppn), Placement::cyclic(p, ppn)]);
    }
    all
}

#[test]
fn blocks_land_where_they_belong_wherever_ranks_sit() {
    for placement in placements() {
        expect(&LocalityBruck::<Bruck>::default().unproved(), &placement);
        expect(&LocalityBruck::<Sparbit>::default().unproved(), &placement);
        expect(&Hierarchical::<Ring>::default().unproved(), &placement);
        expect(&MultiLane::<Sparbit>::default().unproved(), &placement);
    }
}

/// Nodes of two or three sockets with one to three ranks each, in no particular order.
fn sockets() -> Placement {
    let socket = |rank: usize| vec![rank * 7 % 3, rank * 5 % 11 % if (rank * 7).is_multiple_of(3) { 2 } else { 3 }];
    Placement::from_levels(&(0..17).map(socket).collect::<Vec<_>>())
}

#[test]
fn nodes_of_sockets() {
    let placement = sockets();
    assert!(placement.regions().is_divided());
    expect(&LocalityBruck::<LocalityBruck<Bruck>>::default().unproved(), &placement);
    expect(&LocalityBruck::<LocalityBruck<LocalityBruck<Sparbit>>>::default().unproved(), &placement);
    expect(&MultiLane::<Hierarchical<LocalityBruck<Ring>>>::default().unproved(), &placement);
}

/// Checks the whole collective, without the assumption that the inner one keeps its contract.
#[test]
fn the_whole_is_right_without_contracts() {
    for placement in placements().into_iter().chain([sockets()]).filter(Placement::is_sorted) {
        whole::<LocalityBruck<Bruck>>(&placement);
        whole::<LocalityBruck<LocalityBruck<Sparbit>>>(&placement);
        whole::<Hierarchical<LocalityBruck<Ring>>>(&placement);
        whole::<MultiLane<Bruck>>(&placement);
    }
}

fn whole<C: Collective + Default>(placement: &Placement) {
    let (schedule, collective) = (C::schedule(), C::default());
    let point = check::Point { placement: placement.clone(), args: collective.arguments() };
    let trace = check::record_code(&collective, placement);
    assert_eq!(check::record_schedule(&schedule, &point).as_ref(), Ok(&trace), "{point:?}");
    if let Err(violation) = check::trace(&schedule, &point, &trace) {
        panic!("{}: {violation}", C::NAME);
    }
}

#[test]
fn a_group_outside_of_the_inner_domain_is_refused_on_every_rank() {
    // One of the nodes has three ranks, and recursive doubling requires a power of two.
    let placement = Placement::of_sizes(&[2, 3, 2]);
    for result in gather(&LocalityBruck::<RecursiveDoubling>::default().unproved(), &placement) {
        let Err(Error::OutsideDomain { refusal: Refusal::Requires { p, .. }, .. }) = result else {
            panic!("{result:?}");
        };
        assert_eq!(p, 3);
    }
    expect(&LocalityBruck::<RecursiveDoubling>::default().unproved(), &Placement::of_sizes(&[2, 4, 2, 2]));
}

#[test]
fn uneven_nodes_of_many_ranks_are_served() {
    expect(&LocalityBruck::<Bruck>::default(), &Placement::of_sizes(&[40, 30, 40]));
}

/// What is proved for all p is proved for nodes of any sizes.
#[test]
fn many_ranks_are_served_on_every_placement() {
    let served = |placement: &Placement| {
        let p = placement.p();
        let places = [0, 1, p / 2, p - 1].map(|rank| placement.place(rank));
        let answers = [
            places.iter().map(|at| LocalityBruck::<Bruck>::default().proved(at).is_ok()).collect::<Vec<_>>(),
            places.iter().map(|at| Hierarchical::<Bruck>::default().proved(at).is_ok()).collect(),
            places.iter().map(|at| MultiLane::<Bruck>::default().proved(at).is_ok()).collect(),
        ];
        // The answer is the same on all ranks, and here for all three.
        let one = answers[0][0];
        assert!(answers.iter().flatten().all(|answer| *answer == one), "{placement:?}");
        one
    };
    for (p, ppn) in [(144, 2), (144, 3), (144, 144), (147, 7), (512, 16), (144, 1), (145, 3), (143, 2)] {
        assert!(served(&Placement::consecutive(p, ppn)), "p = {p}, ppn = {ppn}");
        assert!(served(&Placement::cyclic(p, ppn)), "p = {p}, ppn = {ppn}");
    }
    assert!(served(&Placement::of_sizes(&[40, 30, 40])));
}

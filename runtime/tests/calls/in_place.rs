//! Calls in place, of every gather and reduction of the catalogue: the same result as with two buffers, and nothing
//! else changed.

use roundel::algorithms::{Bruck, PairwiseReduceScatter, Visitor, visit_all};
use roundel::operation::Sum;
use roundel::threads::{self, Placement};
use roundel::{Allgather, AllowUnproved, Error, IsAllgather, IsReduceScatter, Place, ReduceScatter};

fn placements() -> Vec<Placement> {
    vec![
        Placement::consecutive(1, 1),
        Placement::consecutive(5, 5),
        Placement::consecutive(8, 4),
        Placement::cyclic(6, 2),
        Placement::from_nodes(vec![2, 0, 1, 1, 0, 1, 1]),
    ]
}

/// A rank's element at a position.
fn sample(rank: usize, at: usize) -> i64 {
    (rank * 100 + at) as i64
}

struct InPlace;

impl Visitor for InPlace {
    fn allgather<C: IsAllgather + Sync>(&mut self, name: &'static str, collective: &C) {
        for placement in placements() {
            let p = placement.p();
            if collective.admits(&placement.place(0)).is_err() {
                continue;
            }
            let counts: Vec<usize> = (0..p).map(|b| [2, 0, 3, 1][b % 4]).collect();
            let displs: Vec<usize> = (0..p).map(|b| 4 * (p - 1 - b)).collect();
            let args = collective.arguments();
            threads::run_placed(&placement, |comm| {
                let collective = C::from_arguments(&args).unwrap().unproved();
                let rank = comm.rank();
                let mut data = vec![-1; 2 * p];
                (0..2).for_each(|i| data[2 * rank + i] = sample(rank, i));
                collective.allgather_in_place(comm, &mut data).unwrap();
                let expected: Vec<i64> = (0..2 * p).map(|at| sample(at / 2, at % 2)).collect();
                assert_eq!(data, expected, "{name}, p = {p}");

                let mut data = vec![-1; 4 * p];
                (0..counts[rank]).for_each(|i| data[displs[rank] + i] = sample(rank, i));
                collective.allgatherv_in_place(comm, &mut data, &counts, &displs).unwrap();
                for (at, found) in data.iter().enumerate() {
                    let (owner, i) = (p - 1 - at / 4, at % 4);
                    let expected = if i < counts[owner] { sample(owner, i) } else { -1 };
                    assert_eq!(*found, expected, "{name}, p = {p}, place {at}");
                }
            });
        }
    }

    fn reduce_scatter<C: IsReduceScatter + Sync>(&mut self, name: &'static str, collective: &C) {
        for p in (1..=9).filter(|&p| collective.admits(&Place::flat(0, p as i64)).is_ok()) {
            let counts: Vec<usize> = (0..p).map(|b| [2, 0, 3, 1][b % 4]).collect();
            let args = collective.arguments();
            threads::run(p, |comm| {
                let collective = C::from_arguments(&args).unwrap().unproved();
                let (rank, sum) = (comm.rank(), |at: usize| (0..p).map(|rank| sample(rank, at)).sum::<i64>());
                let own: Vec<i64> = (0..2 * p).map(|at| sample(rank, at)).collect();
                let mut data = own.clone();
                collective.reduce_scatter_block_in_place(comm, &mut data, &Sum).unwrap();
                assert_eq!(data[..2], [sum(2 * rank), sum(2 * rank + 1)], "{name}, p = {p}");
                assert_eq!(data[2..], own[2..], "{name}, p = {p}: nothing else is changed");

                let (total, begin) = (counts.iter().sum::<usize>(), counts[..rank].iter().sum::<usize>());
                let mut data: Vec<i64> = (0..total).map(|at| sample(rank, at)).collect();
                collective.reduce_scatter_in_place(comm, &mut data, &counts, &Sum).unwrap();
                let expected: Vec<i64> = (begin..begin + counts[rank]).map(sum).collect();
                assert_eq!(data[..counts[rank]], expected, "{name}, p = {p}");
            });
        }
    }
}

#[test]
fn results_in_place_are_the_definition() {
    visit_all(&mut InPlace);
}

#[test]
fn buffers_that_cannot_be_divided_are_refused() {
    let refused = |found: &Error| matches!(found, Error::Length { expected: 6, found: 7, .. });
    let results = threads::run(3, |comm| {
        let gathered = Bruck.allgather_in_place(comm, &mut [0; 7]).unwrap_err();
        let reduced = PairwiseReduceScatter.reduce_scatter_block_in_place(comm, &mut [0; 7], &Sum).unwrap_err();
        let counts = PairwiseReduceScatter.reduce_scatter_in_place(comm, &mut [0; 7], &[1, 2, 3], &Sum).unwrap_err();
        (gathered, reduced, counts)
    });
    for (gathered, reduced, counts) in results {
        assert!(refused(&gathered) && refused(&reduced) && refused(&counts), "{gathered} {reduced} {counts}");
    }
}

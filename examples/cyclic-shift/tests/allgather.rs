//! The cyclic shift against the definition of an allgather, on threads.

#![allow(clippy::unwrap_used)]

use cyclic_shift::CyclicShift;
use roundel::threads::{self, persistent};
use roundel::{Allgather, AllowUnproved, Error};

/// Lists of ports, short and long, even and uneven.
const PORTS: [&[i64]; 8] = [&[], &[1], &[4], &[1, 2], &[3, 1], &[1, 1, 1, 1], &[2, 5, 1], &[7, 1, 2]];

fn capacity(ports: &[i64]) -> usize {
    ports.iter().map(|ports| *ports as usize + 1).product()
}

#[test]
fn every_rank_gets_every_block() {
    for ports in PORTS {
        // Some of these calls are beyond the limits of the declaration's check.
        let shift = CyclicShift { ports: ports.to_vec() }.unproved();
        for p in 1..=capacity(ports).min(24) {
            let expected: Vec<usize> = (0..p).flat_map(|rank| [rank, rank * rank]).collect();
            let results = threads::run(p, |comm| {
                let mut all = vec![usize::MAX; 2 * p];
                shift.allgather(comm, &[comm.rank(), comm.rank() * comm.rank()], &mut all).map(|()| all)
            });
            assert!(results.into_iter().all(|all| all.unwrap() == expected), "p = {p}, ports = {ports:?}");
        }
    }
}

#[test]
fn blocks_of_different_lengths() {
    let p = 11;
    let counts: Vec<usize> = (0..p).map(|rank| rank * 3 % 4).collect();
    let displs: Vec<usize> = (0..p).map(|rank| rank * 5).collect();
    let block = |rank: usize| vec![rank; counts[rank]];
    let mut expected = vec![usize::MAX; 5 * p];
    for rank in 0..p {
        expected[displs[rank]..][..counts[rank]].copy_from_slice(&block(rank));
    }
    let results = threads::run(p, |comm| {
        let mut all = vec![usize::MAX; 5 * p];
        let shift = CyclicShift { ports: vec![2, 1, 1] };
        shift.allgatherv(comm, &block(comm.rank()), &mut all, &counts, &displs).map(|()| all)
    });
    assert!(results.into_iter().all(|all| all.unwrap() == expected));
}

/// A persistent request beside a non-blocking call, as `roundel::mpi::persistent` has them on MPI.
#[test]
fn as_requests() {
    let results = threads::run(6, |comm| -> Result<Vec<usize>, Error> {
        let shift = || CyclicShift { ports: vec![1, 2] };
        let mut request = persistent::Allgather::init(comm, shift(), vec![0], vec![0; 6])?;
        for step in 0..3 {
            request.input_mut()?[0] = 10 * step + comm.rank();
            request.start()?;
            let mut once = persistent::Allgather::start(comm, shift(), vec![comm.rank()], vec![0; 6])?;
            request.wait()?;
            assert_eq!(request.output()?, (0..6).map(|rank| 10 * step + rank).collect::<Vec<_>>());
            once.wait()?;
            assert_eq!(once.output()?, [0, 1, 2, 3, 4, 5]);
        }
        request.into_buffers().map(|(_, all)| all)
    });
    assert!(results.into_iter().all(|all| all == Ok(vec![20, 21, 22, 23, 24, 25])));
}

#[test]
fn as_few_rounds_as_the_ports_allow() {
    for ports in 1..=5 {
        for p in 1..=40 {
            let shift = CyclicShift::uniform(p, ports);
            assert!(capacity(&shift.ports) >= p);
            assert!(p == 1 || capacity(&shift.ports[1..]) < p);
        }
    }
}

#[test]
fn too_many_ranks_are_refused() {
    let shift = CyclicShift { ports: vec![1, 2] };
    let results = threads::run(7, |comm| shift.allgather(comm, &[0], &mut [0; 7]));
    for result in results {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::OutsideDomain { .. }));
        assert!(error.to_string().contains("it requires `final D == p`, which is false with p = 7"), "{error}");
    }
}

#[test]
fn ports_outside_their_domain_are_refused() {
    let shift = CyclicShift { ports: vec![3, 0] };
    let error = threads::run(4, |comm| shift.allgather(comm, &[0], &mut [0; 4])).swap_remove(0).unwrap_err();
    assert!(error.to_string().contains("parameter `ports` must lie in 1.., but is 0"), "{error}");
}

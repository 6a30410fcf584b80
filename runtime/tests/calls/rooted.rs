//! Broadcast, reduce, gather and scatter on threads, against the plain definition: every p of a range with every root.

use roundel::algorithms::{
    BinomialBroadcast, BinomialGather, BinomialReduce, BinomialScatter, OrderedBinomialReduce, Visitor, visit_all,
};
use roundel::operation::{Sum, ordered};
use roundel::threads::{run, run_placed};
use roundel::transport::{BlockStorage, RootedCall, RootedLayout};
use roundel::{
    AllowUnproved, Broadcast, Error, GatherTo, IsBroadcast, IsGather, IsReduce, IsScatter, ReduceTo, ScatterFrom,
    Transport,
};
use roundel_spec::Placement;
use std::collections::BTreeSet;

/// Element `i` of a rank's contribution.
fn element(rank: usize, i: usize) -> u64 {
    (rank as u64 + 1) * 1000 + (i * i) as u64
}

fn vector(rank: usize, n: usize) -> Vec<u64> {
    (0..n).map(|i| element(rank, i)).collect()
}

const UNTOUCHED: u64 = 77;

fn calls() -> impl Iterator<Item = (usize, usize)> {
    [1, 2, 3, 4, 5, 7, 8, 11].into_iter().flat_map(|p| [0, 1, 3].map(|n| (p, n)))
}

#[derive(Default)]
struct Everything {
    seen: BTreeSet<(&'static str, bool)>,
}

impl Everything {
    /// Whether the root is one of the ranks; otherwise all of them must refuse the call.
    fn serves(&mut self, name: &'static str, root: i64, p: usize) -> bool {
        self.seen.insert((name, root < p as i64));
        root < p as i64
    }
}

fn refused<T>(results: Vec<Result<T, Error>>, name: &str) {
    let outside = |result: &Result<T, Error>| matches!(result, Err(Error::OutsideDomain { .. }));
    assert!(results.iter().all(outside), "{name}");
}

impl Visitor for Everything {
    fn broadcast<C: IsBroadcast + Sync>(&mut self, name: &'static str, collective: &C) {
        for (p, n) in calls() {
            let results = run(p, |comm| {
                let mut data = vector(comm.rank(), n);
                collective.broadcast(comm, &mut data).map(|()| data)
            });
            if !self.serves(name, collective.root(), p) {
                refused(results, name);
                continue;
            }
            let expected = vector(collective.root() as usize, n);
            assert!(results.into_iter().all(|data| data.as_ref() == Ok(&expected)), "{name}, p = {p}, n = {n}");
        }
    }

    fn reduce<C: IsReduce + Sync>(&mut self, name: &'static str, collective: &C) {
        for (p, n) in calls() {
            let is_root = |rank: usize| rank as i64 == collective.root();
            let results = run(p, |comm| {
                let send = vector(comm.rank(), n);
                let (mut recv, mut data) = (vec![UNTOUCHED; if is_root(comm.rank()) { n } else { 2 }], send.clone());
                collective.reduce(comm, &send, &mut recv, &Sum)?;
                collective.reduce_in_place(comm, &mut data, &Sum)?;
                if !is_root(comm.rank()) {
                    assert_eq!((data, &recv), (send, &vec![UNTOUCHED; 2]), "{name}: another rank's data is changed");
                } else {
                    assert_eq!(data, recv, "{name}: in place");
                }
                Ok(recv)
            });
            if !self.serves(name, collective.root(), p) {
                refused(results, name);
                continue;
            }
            let sum: Vec<u64> = (0..n).map(|i| (0..p).map(|rank| element(rank, i)).sum()).collect();
            assert_eq!(results[collective.root() as usize], Ok(sum), "{name}, p = {p}, n = {n}");
            words(name, collective, p);
        }
    }

    fn gather<C: IsGather + Sync>(&mut self, name: &'static str, collective: &C) {
        for (p, n) in calls() {
            let is_root = |rank: usize| rank as i64 == collective.root();
            let results = run(p, |comm| {
                let (rank, send) = (comm.rank(), vector(comm.rank(), n));
                let mut recv = vec![UNTOUCHED; if is_root(rank) { p * n } else { 2 }];
                collective.gather(comm, &send, &mut recv)?;
                let mut data = if is_root(rank) { vec![UNTOUCHED; p * n] } else { send.clone() };
                if is_root(rank) {
                    data[rank * n..(rank + 1) * n].clone_from_slice(&send);
                }
                collective.gather_in_place(comm, &mut data)?;
                assert_eq!(data, if is_root(rank) { recv.clone() } else { send }, "{name}: in place");
                assert!(is_root(rank) || recv == [UNTOUCHED; 2], "{name}");
                Ok(recv)
            });
            if !self.serves(name, collective.root(), p) {
                refused(results, name);
                continue;
            }
            let all: Vec<u64> = (0..p).flat_map(|rank| vector(rank, n)).collect();
            assert_eq!(results[collective.root() as usize], Ok(all), "{name}, p = {p}, n = {n}");
        }
    }

    fn scatter<C: IsScatter + Sync>(&mut self, name: &'static str, collective: &C) {
        for (p, n) in calls() {
            let is_root = |rank: usize| rank as i64 == collective.root();
            let block = |rank: usize| (0..n).map(move |i| element(99, rank * n + i)).collect::<Vec<u64>>();
            let results = run(p, |comm| {
                let all = if is_root(comm.rank()) { vector(99, p * n) } else { vec![UNTOUCHED; 2] };
                let mut recv = vec![UNTOUCHED; n];
                collective.scatter(comm, &all, &mut recv)?;
                let mut data = if is_root(comm.rank()) { all.clone() } else { vec![UNTOUCHED; n] };
                collective.scatter_in_place(comm, &mut data)?;
                assert_eq!(data, if is_root(comm.rank()) { all } else { recv.clone() }, "{name}: in place");
                Ok(recv)
            });
            if !self.serves(name, collective.root(), p) {
                refused(results, name);
                continue;
            }
            for (rank, result) in results.into_iter().enumerate() {
                assert_eq!(result, Ok(block(rank)), "{name}, p = {p}, n = {n}, rank {rank}");
            }
        }
    }
}

/// Concatenates words: in the order of ranks, or refused.
fn words<C: IsReduce + Sync>(name: &str, collective: &C, p: usize) {
    let append = ordered(|a: &String, b: &String| a.clone() + b);
    let results = run(p, |comm| {
        let mut data = [format!("({})", comm.rank())];
        collective.reduce_in_place(comm, &mut data, &append).map(|()| data)
    });
    if C::ORDER.rank_order {
        let all = (0..p).map(|rank| format!("({rank})")).collect::<String>();
        assert_eq!(results[collective.root() as usize], Ok([all]), "{name}, p = {p}");
    } else {
        assert!(results.iter().all(|result| matches!(result, Err(Error::NeedsOrder { .. }))), "{name}");
    }
}

#[test]
fn every_collective_with_a_root_gives_what_its_definition_says() {
    let mut everything = Everything::default();
    visit_all(&mut everything);
    // Roots that are ranks, and roots that are not.
    assert_eq!(everything.seen.len(), 12, "{:?}", everything.seen);
}

#[test]
fn every_root_with_every_p() {
    let mut everything = Everything::default();
    for root in 0..11 {
        everything.broadcast("broadcast", &BinomialBroadcast { root });
        everything.reduce("reduce", &BinomialReduce { root });
        everything.reduce("reduce in order", &OrderedBinomialReduce { root }.unproved());
        everything.gather("gather", &BinomialGather { root });
        everything.scatter("scatter", &BinomialScatter { root }.unproved());
    }
}

#[test]
fn lengths_are_checked_where_they_are_known() {
    let results = run(3, |comm| {
        let gathered = BinomialGather { root: 1 }.gather(comm, &[1, 2], &mut [0; 5]);
        let scattered = BinomialScatter { root: 1 }.scatter(comm, &[1, 2, 3, 4], &mut [0; 2]);
        let in_place = BinomialScatter { root: 1 }.scatter_in_place(comm, &mut [0; 4]);
        (gathered, scattered, in_place)
    });
    let (gathered, scattered, in_place) = &results[1];
    assert!(matches!(gathered, Err(Error::Length { what: "the receive buffer", expected: 6, found: 5, .. })));
    assert!(matches!(scattered, Err(Error::Length { what: "the send buffer", expected: 6, found: 4, .. })));
    assert!(matches!(in_place, Err(Error::Length { what: "the root's buffer", expected: 6, found: 4, .. })));
}

/// A call that the traits never make, but that anyone can write.
#[test]
fn calls_that_do_not_fit_their_buffers_are_refused() {
    let spread = |total, input_at, storage| {
        let call = |comm: &roundel::threads::ThreadComm| {
            let layout = RootedLayout { total, input_at, storage };
            comm.spread(
                &BinomialBroadcast { root: 0 },
                RootedCall { input: Some(&[1, 2]), output: &mut [0; 3], layout },
            )
        };
        run(1, call).remove(0)
    };
    assert_eq!(spread(3, 1, BlockStorage::Output), Ok(()));
    assert_eq!(spread(4, 2, BlockStorage::Scratch { result_at: 1 }), Ok(()));
    for (total, input_at, storage) in [
        (4, 0, BlockStorage::Output),
        (3, 2, BlockStorage::Output),
        (4, 0, BlockStorage::Scratch { result_at: 2 }),
        (usize::MAX, usize::MAX, BlockStorage::Scratch { result_at: 0 }),
        (4, 0, BlockStorage::Scratch { result_at: usize::MAX }),
    ] {
        assert!(
            matches!(spread(total, input_at, storage), Err(Error::Length { .. })),
            "{total} {input_at} {storage:?}"
        );
    }
}

/// The root is a rank of the communicator, even if ranks alternate between nodes and algorithms that look at nodes
/// see another numbering.
#[test]
fn the_root_is_a_real_rank_wherever_ranks_sit() {
    let (p, placement) = (7, Placement::cyclic(7, 3));
    assert!(!placement.is_sorted());
    for root in 0..p {
        let number = root as i64;
        let results = run_placed(&placement, |comm| {
            let (rank, own) = (comm.rank(), vector(comm.rank(), 2));
            let (mut all, mut part, mut sum) = (vec![0; 2 * p], vec![0; 2], vec![0; 2]);
            let at_root = |data: &[u64]| if rank == root { data.to_vec() } else { vec![] };
            let mut gathered = at_root(&all);
            BinomialGather { root: number }.gather(comm, &own, &mut gathered)?;
            all.copy_from_slice(&(0..p).flat_map(|rank| vector(rank, 2)).collect::<Vec<_>>());
            assert_eq!(gathered, at_root(&all), "gather to {root} on rank {rank}");
            BinomialScatter { root: number }.scatter(comm, &at_root(&all), &mut part)?;
            assert_eq!(part, own, "scatter from {root} on rank {rank}");
            BinomialReduce { root: number }.reduce(comm, &own, &mut sum, &Sum)?;
            let total: Vec<u64> = (0..2).map(|i| (0..p).map(|rank| element(rank, i)).sum()).collect();
            assert_eq!(sum, if rank == root { total } else { vec![0; 2] }, "reduce to {root} on rank {rank}");
            Ok::<(), Error>(())
        });
        assert!(results.iter().all(Result::is_ok), "{results:?}");
    }
}

//! Alltoall and alltoallv on threads: results against the plain definition, and every kind of invalid call.

use crate::shuffles::{Bruck, Pairwise, SpreadOut, Star, Visit, visit_all};
use proptest::prelude::*;
use roundel::algorithms::{self, HierarchicalAlltoall};
use roundel::threads::{Placement, ThreadComm, run, run_placed};
use roundel::{Alltoall, Error, IsAlltoall, Layout, Options, Place, Policy};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Element `i` of the block from `source` to `destination`: unique, and not `Copy`.
fn element(source: usize, destination: usize, i: usize) -> String {
    format!("{source}>{destination}#{i}")
}

fn block(source: usize, destination: usize, len: usize) -> Vec<String> {
    (0..len).map(|i| element(source, destination, i)).collect()
}

/// The data that `rank` sends if all blocks have `count` elements, and the data that it must receive.
fn uniform(rank: usize, p: usize, count: usize) -> (Vec<String>, Vec<String>) {
    let send = (0..p).flat_map(|d| block(rank, d, count)).collect();
    let recv = (0..p).flat_map(|s| block(s, rank, count)).collect();
    (send, recv)
}

const LAYOUTS: [Layout; 3] = [Layout::Declared, Layout::InPlace, Layout::Rotated];

struct Uniform {
    p: usize,
}

impl Visit for Uniform {
    fn visit<C: IsAlltoall + Copy + Sync>(&mut self, name: &str, collective: C) {
        let p = self.p;
        let rotates = collective.rotation(&Place::flat(0, p as i64)).is_some();
        for count in [0, 1, 3] {
            run(p, |comm| {
                let (send, expected) = uniform(comm.rank(), p, count);
                for layout in LAYOUTS.into_iter().filter(|&l| l != Layout::Rotated || rotates) {
                    let options = Options { layout, policy: Policy::default() };
                    let mut recv = vec![String::new(); p * count];
                    assert_eq!(collective.alltoall_with(comm, &send, &mut recv, options), Ok(()), "{name}, p = {p}");
                    assert_eq!(recv, expected, "{name}, p = {p}, {count} elements, {layout:?}");
                }
                let mut data = send;
                assert_eq!(collective.alltoall_in_place(comm, &mut data), Ok(()), "{name}, p = {p}");
                assert_eq!(data, expected, "{name}, p = {p}, {count} elements in place");
            });
        }
    }
}

#[test]
fn blocks_of_the_same_length_arrive() {
    (1..=17).for_each(|p| visit_all(p, &mut Uniform { p }));
}

#[test]
fn ranks_may_sit_anywhere() {
    for nodes in [vec![0, 1, 0, 1, 2], vec![1, 0], vec![2, 1, 0, 0, 1, 2, 0]] {
        let p = nodes.len();
        run_placed(&Placement::from_nodes(nodes), |comm| {
            let (send, expected) = uniform(comm.rank(), p, 2);
            let mut recv = vec![String::new(); 2 * p];
            assert_eq!(Star.alltoall(comm, &send, &mut recv), Ok(()));
            assert_eq!(recv, expected);
            recv.fill(String::new());
            let hierarchical = HierarchicalAlltoall::<algorithms::SpreadOut>::default();
            assert_eq!(hierarchical.alltoall(comm, &send, &mut recv), Ok(()));
            assert_eq!(recv, expected);
        });
    }
}

/// Blocks of any lengths: `counts[s][d]` elements from s to d, with gaps between them.
#[derive(Clone, Debug)]
struct Matrix {
    counts: Vec<Vec<usize>>,
    gap: usize,
    reverse: bool,
}

impl Matrix {
    fn p(&self) -> usize {
        self.counts.len()
    }

    fn sent(&self, rank: usize) -> Vec<usize> {
        self.counts[rank].clone()
    }

    fn received(&self, rank: usize) -> Vec<usize> {
        self.counts.iter().map(|row| row[rank]).collect()
    }

    /// Where blocks of these lengths lie, and how long the buffer is.
    fn displs(&self, counts: &[usize]) -> (Vec<usize>, usize) {
        let mut displs = vec![0; counts.len()];
        let mut end = self.gap;
        for i in 0..counts.len() {
            let b = if self.reverse { counts.len() - 1 - i } else { i };
            displs[b] = end;
            end += counts[b] + self.gap;
        }
        (displs, end)
    }

    /// A buffer of `len` elements in which `blocks` lie.
    fn buffer(blocks: impl Iterator<Item = Vec<String>>, displs: &[usize], len: usize) -> Vec<String> {
        let mut buffer = vec!["untouched".to_string(); len];
        for (block, &displ) in blocks.zip(displs) {
            let end = displ + block.len();
            buffer[displ..end].clone_from_slice(&block);
        }
        buffer
    }

    fn check<C: IsAlltoall>(&self, name: &str, collective: &C, comm: &ThreadComm) {
        let (rank, p) = (comm.rank(), self.p());
        let (sent, received) = (self.sent(rank), self.received(rank));
        let ((send_displs, send_len), (recv_displs, recv_len)) = (self.displs(&sent), self.displs(&received));
        let send = Self::buffer((0..p).map(|d| block(rank, d, sent[d])), &send_displs, send_len);
        let expected = Self::buffer((0..p).map(|s| block(s, rank, received[s])), &recv_displs, recv_len);
        let mut recv = vec!["untouched".to_string(); recv_len];
        let outcome = collective.alltoallv(comm, &send, &sent, &send_displs, &mut recv, &received, &recv_displs);
        assert_eq!(outcome, Ok(()), "{name}, {self:?}");
        assert_eq!(recv, expected, "{name}, {self:?}");
    }

    fn check_in_place<C: IsAlltoall>(&self, name: &str, collective: &C, comm: &ThreadComm) {
        let (rank, p, counts) = (comm.rank(), self.p(), self.sent(comm.rank()));
        let (displs, len) = self.displs(&counts);
        let mut data = Self::buffer((0..p).map(|d| block(rank, d, counts[d])), &displs, len);
        let expected = Self::buffer((0..p).map(|s| block(s, rank, counts[s])), &displs, len);
        assert_eq!(collective.alltoallv_in_place(comm, &mut data, &counts, &displs), Ok(()), "{name}, {self:?}");
        assert_eq!(data, expected, "{name}, {self:?}");
    }

    /// The same number of elements in both directions.
    fn symmetric(&self) -> Matrix {
        let count = |s: usize, d: usize| self.counts[s.min(d)][s.max(d)];
        let counts = (0..self.p()).map(|s| (0..self.p()).map(|d| count(s, d)).collect()).collect();
        Matrix { counts, ..*self }
    }
}

impl Visit for Matrix {
    fn visit<C: IsAlltoall + Copy + Sync>(&mut self, name: &str, collective: C) {
        let symmetric = self.symmetric();
        run(self.p(), |comm| {
            self.check(name, &collective, comm);
            symmetric.check_in_place(name, &collective, comm);
        });
    }
}

/// Counts, many of which are 0.
fn matrices() -> impl Strategy<Value = Matrix> {
    let count = prop_oneof![2 => Just(0usize), 3 => 1usize..6];
    (1usize..10).prop_flat_map(move |p| {
        let counts = prop::collection::vec(prop::collection::vec(count.clone(), p), p);
        (counts, 0usize..3, any::<bool>()).prop_map(|(counts, gap, reverse)| Matrix { counts, gap, reverse })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn blocks_of_any_lengths_arrive(matrix in matrices()) {
        visit_all(matrix.p(), &mut matrix.clone());
    }
}

#[test]
fn many_ranks_exchange_blocks_of_any_lengths() {
    for p in 11..=17 {
        let counts = (0..p).map(|s| (0..p).map(|d| (7 * s + 3 * d) % 5).collect()).collect();
        visit_all(p, &mut Matrix { counts, gap: 1, reverse: p % 2 == 0 });
    }
}

#[test]
fn nothing_at_all_can_be_exchanged() {
    visit_all(5, &mut Matrix { counts: vec![vec![0; 5]; 5], gap: 0, reverse: false });
}

/// Only rank 0 of two makes the call: it would never return if its error came after the first message.
fn refused(call: impl Fn(&ThreadComm) -> Result<(), Error> + Sync) -> Error {
    let mut outcomes = run(2, |comm| if comm.rank() == 0 { call(comm) } else { Ok(()) });
    outcomes.swap_remove(0).unwrap_err()
}

#[test]
fn wrong_lengths_are_refused() {
    let length = |error: Error, what: &str, expected: usize, found: usize| match error {
        Error::Length { what: w, expected: e, found: f, .. } => assert_eq!((w, e, f), (what, expected, found)),
        other => panic!("{other}"),
    };
    length(refused(|c| Pairwise.alltoall(c, &[1, 2], &mut [0; 4])), "the send buffer", 4, 2);
    length(refused(|c| Pairwise.alltoall(c, &[1, 2, 3], &mut [0; 3])), "the receive buffer", 4, 3);
    length(refused(|c| Pairwise.alltoall_in_place(c, &mut [0; 5])), "the receive buffer", 6, 5);

    type Lists<'a> = [&'a [usize]; 4];
    let v = |lists: Lists<'_>| {
        let [a, b, c, d] = lists.map(<[usize]>::to_vec);
        refused(move |comm| SpreadOut.alltoallv(comm, &[1; 4], &a, &b, &mut [0; 4], &c, &d))
    };
    let (ones, at) = (&[1, 1][..], &[0, 2][..]);
    length(v([&[1], at, ones, at]), "send counts", 2, 1);
    length(v([ones, &[0, 1, 2], ones, at]), "send displacements", 2, 3);
    length(v([ones, at, &[], at]), "receive counts", 2, 0);
    length(v([ones, at, ones, &[0]]), "receive displacements", 2, 1);
    length(v([&[1, 3], at, ones, at]), "the send buffer", 5, 4);
    length(v([ones, at, &[1, 3], at]), "the receive buffer", 5, 4);
    length(v([&[2, 1], at, ones, at]), "the block of this rank for itself", 1, 2);
    assert_eq!(v([ones, at, ones, &[1, 1]]), Error::Overlap { first: 0, second: 1 });
    let too_large = |error: Error| assert!(matches!(error, Error::TooLarge { what: "a block's end", .. }), "{error}");
    too_large(v([ones, &[0, usize::MAX], ones, at]));
    too_large(v([ones, at, ones, &[0, usize::MAX]]));
    // Blocks to send may overlap, and empty blocks may lie anywhere.
    let results = run(2, |comm| {
        let mut recv = [0; 4];
        let outcome = SpreadOut.alltoallv(comm, &[7, 8], &[2, 2], &[0, 0], &mut recv, &[2, 2], &[0, 2]);
        let nothing = SpreadOut.alltoallv(comm, &[0; 0], &[0, 0], &[9, 9], &mut [], &[0, 0], &[5, 5]);
        outcome.and(nothing).map(|()| recv)
    });
    assert_eq!(results, [Ok([7, 8, 7, 8]), Ok([7, 8, 7, 8])]);

    let in_place = |counts: &[usize], displs: &[usize]| {
        let (counts, displs) = (counts.to_vec(), displs.to_vec());
        refused(move |comm| SpreadOut.alltoallv_in_place(comm, &mut [0; 4], &counts, &displs))
    };
    length(in_place(&[1], at), "counts", 2, 1);
    length(in_place(&[1, 3], at), "the receive buffer", 5, 4);
    assert_eq!(in_place(ones, &[3, 3]), Error::Overlap { first: 0, second: 1 });
}

#[test]
fn a_layout_that_is_not_declared_is_refused() {
    let options = Options { layout: Layout::Rotated, ..Options::default() };
    let name = "Pairwise".to_string();
    let error = refused(|comm| Pairwise.alltoall_with(comm, &[1, 2], &mut [0; 2], options));
    assert_eq!(error, Error::NoSuchLayout { name: name.clone() });
    let (n, at) = (&[1, 1], &[0, 1]);
    let error = refused(|comm| Pairwise.alltoallv_with(comm, &[1, 2], n, at, &mut [0; 2], n, at, options));
    assert_eq!(error, Error::NoSuchLayout { name });
}

/// One rank expects more elements from another than that one sends. Only it gets an error, all ranks finish, and the
/// next call works.
struct OneExpectsMore {
    p: usize,
}

impl Visit for OneExpectsMore {
    fn visit<C: IsAlltoall + Copy + Sync>(&mut self, name: &str, collective: C) {
        let p = self.p;
        for from in (0..p).filter(|&from| from != 1) {
            run(p, |comm| {
                let rank = comm.rank();
                let (sent, mut received) = (vec![2; p], vec![2; p]);
                let at: Vec<usize> = (0..p).map(|b| 3 * b).collect();
                if rank == 1 {
                    received[from] = 3;
                }
                let send: Vec<String> = (0..p).flat_map(|d| block(rank, d, 3)).collect();
                let mut recv = vec![String::new(); 3 * p];
                let outcome = collective.alltoallv(comm, &send, &sent, &at, &mut recv, &received, &at);
                let expected = match rank {
                    1 => Err(Error::BlockMismatch { rank: 1, from, expected: 3, found: 2 }),
                    _ => Ok(()),
                };
                assert_eq!(outcome, expected, "{name}, p = {p}");
                for s in (0..p).filter(|&s| rank != 1 || s != from) {
                    assert_eq!(recv[3 * s..3 * s + 2], block(s, rank, 2), "{name}, p = {p}");
                }
                let (send, expected) = uniform(rank, p, 1);
                let mut recv = vec![String::new(); p];
                assert_eq!(collective.alltoall(comm, &send, &mut recv), Ok(()), "{name}, p = {p}");
                assert_eq!(recv, expected);
            });
        }
    }
}

#[test]
fn counts_that_differ_are_named_by_the_rank_that_notices() {
    [2, 3, 5, 8].into_iter().for_each(|p| visit_all(p, &mut OneExpectsMore { p }));
}

#[test]
fn the_error_names_both_ranks_and_says_what_to_do() {
    let error = Error::BlockMismatch { rank: 1, from: 4, expected: 3, found: 2 };
    assert_eq!(
        error.to_string(),
        "rank 4 sent 2 elements to rank 1, which expected 3: the send count of rank 4 for rank 1 must equal the \
         receive count of rank 1 for rank 4"
    );
}

#[test]
fn one_rank_with_longer_blocks_fails_and_nobody_waits() {
    let outcomes = run(5, |comm| {
        let count = if comm.rank() == 3 { 4 } else { 3 };
        Bruck::<false>::plain(2).alltoall(comm, &vec![0; 5 * count], &mut vec![0; 5 * count])
    });
    let mismatches = outcomes.iter().filter(|outcome| matches!(outcome, Err(Error::Mismatch { .. })));
    assert_eq!(mismatches.count(), 1, "{outcomes:?}");
    assert!(outcomes.iter().all(Result::is_err), "{outcomes:?}");
}

#[test]
fn a_rank_that_panics_or_returns_is_noticed() {
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        run(4, |comm| match comm.rank() {
            2 => panic!("on purpose"),
            rank => {
                let (send, _) = uniform(rank, 4, 1);
                let outcome = Bruck::<false>::plain(2).alltoall(comm, &send, &mut vec![String::new(); 4]);
                assert!(matches!(outcome, Err(Error::PeerFailed { rank: 2, .. })), "{outcome:?}");
            }
        })
    }));
    assert!(panicked.is_err());

    let outcomes = run(4, |comm| match comm.rank() {
        2 => Ok(()),
        _ => Pairwise.alltoallv_in_place(comm, &mut [1; 4], &[1; 4], &[0, 1, 2, 3]),
    });
    assert!(outcomes.iter().filter(|o| matches!(o, Err(Error::Deadlock { .. }))).count() == 3, "{outcomes:?}");
}

//! Reverses as a user declares them, on threads, against the plain definition of what they are. The tests that the
//! derive emits compare the generated code of each with its schedule.

use roundel::algorithms::{
    self, BinomialBroadcast, Bruck, BruckReduceScatter, Circulant, CirculantReduceScatter, KBruck,
    KBruckReduceScatter, ModifiedBruck, NeighborExchange, NeighborExchangeReduceScatter, Reverse, Ring,
    RingReduceScatter, ScatterAllgather, Sparbit, SparbitReduceScatter, Visitor, visit_all,
};
use roundel::operation::{Sum, ordered};
use roundel::threads::run;
use roundel::{
    Alltoall, Collective, GatherTo, IsAllgather, IsReduceScatter, Place, ReduceScatter, ReduceTo, Refusal,
    ScatterFrom,
};
use roundel_spec::check::{self, Point};
use roundel_spec::schedule::Loop;
use roundel_spec::{Placement, Schedule};
use std::collections::BTreeSet;

/// Several messages of a clause in one round: what they bring is combined one after the other. Two states, of which one
/// looks at the other and at the index.
#[derive(Collective)]
#[collective(reduce_scatter, radix: 2..)]
#[reverse_of(allgather, combine = right)]
#[check(p <= 16, radix <= 4)]
#[round(s in 0..ceil_log(radix, p))]
#[state(D = 1, next = min(p, radix * D))]
#[state(E = 1, next = D * radix + 0 * s)]
#[define(n(j) = min(D, p - j * D), ports = min(radix, ceil_div(p, D)) - 1)]
#[send(for j in 1..=ports, to = rank - j * D, blocks = [rank + k; k in 0..n(j)])]
#[recv(for j in 1..=ports, from = rank + j * min(D, E), blocks = [rank + j * D + k; k in 0..n(j)])]
#[holds(D == min(p, pow(radix, s)), blocks = [rank + k; k in 0..D])]
struct KBruckBackwards {
    radix: i64,
}

#[derive(Collective)]
#[collective(reduce, root: 0..)]
#[reverse_of(broadcast, combine = right)]
#[check(p <= 16, root <= 15)]
#[define(w = ceil_log(2, p), v = (rank - root) % p)]
#[round(s in 0..w)]
#[state(D = 1, next = 2 * D)]
#[send(when = v < D && v + D < p, to = rank + D)]
#[recv(when = D <= v && v < 2 * D, from = rank - D)]
#[holds(D == pow(2, s), blocks = [0; v < D])]
#[bound(rounds = w, messages_sent <= w)]
struct BroadcastBackwards {
    root: i64,
}

#[derive(Collective)]
#[collective(gather, root: 0..)]
#[reverse_of(scatter)]
#[check(p <= 12, root <= 11)]
#[define(v = (rank - root) % p)]
#[round(s in 1..p)]
#[send(when = v == 0, to = rank + s, blocks = [rank + s])]
#[recv(when = v == s, from = root, blocks = [rank])]
struct ScatterBackwards {
    root: i64,
}

#[derive(Collective)]
#[collective(scatter, root: 0..)]
#[reverse_of(gather)]
#[check(p <= 12, root <= 11)]
#[define(w = ceil_log(2, p), v = (rank - root) % p)]
#[round(s in 0..w)]
#[state(D = 1, next = 2 * D)]
#[send(when = v % (2 * D) == D, to = rank - D, blocks = [rank + k; k in 0..min(D, p - v)])]
#[recv(when = v % (2 * D) == 0, from = rank + D, blocks = [rank + D + k; k in 0..min(D, p - v - D)])]
struct GatherBackwards {
    root: i64,
}

/// Two indices, of which the inner one runs backwards, too.
#[derive(Collective)]
#[collective(alltoall, radix: 2..)]
#[reverse_of(alltoall)]
#[check(p <= 12, radix <= 4)]
#[round(x in 0..ceil_log(radix, p), z in 1..radix)]
#[state(X = 1, next = radix * X)]
#[send(to = rank + z * X, blocks = [rank - j % X -> rank - j % X + j; j in 0..p, digit(j, radix, x) == z])]
#[recv(from = rank - z * X,
    blocks = [rank - j % (radix * X) -> rank - j % (radix * X) + j; j in 0..p, digit(j, radix, x) == z])]
struct DigitsBackwards {
    radix: i64,
}

fn reduces_and_scatters(collective: &(impl ReduceScatter + Sync), p: usize) {
    let plus = roundel::operation::commutative(|a: &u64, b: &u64| a + b);
    let results = run(p, |comm| {
        let send: Vec<u64> = (0..2 * p).map(|i| (comm.rank() * 100 + i * i) as u64).collect();
        let mut recv = [0; 2];
        collective.reduce_scatter_block(comm, &send, &mut recv, &plus).map(|()| recv)
    });
    for (rank, result) in results.into_iter().enumerate() {
        let expected = [0, 1].map(|k| (0..p).map(|r| (r * 100 + (2 * rank + k).pow(2)) as u64).sum::<u64>());
        assert_eq!(result, Ok(expected), "p = {p}, rank {rank}");
    }
}

#[test]
fn allgathers_backwards_are_reduce_scatters() {
    for p in 1..=13 {
        if p % 2 == 0 {
            reduces_and_scatters(&NeighborExchangeReduceScatter, p);
        }
        (2..=4).for_each(|radix| reduces_and_scatters(&KBruckBackwards { radix }, p));
    }
}

#[test]
fn a_broadcast_backwards_is_a_reduce() {
    let append = ordered(|a: &String, b: &String| a.clone() + b);
    let plus = roundel::operation::commutative(|a: &u64, b: &u64| a + b);
    for (p, root) in (1..=9).flat_map(|p| (0..p).map(move |root| (p, root))) {
        let collective = BroadcastBackwards { root: root as i64 };
        let results = run(p, |comm| {
            let mut recv = if comm.rank() == root { vec![0] } else { vec![] };
            collective.reduce(comm, &[1 << comm.rank()], &mut recv, &plus).map(|()| recv)
        });
        assert_eq!(results[root], Ok(vec![(1 << p) - 1]), "p = {p}, root {root}");
        // It claims no order, so what does not commute is refused.
        let refused = run(p, |comm| {
            let mut recv = if comm.rank() == root { vec![String::new()] } else { vec![] };
            collective.reduce(comm, &["x".to_string()], &mut recv, &append).is_err()
        });
        assert!(refused.into_iter().all(|refused| refused), "p = {p}, root {root}");
    }
}

#[test]
fn scatters_and_gathers_are_each_others_reverses() {
    for (p, root) in (1..=9).flat_map(|p| (0..p).map(move |root| (p, root))) {
        let gathered = run(p, |comm| {
            let mut recv = if comm.rank() == root { vec![0; p] } else { vec![] };
            ScatterBackwards { root: root as i64 }.gather(comm, &[comm.rank() + 10], &mut recv).map(|()| recv)
        });
        assert_eq!(gathered[root], Ok((10..10 + p).collect::<Vec<_>>()), "p = {p}, root {root}");
        let scattered = run(p, |comm| {
            let send: Vec<usize> = if comm.rank() == root { (10..10 + p).collect() } else { vec![] };
            let mut recv = [0];
            GatherBackwards { root: root as i64 }.scatter(comm, &send, &mut recv).map(|()| recv[0])
        });
        assert_eq!(scattered, (10..10 + p).map(Ok).collect::<Vec<_>>(), "p = {p}, root {root}");
    }
}

#[test]
fn an_alltoall_backwards_is_an_alltoall() {
    for (p, radix) in (1..=9).flat_map(|p| (2..=4).map(move |radix| (p, radix))) {
        let results = run(p, |comm| {
            let send: Vec<usize> = (0..p).map(|to| comm.rank() * 100 + to).collect();
            let mut recv = vec![0; p];
            DigitsBackwards { radix }.alltoall(comm, &send, &mut recv).map(|()| recv)
        });
        for (rank, result) in results.into_iter().enumerate() {
            assert_eq!(result, Ok((0..p).map(|from| from * 100 + rank).collect()), "p = {p}, radix {radix}");
        }
    }
}

/// Runs the reverse of every allgather of the catalogue on threads, and checks it exactly.
#[derive(Default)]
struct Backwards {
    run: Vec<&'static str>,
    refused: Vec<&'static str>,
}

impl Visitor for Backwards {
    fn allgather<C: IsAllgather + Sync>(&mut self, name: &'static str, collective: &C) {
        let args = collective.arguments();
        let forward = || C::from_arguments(&args).expect("its own arguments");
        match Reverse::of(forward()) {
            Ok(reverse) => {
                (1..=17).for_each(|p| adds_up(name, &reverse, p));
                self.run.push(name);
            }
            Err(Refusal::Irreversible { .. }) => self.refused.push(name),
            Err(other) => panic!("{name}: {other}"),
        }
    }
}

/// A reduce_scatter in a domain of its own, against its definition and the checks.
fn adds_up<C: IsReduceScatter + Sync>(name: &str, collective: &C, p: usize) {
    if collective.admits(&Place::flat(0, p as i64)).is_err() {
        return;
    }
    let (schedule, placement) = (C::schedule(), Placement::consecutive(p, p));
    let trace = check::record_code(collective, &placement);
    let point = Point { placement, args: collective.arguments() };
    let bare = Schedule { reverse_of: None, bounds: Vec::new(), ..schedule };
    let bare = Schedule { loops: bare.loops.iter().cloned().map(without_claims).collect(), ..bare };
    check::trace(&bare, &point, &trace).unwrap_or_else(|wrong| panic!("{name}, backwards, p = {p}: {wrong}"));
    let sums = run(p, |comm| {
        let mine: Vec<usize> = (0..p).map(|block| (comm.rank() + 1) * (block + 1)).collect();
        let mut sum = [0];
        collective.reduce_scatter_block(comm, &mine, &mut sum, &Sum).map(|()| sum)
    });
    let expected = |rank: usize| Ok([(rank + 1) * p * (p + 1) / 2]);
    assert!(sums.iter().enumerate().all(|(rank, sum)| *sum == expected(rank)), "{name}, p = {p}: {sums:?}");
}

fn without_claims(l: Loop) -> Loop {
    Loop { holds: Vec::new(), hints: Vec::new(), ..l }
}

#[test]
fn every_flat_allgather_has_a_reverse() {
    let mut backwards = Backwards::default();
    visit_all(&mut backwards);
    let names = |all: &[&'static str]| all.iter().copied().collect::<BTreeSet<_>>();
    let flat = ["bruck", "circulant", "k-bruck", "neighbor-exchange", "recursive-doubling", "ring", "sparbit"];
    assert_eq!(names(&backwards.run), flat.iter().map(|name| find(name, "allgather")).collect());
    let nodes = ["hierarchical", "locality-bruck", "multi-lane"];
    assert_eq!(names(&backwards.refused), nodes.iter().map(|name| find(name, "allgather")).collect());
}

fn find(name: &str, kind: &str) -> &'static str {
    algorithms::find(&format!("{kind}/{name}")).expect("in the catalogue").name
}

fn same_rounds(forward: impl Collective, declared: &impl Collective) {
    let reverse = Reverse::of(forward).expect("it has no inner collectives");
    for p in (1..=40).filter(|&p| declared.admits(&Place::flat(0, p)).is_ok()) {
        let placement = Placement::consecutive(p as usize, p as usize);
        let recorded = check::record_code(&reverse, &placement);
        assert_eq!(recorded, check::record_code(declared, &placement), "{p} ranks");
    }
}

/// What is declared as the reverse of another collective has the same rounds.
#[test]
fn a_reverse_without_a_declaration_is_the_declared_one() {
    same_rounds(Circulant, &CirculantReduceScatter);
    same_rounds(Ring, &RingReduceScatter);
    same_rounds(NeighborExchange, &NeighborExchangeReduceScatter);
    same_rounds(Bruck, &BruckReduceScatter);
    same_rounds(KBruck { radix: 3 }, &KBruckReduceScatter { radix: 3 });
    same_rounds(Sparbit, &SparbitReduceScatter);
    let all_to_all = Reverse::of(ModifiedBruck { radix: 3 }).expect("it has no inner collectives");
    let received = run(7, |comm| {
        let (send, mut recv) = ([0, 1, 2, 3, 4, 5, 6].map(|to| 10 * comm.rank() + to), [0; 7]);
        all_to_all.alltoall(comm, &send, &mut recv).map(|()| recv)
    });
    let expected = |rank: usize| Ok([0, 1, 2, 3, 4, 5, 6].map(|from| 10 * from + rank));
    assert!(received.iter().enumerate().all(|(rank, recv)| *recv == expected(rank)), "{received:?}");
}

#[test]
fn a_broadcast_backwards_is_a_reduce_to_the_same_root() {
    let reduce = Reverse::of(BinomialBroadcast { root: 2 }).expect("it has no inner collectives");
    let sums = run(6, |comm| {
        let mut sum = vec![0; if comm.rank() == 2 { 3 } else { 0 }];
        reduce.reduce(comm, &[1 << comm.rank(); 3], &mut sum, &Sum).map(|()| sum)
    });
    let expected = |rank: usize| Ok(if rank == 2 { vec![63; 3] } else { Vec::new() });
    assert!(sums.iter().enumerate().all(|(rank, sum)| *sum == expected(rank)), "{sums:?}");
}

/// A sequence writes blocks twice, so its messages form no tree.
#[test]
fn a_sequence_has_no_reverse() {
    let refused = Reverse::of(<ScatterAllgather>::default()).map(|_| ());
    assert!(matches!(refused, Err(Refusal::Irreversible { .. })), "{refused:?}");
}

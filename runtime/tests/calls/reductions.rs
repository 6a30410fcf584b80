//! Reductions on threads, against the plain definition.

use roundel::algorithms::{RecursiveDoublingAllreduce, Visitor, catalogue, visit_all};
use roundel::operation::{Max, Sum, commutative, ordered};
use roundel::threads::run;
use roundel::{Allreduce, Collective, Error, IsAllreduce, IsReduceScatter, ReduceScatter};
use roundel_spec::schedule::Order;
use roundel_spec::{Arguments, Kind, Place, Refusal, Schedule, Sink};
use std::collections::BTreeSet;

/// Element `i` of a rank's contribution.
fn input(rank: usize, i: usize) -> u64 {
    (rank as u64 + 1) * 1000 + i as u64 * i as u64
}

fn sum(p: usize, i: usize) -> u64 {
    (0..p).map(|rank| input(rank, i)).sum()
}

/// Words, and their concatenation: associative, but not commutative.
fn word(rank: usize, i: usize) -> String {
    format!("({rank}.{i})")
}

const P: [usize; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 16, 17];

struct Everything {
    seen: BTreeSet<&'static str>,
}

impl Visitor for Everything {
    fn allreduce<C: IsAllreduce + Sync>(&mut self, name: &'static str, collective: &C) {
        self.seen.insert(name);
        for (p, n) in P.into_iter().flat_map(|p| [0, 1, 3, 17, 64].map(|n| (p, n))) {
            let results = run(p, |comm| {
                let send: Vec<u64> = (0..n).map(|i| input(comm.rank(), i)).collect();
                let (mut recv, mut data) = (vec![0; n], send.clone());
                match collective.allreduce(comm, &send, &mut recv, &Sum) {
                    Err(Error::OutsideDomain { .. }) => return Ok(None),
                    outcome => outcome?,
                }
                collective.allreduce_in_place(comm, &mut data, &Sum)?;
                assert_eq!(recv, data);
                Ok::<_, Error>(Some(recv))
            });
            for result in results {
                let Some(found) = result.expect(name) else { continue };
                assert_eq!(found, (0..n).map(|i| sum(p, i)).collect::<Vec<_>>(), "{name}, p = {p}, n = {n}");
            }
            self.words(name, collective, p, n);
        }
    }

    fn reduce_scatter<C: IsReduceScatter + Sync>(&mut self, name: &'static str, collective: &C) {
        self.seen.insert(name);
        for p in P {
            let counts: Vec<usize> = (0..p).map(|b| b * b % 5).collect();
            let begin = |b: usize| counts[..b].iter().sum::<usize>();
            let results = run(p, |comm| {
                let (rank, n) = (comm.rank(), begin(p));
                let send: Vec<u64> = (0..n).map(|i| input(rank, i)).collect();
                let mut recv = vec![0; counts[rank]];
                match collective.reduce_scatter(comm, &send, &mut recv, &counts, &Sum) {
                    Err(Error::OutsideDomain { .. }) => return,
                    outcome => outcome.expect(name),
                }
                let expected: Vec<u64> = (begin(rank)..begin(rank) + counts[rank]).map(|i| sum(p, i)).collect();
                assert_eq!(recv, expected, "{name}, p = {p}");

                let send: Vec<u64> = (0..3 * p).map(|i| input(rank, i)).collect();
                let mut recv = [0; 3];
                collective.reduce_scatter_block(comm, &send, &mut recv, &Max).expect(name);
                assert_eq!(recv, [0, 1, 2].map(|i| input(p - 1, 3 * rank + i)), "{name}, p = {p}");
            });
            assert_eq!(results.len(), p);
        }
    }
}

impl Everything {
    /// An operation that does not commute: the right result, or a refusal if the order is not kept.
    fn words<C: IsAllreduce + Sync>(&self, name: &str, collective: &C, p: usize, n: usize) {
        let concatenate = ordered(|a: &String, b: &String| a.clone() + b);
        let results = run(p, |comm| {
            let send: Vec<String> = (0..n).map(|i| word(comm.rank(), i)).collect();
            let mut recv = vec![String::new(); n];
            collective.allreduce(comm, &send, &mut recv, &concatenate).map(|()| recv)
        });
        for result in results {
            match result {
                Ok(found) => {
                    let all = |i| (0..p).map(|rank| word(rank, i)).collect::<String>();
                    assert_eq!(found, (0..n).map(all).collect::<Vec<_>>(), "{name}, p = {p}");
                    assert!(C::ORDER.rank_order);
                }
                Err(Error::NeedsOrder { .. }) => assert!(!C::ORDER.rank_order),
                Err(error) => assert!(matches!(error, Error::OutsideDomain { .. }), "{name}: {error}"),
            }
        }
    }
}

#[test]
fn every_reduction_gives_what_its_definition_says() {
    let mut everything = Everything { seen: BTreeSet::new() };
    visit_all(&mut everything);
    let reductions = catalogue().iter().filter(|entry| {
        let kind = (entry.schedule)().kind;
        kind.reduces() && !kind.has_root()
    });
    assert!(everything.seen.into_iter().eq(reductions.map(|entry| entry.name).collect::<BTreeSet<_>>()));
}

#[test]
fn wrong_lengths_are_refused() {
    use roundel::algorithms::{PairwiseReduceScatter, RingAllreduce};
    let results = run(3, |comm| {
        let lengths = RingAllreduce.allreduce(comm, &[1, 2], &mut [0; 3], &Sum);
        assert!(matches!(lengths, Err(Error::Length { what: "the receive buffer", expected: 2, found: 3, .. })));
        let lengths = PairwiseReduceScatter.reduce_scatter(comm, &[1, 2], &mut [0; 1], &[1, 1], &Sum);
        assert!(matches!(lengths, Err(Error::Length { what: "counts", expected: 3, found: 2, .. })));
        let lengths = PairwiseReduceScatter.reduce_scatter(comm, &[1, 2], &mut [0; 1], &[1, 1, 1], &Sum);
        assert!(matches!(lengths, Err(Error::Length { what: "the send buffer", expected: 3, found: 2, .. })));
        let lengths = PairwiseReduceScatter.reduce_scatter_block(comm, &[1, 2], &mut [0; 1], &Sum);
        assert!(matches!(lengths, Err(Error::Length { what: "the send buffer", expected: 3, found: 2, .. })));
    });
    assert_eq!(results.len(), 3);
}

#[test]
fn an_operation_that_panics_on_one_rank_is_an_error_on_all() {
    use roundel::algorithms::RecursiveDoublingAllreduce;
    let panics = commutative(|_: &u32, _: &u32| panic!("no sum today"));
    let outcomes = std::panic::catch_unwind(|| {
        run(4, |comm| {
            if comm.rank() == 2 {
                RecursiveDoublingAllreduce.allreduce_in_place(comm, &mut [1u32], &panics)
            } else {
                RecursiveDoublingAllreduce.allreduce_in_place(comm, &mut [1u32], &Sum)
            }
        })
    });
    assert!(outcomes.is_err(), "the panic of a rank is the caller's");
}

/// Recursive doubling, whose order is proved for up to four ranks alone.
struct OrderUpToFour;

impl Collective for OrderUpToFour {
    const NAME: &'static str = "OrderUpToFour";
    const KIND: Kind = Kind::Allreduce;
    const PREFERS_ROTATION: bool = false;
    const ORDER: Order = RecursiveDoublingAllreduce::ORDER;

    fn schedule() -> Schedule {
        RecursiveDoublingAllreduce::schedule()
    }

    fn arguments(&self) -> Arguments {
        RecursiveDoublingAllreduce.arguments()
    }

    fn from_arguments(args: &Arguments) -> Option<Self> {
        RecursiveDoublingAllreduce::from_arguments(args).map(|_| OrderUpToFour)
    }

    fn admits(&self, at: &Place) -> Result<(), Refusal> {
        RecursiveDoublingAllreduce.admits(at)
    }

    fn proved(&self, at: &Place) -> Result<(), Refusal> {
        RecursiveDoublingAllreduce.proved(at)
    }

    fn proved_in_order(&self, at: &Place) -> Result<(), Refusal> {
        if at.p <= 4 { Ok(()) } else { Err(Refusal::Placement { range: "p <= 4" }) }
    }

    fn blocks(&self, at: &Place) -> i64 {
        RecursiveDoublingAllreduce.blocks(at)
    }

    fn rotation(&self, at: &Place) -> Option<i64> {
        RecursiveDoublingAllreduce.rotation(at)
    }

    fn rounds<S: Sink>(&self, at: &Place, sink: &mut S) -> Result<(), S::Error> {
        RecursiveDoublingAllreduce.rounds(at, sink)
    }
}

impl IsAllreduce for OrderUpToFour {}

#[test]
fn an_order_that_is_not_proved_refuses_the_calls_that_rely_on_it() {
    let concatenate = ordered(|a: &String, b: &String| a.clone() + b);
    for (p, in_order) in [(4, true), (5, false)] {
        run(p, |comm| {
            let (mut total, mut text) = ([0], [String::new()]);
            OrderUpToFour.allreduce(comm, &[1], &mut total, &Sum).expect("it is proved, if not in order");
            assert_eq!(total, [p]);
            let outcome = OrderUpToFour.allreduce(comm, &[word(comm.rank(), 0)], &mut text, &concatenate);
            match in_order {
                true => {
                    assert_eq!(outcome.map(|()| text), Ok([(0..p).map(|rank| word(rank, 0)).collect::<String>()]))
                }
                false => assert!(matches!(outcome, Err(Error::NeedsOrder { .. }))),
            }
        });
    }
}

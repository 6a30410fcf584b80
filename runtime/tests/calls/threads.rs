//! The thread transport: results against the plain definition, and all ways in which ranks can disagree.
//!
//! Every test runs under a watchdog, so that a hang is a failure.

use proptest::prelude::*;
use roundel::algorithms::{Visitor, visit_all};
use roundel::threads::{Placement, ThreadComm, run, run_placed};
use roundel::{Allgather, Collective, Error, IsAllgather, Layout, Options, Place, Refusal, Sink, Transport};
use roundel_spec::Direction::{self, Recv, Send as Dispatch};
use roundel_spec::{Arguments, Schedule, Site, Stripe, arith};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Runs `test`, and fails when it takes longer than `seconds`.
fn within<R: Send + 'static>(seconds: u64, test: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, wait) = mpsc::channel();
    let worker = thread::spawn(move || {
        let result = test();
        done.send(()).unwrap();
        result
    });
    if wait.recv_timeout(Duration::from_secs(seconds)) == Err(RecvTimeoutError::Timeout) {
        panic!("no end after {seconds} s");
    }
    worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

// Collectives, as the derive would write them.

/// Implements the traits for a type, given its rotation and its rounds.
macro_rules! collective {
    ($type:ident, $rotation:expr, |$this:ident, $at:ident, $sink:ident| $rounds:block) => {
        impl Collective for $type {
            const NAME: &'static str = stringify!($type);
            const PREFERS_ROTATION: bool = false;

            fn schedule() -> Schedule {
                unreachable!("the transport does not look at the declaration")
            }

            fn arguments(&self) -> Arguments {
                Arguments::default()
            }

            fn from_arguments(_args: &Arguments) -> Option<Self> {
                None
            }

            fn admits(&self, _at: &Place) -> Result<(), Refusal> {
                Ok(())
            }

            fn proved(&self, _at: &Place) -> Result<(), Refusal> {
                Ok(())
            }

            fn rotation(&self, at: &Place) -> Option<i64> {
                let rotation: fn(&Place) -> Option<i64> = $rotation;
                rotation(at)
            }

            fn rounds<S: Sink>(&self, $at: &Place, $sink: &mut S) -> Result<(), S::Error> {
                let $this = self;
                $rounds
                Ok(())
            }
        }

        impl IsAllgather for $type {}
    };
}

/// One block per round around the ring of ranks.
struct Ring;

collective!(Ring, |at| Some(at.rank), |_this, at, sink| {
    let Place { rank, p, .. } = *at;
    for s in 0..p - 1 {
        sink.begin_round()?;
        sink.send(Site::plain(0), arith::wrap(rank + 1, p) as usize, Stripe::one(rank - s, p))?;
        sink.recv(Site::plain(1), arith::wrap(rank - 1, p) as usize, Stripe::one(rank - s - 1, p))?;
        sink.end_round()?;
    }
});

/// Twice as many blocks in every round.
struct Bruck;

collective!(Bruck, |at| Some(at.rank), |_this, at, sink| {
    let Place { rank, p, .. } = *at;
    let mut d = 1;
    for _ in 0..arith::ceil_log(2, p) {
        sink.begin_round()?;
        let blocks = arith::min(d, p - d);
        sink.send(Site::plain(0), arith::wrap(rank - d, p) as usize, Stripe::new(rank, 1, blocks, p))?;
        sink.recv(Site::plain(1), arith::wrap(rank + d, p) as usize, Stripe::new(rank + d, 1, blocks, p))?;
        sink.end_round()?;
        d *= 2;
    }
});

/// All ranks to all others in one round, receives first.
struct Linear;

collective!(Linear, |_at| Some(1), |_this, at, sink| {
    let Place { rank, p, .. } = *at;
    sink.begin_round()?;
    for d in 1..p {
        sink.recv(Site::plain(0), arith::wrap(rank - d, p) as usize, Stripe::one(rank - d, p))?;
    }
    for d in 1..p {
        sink.send(Site::plain(1), arith::wrap(rank + d, p) as usize, Stripe::one(rank, p))?;
    }
    sink.end_round()?;
});

/// What a rank does, round by round: direction, peer, block.
type Rounds = Vec<Vec<(Direction, usize, i64)>>;

/// The rounds of every rank as given by the test, right or wrong.
#[derive(Debug)]
struct Scripted(Vec<Rounds>);

collective!(Scripted, |_at| None, |this, at, sink| {
    for round in &this.0[at.rank as usize] {
        sink.begin_round()?;
        for &(direction, peer, block) in round {
            match direction {
                Dispatch => sink.send(Site::plain(0), peer, Stripe::one(block, at.p))?,
                Recv => sink.recv(Site::plain(1), peer, Stripe::one(block, at.p))?,
            }
        }
        sink.end_round()?;
    }
});

/// Rank 2 sends to rank 3. Ranks 0 and 1 exchange a block too, but not before the flag is set.
struct Paused(Arc<AtomicBool>);

collective!(Paused, |_at| None, |this, at, sink| {
    let peer = at.rank as usize ^ 1;
    while at.rank < 2 && !this.0.load(Ordering::SeqCst) {
        thread::yield_now();
    }
    sink.begin_round()?;
    if at.rank != 3 {
        sink.send(Site::plain(0), peer, Stripe::one(at.rank, at.p))?;
    }
    if at.rank != 2 {
        sink.recv(Site::plain(1), peer, Stripe::one(peer as i64, at.p))?;
    }
    sink.end_round()?;
});

// Helpers.

const LAYOUTS: [Layout; 2] = [Layout::InPlace, Layout::Rotated];

fn with(layout: Layout) -> Options {
    Options { layout, ..Options::default() }
}

/// Gathers `count` elements of every rank, made by `element(rank, index)`, and compares with the definition.
fn check_definition<T>(collective: &(impl Allgather + Sync), p: usize, count: usize, element: fn(usize, usize) -> T)
where
    T: Clone + Send + Sync + PartialEq + Debug + 'static,
{
    let block = |rank: usize| (0..count).map(move |i| element(rank, i));
    let expected: Vec<T> = (0..p).flat_map(block).collect();
    for layout in LAYOUTS {
        let results = run(p, |comm| {
            let send: Vec<T> = block(comm.rank()).collect();
            let mut recv = vec![element(p, 99); p * count];
            collective.allgather_with(comm, &send, &mut recv, with(layout)).map(|()| recv)
        });
        assert_eq!(results.len(), p);
        for (rank, result) in results.into_iter().enumerate() {
            assert_eq!(result.as_ref(), Ok(&expected), "rank {rank} of {p}, {layout:?}");
        }
    }
}

/// Makes the call of a rank in a world whose ranks only exchange `Scripted` messages.
fn play(script: &Scripted, comm: &ThreadComm) -> Result<(), Error> {
    let mut recv = vec![0u8; comm.size()];
    script.allgather(comm, &[comm.rank() as u8], &mut recv)
}

fn deadlock_report<R: Debug>(result: &Result<R, Error>) -> &str {
    match result {
        Err(Error::Deadlock { report }) => report,
        other => panic!("no deadlock: {other:?}"),
    }
}

/// A pseudo-random number.
fn scramble(seed: u64) -> u64 {
    let x = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 31
}

// Results.

#[test]
fn results_are_the_definition() {
    within(60, || {
        for p in 1..=33 {
            for count in [0, 1, 3] {
                check_definition(&Ring, p, count, |rank, i| (rank * 7 + i) as u8);
                check_definition(&Bruck, p, count, |rank, i| format!("{rank}/{i}"));
                check_definition(&Bruck, p, count, |rank, i| rank as f64 + i as f64 / 8.0);
                check_definition(&Linear, p, count, |rank, i| (rank, i, rank % 2 == 0));
            }
        }
    });
}

/// Runs every algorithm that it sees, flat and on nodes of three, and counts the calls.
#[derive(Default)]
struct RunsAll {
    calls: usize,
}

impl Visitor for RunsAll {
    fn allgather<C: IsAllgather + Sync>(&mut self, name: &'static str, collective: &C) {
        let args = collective.arguments();
        for (p, ppn) in (1..=33).flat_map(|p| [(p, p), (p, 3)]) {
            let placement = Placement::consecutive(p, ppn);
            let expected: Vec<usize> = (0..p).map(|rank| rank * 10).collect();
            for layout in [Layout::Declared, Layout::InPlace, Layout::Rotated] {
                let results = run_placed(&placement, |comm| {
                    let mut recv = vec![usize::MAX; p];
                    let collective = C::from_arguments(&args).unwrap();
                    collective.allgather_with(comm, &[comm.rank() * 10], &mut recv, with(layout)).map(|()| recv)
                });
                // A refusal is the same on every rank.
                let refused = matches!(results[0], Err(Error::OutsideDomain { .. } | Error::NoSuchLayout { .. }));
                let right = |result: &Result<_, _>| {
                    *result == if refused { results[0].clone() } else { Ok(expected.clone()) }
                };
                assert!(results.iter().all(right), "{name} {args:?}, p = {p}, ppn = {ppn}, {layout:?}: {results:?}");
                self.calls += usize::from(!refused);
            }
        }
    }
}

#[test]
fn the_catalogue_runs() {
    let calls = within(300, || {
        let mut runs = RunsAll::default();
        visit_all(&mut runs);
        runs.calls
    });
    assert!(calls > 33 * 2 * 2, "{calls} calls");
}

#[test]
fn no_ranks_no_results() {
    assert!(run(0, |comm| comm.rank()).is_empty());
}

/// Blocks in descending places with gaps of two, every third one empty and outside the buffer.
fn irregular(p: usize) -> (Vec<usize>, Vec<usize>, usize) {
    let counts: Vec<usize> = (0..p).map(|b| b % 3).collect();
    let mut displs = vec![0; p];
    let mut end = 2;
    for b in (0..p).rev() {
        displs[b] = if counts[b] == 0 { 1_000_000 } else { end };
        end += counts[b] + 2;
    }
    (counts, displs, end)
}

#[test]
fn blocks_of_different_lengths_leave_gaps_alone() {
    const CANARY: &str = "canary";
    within(60, || {
        for p in 1..=33 {
            let (counts, displs, len) = irregular(p);
            let mut expected = vec![CANARY.to_string(); len];
            for b in 0..p {
                (0..counts[b]).for_each(|i| expected[displs[b] + i] = format!("{b}.{i}"));
            }
            for layout in LAYOUTS {
                let gathered = run(p, |comm| {
                    let send: Vec<String> =
                        (0..counts[comm.rank()]).map(|i| format!("{}.{i}", comm.rank())).collect();
                    let mut recv = vec![CANARY.to_string(); len];
                    Bruck.allgatherv_with(comm, &send, &mut recv, &counts, &displs, with(layout)).unwrap();
                    let mut again = vec![CANARY.to_string(); len];
                    Ring.allgatherv_with(comm, &send, &mut again, &counts, &displs, with(layout)).unwrap();
                    [recv, again]
                });
                assert!(gathered.into_iter().flatten().all(|recv| recv == expected), "p = {p}, {layout:?}");
            }
        }
    });
}

#[test]
fn hundreds_of_ranks() {
    within(60, || {
        check_definition(&Ring, 200, 2, |rank, i| (rank * 3 + i) as u32);
        check_definition(&Bruck, 200, 2, |rank, i| (rank * 3 + i) as u32);
        check_definition(&Bruck, 512, 2, |rank, i| (rank * 3 + i) as u32);
    });
}

#[test]
fn calls_follow_each_other_while_ranks_drift() {
    within(60, || {
        let p = 9;
        run(p, |comm| {
            for call in 0..40 {
                thread::sleep(Duration::from_micros(scramble((call * 100 + comm.rank()) as u64) % 3000));
                let expected: Vec<usize> = (0..p).map(|rank| rank * 1000 + call).collect();
                let (send, mut recv) = ([comm.rank() * 1000 + call], vec![0; p]);
                let options = with(LAYOUTS[call % 2]);
                match call % 3 {
                    0 => Ring.allgather_with(comm, &send, &mut recv, options),
                    1 => Bruck.allgather_with(comm, &send, &mut recv, options),
                    _ => Linear.allgather_with(comm, &send, &mut recv, options),
                }
                .unwrap();
                assert_eq!(recv, expected, "call {call}");
            }
        });
    });
}

#[test]
fn a_placement_reaches_the_collective() {
    let placement = Placement::from_nodes(vec![4, 7, 4, 4]);
    let places = run_placed(&placement, |comm| Transport::<u8>::place(comm).unwrap().values());
    assert_eq!(places, (0..4).map(|rank| placement.place(rank).values()).collect::<Vec<_>>());
    assert_eq!(run(3, |comm| Transport::<u8>::place(comm).unwrap().values())[1], Place::flat(1, 3).values());
}

#[test]
fn no_element_is_lost_or_kept() {
    within(10, || {
        let elements: Vec<Arc<usize>> = (0..6).map(Arc::new).collect();
        run(6, |comm| {
            for layout in LAYOUTS {
                let mut recv = vec![Arc::clone(&elements[0]); 6];
                Bruck.allgather_with(comm, &elements[comm.rank()..=comm.rank()], &mut recv, with(layout)).unwrap();
                assert!(recv.iter().zip(&elements).all(|(a, b)| Arc::ptr_eq(a, b)));
            }
        });
        assert!(elements.iter().all(|element| Arc::strong_count(element) == 1));
    });
}

// Messages.

#[test]
fn a_send_is_complete_only_when_its_receive_is_posted() {
    within(10, || {
        let script = Scripted(vec![vec![vec![(Dispatch, 1, 0)]], vec![vec![(Recv, 0, 0)]]]);
        let posting = AtomicBool::new(false);
        run(2, |comm| {
            if comm.rank() == 1 {
                thread::sleep(Duration::from_millis(50));
                posting.store(true, Ordering::SeqCst);
            }
            play(&script, comm).unwrap();
            assert!(posting.load(Ordering::SeqCst), "rank {} is done too early", comm.rank());
        });
    });
}

#[test]
fn messages_between_two_ranks_keep_their_order() {
    within(10, || {
        let sends: Rounds = (0..3).map(|b| vec![(Dispatch, 1, b), (Dispatch, 1, b + 3)]).collect();
        let recvs: Rounds = vec![(0..6).map(|b| (Recv, 0, b)).collect()];
        let script = Scripted(vec![sends, recvs, vec![], vec![], vec![], vec![]]);
        let results = run(6, |comm| {
            let filled = if comm.rank() == 0 { [0u8, 1, 2, 3, 4, 5] } else { [9; 6] };
            let mut recv = filled;
            script.allgather(comm, &filled[comm.rank()..=comm.rank()], &mut recv).map(|()| recv)
        });
        // Six messages: three rounds on one side, one round on the other. They arrive in the order of the sends.
        assert_eq!(results[1], Ok([0, 3, 1, 4, 2, 5]));
    });
}

#[test]
fn a_rank_may_send_to_itself() {
    within(10, || {
        let script = Scripted(vec![vec![vec![(Dispatch, 0, 0), (Recv, 0, 1)]], vec![]]);
        let results = run(2, |comm| {
            let mut recv = [8u8; 2];
            script.allgather(comm, &[3], &mut recv).map(|()| recv)
        });
        assert_eq!(results, [Ok([3, 3]), Ok([8, 3])]);
    });
}

// Deadlocks.

#[test]
fn a_rank_that_does_not_call_is_named() {
    let start = Instant::now();
    let results = within(10, || {
        run(4, |comm| if comm.rank() == 2 { Ok(()) } else { Ring.allgather(comm, &[1u8], &mut [0; 4]) })
    });
    assert!(start.elapsed() < Duration::from_secs(1));
    assert_eq!(results[2], Ok(()));
    for rank in [0, 1, 3] {
        let expected = "\
rank 0 (Ring, round 1) waits to send 1 block to rank 1 and to receive 1 block from rank 3
rank 1 (Ring, round 0) waits to send 1 block to rank 2; rank 2 has finished
rank 3 (Ring, round 0) waits to receive 1 block from rank 2; rank 2 has finished";
        assert_eq!(deadlock_report(&results[rank]), expected);
    }
    let text = results[0].as_ref().unwrap_err().to_string();
    assert!(text.starts_with("deadlock: no rank can go on; all ranks must make the same calls"), "{text}");
}

#[test]
fn a_schedule_without_a_receive_is_reported() {
    within(10, || {
        let script = Scripted(vec![
            vec![vec![(Dispatch, 1, 0)], vec![(Dispatch, 1, 0), (Dispatch, 2, 0), (Recv, 2, 2)]],
            vec![vec![(Recv, 0, 0)]],
            vec![vec![(Dispatch, 0, 2), (Recv, 0, 0), (Recv, 1, 1)]],
        ]);
        let results = run(3, |comm| play(&script, comm));
        let expected = "\
rank 0 (Scripted, round 1) waits to send 1 block to rank 1; rank 1 has finished
rank 2 (Scripted, round 0) waits to receive 1 block from rank 1; rank 1 has finished";
        assert_eq!(deadlock_report(&results[0]), expected);
        assert_eq!(deadlock_report(&results[2]), expected);
        assert_eq!(results[1], Ok(()));
    });
}

#[test]
fn several_open_messages_are_one_sentence() {
    within(10, || {
        let open = vec![(Dispatch, 1, 0), (Recv, 2, 1), (Dispatch, 2, 0), (Recv, 7, 0)];
        let script = Scripted(vec![vec![vec![], open], vec![], vec![]]);
        let results = run(3, |comm| play(&script, comm));
        let expected = "rank 0 (Scripted, round 1) waits to send 1 block to rank 1, to receive 1 block from rank 2, \
                        to send 1 block to rank 2 and to receive 1 block from rank 7; \
                        rank 1 has finished; rank 2 has finished; there is no rank 7";
        assert_eq!(deadlock_report(&results[0]), expected);
    });
}

#[test]
fn a_cycle_is_a_deadlock() {
    within(10, || {
        let receive_first = |peer, own| vec![vec![(Recv, peer, peer as i64)], vec![(Dispatch, peer, own)]];
        let script = Scripted(vec![receive_first(1, 0), receive_first(0, 1)]);
        let results = run(2, |comm| play(&script, comm));
        let expected = "\
rank 0 (Scripted, round 0) waits to receive 1 block from rank 1
rank 1 (Scripted, round 0) waits to receive 1 block from rank 0";
        assert!(results.iter().all(|result| deadlock_report(result) == expected));
    });
}

#[test]
fn a_report_counts_blocks() {
    within(10, || {
        let results =
            run(8, |comm| if comm.rank() == 5 { Ok(()) } else { Bruck.allgather(comm, &[0u8], &mut [0; 8]) });
        let report = deadlock_report(&results[7]);
        assert_eq!(report.lines().count(), 7);
        let line = "rank 3 (Bruck, round 1) waits to receive 2 blocks from rank 5; rank 5 has finished";
        assert!(report.contains(line), "{report}");
    });
}

#[test]
fn different_collectives_do_not_pass() {
    for p in 3..=9 {
        let results = within(10, move || {
            run(p, |comm| {
                let mut recv = vec![0u8; p];
                if comm.rank() == 1 {
                    Bruck.allgather(comm, &[1], &mut recv)
                } else {
                    Ring.allgather(comm, &[1], &mut recv)
                }
            })
        });
        assert!(matches!(results[1], Err(Error::Deadlock { .. })), "{results:?}");
        assert!(deadlock_report(&results[1]).contains("(Bruck, round 0)"));
    }
}

#[test]
fn a_broken_world_stays_broken() {
    within(10, || {
        let results = run(3, |comm| {
            let rank = comm.rank();
            let first = if rank == 0 { Ok(()) } else { Linear.allgather(comm, &[rank], &mut [0; 3]) };
            let second = (rank != 0).then(|| Ring.allgather(comm, &[rank], &mut [0; 3]));
            // Not even a call without messages succeeds.
            let silent = (rank != 0).then(|| Scripted(vec![vec![]; 3]).allgather(comm, &[rank], &mut [0; 3]));
            (first, second, silent)
        });
        for (first, second, silent) in &results[1..] {
            assert!(matches!(first, Err(Error::Deadlock { .. })));
            assert_eq!(second.as_ref(), Some(first));
            assert_eq!(silent.as_ref(), Some(first));
        }
    });
}

// Disagreement.

/// Rank 0 sends its block to rank 1; rank 2 waits for rank 1.
fn one_message() -> Scripted {
    Scripted(vec![
        vec![vec![(Dispatch, 1, 0)]],
        vec![vec![(Recv, 0, 0)], vec![(Dispatch, 2, 1)]],
        vec![vec![(Recv, 1, 1)]],
    ])
}

#[test]
fn different_counts_are_found_by_the_receiver() {
    within(10, || {
        let script = one_message();
        let results = run(3, |comm| {
            let counts = [if comm.rank() == 0 { 2 } else { 3 }, 1, 1];
            script.allgatherv(comm, &vec![0u8; counts[comm.rank()]], &mut [0; 5], &counts, &[0, 3, 4])
        });
        let mismatch = Error::Mismatch { rank: 1, from: 0, expected: 3, found: 2 };
        let elsewhere = Error::PeerFailed { rank: 1, reason: mismatch.to_string() };
        assert_eq!(results, [Err(elsewhere.clone()), Err(mismatch), Err(elsewhere)]);
    });
}

#[test]
fn nobody_hangs_when_counts_differ() {
    for p in 2..=17 {
        let results = within(10, move || {
            run(p, |comm| {
                let count = if comm.rank() == p / 2 { 2 } else { 1 };
                Bruck.allgather(comm, &vec![0u16; count], &mut vec![0; count * p])
            })
        });
        assert_eq!(results.iter().filter(|r| matches!(r, Err(Error::Mismatch { .. }))).count(), 1, "{results:?}");
        assert!(results.iter().all(|r| matches!(r, Err(Error::Mismatch { .. } | Error::PeerFailed { .. }))));
    }
}

#[test]
fn different_types_are_found_by_the_receiver() {
    for count in [0, 4] {
        within(10, move || {
            let script = one_message();
            let results = run(3, |comm| match comm.rank() {
                0 => script.allgather(comm, &vec![0u32; count], &mut vec![0; 3 * count]),
                _ => script.allgather(comm, &vec![0f32; count], &mut vec![0.0; 3 * count]),
            });
            assert_eq!(results[1], Err(Error::WrongType { rank: 1, from: 0, expected: "f32", found: "u32" }));
            assert!(matches!(results[0], Err(Error::PeerFailed { rank: 1, .. })));
            assert!(matches!(results[2], Err(Error::PeerFailed { rank: 1, .. })));
        });
    }
}

#[test]
fn a_call_under_way_fails_at_its_next_round() {
    within(10, || {
        let broken = Arc::new(AtomicBool::new(false));
        let results = run(4, |comm| {
            let count = if comm.rank() == 3 { 2 } else { 1 };
            let result = Paused(Arc::clone(&broken)).allgather(comm, &vec![0u8; count], &mut vec![0; 4 * count]);
            broken.store(true, Ordering::SeqCst);
            result
        });
        assert_eq!(results[3], Err(Error::Mismatch { rank: 3, from: 2, expected: 2, found: 1 }));
        assert!(results[..3].iter().all(|r| matches!(r, Err(Error::PeerFailed { rank: 3, .. }))), "{results:?}");
    });
}

// Panics.

/// The text of a panic.
fn panic_text(f: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(f)).unwrap_err();
    panic.downcast_ref::<&str>().map(|text| text.to_string()).unwrap_or_else(|| *panic.downcast::<String>().unwrap())
}

#[test]
fn a_panic_reaches_all_ranks_and_the_caller() {
    within(10, || {
        let seen = std::sync::Mutex::new(Vec::new());
        let text = panic_text(|| {
            run(5, |comm| {
                if comm.rank() == 3 {
                    thread::sleep(Duration::from_millis(20));
                    panic!("rank three is unwell");
                }
                let result = Ring.allgather(comm, &[1u8], &mut [0; 5]);
                seen.lock().unwrap().push(result.clone());
                result.unwrap(); // A second panic, which must not hide the first.
            });
        });
        assert_eq!(text, "rank three is unwell");
        let failed = Error::PeerFailed { rank: 3, reason: "it panicked: rank three is unwell".into() };
        assert_eq!(seen.into_inner().unwrap_or_else(|poison| poison.into_inner()), vec![Err(failed); 4]);
    });
}

/// An element that cannot be copied twice.
struct Brittle(AtomicBool);

impl Clone for Brittle {
    fn clone(&self) -> Self {
        assert!(!self.0.swap(true, Ordering::SeqCst), "broken in transit");
        Brittle(AtomicBool::new(false))
    }
}

#[test]
fn a_panic_inside_a_call_hangs_nobody() {
    within(10, || {
        let text = panic_text(|| {
            run(4, |comm| {
                let fragile = comm.rank() == 2;
                let send = [Brittle(AtomicBool::new(fragile))];
                let mut recv: Vec<Brittle> = (0..4).map(|_| Brittle(AtomicBool::new(false))).collect();
                let result = Linear.allgather(comm, &send, &mut recv);
                assert!(matches!(result, Err(Error::PeerFailed { rank: 2, .. })), "{result:?}");
            });
        });
        assert_eq!(text, "broken in transit");
    });
}

// Deadlock detection is exact: random scripts are compared with a definition without threads.

/// The position of a half: its rank's round, its index there, and the other rank.
struct Found {
    rank: usize,
    round: usize,
    index: usize,
}

/// The counterpart of a half: the n-th send from a to b belongs to the n-th receive of b from a.
fn counterpart(script: &Scripted, half: &Found) -> Option<Found> {
    let (direction, peer, _) = script.0[half.rank][half.round][half.index];
    let all = |rank: usize, direction: Direction, peer: usize| {
        let rounds = script.0.get(rank).into_iter().flatten().enumerate();
        rounds.flat_map(move |(round, operations)| {
            let indices = operations.iter().enumerate().filter(move |(_, o)| (o.0, o.1) == (direction, peer));
            indices.map(move |(index, _)| Found { rank, round, index })
        })
    };
    let nth = all(half.rank, direction, peer).position(|f| (f.round, f.index) == (half.round, half.index))?;
    let opposite = if direction == Dispatch { Recv } else { Dispatch };
    all(peer, opposite, half.rank).nth(nth)
}

/// The halves that the current round of `rank` waits for when every rank is in its round of `current`.
fn open(script: &Scripted, current: &[usize], rank: usize) -> Vec<(Direction, usize)> {
    let round = current[rank];
    let operations = script.0[rank].get(round).into_iter().flatten().enumerate();
    let is_open = |index| match counterpart(script, &Found { rank, round, index }) {
        Some(other) => other.round > current[other.rank],
        None => true,
    };
    operations.filter(|(index, _)| is_open(*index)).map(|(_, operation)| (operation.0, operation.1)).collect()
}

/// The round in which every rank ends up; the number of its rounds if it completes them all.
fn fixpoint(script: &Scripted) -> Vec<usize> {
    let mut current = vec![0; script.0.len()];
    loop {
        let able = |&rank: &usize| current[rank] < script.0[rank].len() && open(script, &current, rank).is_empty();
        match (0..current.len()).find(able) {
            Some(rank) => current[rank] += 1,
            None => return current,
        }
    }
}

/// The report expected for this end; empty if all ranks complete.
fn expected_report(script: &Scripted, current: &[usize]) -> String {
    let ended = |rank: usize| current[rank] == script.0[rank].len();
    let line = |rank: usize| {
        let open = open(script, current, rank);
        let phrase = |(direction, peer): &(Direction, usize)| match direction {
            Dispatch => format!("to send 1 block to rank {peer}"),
            Recv => format!("to receive 1 block from rank {peer}"),
        };
        let waits: Vec<String> = open.iter().map(phrase).collect();
        let gone: BTreeSet<usize> = open.iter().map(|(_, peer)| *peer).filter(|&peer| ended(peer)).collect();
        let gone: String = gone.iter().map(|peer| format!("; rank {peer} has finished")).collect();
        let waits = match waits.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            _ => waits.concat(),
        };
        format!("rank {rank} (Scripted, round {}) waits {waits}{gone}", current[rank])
    };
    (0..current.len()).filter(|&rank| !ended(rank)).map(line).collect::<Vec<_>>().join("\n")
}

prop_compose! {
    /// Messages between random rounds of random ranks, some of them without one half.
    fn any_script()(
        p in 1usize..6,
        rounds in 1usize..4,
        messages in prop::collection::vec((0usize..6, 0usize..6, 0usize..4, 0usize..4, 0u8..16), 0..14),
    ) -> Scripted {
        let mut script = vec![vec![Vec::new(); rounds]; p];
        for (from, to, sent, received, flaw) in messages {
            let received = if flaw < 12 { sent } else { received };
            let (from, to) = (from % p, to % p);
            if flaw != 0 {
                script[from][sent % rounds].push((Dispatch, to, 0));
            }
            if flaw != 1 {
                script[to][received % rounds].push((Recv, from, 0));
            }
        }
        Scripted(script)
    }
}

#[test]
fn deadlocks_are_found_exactly() {
    within(120, || {
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(2000));
        let verdict = runner.run(&any_script(), |script| {
            let current = fixpoint(&script);
            let report = expected_report(&script, &current);
            let results = run(script.0.len(), |comm| play(&script, comm));
            for (rank, result) in results.into_iter().enumerate() {
                let ended = current[rank] == script.0[rank].len();
                let expected = if ended { Ok(()) } else { Err(Error::Deadlock { report: report.clone() }) };
                prop_assert_eq!(result, expected);
            }
            Ok(())
        });
        verdict.unwrap();
    });
}

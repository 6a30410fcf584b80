//! Requests on threads: they give what the definition says, run beside each other in any order, report misuse, and
//! neither a dropped request nor a panic makes any rank wait for ever.

use roundel::algorithms::{
    BinomialBroadcast, BinomialGather, BinomialReduce, BinomialScatter, Bruck, KBruck, ModifiedBruck,
    PairwiseReduceScatter, RecursiveDoublingAllreduce, Ring, Sparbit, SpreadOut,
};
use roundel::operation::{Sum, commutative};
use roundel::threads::persistent::{
    Allgather, Allgatherv, Allreduce, Alltoall, Alltoallv, Broadcast, Gather, Reduce, ReduceScatter, Request, Scatter,
};
use roundel::threads::{self, ThreadComm};
use roundel::{Allgather as _, Collective, Error};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A collective of one's own.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank - 1, blocks = [rank + s])]
#[recv(from = rank + 1, blocks = [rank + 1 + s])]
struct Backwards;

const P: usize = 5;

/// The results of three calls of a request, in which the input of rank r begins with `100 * step + 10 * r`.
fn three<T>(
    make: impl Fn(&ThreadComm) -> Result<Request<'_, usize>, Error> + Sync,
    expected: impl Fn(usize, usize) -> T,
) where
    T: AsRef<[usize]>,
{
    let results = threads::run(P, |comm| -> Result<Vec<Vec<usize>>, Error> {
        let mut request = make(comm)?;
        let mut seen = Vec::new();
        for step in 0..3 {
            for (i, element) in request.input_mut()?.iter_mut().enumerate() {
                *element = 100 * step + 10 * comm.rank() + i;
            }
            request.start()?;
            if step == 1 {
                while !request.test()? {
                    std::thread::yield_now();
                }
            } else {
                request.wait()?;
            }
            seen.push(request.output()?.to_vec());
        }
        Ok(seen)
    });
    for (rank, seen) in results.into_iter().enumerate() {
        for (step, seen) in seen.unwrap().into_iter().enumerate() {
            assert_eq!(seen, expected(rank, step).as_ref(), "rank {rank}, call {step}");
        }
    }
}

/// The element `i` of a rank's input.
fn element(step: usize, rank: usize, i: usize) -> usize {
    100 * step + 10 * rank + i
}

fn all(step: usize) -> Vec<usize> {
    (0..P).map(|rank| element(step, rank, 0)).collect()
}

fn sum(step: usize, i: usize) -> usize {
    (0..P).map(|rank| element(step, rank, i)).sum()
}

#[test]
fn every_kind_gives_what_its_definition_says() {
    three(|comm| Allgather::init(comm, Sparbit, vec![0], vec![0; P]), |_, step| all(step));
    three(|comm| Allgather::init(comm, KBruck { radix: 3 }, vec![0], vec![0; P]), |_, step| all(step));
    three(|comm| Allgather::init(comm, Backwards, vec![0], vec![0; P]), |_, step| all(step));
    let counts = [2, 0, 1, 0, 3];
    three(
        |comm| Allgatherv::init(comm, Bruck, vec![0; counts[comm.rank()]], vec![0; 6], &counts),
        |_, step| (0..P).flat_map(|rank| (0..counts[rank]).map(move |i| element(step, rank, i))).collect::<Vec<_>>(),
    );
    three(
        |comm| Allreduce::init(comm, RecursiveDoublingAllreduce, vec![0; 3], vec![0; 3], Sum),
        |_, step| [sum(step, 0), sum(step, 1), sum(step, 2)],
    );
    three(
        |comm| ReduceScatter::init(comm, PairwiseReduceScatter, vec![0; P], vec![0], &[1; P], Sum),
        |rank, step| [sum(step, rank)],
    );
    three(
        |comm| Alltoall::init(comm, ModifiedBruck { radix: 2 }, vec![0; P], vec![0; P]),
        |rank, step| (0..P).map(|from| element(step, from, rank)).collect::<Vec<_>>(),
    );
    three(
        |comm| {
            let sends: Vec<usize> = (0..P).map(|to| usize::from(to >= comm.rank())).collect();
            let recvs: Vec<usize> = (0..P).map(|from| usize::from(comm.rank() >= from)).collect();
            let (send, recv) = (vec![0; sends.iter().sum()], vec![0; recvs.iter().sum()]);
            Alltoallv::init(comm, SpreadOut, (send, &sends), (recv, &recvs))
        },
        |rank, step| (0..=rank).map(|from| element(step, from, rank - from)).collect::<Vec<_>>(),
    );
}

#[test]
fn collectives_with_a_root_give_what_their_definition_says() {
    let at = |comm: &ThreadComm, len: usize| vec![0; if comm.rank() == 3 { len } else { 0 }];
    let there = |rank: usize, values: Vec<usize>| if rank == 3 { values } else { Vec::new() };
    let root = 3;
    three(
        |comm| Broadcast::init(comm, BinomialBroadcast { root }, at(comm, 2), vec![0; 2]),
        |_, step| [element(step, 3, 0), element(step, 3, 1)],
    );
    three(
        |comm| Reduce::init(comm, BinomialReduce { root }, vec![0; 2], at(comm, 2), Sum),
        |rank, step| there(rank, vec![sum(step, 0), sum(step, 1)]),
    );
    three(
        |comm| Gather::init(comm, BinomialGather { root }, vec![0], at(comm, P)),
        |rank, step| there(rank, all(step)),
    );
    three(
        |comm| Scatter::init(comm, BinomialScatter { root }, at(comm, P), vec![0]),
        |rank, step| [element(step, 3, rank)],
    );
}

#[test]
fn several_requests_are_completed_in_any_order_beside_calls_that_block() {
    let results = threads::run(P, |comm| -> Result<Vec<Vec<usize>>, Error> {
        let rank = comm.rank();
        let mut requests = Vec::new();
        for i in 0..4 {
            requests.push(Allgather::init(comm, Ring, vec![10 * rank + i], vec![0; P])?);
        }
        // Each rank starts them, and waits for them, in an order of its own.
        for i in 0..4 {
            requests[(i + rank) % 4].start()?;
        }
        let mut meanwhile = vec![0; P];
        Sparbit.allgather(comm, &[rank], &mut meanwhile)?;
        for i in 0..4 {
            requests[(i + 3 * rank) % 4].wait()?;
        }
        let mut seen: Vec<Vec<usize>> = requests
            .into_iter()
            .map(|request| request.into_buffers().map(|(_, out)| out))
            .collect::<Result<_, _>>()?;
        seen.push(meanwhile);
        Ok(seen)
    });
    for seen in results {
        let seen = seen.unwrap();
        for (i, one) in seen[..4].iter().enumerate() {
            assert_eq!(*one, (0..P).map(|rank| 10 * rank + i).collect::<Vec<_>>());
        }
        assert_eq!(seen[4], (0..P).collect::<Vec<_>>());
    }
}

#[test]
fn misuse_is_an_error() {
    let results = threads::run(3, |comm| -> Result<(), Error> {
        let mut request = Allgather::init(comm, Ring, vec![comm.rank()], vec![0; 3])?;
        assert_eq!(request.wait(), Err(Error::NotStarted));
        assert_eq!(request.test(), Err(Error::NotStarted));
        assert_eq!(request.output()?, [0; 3]);
        request.start()?;
        assert_eq!(request.start(), Err(Error::Started));
        assert_eq!(request.input().map(<[_]>::len), Err(Error::Started));
        assert_eq!(request.input_mut().map(|_| ()), Err(Error::Started));
        assert_eq!(request.output().map(<[_]>::len), Err(Error::Started));
        assert!(request.is_active());
        request.wait()?;
        assert_eq!(request.wait(), Err(Error::NotStarted));
        assert_eq!(request.output()?, [0, 1, 2]);
        Ok(())
    });
    assert_eq!(results, vec![Ok(()); 3]);
}

/// What disagrees, as all ranks see it. Afterwards the world is whole: nothing was sent for the request.
fn disagreement(make: impl Fn(&ThreadComm) -> Option<Error> + Sync) -> Vec<Error> {
    threads::run(3, |comm| {
        let error = make(comm).unwrap();
        Ring.allgather(comm, &[comm.rank()], &mut [0; 3]).unwrap();
        error
    })
}

#[test]
fn ranks_that_disagree_all_learn_of_it() {
    let disagree = |what: &'static str| vec![Error::Disagree { what }; 3];
    let lengths = disagreement(|comm| {
        let len = 1 + comm.rank() / 2;
        Allreduce::init(comm, RecursiveDoublingAllreduce, vec![0; len], vec![0; len], Sum).err()
    });
    assert_eq!(lengths, disagree("the lengths"));
    let names = disagreement(|comm| match comm.rank() {
        1 => Allgather::start(comm, Ring, vec![0], vec![0; 3]).err(),
        _ => Allgather::start(comm, Bruck, vec![0], vec![0; 3]).err(),
    });
    assert_eq!(names, disagree("the collective"));
    let radix = disagreement(|comm| {
        let radix = 2 + comm.rank() as i64;
        Allgather::init(comm, KBruck { radix }, vec![0], vec![0; 3]).err()
    });
    assert_eq!(radix, disagree("the parameters of the collective"));
    let elements = disagreement(|comm| match comm.rank() {
        0 => Allgather::init(comm, Ring, vec![0_u8], vec![0; 3]).err(),
        _ => Allgather::init(comm, Ring, vec![0_u16], vec![0; 3]).err(),
    });
    assert_eq!(elements, disagree("the element type"));
}

#[test]
fn if_one_rank_gives_wrong_arguments_all_fail() {
    let errors = disagreement(|comm| {
        let len = if comm.rank() == 2 { 4 } else { 3 };
        Allgather::init(comm, Ring, vec![0], vec![0; len]).err()
    });
    assert!(matches!(errors[2], Error::Length { found: 4, .. }), "{errors:?}");
    for error in &errors[..2] {
        assert!(error.to_string().contains("those of another rank are wrong"), "{error}");
    }
}

#[test]
fn a_request_that_one_rank_does_not_start_is_a_deadlock() {
    let results = threads::run(3, |comm| {
        let mut request = Allgather::init(comm, Ring, vec![comm.rank()], vec![0; 3])?;
        if comm.rank() != 1 {
            request.start()?;
            request.wait()?;
        }
        Ok(())
    });
    assert_eq!(results[1], Ok(()));
    for result in [&results[0], &results[2]] {
        let Err(Error::Deadlock { report }) = result else { panic!("{results:?}") };
        for line in ["rank 0 waits for its request 1", "request 1 of rank 0 (Ring, round ", "; rank 1 has finished"] {
            assert!(report.contains(line), "{report}");
        }
    }
}

#[test]
fn requests_that_wait_beside_a_call_that_blocks_are_part_of_the_deadlock() {
    // Rank 0 blocks in a call; the others wait for a request that rank 0 has not started.
    let results = threads::run(2, |comm| {
        let mut request = Allgather::init(comm, Ring, vec![comm.rank()], vec![0; 2])?;
        match comm.rank() {
            0 => Ring.allgather(comm, &[0], &mut [0; 2]),
            _ => request.start().and_then(|()| request.wait()),
        }
    });
    for result in results {
        let Err(Error::Deadlock { report }) = result else { panic!("{result:?}") };
        let lines: Vec<&str> = report.lines().collect();
        assert_eq!(lines.len(), 3, "{report}");
        assert!(lines[0].starts_with("rank 0 (Ring, round 0) waits") && lines[2].starts_with("request 1 of rank 1"));
    }
}

#[test]
fn a_dropped_request_is_completed_and_a_leaked_one_hinders_nobody() {
    let results = threads::run(3, |comm| -> Result<Vec<usize>, Error> {
        let rank = comm.rank();
        let mut kept = Allgather::start(comm, Ring, vec![rank], vec![0; 3])?;
        if rank == 0 {
            drop(Allgather::start(comm, Bruck, vec![rank], vec![0; 3])?);
            std::mem::forget(Allgather::start(comm, Bruck, vec![rank], vec![0; 3])?);
        } else {
            Allgather::start(comm, Bruck, vec![rank], vec![0; 3])?.wait()?;
            Allgather::start(comm, Bruck, vec![rank], vec![0; 3])?.wait()?;
        }
        kept.wait()?;
        Ok(kept.output()?.to_vec())
    });
    assert_eq!(results, vec![Ok(vec![0, 1, 2]); 3]);
}

#[test]
fn a_dropped_request_that_nobody_answers_does_not_hang() {
    let results = threads::run(2, |comm| -> Result<(), Error> {
        let mut request = Allgather::init(comm, Ring, vec![0], vec![0; 2])?;
        if comm.rank() == 0 { request.start() } else { Ok(()) }
    });
    assert_eq!(results, vec![Ok(()); 2]);
}

/// The text of the panic that `run` passes on, and what each other rank saw.
fn panic_text(f: impl Fn(&ThreadComm) + Sync) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| threads::run(3, |comm| f(comm)))).unwrap_err();
    panic
        .downcast_ref::<&str>()
        .map_or_else(|| panic.downcast_ref::<String>().unwrap().clone(), |text| (*text).into())
}

#[test]
fn a_rank_that_panics_ends_the_requests_of_all() {
    let text = panic_text(|comm| {
        let mut request = Allgather::init(comm, Ring, vec![comm.rank()], vec![0; 3]).unwrap();
        if comm.rank() == 1 {
            panic!("rank 1 is tired");
        }
        request.start().ok();
        let error = request.wait().unwrap_err();
        assert!(error.to_string().contains("rank 1 is tired"), "{error}");
    });
    assert_eq!(text, "rank 1 is tired");
    // Also with a request under way, which the unwinding drops.
    let text = panic_text(|comm| {
        let mut request = Allgather::init(comm, Ring, vec![comm.rank()], vec![0; 3]).unwrap();
        if comm.rank() != 0 {
            request.start().unwrap();
        }
        if comm.rank() == 1 {
            panic!("rank 1 is tired");
        }
        assert!(matches!(request.wait(), Err(Error::PeerFailed { rank: 1, .. } | Error::NotStarted)));
    });
    assert_eq!(text, "rank 1 is tired");
}

#[test]
fn an_operation_that_panics_in_a_request_is_the_panic_of_its_rank() {
    let text = panic_text(|comm| {
        let tired = commutative(|a: &usize, b: &usize| match a + b {
            3 => panic!("three is too much"),
            sum => sum,
        });
        let input = vec![comm.rank()];
        let mut request = Allreduce::start(comm, RecursiveDoublingAllreduce, input, vec![0], tired).unwrap();
        request.wait().ok();
    });
    assert_eq!(text, "three is too much");
}

#[test]
fn requests_are_made_again_and_again() {
    let results = threads::run(4, |comm| -> Result<usize, Error> {
        let mut total = 0;
        for step in 0..200 {
            let request = Allreduce::start(comm, RecursiveDoublingAllreduce, vec![step], vec![0], Sum)?;
            total += request.into_buffers()?.1[0];
        }
        Ok(total)
    });
    assert_eq!(results, vec![Ok(4 * 199 * 100); 4]);
}

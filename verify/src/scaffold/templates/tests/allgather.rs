use my_collective::MyCollective;
use roundel::{Allgather, threads};

#[test]
fn every_rank_gets_every_block() {
    for p in 1..=16 {
        let expected: Vec<usize> = (0..p).flat_map(|rank| [rank, rank * rank]).collect();
        let results = threads::run(p, |comm| {
            let mut all = vec![usize::MAX; 2 * p];
            MyCollective.allgather(comm, &[comm.rank(), comm.rank() * comm.rank()], &mut all).map(|()| all)
        });
        for (rank, all) in results.into_iter().enumerate() {
            assert_eq!(all, Ok(expected.clone()), "rank {rank} of {p}");
        }
    }
}

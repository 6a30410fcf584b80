use my_collective::MyCollective;
use roundel::{Alltoall, threads};

#[test]
fn every_rank_gets_its_block_of_every_rank() {
    for p in 1..=16 {
        let results = threads::run(p, |comm| {
            let send: Vec<(usize, usize)> = (0..p).map(|to| (comm.rank(), to)).collect();
            let mut received = vec![(usize::MAX, usize::MAX); p];
            MyCollective.alltoall(comm, &send, &mut received).map(|()| received)
        });
        for (rank, received) in results.into_iter().enumerate() {
            let expected: Vec<(usize, usize)> = (0..p).map(|from| (from, rank)).collect();
            assert_eq!(received, Ok(expected), "rank {rank} of {p}");
        }
    }
}

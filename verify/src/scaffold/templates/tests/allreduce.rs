use my_collective::MyCollective;
use roundel::{Allreduce, operation::Sum, threads};

#[test]
fn every_rank_gets_the_sum() {
    for p in 1..=16 {
        for length in [0, 1, p, 2 * p + 1] {
            let input = |rank: usize, i: usize| (rank + 1) * (i + 1);
            let expected: Vec<usize> = (0..length).map(|i| (0..p).map(|rank| input(rank, i)).sum()).collect();
            let results = threads::run(p, |comm| {
                let send: Vec<usize> = (0..length).map(|i| input(comm.rank(), i)).collect();
                let mut sum = vec![usize::MAX; length];
                MyCollective.allreduce(comm, &send, &mut sum, &Sum).map(|()| sum)
            });
            for (rank, sum) in results.into_iter().enumerate() {
                assert_eq!(sum, Ok(expected.clone()), "rank {rank} of {p}, length {length}");
            }
        }
    }
}

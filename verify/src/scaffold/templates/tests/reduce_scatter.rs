use my_collective::MyCollective;
use roundel::{ReduceScatter, operation::Sum, threads};

#[test]
fn every_rank_gets_its_block_of_the_sum() {
    for p in 1..=16 {
        let input = |rank: usize, i: usize| (rank + 1) * (i + 1);
        let results = threads::run(p, |comm| {
            let send: Vec<usize> = (0..2 * p).map(|i| input(comm.rank(), i)).collect();
            let mut block = [usize::MAX; 2];
            MyCollective.reduce_scatter_block(comm, &send, &mut block, &Sum).map(|()| block)
        });
        for (rank, block) in results.into_iter().enumerate() {
            let expected = [2 * rank, 2 * rank + 1].map(|i| (0..p).map(|rank| input(rank, i)).sum());
            assert_eq!(block, Ok(expected), "rank {rank} of {p}");
        }
    }
}

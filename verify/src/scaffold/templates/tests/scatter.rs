use my_collective::MyCollective;
use roundel::{ScatterFrom, threads};

#[test]
fn every_rank_gets_its_block() {
    for p in 1..=16 {
        for root in 0..p {
            let all: Vec<usize> = (0..p).flat_map(|rank| [rank, rank * rank]).collect();
            let results = threads::run(p, |comm| {
                let send = if comm.rank() == root { &all[..] } else { &[] };
                let mut block = [usize::MAX; 2];
                MyCollective { root: root as i64 }.scatter(comm, send, &mut block).map(|()| block)
            });
            for (rank, block) in results.into_iter().enumerate() {
                assert_eq!(block, Ok([rank, rank * rank]), "rank {rank} of {p}, root {root}");
            }
        }
    }
}

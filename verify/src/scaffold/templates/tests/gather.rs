use my_collective::MyCollective;
use roundel::{GatherTo, threads};

#[test]
fn the_root_gets_every_block() {
    for p in 1..=16 {
        for root in 0..p {
            let expected: Vec<usize> = (0..p).flat_map(|rank| [rank, rank * rank]).collect();
            let results = threads::run(p, |comm| {
                let block = [comm.rank(), comm.rank() * comm.rank()];
                let mut all = vec![usize::MAX; if comm.rank() == root { 2 * p } else { 0 }];
                MyCollective { root: root as i64 }.gather(comm, &block, &mut all).map(|()| all)
            });
            assert_eq!(results[root], Ok(expected), "p = {p}, root {root}");
            assert!(results.iter().all(Result::is_ok), "p = {p}, root {root}");
        }
    }
}

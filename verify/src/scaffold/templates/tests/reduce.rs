use my_collective::MyCollective;
use roundel::{ReduceTo, operation::Sum, threads};

#[test]
fn the_root_gets_the_sum() {
    for p in 1..=16 {
        for root in 0..p {
            let input = |rank: usize| [rank + 1, rank * rank];
            let results = threads::run(p, |comm| {
                let mut sum = [usize::MAX; 2];
                MyCollective { root: root as i64 }.reduce(comm, &input(comm.rank()), &mut sum, &Sum).map(|()| sum)
            });
            let expected = [0, 1].map(|i| (0..p).map(|rank| input(rank)[i]).sum());
            assert_eq!(results[root], Ok(expected), "p = {p}, root {root}");
            assert!(results.iter().all(Result::is_ok), "p = {p}, root {root}");
        }
    }
}

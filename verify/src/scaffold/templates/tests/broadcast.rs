use my_collective::MyCollective;
use roundel::{Broadcast, threads};

#[test]
fn every_rank_gets_the_data_of_the_root() {
    for p in 1..=16 {
        for root in 0..p {
            let results = threads::run(p, |comm| {
                let mut data = [comm.rank(), comm.rank() * comm.rank()];
                MyCollective { root: root as i64 }.broadcast(comm, &mut data).map(|()| data)
            });
            for (rank, data) in results.into_iter().enumerate() {
                assert_eq!(data, Ok([root, root * root]), "rank {rank} of {p}, root {root}");
            }
        }
    }
}

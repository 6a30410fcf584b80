#![deny(warnings)]
use roundel::__private::assert_code_equals_schedule;
use roundel::{Allgather, Collective, threads};

// Where a comprehension is empty its item need not have a value: in round 0 the stride p / s does not.
#[derive(Collective)]
#[collective(allgather)]
#[requires(p == 3)]
#[round(s in 0..2)]
#[define(stride = p / s)]
#[send(to = rank + 1, blocks = [rank + stride * k; k in 0..s] + [rank; s == 1 && stride == 0])]
#[recv(from = rank - 1, blocks = [rank - 1 + stride * k; k in 0..s])]
#[round]
#[send(to = rank - 1, blocks = [rank])]
#[recv(from = rank + 1, blocks = [rank + 1])]
struct Lazy;

#[test]
fn compiles_and_runs() {
    assert_code_equals_schedule::<Lazy>(40);
    let results = threads::run(3, |comm| {
        let mut all = [0; 3];
        Lazy.allgather(comm, &[comm.rank()], &mut all).map(|()| all)
    });
    assert!(results.into_iter().all(|all| all == Ok([0, 1, 2])));
}

#![deny(warnings)]
use roundel::__private::assert_code_equals_schedule;
use roundel::{Allgather, Collective, threads};

// Bruck with any radix, one message in each round: the inner index runs through the ports, and the state moves with
// the outer one.
#[derive(Collective)]
#[collective(allgather, radix: 2..=16)]
#[check(p <= 24, radix <= 5)]
#[round(x in 0..ceil_log(radix, p), z in 1..radix)]
#[state(W = 1, next = radix * W, each = x)]
#[state(T = 1, next = T + 1, each = z)]
#[define(n = max(0, min(W, p - z * W)))]
#[send(to = rank - z * W, blocks = [rank + k; k in 0..n])]
#[recv(from = rank + z * W, blocks = [rank + z * W + k; k in 0..n])]
#[holds(blocks = [rank + k; k in 0..min(p, z * W)], T == 1 + x * (radix - 1) + z - 1)]
#[bound(messages_sent <= (radix - 1) * ceil_log(radix, p), per_round blocks_sent = min(W, p - z * W))]
struct OnePort {
    radix: i64,
}

#[test]
fn compiles_and_runs() {
    assert_code_equals_schedule::<OnePort>(24);
    let results = threads::run(7, |comm| {
        let mut all = [0; 7];
        OnePort { radix: 3 }.allgather(comm, &[comm.rank()], &mut all).map(|()| all)
    });
    assert!(results.into_iter().all(|all| all == Ok([0, 1, 2, 3, 4, 5, 6])));
}

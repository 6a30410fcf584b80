#![deny(warnings)]
use roundel::__private::assert_code_equals_schedule;
use roundel::{Allgather, Collective, threads};

// A ring inside each factor of p, the smallest stride first: lists with `product`, `len` and `final`.
#[derive(Collective, Clone, Debug)]
#[collective(allgather, factors: list(2..=9))]
#[check(p <= 16, len(factors) <= 4, factors <= 4)]
#[requires(product(factors, len(factors)) == p)]
#[round(f in 0..len(factors), s in 0..factors[f] - 1)]
#[state(W = 1, next = W * factors[f])]
#[define(digit_of(r) = r / W % factors[f], low = rank % W, base = rank - digit_of(rank) * W - low)]
#[define(mate(d) = base + (digit_of(rank) + d) % factors[f] * W)]
#[send(to = mate(1) + low, blocks = [mate(-s) + k; k in 0..W])]
#[recv(from = mate(-1) + low, blocks = [mate(-1 - s) + k; k in 0..W])]
#[requires(final W == p)]
#[holds(W == product(factors, f))]
#[bound(each blocks_sent = p - 1)]
struct Factors {
    factors: Vec<i64>,
}

#[test]
fn compiles_and_runs() {
    assert_code_equals_schedule::<Factors>(16);
    let collective = Factors { factors: vec![2, 3, 2] };
    let results = threads::run(12, |comm| {
        let mut all = [0; 12];
        collective.allgather(comm, &[comm.rank()], &mut all).map(|()| all)
    });
    assert!(results.into_iter().all(|all| all == Ok([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])));

    let refused = threads::run(3, |comm| collective.allgather(comm, &[0], &mut [0; 3]).is_err());
    assert_eq!(refused, [true; 3]);
}

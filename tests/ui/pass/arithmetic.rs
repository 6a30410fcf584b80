#![deny(warnings)]
use roundel::__private::assert_code_equals_schedule;
use roundel::Collective;

// Sparbit with the paper's own mask, and every operator and function of the language once.
#[derive(Collective)]
#[collective(allgather)]
#[requires(p >= 1 && !(p < 1) || false, true)]
#[define(last = floor_log(2, p & -p))]
#[define(mask = (-(p >> last) - 1 | 1) << last)]
#[define(top = pow(2, max(0, ceil_log(2, p) - 1)))]
#[round(s in 0..ceil_log(2, p))]
#[state(d = top, next = d / 2)]
#[define(ignore = if d & mask != 0 { 1 } else { 0 })]
#[state(data = 1, next = 2 * data - ignore)]
#[define(n = data - ignore)]
#[send(to = rank + d, blocks = [rank - 2 * j * d; j in 0..n])]
#[recv(from = rank - d, blocks = [rank - (2 * j + 1) * d; j in 0..n])]
#[holds(
    data == if d == 0 { p } else { ceil_div(p, 2 * max(1, d)) },
    gcd(d, top) == max(d, if d == 0 { top } else { 1 }),
    d == 0 || digit(d, 2, floor_log(2, max(1, d))) == 1,
    d ^ d == 0,
    min(d, p) <= p && !(data < 1) && data >= 1 && data > 0,
    s % 1 == 0,
    rank - p / p * rank == 0,
)]
#[bound(rounds = ceil_log(2, p), each blocks_sent = p - 1)]
struct Sparbit;

#[test]
fn compiles_and_runs() {
    assert_code_equals_schedule::<Sparbit>(40);
}

#![deny(warnings)]
use roundel::__private::assert_code_equals_schedule;
use roundel::Collective;

// Raised above the default of 40, because the domain begins there.
#[derive(Collective)]
#[collective(allgather)]
#[requires(p > 40)]
#[check(p <= 42)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
struct Large;

// Lowered below it.
#[derive(Collective)]
#[collective(allgather, step: 1..)]
#[check(p <= 8, step <= 7)]
#[requires(gcd(step, p) == 1)]
#[round(s in 0..p - 1)]
#[send(to = rank + step, blocks = [rank - step * s])]
#[recv(from = rank - step, blocks = [rank - step * (s + 1)])]
struct Strides {
    step: i64,
}

#[test]
fn compiles_and_runs() {
    assert_code_equals_schedule::<Large>(42);
    assert_code_equals_schedule::<Strides>(42);
    assert_eq!(Large::schedule().limits.p, 42);
    assert_eq!(Strides::schedule().limits.numbers, [7]);
    assert_eq!(Strides { step: 3 }.arguments().numbers, [3]);
}

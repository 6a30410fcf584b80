#![deny(warnings)]
#![allow(non_upper_case_globals, non_camel_case_types, dead_code)]
use roundel::__private::assert_code_equals_schedule;

// Names in the surrounding module do not clash with those of a declaration or of the generated code.
const s: i64 = 3;
const p: i64 = 5;
const D: i64 = 7;
const at: i64 = 1;
const sink: i64 = 1;
const blocks: i64 = 1;
const element: i64 = 1;
static n: i64 = 9;
static rank: i64 = 9;
struct k;
struct radix;
const ports: [i64; 0] = [];
type Result<T> = std::result::Result<T, ()>;
type Option = u8;
struct Place;
struct Stripe;
mod arith {}

#[derive(roundel::Collective)]
#[collective(allgather, radix: 1..=3, ports: list(1..))]
#[requires(radix * 2 <= 6, len(ports) < 3)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[define(n = min(D, p - D), twice(q) = q + q)]
#[send(to = rank - D, blocks = [rank + k; k in 0..n, twice(k) >= 0])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..n, twice(k) >= 0])]
#[requires(final D >= p)]
#[layout(rotated(rank), in_place)]
#[holds(D == pow(2, s), blocks = [rank + k; k in 0..min(D, p)])]
pub struct r#type {
    radix: i64,
    ports: Vec<i64>,
}

const twice: i64 = 1;
const q: i64 = 1;

#[test]
fn compiles_and_runs() {
    assert_code_equals_schedule::<r#type>(20);
}

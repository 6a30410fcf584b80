//! Declarations in unusual places and with unusual names: the tests that the derive emits run here.

#![allow(unreachable_pub)]
#![allow(non_upper_case_globals, non_camel_case_types, dead_code)]

use roundel::{Allgather, Collective, threads};

const s: i64 = 3;
const p: i64 = 5;
const at: i64 = 1;
const D: i64 = 1;
static rank: i64 = 9;
struct k;
type Result<T> = std::result::Result<T, ()>;

/// A name that is a keyword.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[define(n = min(D, p - D))]
#[send(to = rank - D, blocks = [rank + k; k in 0..n])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..n])]
#[holds(D == pow(2, s), blocks = [rank + k; k in 0..min(D, p)])]
#[bound(rounds = ceil_log(2, p), each blocks_sent = p - 1)]
pub struct r#type;

/// Two names that differ in an underscore.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank])]
#[recv(from = rank - s, blocks = [rank - s])]
pub struct RingA;

/// Two names that differ in an underscore.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank])]
#[recv(from = rank - s, blocks = [rank - s])]
pub struct Ring_a;

#[test]
#[allow(unnameable_test_items)] // The derive's own tests cannot run here, and rustc warns about that.
fn a_declaration_inside_a_function() {
    #[derive(Collective)]
    #[collective(allgather)]
    #[round(s in 1..p)]
    #[send(to = rank + s, blocks = [rank])]
    #[recv(from = rank - s, blocks = [rank - s])]
    struct Local;

    let all = threads::run(3, |comm| {
        let mut all = [0; 3];
        Local.allgather(comm, &[comm.rank()], &mut all).map(|()| all)
    });
    assert!(all.into_iter().all(|all| all == Ok([0, 1, 2])));
    assert_eq!(<r#type as Collective>::NAME, "type");
}

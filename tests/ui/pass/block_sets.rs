#![deny(warnings)]
use roundel::__private::assert_code_equals_schedule;
use roundel::{Allgather, Collective, threads};

// Every form of a block set in one round each: what a rank lacks comes straight from its owner.
#[derive(Collective)]
#[collective(allgather)]
#[requires(p == 12)]
#[define(half = p / 2, swap(r) = if r < half { r + half } else { r - half })]
#[define(group(r) = r % half / 2)]
// One block, and a block under a condition.
#[round]
#[send(to = swap(rank), blocks = [rank; p > 1])]
#[recv(from = swap(rank), blocks = [swap(rank)])]
// A union, over two indices and over one.
#[round]
#[exchange(
    with = rank ^ 1,
    send = [rank, swap(rank)],
    recv = [(rank ^ 1) + half * i + k; i in 0..1, k in 0..1] + [swap(rank ^ 1)],
)]
// A comprehension with a filter, in a loop over messages.
#[round]
#[send(
    for g in 0..3,
    when = g != group(rank),
    to = 2 * g + rank % 2 + rank / half * half,
    blocks = [k * half + i; k in 0..2, i in 0..half, group(i) == group(rank), i < half],
)]
#[recv(
    for g in 0..3,
    when = g != group(rank),
    from = 2 * g + rank % 2 + rank / half * half,
    blocks = [b; b in 0..p, group(b) == g],
)]
#[holds(blocks = [k + half * i; i in 0..2, k in 0..half])]
struct Forms;

// The inner range depends on the outer index, `..=`, and a part that is never there.
#[derive(Collective)]
#[collective(allgather)]
#[requires(p == 6)]
#[round(s in 0..5)]
#[send(to = rank + 1, blocks = [rank - i - k; i in s..=s, k in 0..=i - s] + [k; k in 5..5] + [rank; s < 0])]
#[recv(from = rank - 1, blocks = [rank - 1 - k; k in s..=s])]
struct Triangle;

#[test]
fn compiles_and_runs() {
    assert_code_equals_schedule::<Forms>(12);
    assert_code_equals_schedule::<Triangle>(12);
    let results = threads::run(12, |comm| {
        let mut all = [0; 12];
        Forms.allgather(comm, &[comm.rank()], &mut all).map(|()| all)
    });
    assert!(results.into_iter().all(|all| all == Ok([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])));
}

#![deny(warnings)]
use roundel::__private::assert_code_equals_schedule;
use roundel::Collective;

// Limits that are not given are lowered until the check fits.
#[derive(Collective)]
#[collective(allgather, a: 1.., b: 1.., c: 1.., d: 1.., e: 1.., f: 1..)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank])]
#[recv(from = rank - s, blocks = [rank - s])]
struct Numbers {
    a: i64,
    b: i64,
    c: i64,
    d: i64,
    e: i64,
    f: i64,
}

#[derive(Collective)]
#[collective(allgather, a: list(1..), b: list(1..), c: list(1..), d: 1..)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank])]
#[recv(from = rank - s, blocks = [rank - s])]
struct Lists {
    a: Vec<i64>,
    b: Vec<i64>,
    c: Vec<i64>,
    d: i64,
}

// A limit that is given stays.
#[derive(Collective)]
#[collective(allgather, a: 1.., b: 1.., c: 1..)]
#[check(a <= 50)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank])]
#[recv(from = rank - s, blocks = [rank - s])]
struct Given {
    a: i64,
    b: i64,
    c: i64,
}

#[test]
fn compiles_and_runs() {
    let (numbers, lists, given) = (Numbers::schedule().limits, Lists::schedule().limits, Given::schedule().limits);
    assert!(numbers.p >= 16 && numbers.numbers.iter().all(|&limit| limit >= 2), "{numbers:?}");
    assert!(lists.p >= 16 && lists.lists.iter().all(|&(len, value)| len >= 1 && value >= 2), "{lists:?}");
    assert_eq!((given.p, given.numbers), (40, vec![50, 2, 2]));
    assert_code_equals_schedule::<Numbers>(32);
    assert_code_equals_schedule::<Lists>(32);
    assert_code_equals_schedule::<Given>(32);
}

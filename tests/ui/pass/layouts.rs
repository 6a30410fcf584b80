#![deny(warnings)]
use roundel::__private::assert_code_equals_schedule;
use roundel::{Allgather, Collective, Layout, Options, threads};

// A ring whose blocks lie in the order in which they come: the own block last.
#[derive(Collective)]
#[collective(allgather)]
#[layout(in_place, rotated(rank + 1))]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
struct Ring;

#[test]
fn compiles_and_runs() {
    assert_code_equals_schedule::<Ring>(40);
    for layout in [Layout::Declared, Layout::InPlace, Layout::Rotated] {
        let results = threads::run(5, |comm| {
            let mut all = [0; 5];
            let options = Options { layout, ..Options::default() };
            Ring.allgather_with(comm, &[comm.rank()], &mut all, options).map(|()| all)
        });
        assert!(results.into_iter().all(|all| all == Ok([0, 1, 2, 3, 4])));
    }
}

#![deny(warnings)]
use roundel::__private::assert_code_equals_schedule;
use roundel::{Allgather, Collective, threads};

// Gather on each node, exchange between nodes lane by lane, spread on each node. Nodes must be full.
#[derive(Collective)]
#[collective(allgather)]
#[requires(nodes * lanes == p)]
#[define(at_place(n, l) = n % nodes * lanes + l, here = at_place(node, 0))]
#[round(s in 0..lanes - 1)]
#[send(to = here + (local + 1) % ppn, blocks = [here + (local - s) % ppn])]
#[recv(from = here + (local - 1) % ppn, blocks = [here + (local - 1 - s) % ppn])]
#[round(t in 0..nodes - 1)]
#[send(to = at_place(node + 1, local), blocks = [at_place(node - t, k); k in 0..ppn])]
#[recv(from = at_place(node - 1, local), blocks = [at_place(node - 1 - t, k); k in 0..ppn])]
#[bound(
    rounds = lanes - 1 + nodes - 1,
    each nonlocal_messages_sent = nodes - 1,
    nonlocal_blocks_sent = (nodes - 1) * lanes,
    each blocks_received = p - 1,
    per_round nonlocal_messages_sent <= 1,
)]
struct TwoRings;

#[test]
fn compiles_and_runs() {
    assert_code_equals_schedule::<TwoRings>(16);
    let placement = threads::Placement::consecutive(6, 3);
    let results = threads::run_placed(&placement, |comm| {
        let mut all = [0; 6];
        TwoRings.allgather(comm, &[comm.rank()], &mut all).map(|()| all)
    });
    assert!(results.into_iter().all(|all| all == Ok([0, 1, 2, 3, 4, 5])));

    let uneven = threads::Placement::consecutive(5, 3);
    let refused = threads::run_placed(&uneven, |comm| TwoRings.allgather(comm, &[0], &mut [0; 5]).is_err());
    assert_eq!(refused, [true; 5]);

    // Any placement works: the collective sees ranks numbered node by node, and blocks arrive at the right positions.
    for elsewhere in [threads::Placement::cyclic(6, 3), threads::Placement::from_nodes(vec![0, 0, 1, 2, 2, 1])] {
        let results = threads::run_placed(&elsewhere, |comm| {
            let mut all = [0; 6];
            TwoRings.allgather(comm, &[comm.rank()], &mut all).map(|()| all)
        });
        assert!(results.into_iter().all(|all| all == Ok([0, 1, 2, 3, 4, 5])));
    }
}

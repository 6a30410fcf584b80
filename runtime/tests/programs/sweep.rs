//! The programs of the builder are right: no race, no deadlock, every element from the right ranks and call.

use crate::cases::{Case, cases, divisions};

fn right(case: &Case) {
    let programs = case.programs().unwrap_or_else(|error| panic!("{}: {error}", case.name()));
    if let Err(error) = case.replay(&programs) {
        panic!("{}: {error}\n{:#?}", case.name(), programs[error.site.rank][error.site.call % 2].ops);
    }
}

#[test]
fn every_division_of_up_to_six_ranks() {
    for nodes in (1..=6).flat_map(divisions) {
        cases(&nodes, &[5], &[1], &[2]).iter().for_each(right);
    }
    for nodes in (1..=5).flat_map(divisions) {
        cases(&nodes, &[3], &[0, 1, 2, 4], &[1, 2]).iter().for_each(right);
    }
}

#[test]
fn all_counts_and_lanes_on_regular_and_irregular_nodes() {
    let placements = [
        vec![0, 0, 0, 0, 0, 0, 0, 0],
        vec![0, 0, 0, 0, 1, 1, 1, 1],
        vec![0, 1, 2, 3, 0, 1, 2, 3],
        vec![0, 1, 2, 3, 4, 5, 6, 7],
        vec![0, 0, 0, 1, 1, 1, 2, 2],
        vec![0, 1, 1, 0, 1, 0, 1],
        vec![0, 1, 1, 1, 1, 2, 2],
        vec![0, 0, 1, 1, 2, 2, 3, 3],
    ];
    for nodes in placements {
        cases(&nodes, &[0, 1, 7], &[0, 1, 2, 5], &[1, 3]).iter().for_each(right);
        cases(&nodes, &[64], &[1], &[2]).iter().for_each(right);
    }
}

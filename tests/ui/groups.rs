//! Wrong collectives with inner collectives.
#![allow(dead_code)]

#[path = "groups/bound_on_a_type.rs"]
mod bound_on_a_type;
#[path = "groups/brings_what_it_lacks.rs"]
mod brings_what_it_lacks;
#[path = "groups/counted_twice_in_lanes.rs"]
mod counted_twice_in_lanes;
#[path = "groups/inner_of_another_kind.rs"]
mod inner_of_another_kind;
#[path = "groups/inner_without_a_type.rs"]
mod inner_without_a_type;
#[path = "groups/not_clipped.rs"]
mod not_clipped;
#[path = "groups/only_in_nodes.rs"]
mod only_in_nodes;
#[path = "groups/unknown_group.rs"]
mod unknown_group;
#[path = "groups/unknown_inner.rs"]
mod unknown_inner;
#[path = "groups/wrong_costs.rs"]
mod wrong_costs;

fn main() {}

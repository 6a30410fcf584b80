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
#[path = "groups/stage_at_another_root.rs"]
mod stage_at_another_root;
#[path = "groups/stage_at_no_rank.rs"]
mod stage_at_no_rank;
#[path = "groups/stage_inside_of_nodes.rs"]
mod stage_inside_of_nodes;
#[path = "groups/stage_missing.rs"]
mod stage_missing;
#[path = "groups/stage_not_together.rs"]
mod stage_not_together;
#[path = "groups/stage_of_some.rs"]
mod stage_of_some;
#[path = "groups/stage_on_no_blocks.rs"]
mod stage_on_no_blocks;
#[path = "groups/stage_on_uneven_nodes.rs"]
mod stage_on_uneven_nodes;
#[path = "groups/stage_relied_on.rs"]
mod stage_relied_on;
#[path = "groups/stage_that_loses.rs"]
mod stage_that_loses;
#[path = "groups/stage_that_reduces.rs"]
mod stage_that_reduces;
#[path = "groups/stage_with_a_bound.rs"]
mod stage_with_a_bound;
#[path = "groups/stage_with_a_root_of_its_own.rs"]
mod stage_with_a_root_of_its_own;
#[path = "groups/stage_with_another_split.rs"]
mod stage_with_another_split;
#[path = "groups/stage_without_a_root.rs"]
mod stage_without_a_root;
#[path = "groups/stage_without_a_split.rs"]
mod stage_without_a_split;
#[path = "groups/stages_at_two_roots.rs"]
mod stages_at_two_roots;
#[path = "groups/stages_in_lanes_of_their_own.rs"]
mod stages_in_lanes_of_their_own;
#[path = "groups/stages_swapped.rs"]
mod stages_swapped;
#[path = "groups/stages_that_count_twice.rs"]
mod stages_that_count_twice;
#[path = "groups/unknown_group.rs"]
mod unknown_group;
#[path = "groups/unknown_inner.rs"]
mod unknown_inner;
#[path = "groups/wrong_costs.rs"]
mod wrong_costs;

fn main() {}

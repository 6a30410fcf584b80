//! Declarations that must compile, and run: every construct of the language.
// Each would be a crate of its own; `visibility`, where that matters, is one. Clippy takes two rounds without an index
// for one attribute twice.
#![allow(unreachable_pub, clippy::duplicated_attributes)]

#[path = "pass/arithmetic.rs"]
mod arithmetic;
#[path = "pass/block_sets.rs"]
mod block_sets;
#[path = "pass/check_limits.rs"]
mod check_limits;
#[path = "pass/exchanges.rs"]
mod exchanges;
#[path = "pass/foreign_names.rs"]
mod foreign_names;
#[path = "pass/groups.rs"]
mod groups;
#[path = "pass/layouts.rs"]
mod layouts;
#[path = "pass/lazy_blocks.rs"]
mod lazy_blocks;
#[path = "pass/list_parameters.rs"]
mod list_parameters;
#[path = "pass/many_parameters.rs"]
mod many_parameters;
#[path = "pass/nested_indices.rs"]
mod nested_indices;
#[path = "pass/placement.rs"]
mod placement;
#[path = "pass/rooted.rs"]
mod rooted;
#[path = "pass/sequences.rs"]
mod sequences;

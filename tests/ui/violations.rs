//! Schedules that are wrong: the check finds a violation.
#![allow(dead_code)]

#[path = "violations/bound_at_most.rs"]
mod bound_at_most;
#[path = "violations/bound_each.rs"]
mod bound_each;
#[path = "violations/bound_exact.rs"]
mod bound_exact;
#[path = "violations/bound_nonlocal.rs"]
mod bound_nonlocal;
#[path = "violations/bound_per_round.rs"]
mod bound_per_round;
#[path = "violations/broadcast_not_everywhere.rs"]
mod broadcast_not_everywhere;
#[path = "violations/broadcast_of_nothing.rs"]
mod broadcast_of_nothing;
#[path = "violations/bruck_unclipped.rs"]
mod bruck_unclipped;
#[path = "violations/confused_messages.rs"]
mod confused_messages;
#[path = "violations/contribution_missing.rs"]
mod contribution_missing;
#[path = "violations/contributors.rs"]
mod contributors;
#[path = "violations/counted_twice.rs"]
mod counted_twice;
#[path = "violations/cyclic_shift_unclipped.rs"]
mod cyclic_shift_unclipped;
#[path = "violations/different_blocks.rs"]
mod different_blocks;
#[path = "violations/different_order.rs"]
mod different_order;
#[path = "violations/division_by_zero.rs"]
mod division_by_zero;
#[path = "violations/division_by_zero_in_a_layout.rs"]
mod division_by_zero_in_a_layout;
#[path = "violations/division_by_zero_in_the_domain.rs"]
mod division_by_zero_in_the_domain;
#[path = "violations/empty_line.rs"]
mod empty_line;
#[path = "violations/gather_elsewhere.rs"]
mod gather_elsewhere;
#[path = "violations/holds_block_twice.rs"]
mod holds_block_twice;
#[path = "violations/holds_blocks.rs"]
mod holds_blocks;
#[path = "violations/holds_counter.rs"]
mod holds_counter;
#[path = "violations/holds_fact.rs"]
mod holds_fact;
#[path = "violations/line_in_use.rs"]
mod line_in_use;
#[path = "violations/missing_block.rs"]
mod missing_block;
#[path = "violations/neighbor_exchange_any_p.rs"]
mod neighbor_exchange_any_p;
#[path = "violations/no_such_element.rs"]
mod no_such_element;
#[path = "violations/nothing_ends_right.rs"]
mod nothing_ends_right;
#[path = "violations/nothing_in_the_domain.rs"]
mod nothing_in_the_domain;
#[path = "violations/order_of_ranks.rs"]
mod order_of_ranks;
#[path = "violations/other_tree.rs"]
mod other_tree;
#[path = "violations/overflow.rs"]
mod overflow;
#[path = "violations/phantom_data.rs"]
mod phantom_data;
#[path = "violations/radix_too_large.rs"]
mod radix_too_large;
#[path = "violations/recursive_doubling_any_p.rs"]
mod recursive_doubling_any_p;
#[path = "violations/replaced_by_less.rs"]
mod replaced_by_less;
#[path = "violations/root_beyond.rs"]
mod root_beyond;
#[path = "violations/root_ignored.rs"]
mod root_ignored;
#[path = "violations/scatter_wrong_block.rs"]
mod scatter_wrong_block;
#[path = "violations/self_message.rs"]
mod self_message;
#[path = "violations/sparbit_without_ignore.rs"]
mod sparbit_without_ignore;
#[path = "violations/sparbit_wrong_mask.rs"]
mod sparbit_wrong_mask;
#[path = "violations/too_long.rs"]
mod too_long;
#[path = "violations/undefined_power.rs"]
mod undefined_power;
#[path = "violations/unmatched_recv.rs"]
mod unmatched_recv;
#[path = "violations/unmatched_send.rs"]
mod unmatched_send;
#[path = "violations/written_twice_earlier.rs"]
mod written_twice_earlier;
#[path = "violations/written_twice_in_a_round.rs"]
mod written_twice_in_a_round;
#[path = "violations/written_twice_own.rs"]
mod written_twice_own;
#[path = "violations/wrong_across_nodes.rs"]
mod wrong_across_nodes;
#[path = "violations/wrong_with_five_on_a_node.rs"]
mod wrong_with_five_on_a_node;

fn main() {}

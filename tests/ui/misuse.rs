//! Declarations that do not follow the rules of the language.
#![allow(dead_code)]

#[path = "misuse/assignment.rs"]
mod assignment;
#[path = "misuse/bad_check.rs"]
mod bad_check;
#[path = "misuse/bad_layout.rs"]
mod bad_layout;
#[path = "misuse/bad_parameter.rs"]
mod bad_parameter;
#[path = "misuse/blocks_held_twice.rs"]
mod blocks_held_twice;
#[path = "misuse/blocks_without_brackets.rs"]
mod blocks_without_brackets;
#[path = "misuse/bound_of_one_rank.rs"]
mod bound_of_one_rank;
#[path = "misuse/bound_with_a_round_definition.rs"]
mod bound_with_a_round_definition;
#[path = "misuse/bound_with_a_round_variable.rs"]
mod bound_with_a_round_variable;
#[path = "misuse/bound_without_relation.rs"]
mod bound_without_relation;
#[path = "misuse/branches_of_two_types.rs"]
mod branches_of_two_types;
#[path = "misuse/check_beyond_the_budget.rs"]
mod check_beyond_the_budget;
#[path = "misuse/check_outside_the_domain.rs"]
mod check_outside_the_domain;
#[path = "misuse/collective_twice.rs"]
mod collective_twice;
#[path = "misuse/condition_for_a_number.rs"]
mod condition_for_a_number;
#[path = "misuse/constant_zero_divisor.rs"]
mod constant_zero_divisor;
#[path = "misuse/definition_without_value.rs"]
mod definition_without_value;
#[path = "misuse/domain_of_one_rank.rs"]
mod domain_of_one_rank;
#[path = "misuse/domain_of_one_rank_by_definition.rs"]
mod domain_of_one_rank_by_definition;
#[path = "misuse/each_without_index.rs"]
mod each_without_index;
#[path = "misuse/empty_clauses.rs"]
mod empty_clauses;
#[path = "misuse/empty_domain.rs"]
mod empty_domain;
#[path = "misuse/enumeration.rs"]
mod enumeration;
#[path = "misuse/field_twice.rs"]
mod field_twice;
#[path = "misuse/field_without_parameter.rs"]
mod field_without_parameter;
#[path = "misuse/final_above_a_round.rs"]
mod final_above_a_round;
#[path = "misuse/final_index_by_definition.rs"]
mod final_index_by_definition;
#[path = "misuse/final_round_index.rs"]
mod final_round_index;
#[path = "misuse/function_as_a_number.rs"]
mod function_as_a_number;
#[path = "misuse/generics.rs"]
mod generics;
#[path = "misuse/generics_with_lifetime.rs"]
mod generics_with_lifetime;
#[path = "misuse/huge_number.rs"]
mod huge_number;
#[path = "misuse/if_without_else.rs"]
mod if_without_else;
#[path = "misuse/incomplete_expression.rs"]
mod incomplete_expression;
#[path = "misuse/index_after_a_condition.rs"]
mod index_after_a_condition;
#[path = "misuse/layout_twice.rs"]
mod layout_twice;
#[path = "misuse/layout_with_a_round_variable.rs"]
mod layout_with_a_round_variable;
#[path = "misuse/list_as_a_number.rs"]
mod list_as_a_number;
#[path = "misuse/method_call.rs"]
mod method_call;
#[path = "misuse/missing_blocks.rs"]
mod missing_blocks;
#[path = "misuse/missing_collective.rs"]
mod missing_collective;
#[path = "misuse/missing_from.rs"]
mod missing_from;
#[path = "misuse/missing_messages.rs"]
mod missing_messages;
#[path = "misuse/missing_next.rs"]
mod missing_next;
#[path = "misuse/missing_round.rs"]
mod missing_round;
#[path = "misuse/missing_send_in_exchange.rs"]
mod missing_send_in_exchange;
#[path = "misuse/missing_to.rs"]
mod missing_to;
#[path = "misuse/missing_value.rs"]
mod missing_value;
#[path = "misuse/misspelt_clause.rs"]
mod misspelt_clause;
#[path = "misuse/misspelt_counter.rs"]
mod misspelt_counter;
#[path = "misuse/misspelt_field.rs"]
mod misspelt_field;
#[path = "misuse/misspelt_letter.rs"]
mod misspelt_letter;
#[path = "misuse/misspelt_metric.rs"]
mod misspelt_metric;
#[path = "misuse/misspelt_state.rs"]
mod misspelt_state;
#[path = "misuse/names_of_functions.rs"]
mod names_of_functions;
#[path = "misuse/no_blocks.rs"]
mod no_blocks;
#[path = "misuse/no_range.rs"]
mod no_range;
#[path = "misuse/not_in_the_language.rs"]
mod not_in_the_language;
#[path = "misuse/nothing_after_a_word.rs"]
mod nothing_after_a_word;
#[path = "misuse/number_for_a_condition.rs"]
mod number_for_a_condition;
#[path = "misuse/parameter_without_field.rs"]
mod parameter_without_field;
#[path = "misuse/per_round_outside_a_round.rs"]
mod per_round_outside_a_round;
#[path = "misuse/range_as_a_number.rs"]
mod range_as_a_number;
#[path = "misuse/range_without_end.rs"]
mod range_without_end;
#[path = "misuse/raw_names.rs"]
mod raw_names;
#[path = "misuse/redefinition.rs"]
mod redefinition;
#[path = "misuse/reduction.rs"]
mod reduction;
#[path = "misuse/requires_below_a_round.rs"]
mod requires_below_a_round;
#[path = "misuse/reserved_names.rs"]
mod reserved_names;
#[path = "misuse/root.rs"]
mod root;
#[path = "misuse/round_without_name.rs"]
mod round_without_name;
#[path = "misuse/rounds_of_one_rank.rs"]
mod rounds_of_one_rank;
#[path = "misuse/send_outside_a_round.rs"]
mod send_outside_a_round;
#[path = "misuse/several_at_once.rs"]
mod several_at_once;
#[path = "misuse/state_in_a_bare_round.rs"]
mod state_in_a_bare_round;
#[path = "misuse/tuple_struct.rs"]
mod tuple_struct;
#[path = "misuse/two_items_in_a_comprehension.rs"]
mod two_items_in_a_comprehension;
#[path = "misuse/unknown_collective.rs"]
mod unknown_collective;
#[path = "misuse/unknown_function.rs"]
mod unknown_function;
#[path = "misuse/unknown_function_elsewhere_known.rs"]
mod unknown_function_elsewhere_known;
#[path = "misuse/unknown_function_similar.rs"]
mod unknown_function_similar;
#[path = "misuse/unknown_variable.rs"]
mod unknown_variable;
#[path = "misuse/unknown_variable_similar.rs"]
mod unknown_variable_similar;
#[path = "misuse/variable_of_another_round.rs"]
mod variable_of_another_round;
#[path = "misuse/wrong_arity.rs"]
mod wrong_arity;
#[path = "misuse/wrong_field_type.rs"]
mod wrong_field_type;

fn main() {}

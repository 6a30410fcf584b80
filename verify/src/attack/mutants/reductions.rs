//! Mutants of reductions only: another line, another operand, another side, or other claims about the order.

use super::{Nursery, place};
use roundel_spec::Direction;
use roundel_spec::schedule::{Field, Schedule, SchedulePart, Transfer};
use roundel_spec::{Action, Line, Site};

/// Messages with another effect on the memory of their rank. In the reverse of a collective, the reversal says what
/// messages do, not the declaration.
pub(super) fn actions(nursery: &mut Nursery<'_>) {
    let original = nursery.original;
    if original.reverse_of.is_some() {
        return;
    }
    for (n, l) in original.loops.iter().enumerate() {
        for (i, transfer) in l.transfers.iter().enumerate() {
            let whole = place(original, SchedulePart::Transfer(transfer.site, Field::Whole));
            for site in others(original, transfer) {
                let (old, new) = (role(original, transfer.site), role(original, site));
                let description = format!("{whole}: {old} -> {new}");
                nursery.add(description, |schedule| schedule.loops[n].transfers[i].site = site);
            }
        }
    }
}

/// Adds or removes a claim about the order of reduction.
pub(super) fn claims(nursery: &mut Nursery<'_>) {
    if !nursery.original.kind.reduces() {
        return;
    }
    let order = nursery.original.order;
    let done = |claimed: bool| if claimed { "dropped" } else { "claimed" };
    nursery.add(format!("order: `same_tree` {}", done(order.same_tree)), |s| s.order.same_tree = !order.same_tree);
    nursery
        .add(format!("order: `rank_order` {}", done(order.rank_order)), |s| s.order.rank_order = !order.rank_order);
}

/// The other possible effects of a message: the other side, another action, another line, another operand.
fn others(schedule: &Schedule, transfer: &Transfer) -> Vec<Site> {
    let (site, lines) = (transfer.site, 0..schedule.lines.len() as Line);
    let mut actions = Vec::new();
    if transfer.direction == Direction::Recv && schedule.kind.reduces() {
        let with = site.line;
        actions.extend(match site.action {
            Action::CombineLeft { with } => vec![Action::CombineRight { with }, Action::Replace, Action::Copy],
            Action::CombineRight { with } => vec![Action::CombineLeft { with }, Action::Replace, Action::Copy],
            Action::Replace | Action::Overwrite => {
                vec![Action::Copy, Action::CombineLeft { with }, Action::CombineRight { with }]
            }
            Action::Copy => vec![Action::Replace, Action::CombineLeft { with }, Action::CombineRight { with }],
        });
        actions.extend(lines.clone().filter_map(|with| match site.action {
            Action::CombineLeft { .. } => Some(Action::CombineLeft { with }),
            Action::CombineRight { .. } => Some(Action::CombineRight { with }),
            Action::Copy | Action::Replace | Action::Overwrite => None,
        }));
    }
    let acting = actions.into_iter().map(|action| Site { action, ..site });
    acting.chain(lines.map(|line| Site { line, ..site })).filter(|other| *other != site).collect()
}

/// The effect of a message as text.
fn role(schedule: &Schedule, site: Site) -> String {
    let name = |line: Line| schedule.lines.get(usize::from(line)).map_or("", String::as_str);
    let line = name(site.line);
    match site.action {
        Action::Copy => format!("`{line}`"),
        Action::Replace => format!("`replaces = {line}`"),
        Action::Overwrite => format!("`overwrites = {line}`"),
        Action::CombineLeft { with } => format!("`{line}`, `combine = left` of `{}`", name(with)),
        Action::CombineRight { with } => format!("`{line}`, `combine = right` of `{}`", name(with)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::mutants;

    #[test]
    fn what_arrives_is_used_in_another_way() {
        let schedule = crate::recorded::of_entry(crate::catalogue::find("allreduce/ring").expect("in the catalogue"));
        let all: Vec<String> = mutants(&schedule).into_iter().map(|mutant| mutant.description).collect();
        for expected in [
            "recv #1: `acc`, `combine = left` of `acc` -> `acc`, `combine = right` of `acc`",
            "recv #1: `acc`, `combine = left` of `acc` -> `replaces = acc`",
            "recv #3: `replaces = acc` -> `acc`",
            "order: `same_tree` dropped",
            "order: `rank_order` claimed",
        ] {
            assert!(all.iter().any(|found| found == expected), "{expected}: {all:#?}");
        }
        let gather = crate::recorded::of_entry(crate::catalogue::find("allgather/ring").expect("in the catalogue"));
        let split = |text: &str| text.starts_with("split") || text.starts_with("order");
        assert!(!mutants(&gather).iter().any(|mutant| split(&mutant.description)));
    }
}

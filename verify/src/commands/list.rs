//! `roundel list`: the catalogue.

use super::{Outcome, print, print_json};
use crate::error::Error;
use crate::params;
use crate::table::{Align, Cell, FAINT, HEADING, Table};
use roundel::algorithms::{self, Entry};
use roundel_spec::schedule::{Metric, Schedule, Scope};
use serde::Serialize;

/// An entry, for machines.
#[derive(Serialize)]
struct Listed {
    name: &'static str,
    #[serde(rename = "type")]
    type_name: &'static str,
    summary: &'static str,
    kind: &'static str,
    requires: Vec<String>,
    parameters: Vec<Parameter>,
    bounds: Vec<String>,
    layouts: Vec<String>,
    order: Vec<&'static str>,
    checked_up_to: i64,
}

#[derive(Serialize)]
struct Parameter {
    name: String,
    list: bool,
    domain: String,
}

/// Lists the catalogue.
pub(super) fn list(json: bool) -> Result<Outcome, Error> {
    let entries: Vec<(&Entry, Schedule)> = algorithms::catalogue().iter().map(|e| (e, (e.schedule)())).collect();
    if json {
        print_json(&entries.iter().map(|(entry, schedule)| listed(entry, schedule)).collect::<Vec<_>>())?;
        return Ok(Outcome::Fine);
    }
    let columns = ["name", "kind", "domain", "rounds", "volume", "layouts", "order"];
    let mut table = Table::new(columns.map(|name| (name, Align::Left)));
    for (entry, schedule) in &entries {
        let layouts: Vec<String> = schedule.layouts.iter().map(ToString::to_string).collect();
        table.row([
            Cell::styled(entry.name, HEADING),
            schedule.kind.into(),
            domain(schedule).into(),
            bound(schedule, Metric::Rounds).into(),
            bound(schedule, Metric::BlocksSent).into(),
            layouts.join(", ").into(),
            or_dash(order(schedule)).into(),
        ]);
    }
    let note = "volume: blocks that a rank sends, of a reduction fractions of the vector; the first layout is the default; \
                order: of reduction; `roundel show NAME -p P` shows the rounds";
    print(&format!("{table}\n{FAINT}{note}{FAINT:#}\n"))?;
    Ok(Outcome::Fine)
}

fn listed(entry: &Entry, schedule: &Schedule) -> Listed {
    let numbers = schedule.numbers.iter().map(|n| (n.var.name.clone(), false, n.domain));
    let lists = schedule.lists.iter().map(|l| (l.var.name.clone(), true, l.domain));
    let parameter = |(name, list, domain): (_, _, roundel_spec::schedule::Domain)| Parameter {
        name,
        list,
        domain: domain.to_string(),
    };
    Listed {
        name: entry.name,
        type_name: entry.type_name,
        summary: entry.summary(),
        kind: schedule.kind.name(),
        requires: requires(schedule),
        parameters: numbers.chain(lists).map(parameter).collect(),
        bounds: schedule.bounds.iter().map(ToString::to_string).collect(),
        layouts: schedule.layouts.iter().map(ToString::to_string).collect(),
        order: order(schedule),
        checked_up_to: schedule.limits.p,
    }
}

/// What is claimed about the order of reduction.
fn order(schedule: &Schedule) -> Vec<&'static str> {
    let claims = [(schedule.order.same_tree, "same-tree"), (schedule.order.rank_order, "rank-order")];
    claims.into_iter().filter(|(claimed, _)| *claimed).map(|(_, name)| name).collect()
}

fn or_dash(words: Vec<&str>) -> String {
    if words.is_empty() { "-".into() } else { words.join(", ") }
}

/// The clauses of the domain.
fn requires(schedule: &Schedule) -> Vec<String> {
    let ends = schedule.loops.iter().flat_map(|l| &l.ends_with).map(|clause| format!("final {clause}"));
    schedule.requires.iter().map(ToString::to_string).chain(ends).collect()
}

/// The domain, for people.
fn domain(schedule: &Schedule) -> String {
    let mut parts = requires(schedule);
    if parts.is_empty() {
        parts.push("any p".into());
    }
    parts.extend(params::domains(schedule));
    parts.join("; ")
}

/// What is declared about the total of a metric.
fn bound(schedule: &Schedule, metric: Metric) -> String {
    let total = |scope| !matches!(scope, Scope::PerRound(_) | Scope::Node);
    let bound = schedule.bounds.iter().find(|bound| bound.metric == metric && total(bound.scope));
    match bound {
        Some(bound) if bound.exact => bound.value.to_string(),
        Some(bound) => format!("<= {}", bound.value),
        None => "-".into(),
    }
}

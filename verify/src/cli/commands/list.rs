//! `roundel list`: the catalogue, or the declarations of a file.

use super::target::Target;
use super::{CommandOutcome, print, print_json};
use crate::cli::ListArgs;
use crate::error::Error;
use crate::named::NamedCollective;
use crate::params;
use crate::report::table::{Align, Cell, FAINT, HEADING, Table};
use roundel::algorithms;
use roundel_spec::schedule::{BoundScope, Metric, Schedule};
use serde::Serialize;
use std::borrow::Cow;

/// A collective, for JSON output.
#[derive(Serialize)]
struct ListReport<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    type_name: &'a str,
    summary: &'a str,
    kind: &'static str,
    requires: Vec<String>,
    parameters: Vec<ParameterReport>,
    bounds: Vec<String>,
    layouts: Vec<String>,
    order: Vec<&'static str>,
    checked_up_to: i64,
    proved_for: Cow<'static, str>,
    /// If these are fewer calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds_proved_for: Option<Cow<'static, str>>,
}

#[derive(Serialize)]
struct ParameterReport {
    name: String,
    list: bool,
    domain: String,
}

/// Lists the catalogue, a part of it, the declarations of a file, or the details of one collective.
pub(super) fn list(args: &ListArgs, json: bool) -> Result<CommandOutcome, Error> {
    let all: Vec<NamedCollective> = match args.name.as_deref() {
        None => algorithms::catalogue().iter().map(NamedCollective::Entry).collect(),
        Some(name) => Target::listed(name)?,
    };
    match all.as_slice() {
        all if json => print_json(&all.iter().map(listed).collect::<Result<Vec<_>, _>>()?)?,
        [one] => print(&details(one)?)?,
        all => print(&table(all)?)?,
    }
    Ok(CommandOutcome::Fine)
}

/// The column widths; together they fit into 100 columns.
const WIDTHS: [usize; 4] = [32, 26, 16, 20];

fn table(collectives: &[NamedCollective]) -> Result<String, Error> {
    let columns = ["name", "domain", "rounds", "proved for"];
    let mut table = Table::new(columns.map(|name| (name, Align::Left))).wrapped(&WIDTHS);
    // The texts about placements are long, and many entries share them, so they go below the table.
    let mut placements: Vec<String> = Vec::new();
    for collective in collectives {
        let (schedule, range) = (collective.schedule(), collective.proved_range()?);
        let range = match range.split_once(", nodes of ") {
            None => range.to_string(),
            Some((calls, nodes)) => {
                let known = placements.iter().position(|known| known == nodes).unwrap_or_else(|| {
                    placements.push(nodes.into());
                    placements.len() - 1
                });
                format!("{calls} [{}]", known + 1)
            }
        };
        table.row([
            Cell::styled(collective.name(), HEADING),
            domain(&schedule).into(),
            bound(&schedule, Metric::Rounds).into(),
            range.into(),
        ]);
    }
    let mut remarks = Table::new([("", Align::Left), ("", Align::Left)]).wrapped(&[4, 94]).headless();
    for (number, nodes) in placements.iter().enumerate() {
        let number = format!("[{}]", number + 1);
        remarks.row([Cell::styled(number, FAINT), Cell::styled(format!("on nodes of {nodes}"), FAINT)]);
    }
    let note = "`roundel list NAME` tells more of one, `roundel show NAME -p P` shows its rounds";
    Ok(format!("{table}\n{remarks}{FAINT}{note}{FAINT:#}\n"))
}

/// The details of one collective.
fn details(collective: &NamedCollective) -> Result<String, Error> {
    let schedule = &collective.schedule();
    let mut table = Table::new([("", Align::Left), ("", Align::Left)]).wrapped(&[12, 84]).headless();
    table.row([Cell::styled("summary", FAINT), collective.summary().into()]);
    let mut row = |name: &str, text: String| {
        if !text.is_empty() {
            table.row([Cell::styled(name, FAINT), text.into()]);
        }
    };
    if let NamedCollective::Entry(entry) = collective {
        row("type", format!("roundel::algorithms::{}", entry.type_name));
    }
    row("domain", domain(schedule));
    row("proved for", collective.proved_range()?.into());
    let bounds = schedule.bounds.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    let proved = collective.bounds_proved_for()?.map_or(String::new(), |calls| format!(" (proved for {calls})"));
    row("bounds", bounds + &proved);
    row("layouts", schedule.layouts.iter().map(ToString::to_string).collect::<Vec<_>>().join(" (the default), "));
    row("order", order(schedule).join(", "));
    Ok(format!("{HEADING}{}{HEADING:#}\n{table}", collective.name()))
}

fn listed(collective: &NamedCollective) -> Result<ListReport<'_>, Error> {
    let schedule = collective.schedule();
    let numbers = schedule.numbers.iter().map(|n| (n.var.name.clone(), false, n.domain));
    let lists = schedule.lists.iter().map(|l| (l.var.name.clone(), true, l.domain));
    let parameter = |(name, list, domain): (_, _, roundel_spec::schedule::Domain)| ParameterReport {
        name,
        list,
        domain: domain.to_string(),
    };
    Ok(ListReport {
        name: collective.name(),
        type_name: collective.type_name(),
        summary: collective.summary(),
        kind: schedule.kind.name(),
        requires: requires(&schedule),
        parameters: numbers.chain(lists).map(parameter).collect(),
        bounds: schedule.bounds.iter().map(ToString::to_string).collect(),
        layouts: schedule.layouts.iter().map(ToString::to_string).collect(),
        order: order(&schedule),
        checked_up_to: schedule.limits.p,
        proved_for: collective.proved_range()?,
        bounds_proved_for: collective.bounds_proved_for()?,
    })
}

/// The claims about the order of reduction.
fn order(schedule: &Schedule) -> Vec<&'static str> {
    let order = schedule.claimed_order();
    let claims = [(order.same_tree, "same-tree"), (order.rank_order, "rank-order")];
    claims.into_iter().filter(|(claimed, _)| *claimed).map(|(_, name)| name).collect()
}

/// The clauses of the domain.
fn requires(schedule: &Schedule) -> Vec<String> {
    let ends = schedule.loops.iter().flat_map(|l| &l.ends_with).map(|clause| format!("final {clause}"));
    schedule.requires.iter().map(ToString::to_string).chain(ends).collect()
}

/// The domain as text.
fn domain(schedule: &Schedule) -> String {
    let mut parts = requires(schedule);
    if parts.is_empty() {
        parts.push("any p".into());
    }
    parts.extend(params::domains(schedule));
    parts.join("; ")
}

/// The declared total of a metric.
fn bound(schedule: &Schedule, metric: Metric) -> String {
    let total = |scope| !matches!(scope, BoundScope::PerRound(_) | BoundScope::Node);
    let bound = schedule.bounds.iter().find(|bound| bound.metric == metric && total(bound.scope));
    match bound {
        Some(bound) if bound.exact => bound.value.to_string(),
        Some(bound) => format!("<= {}", bound.value),
        None => "-".into(),
    }
}

//! `roundel trace`: compares what a program did with the declaration.

use super::{CommandOutcome, counted, print, print_json};
use crate::cli::{TraceCommand, TraceDiffArgs};
use crate::error::Error;
use crate::replay::trace::diff::{CallDifference, TraceReport, TraceRow, Who, diff};
use crate::replay::trace::job::Job;
use crate::report::table::{Align, BAD, Cell, GOOD, NOTICE, Table};
use serde::Serialize;
use std::fmt::Write;

/// The number of differences shown per algorithm.
const TOLD: usize = 5;

/// Calls, for JSON output.
#[derive(Serialize)]
struct CallsReport {
    calls: Vec<Calls>,
    missing: Vec<usize>,
    unseen: usize,
    equal: bool,
}

#[derive(Serialize)]
struct Calls {
    by: String,
    p: usize,
    calls: usize,
    messages: usize,
    bytes: u64,
    differences: Vec<String>,
}

/// Runs a subcommand.
pub(super) fn trace(command: &TraceCommand, json: bool) -> Result<CommandOutcome, Error> {
    let TraceCommand::Diff(TraceDiffArgs { files }) = command;
    let report = diff(&Job::read(files)?);
    match json {
        true => print_json(&said(&report))?,
        false => print(&text(&report))?,
    }
    Ok(if report.is_fine() { CommandOutcome::Fine } else { CommandOutcome::Wrong })
}

fn said(report: &TraceReport) -> CallsReport {
    let calls = |row: &TraceRow| Calls {
        by: name(row),
        p: row.p,
        calls: row.calls,
        messages: row.messages,
        bytes: row.bytes,
        differences: row.differences.iter().map(CallDifference::to_string).collect(),
    };
    let missing = report.missing.iter().copied().collect();
    let calls = report.rows.iter().map(calls).collect();
    CallsReport { calls, missing, unseen: report.unseen, equal: report.is_fine() }
}

fn name(row: &TraceRow) -> String {
    match &row.who {
        Who::Algorithm(name) => name.clone(),
        Who::Library { kind, .. } => format!("{kind} by the library"),
        Who::Nobody { kind } => format!("{kind} that failed"),
    }
}

fn text(report: &TraceReport) -> String {
    let heads = [("p", Align::Right), ("calls", Align::Right), ("messages", Align::Right), ("bytes", Align::Right)];
    let mut table =
        Table::new([("algorithm", Align::Left)].into_iter().chain(heads).chain([("verdict", Align::Left)]));
    for row in &report.rows {
        let counts = [row.p.into(), row.calls.into(), row.messages.into(), row.bytes.into()];
        table.row([Cell::from(name(row))].into_iter().chain(counts).chain([verdict(row)]));
    }
    let mut out = if report.rows.is_empty() { "no calls\n".into() } else { table.to_string() };
    for row in report.rows.iter().filter(|row| !row.differences.is_empty()) {
        let _ = write!(out, "\n{BAD}{}{BAD:#}, p = {}:\n{}", name(row), row.p, differences(row));
    }
    if !report.missing.is_empty() {
        let ranks: Vec<String> = report.missing.iter().map(usize::to_string).collect();
        let (ranks, unseen) = (ranks.join(", "), counted(report.unseen as i64, "call"));
        let _ = write!(out, "\n{BAD}missing{BAD:#}: the files of ranks {ranks}; {unseen} with them not compared\n");
    }
    out
}

fn verdict(row: &TraceRow) -> Cell {
    match (&row.who, row.differences.len()) {
        (Who::Algorithm(_), 0) => Cell::styled("equal", GOOD),
        (Who::Library { reason, .. }, 0) => Cell::from(reason),
        (Who::Nobody { .. }, 0) => {
            let others = if row.calls > 1 { "; and others" } else { "" };
            Cell::styled(format!("{}{others}", row.error.as_deref().unwrap_or_default()), NOTICE)
        }
        (_, differences) => Cell::styled(counted(differences as i64, "difference"), BAD),
    }
}

fn differences(row: &TraceRow) -> String {
    let mut out: String = row.differences.iter().take(TOLD).map(|one| format!("  {one}\n")).collect();
    if let more @ 1.. = row.differences.len().saturating_sub(TOLD) {
        let _ = writeln!(out, "  and {more} more");
    }
    out
}

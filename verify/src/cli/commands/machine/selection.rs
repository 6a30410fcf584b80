//! `roundel selection`: rules that select the algorithm of a call.

use super::profile;
use crate::cli::commands::{CommandOutcome, counted, print, print_json};
use crate::cli::range::MAX_P;
use crate::cli::{CheckSelectionArgs, ExplainSelectionArgs, SelectionCommand};
use crate::error::Error;
use crate::report::table::{Align, Cell, FAINT, HEADING, Table};
use roundel::selection::{Answer, Force, Question, Reason, Rule, RuleError, SCHEMA, Selection};
use roundel_spec::Kind;
use serde::Serialize;
use std::path::Path;

/// A rule, for JSON output.
#[derive(Serialize)]
struct RuleReport {
    line: usize,
    collective: &'static str,
    p: String,
    nodes: String,
    ppn: String,
    placement: &'static str,
    bytes: String,
    order: &'static str,
    algorithm: String,
    proof: String,
}

/// A choice, for JSON output.
#[derive(Serialize)]
struct SelectionExplanation {
    collective: &'static str,
    p: usize,
    nodes: usize,
    ppn: [usize; 2],
    placement: &'static str,
    bytes: u64,
    algorithm: String,
    #[serde(rename = "why")]
    reason: String,
    rule: Option<usize>,
    proof: String,
    passed: Vec<String>,
}

/// Runs a subcommand.
pub(crate) fn selection(command: &SelectionCommand, json: bool) -> Result<CommandOutcome, Error> {
    match command {
        SelectionCommand::Check(args) => check(args, json)?,
        SelectionCommand::Explain(args) => explain(args, json)?,
        SelectionCommand::Schema => print(SCHEMA)?,
    }
    Ok(CommandOutcome::Fine)
}

fn check(args: &CheckSelectionArgs, json: bool) -> Result<(), Error> {
    let selection = read(&args.file)?;
    let rules = selection.rules();
    if json {
        return print_json(&rules.iter().map(said).collect::<Vec<_>>());
    }
    print(&text(rules))
}

fn read(path: &Path) -> Result<Selection, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.into(), source })?;
    Selection::parse(&text).map_err(|source| Error::Selection { path: path.into(), source })
}

fn said(rule: &Rule) -> RuleReport {
    let region = &rule.region;
    RuleReport {
        line: rule.line,
        collective: rule.kind.name(),
        p: region.p().to_string(),
        nodes: region.nodes().to_string(),
        ppn: region.ppn().to_string(),
        placement: region.shape().name(),
        bytes: region.bytes().to_string(),
        order: rule.order(),
        algorithm: rule.implementation.to_string(),
        proof: rule.implementation.proof(),
    }
}

/// The calls that each rule covers.
fn text(rules: &[Rule]) -> String {
    let heads = [("line", Align::Right), ("calls", Align::Left), ("algorithm", Align::Left), ("proof", Align::Left)];
    let mut table = Table::new(heads);
    for rule in rules {
        let implementation = Cell::styled(rule.implementation.to_string(), HEADING);
        table.row([rule.line.into(), rule.calls().into(), implementation, rule.implementation.proof().into()]);
    }
    let fine = counted(rules.len() as i64, "rule");
    let note = "the first rule that matches counts; without one, the default of docs/selection.md";
    format!("{table}\n{fine}, all of them possible: {FAINT}{note}{FAINT:#}\n")
}

fn explain(args: &ExplainSelectionArgs, json: bool) -> Result<(), Error> {
    let mut rules = args.file.as_deref().map_or_else(|| Ok(Selection::default()), read)?;
    if let Some(path) = &args.profile {
        rules = rules.with_profile(&profile::read(path, args.foreign)?);
    }
    let (rules, call) = (rules.forcing(Force::read(&args.force)?), call(args)?);
    let chosen = if args.request {
        rules.ports(&call).ok_or(Error::NoPorts { call: call.to_string() })?
    } else {
        rules.choose(&call)
    };
    if json { print_json(&explained(&chosen)) } else { print(&format!("{}\n", chosen.explain())) }
}

fn call(args: &ExplainSelectionArgs) -> Result<Question, Error> {
    let name = args.collective.replace('-', "_");
    let kind: Kind = name.parse().map_err(|()| RuleError::Collective { name: args.collective.clone() })?;
    let placed = args.placing.placement.is_some();
    let (limit, reason) = match placed {
        true => (MAX_P, "every rank is placed one by one"),
        false => (i32::MAX as usize, "MPI counts no more"),
    };
    if !(1..=limit).contains(&args.p) {
        return Err(Error::Ranks { p: args.p, limit, reason });
    }
    let call = match (placed, args.placing.ppn) {
        (true, _) => Question::at(kind, &args.placing.of(args.p)?, args.bytes),
        (false, Some(0)) => return Err(Error::NoRanksPerNode { p: args.p }),
        (false, ppn) => Question::new(kind, args.p, ppn.unwrap_or(args.p), args.bytes),
    };
    Ok(Question { commutes: !args.ordered, reproducible: args.reproducible, ..call })
}

fn explained(chosen: &Answer) -> SelectionExplanation {
    let call = &chosen.question;
    SelectionExplanation {
        collective: call.kind.name(),
        p: call.p,
        nodes: call.nodes,
        ppn: [call.ppn_min, call.ppn_max],
        placement: call.shape.name(),
        bytes: call.bytes,
        algorithm: chosen.implementation.to_string(),
        reason: chosen.reason.to_string(),
        rule: if let Reason::Rule { line } = chosen.reason { Some(line) } else { None },
        proof: chosen.proof(),
        passed: chosen.passed.clone(),
    }
}

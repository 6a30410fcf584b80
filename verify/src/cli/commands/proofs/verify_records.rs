//! `roundel prove --verify-records`: checks that proof records match what would be proved today.
//!
//! A record counts at build time if its parts are consistent. This module has the query generator, so it checks that
//! every query of a record is one that is generated today, and that its number of checked points is correct. Verdicts
//! are trusted; with `--again` the engines produce them again.

use crate::cli::commands::check::Subject;
use crate::cli::commands::{CommandOutcome, counted, print, print_json};
use crate::error::Error;
use crate::proving::prove::outdated;
use crate::proving::sweep;
use crate::report::table::{BAD, FAINT, GOOD, HEADING};
use roundel_spec::Schedule;
use roundel_spec::check::{self, Point, Points};
use roundel_spec::proof::{Exhaustive, Record};
use serde::Serialize;
use std::path::PathBuf;

/// The result for one record.
#[derive(Serialize)]
struct Found {
    name: String,
    record: Option<PathBuf>,
    proved_for: Option<String>,
    /// The number of queries compared.
    questions: usize,
    /// The problems found.
    wrong: Vec<String>,
}

#[derive(Serialize)]
struct RecordsReport<'a> {
    ok: bool,
    records: &'a [Found],
}

/// The record of a collective, as stored in its crate; `None` if there is none.
pub(super) fn stored(subject: &Subject<'_>) -> Option<(PathBuf, String)> {
    let path = Record::path(&subject.crate_root()?, &subject.schedule);
    let text = std::fs::read_to_string(&path).ok()?;
    Some((path, text))
}

/// Verifies the records of all subjects.
pub(super) fn verify(subjects: &[&Subject<'_>], json: bool) -> Result<CommandOutcome, Error> {
    let all: Vec<_> = subjects.iter().map(|subject| (&subject.name, &subject.schedule, stored(subject))).collect();
    let found = sweep::parallel(all.len(), |i| one(all[i].0, all[i].1, all[i].2.as_ref()));
    let ok = found.iter().all(|found| found.wrong.is_empty());
    match json {
        true => print_json(&RecordsReport { ok, records: &found })?,
        false => print(&text(&found))?,
    }
    Ok(if ok { CommandOutcome::Fine } else { CommandOutcome::Wrong })
}

fn one(name: &str, schedule: &Schedule, stored: Option<&(PathBuf, String)>) -> Found {
    let mut found = Found { name: name.into(), record: None, proved_for: None, questions: 0, wrong: Vec::new() };
    let Some((path, text)) = stored else { return found };
    found.record = Some(path.clone());
    match Record::read(text, schedule) {
        Err(unfit) => found.wrong.push(unfit.to_string()),
        Ok(record) => {
            found.proved_for = Some(record.text(schedule));
            found.questions = record.induction.as_ref().map_or(0, |part| part.obligations.len() + part.lemmas.len());
            found.wrong = outdated(schedule, &record);
            found.wrong.extend(record.exhaustive.as_ref().and_then(|part| miscounted(schedule, part)));
        }
    }
    found
}

/// Reports if the number of points in a record's range differs from the stated one.
fn miscounted(schedule: &Schedule, part: &Exhaustive) -> Option<String> {
    let mut limited = schedule.clone();
    limited.limits.numbers = part.range.numbers.iter().flatten().copied().collect();
    limited.limits.lists = part.range.lists.iter().flatten().copied().collect();
    let points = Points::new(&limited, 1..=part.range.p.unwrap_or(0).max(0) as usize).thorough();
    if points.range(&limited).as_ref() != Some(&part.range) {
        return Some("no check covers the range that was checked".into());
    }
    let admitted = |point: &Point| check::in_domain(schedule, point).unwrap_or(true);
    let cases = points.iter().filter(admitted).count();
    (cases != part.cases).then(|| format!("{cases} points lie in what was checked, and it says {}", part.cases))
}

fn text(found: &[Found]) -> String {
    let mut out = String::new();
    for Found { name, record, proved_for, questions, wrong } in found {
        let Some(path) = record else {
            out += &format!("{HEADING}{name}{HEADING:#}: there is no record\n");
            continue;
        };
        let path = format!("{FAINT}({}){FAINT:#}", path.display());
        out += &match proved_for.as_ref().filter(|_| wrong.is_empty()) {
            Some(range) => {
                format!("{HEADING}{name}{HEADING:#}: {GOOD}{range}{GOOD:#}, {questions} questions {path}\n")
            }
            None => format!("{HEADING}{name}{HEADING:#}: {BAD}the record does not count{BAD:#} {path}\n"),
        };
        for reason in wrong.iter().take(5) {
            out += &format!("  {reason}\n");
        }
        if wrong.len() > 5 {
            out += &format!("  and {} more\n", wrong.len() - 5);
        }
    }
    let wrong = found.iter().filter(|found| !found.wrong.is_empty()).count();
    let there = found.iter().filter(|found| found.record.is_some()).count() as i64;
    match wrong {
        0 => out + &format!("{} as they would be asked today\n", counted(there, "record")),
        _ => {
            out + &format!(
                "{wrong} of {} to be proved again: `roundel prove` writes them\n",
                counted(there, "record")
            )
        }
    }
}

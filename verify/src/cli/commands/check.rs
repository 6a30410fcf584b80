//! `roundel check`: exact checks over a range, of generated code and of declarations in files.

use super::target::{Target, declaration_of};
use super::{CommandOutcome, counted, print, print_json, save};
use crate::catalogue;
use crate::cli::CheckArgs;
use crate::cli::range::ProcessRange;
use crate::cli::setting::{ParameterSettings, Setting};
use crate::declared::crate_of;
use crate::error::Error;
use crate::proving::sweep::{self, CheckPoint, SweepTask, Tally, Visit};
use crate::proving::trial::{Performer, Trial};
use crate::recorded;
use crate::replay::counterexample::Counterexample;
use crate::report::table::{Align, BAD, Cell, GOOD, HEADING, NOTICE, Table};
use crate::source::{Diagnostic, Source};
use anstyle::Style;
use roundel::Layout;
use roundel::algorithms::{self, Entry};
use roundel_spec::check::{self, LooseBound, Point, Points};
use roundel_spec::proof::FoundClause;
use roundel_spec::schedule::{self, Schedule};
use roundel_spec::syntax::Declaration;
use roundel_spec::violation::Case;
use roundel_spec::{Placement, Violation};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The default range for the catalogue.
const CATALOGUE_RANGE: ProcessRange = ProcessRange { from: 1, to: 64 };

/// The default range for an entry: one block per pair of ranks on every placement would take too long.
fn catalogue_range(schedule: &Schedule) -> ProcessRange {
    let heavy = schedule.kind.moves() && schedule.uses_placement();
    ProcessRange { to: if heavy { 32 } else { CATALOGUE_RANGE.to }, ..CATALOGUE_RANGE }
}

/// The largest number of threads on which catalogue entries are also run.
const LARGEST_RUN: usize = 16;

/// The largest p at which bounds are looked at that may be too large.
const LARGEST_NOTED: usize = 24;

/// The size of a block in those runs.
const RUN_BYTES: usize = 5;

/// Checks the requested targets.
pub(super) fn check(args: &CheckArgs, json: bool) -> Result<CommandOutcome, Error> {
    let targets = Target::all(&args.of)?;
    let placed = args.placing.over(args.p, CATALOGUE_RANGE)?;
    let range = placed.as_ref().map_or(args.p, |(range, _)| Some(*range));
    let mut candidates = candidates(&targets, range, &args.set, catalogue_range)?;
    for subject in candidates.iter_mut().flatten() {
        subject.claim_what_was_found();
        subject.placements = placed.as_ref().map(|(_, placements)| placements.clone());
    }
    let subjects: Vec<&Subject<'_>> = candidates.iter().filter_map(|candidate| candidate.as_ref().ok()).collect();
    let found = sweep::sweep(&subjects.iter().map(|subject| subject.job()).collect::<Vec<_>>(), "checking");
    let ran = sweep::sweep(&subjects.iter().map(|subject| subject.runs()).collect::<Vec<_>>(), "running");
    let mut tallies = found.into_iter().zip(ran);
    let (mut reports, mut counterexamples) = (Vec::new(), Vec::new());
    for candidate in candidates {
        reports.push(match (candidate, &mut tallies) {
            (Err(malformed), _) => malformed,
            (Ok(subject), tallies) => match tallies.next() {
                Some((found, ran)) => {
                    let one = |violation| subject.counterexample(violation);
                    counterexamples.extend(found.wrong.as_deref().map(one));
                    subject.report(found, ran)?
                }
                None => continue,
            },
        });
    }
    for report in &reports {
        report.print_errors();
    }
    save(args.save.as_deref(), &counterexamples)?;
    let outcome = outcome(&reports, args.of.all);
    if json {
        print_json(&CheckSummary { ok: outcome == CommandOutcome::Fine, collectives: &reports })?;
    } else {
        print(&text(&reports))?;
    }
    Ok(outcome)
}

/// A schedule that can be checked at points.
pub(super) struct Subject<'a> {
    pub(super) name: String,
    pub(super) schedule: Schedule,
    /// The clauses that its record adds.
    pub(super) found: Vec<FoundClause>,
    pub(super) range: ProcessRange,
    /// Restricts the check to these placements.
    placements: Option<Vec<Placement>>,
    /// The parameters that the command line sets.
    settings: ParameterSettings,
    origin: Origin<'a>,
}

enum Origin<'a> {
    Catalogue(&'static Entry),
    File(&'a Source, &'a Declaration),
}

/// All subjects, and reports about targets that cannot become one, in the order of the command line.
pub(super) fn candidates<'a>(
    targets: &'a [Target],
    range: Option<ProcessRange>,
    set: &[Setting],
    catalogue: impl Fn(&Schedule) -> ProcessRange,
) -> Result<Vec<Result<Subject<'a>, CheckReport>>, Error> {
    let mut all: Vec<Result<Subject<'a>, CheckReport>> = Vec::new();
    for target in targets {
        match target {
            Target::Entry(entry) => {
                let schedule = (entry.schedule)();
                let range = range.unwrap_or_else(|| catalogue(&schedule));
                let (name, origin) = (entry.name.into(), Origin::Catalogue(entry));
                let settings = ParameterSettings::default();
                let found = recorded::found(&schedule, Some(Path::new(algorithms::CRATE_ROOT)));
                all.push(Ok(Subject { name, schedule, found, range, placements: None, settings, origin }));
            }
            Target::File(source, Err(errors)) => {
                all.push(Err(CheckReport::malformed(&source.origin, source, errors)))
            }
            Target::File(source, Ok(declared)) => {
                for one in declared {
                    all.push(match &one.result {
                        Ok(declaration) => Ok(Subject::in_file(source, declaration, range)?),
                        Err(errors) => Err(CheckReport::malformed(&one.name, source, errors)),
                    });
                }
            }
        }
    }
    let known: Vec<(&str, &Schedule)> = all.iter().flatten().map(|one| (one.name.as_str(), &one.schedule)).collect();
    ParameterSettings::make_sense(set, &known)?;
    for subject in all.iter_mut().flatten() {
        subject.settings = ParameterSettings::of(&subject.name, &mut subject.schedule, set)?;
    }
    Ok(all)
}

impl<'a> Subject<'a> {
    fn in_file(source: &'a Source, declaration: &'a Declaration, range: Option<ProcessRange>) -> Result<Self, Error> {
        let schedule = declaration.schedule.clone();
        let own_limits = || format!("1..={}", schedule.limits.p.max(1)).parse();
        Ok(Subject {
            name: schedule.name.clone(),
            range: range.map_or_else(own_limits, Ok)?,
            found: recorded::found(&schedule, crate_of(Path::new(&source.origin)).as_deref()),
            schedule,
            placements: None,
            settings: ParameterSettings::default(),
            origin: Origin::File(source, declaration),
        })
    }

    /// The same with the clauses of its record, as if they had been written.
    pub(super) fn claim_what_was_found(&mut self) {
        if let Ok(claimed) = self.schedule.claiming(&self.found) {
            self.schedule = claimed;
        }
    }

    /// The process counts, and the parameters that the command line sets.
    pub(super) fn range_in_words(&self) -> String {
        let set = self.settings.in_words().map_or(String::new(), |set| format!(", {set}"));
        format!("{}{set}", self.range)
    }

    /// The root of the crate that declares it, if known.
    pub(super) fn crate_root(&self) -> Option<PathBuf> {
        match self.origin {
            Origin::Catalogue(_) => Some(PathBuf::from(algorithms::CRATE_ROOT)).filter(|root| root.is_dir()),
            Origin::File(source, _) => crate_of(Path::new(&source.origin)),
        }
    }

    /// The file that declares it, if known.
    pub(super) fn file(&self) -> Option<PathBuf> {
        match self.origin {
            Origin::Catalogue(entry) => {
                let file = format!("src/algorithms/{}.rs", entry.name.replace('-', "_"));
                Some(Path::new(algorithms::CRATE_ROOT).join(file)).filter(|file| file.is_file())
            }
            Origin::File(source, _) => Some(PathBuf::from(&source.origin)),
        }
    }

    pub(super) fn points(&self, range: ProcessRange) -> Points {
        let mut points = Points::new(&self.schedule, range.iter());
        if let Some(choices) = self.settings.choices() {
            points = points.choosing(choices.clone());
        }
        match &self.placements {
            Some(placements) => points.placed(placements.clone()),
            None => points,
        }
    }

    /// The exact check, of the generated code if there is any.
    pub(super) fn job(&self) -> SweepTask<'_, Box<Violation>> {
        let schedule = &self.schedule;
        let check: CheckPoint<'_, _> = match self.origin {
            Origin::Catalogue(entry) => Box::new(move |point| check_code(entry, schedule, point)),
            Origin::File(..) => Box::new(move |point| {
                let passed = check::at_point(schedule, point)?;
                Ok(if passed.is_some() { Visit::Checked } else { Visit::Refused })
            }),
        };
        SweepTask { points: self.points(self.range).thorough(), check }
    }

    /// Runs on threads, for small p; none for declarations that are not compiled.
    fn runs(&self) -> SweepTask<'_, String> {
        let range = self.range.up_to(LARGEST_RUN);
        match (&self.origin, range) {
            (Origin::Catalogue(entry), Some(range)) => {
                let (entry, schedule) = (*entry, &self.schedule);
                let check = move |point: &Point| run_code(entry, schedule, point);
                SweepTask { points: self.points(range), check: Box::new(check) }
            }
            _ => {
                let none = ProcessRange { from: 1, to: 0 };
                SweepTask { points: self.points(none), check: Box::new(|_| Ok(Visit::Refused)) }
            }
        }
    }

    fn report(&self, found: Tally<Box<Violation>>, ran: Tally<String>) -> Result<CheckReport, Error> {
        let (origin, has_runs) = match self.origin {
            Origin::Catalogue(_) => ("catalogue".to_string(), true),
            Origin::File(source, _) => (source.origin.clone(), false),
        };
        let verdict = match &found.wrong {
            Some(_) => CheckVerdict::Violation,
            None if found.checked == 0 => CheckVerdict::NothingChecked,
            None => CheckVerdict::Ok,
        };
        let mut errors = Vec::new();
        if let Some(violation) = &found.wrong {
            errors.push(self.shown(violation)?);
        }
        if let Some(reason) = &ran.wrong {
            let message = format!("{} gives a wrong result on threads: {reason}", self.name);
            errors.push(ErrorReport::plain(message));
        }
        if verdict == CheckVerdict::NothingChecked {
            errors.push(self.nothing_checked()?);
        }
        Ok(CheckReport {
            name: self.name.clone(),
            origin,
            range: Some(self.range_in_words()),
            checked: found.checked,
            refused: found.refused,
            verdict,
            violation: found.wrong.as_deref().map(Fact::new),
            runs: has_runs.then_some(ran.checked),
            runs_correct: has_runs.then_some(ran.wrong.is_none()),
            seconds: (found.time + ran.time).as_secs_f64(),
            errors,
            notes: if verdict == CheckVerdict::Ok { self.notes() } else { Vec::new() },
        })
    }

    /// Declared bounds of a file that are too large; those of the catalogue are known.
    fn notes(&self) -> Vec<String> {
        let Some(range) = self.range.up_to(LARGEST_NOTED).filter(|_| matches!(self.origin, Origin::File(..))) else {
            return Vec::new();
        };
        let note = |loose: LooseBound| {
            let LooseBound { bound, case, value, found } = loose;
            let (bound, name) = (&self.schedule.bounds[bound], &self.name);
            format!("the bound `{bound}` of {name} is not tight: with {case} it is {value}, and {found} is the most")
        };
        check::loose_bounds(&self.schedule, &self.points(range)).into_iter().map(note).collect()
    }

    /// Reports that the range contains no point of the domain; for a file, at the clause that restricts it.
    fn nothing_checked(&self) -> Result<ErrorReport, Error> {
        let (name, range) = (&self.name, self.range);
        let text = format!(
            "nothing checked: no point of p = {} lies in the domain of {name}; choose another `-p`",
            self.range_in_words()
        );
        match (&self.origin, check::over(&self.schedule, &self.points(range))) {
            (Origin::File(..), Err(violation)) => self.shown(&violation),
            _ => Ok(ErrorReport { text: text.clone(), ..ErrorReport::plain(text) }),
        }
    }

    fn counterexample(&self, violation: &Violation) -> Counterexample {
        Counterexample::of_violation("exhaustive", &self.name, &self.schedule, violation)
    }

    /// A violation with its source position.
    pub(super) fn shown(&self, violation: &Violation) -> Result<ErrorReport, Error> {
        let diagnose = |source: &Source, declaration: &Declaration| {
            let errors = source.diagnose(&declaration.error(violation, &self.points(self.range)));
            let other = declaration.place_of_other(violation);
            let shown = errors.into_iter().next().map(|error| error.with_other(source, other));
            let shown = shown.map(|error| ErrorReport::placed(source, error));
            shown.unwrap_or_else(|| ErrorReport::plain(violation.to_string()))
        };
        Ok(match self.origin {
            Origin::File(source, declaration) => diagnose(source, declaration),
            Origin::Catalogue(entry) => {
                let (source, declaration) = declaration_of(entry)?;
                diagnose(&source, &declaration)
            }
        })
    }
}

/// Checks what the generated code does at a point.
fn check_code(entry: &'static Entry, schedule: &Schedule, point: &Point) -> Result<Visit, Box<Violation>> {
    match catalogue::record(entry, &point.args, &point.placement) {
        Ok(Ok(trace)) => Ok(check::trace(schedule, point, &trace).map(|_| Visit::Checked)?),
        Ok(Err(_)) | Err(_) => Ok(Visit::Refused),
    }
}

/// Runs the generated code at a point, in every declared layout, with blocks of equal and of different lengths. It
/// refuses what is not proved, which is then not counted.
fn run_code(entry: &'static Entry, declaration: &Schedule, point: &Point) -> Result<Visit, String> {
    let case = |reason: String| format!("with {}, {reason}", point.case(declaration));
    if !check::in_domain(declaration, point).map_err(|violation| violation.to_string())? {
        return Ok(Visit::Refused);
    }
    if catalogue::proved(entry, &point.args, &point.placement).is_err() {
        return Ok(Visit::Refused);
    }
    for layout in &declaration.layouts {
        let layout = match layout {
            schedule::Layout::InPlace => Layout::InPlace,
            schedule::Layout::Rotated(_) => Layout::Rotated,
        };
        let performer = Performer::Code(entry);
        let trial = Trial { performer, args: &point.args, placement: &point.placement, layout };
        trial.uniform(RUN_BYTES, 1).map_err(case)?;
        trial.varying().map_err(case)?;
    }
    Ok(Visit::Checked)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum CheckVerdict {
    Ok,
    Violation,
    NothingChecked,
    Malformed,
}

/// The result for one collective.
#[derive(Serialize)]
pub(super) struct CheckReport {
    name: String,
    origin: String,
    range: Option<String>,
    checked: usize,
    refused: usize,
    verdict: CheckVerdict,
    violation: Option<Fact>,
    /// The number of points at which it was run on threads; `None` if there is no code to run.
    runs: Option<usize>,
    runs_correct: Option<bool>,
    seconds: f64,
    errors: Vec<ErrorReport>,
    /// What is right, and could be better.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// A violation, for JSON output.
#[derive(Serialize)]
struct Fact {
    code: &'static str,
    p: usize,
    ppn: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<Vec<usize>>,
    params: BTreeMap<String, String>,
    round: Option<usize>,
}

impl Fact {
    fn new(violation: &Violation) -> Self {
        let Case { p, ppn, nodes, params, pairs: _ } = violation.case.clone();
        Fact { code: violation.code(), p, ppn, nodes, params: params.into_iter().collect(), round: violation.round }
    }
}

/// An error as it is shown.
#[derive(Serialize)]
pub(super) struct ErrorReport {
    message: String,
    file: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
    #[serde(skip)]
    text: String,
}

impl ErrorReport {
    fn placed(source: &Source, error: Diagnostic) -> Self {
        let text = error.render(source);
        let Diagnostic { message, file, line, column, .. } = error;
        ErrorReport { message, file: Some(file), line: Some(line), column: Some(column), text }
    }

    /// Prints it.
    pub(super) fn print(&self) {
        anstream::eprintln!("{}\n", self.text);
    }

    fn plain(message: String) -> Self {
        let text = format!("{BAD}error{BAD:#}: {message}");
        ErrorReport { message, file: None, line: None, column: None, text }
    }
}

impl CheckReport {
    fn malformed(name: &str, source: &Source, errors: &[Diagnostic]) -> Self {
        CheckReport {
            name: name.into(),
            origin: source.origin.clone(),
            range: None,
            checked: 0,
            refused: 0,
            verdict: CheckVerdict::Malformed,
            violation: None,
            runs: None,
            runs_correct: None,
            seconds: 0.0,
            notes: Vec::new(),
            errors: errors.iter().map(|error| ErrorReport::placed(source, error.clone())).collect(),
        }
    }
}

/// All reports, for JSON output.
#[derive(Serialize)]
struct CheckSummary<'a> {
    ok: bool,
    collectives: &'a [CheckReport],
}

impl CheckReport {
    /// Prints the errors.
    pub(super) fn print_errors(&self) {
        self.errors.iter().for_each(ErrorReport::print);
    }

    /// The errors, for JSON output.
    pub(super) fn errors_alone(&self) -> serde_json::Value {
        serde_json::json!({ "ok": false, "errors": self.errors })
    }

    fn wrong(&self) -> bool {
        self.verdict == CheckVerdict::Violation || self.runs_correct == Some(false)
    }
}

/// A range without a point of a collective's domain is an error only if the collective was named.
fn outcome(reports: &[CheckReport], all: bool) -> CommandOutcome {
    let any = |verdict| reports.iter().any(|report| report.verdict == verdict);
    if reports.iter().any(CheckReport::wrong) || (!all && any(CheckVerdict::NothingChecked)) {
        CommandOutcome::Wrong
    } else if any(CheckVerdict::Malformed) {
        CommandOutcome::Malformed
    } else {
        CommandOutcome::Fine
    }
}

fn text(reports: &[CheckReport]) -> String {
    let heads = [
        ("collective", Align::Left),
        ("p", Align::Left),
        ("checked", Align::Right),
        ("refused", Align::Right),
        ("verdict", Align::Left),
        ("run", Align::Right),
        ("on threads", Align::Left),
        ("seconds", Align::Right),
    ];
    let mut table = Table::new(heads);
    for report in reports {
        let verdict = match report.verdict {
            CheckVerdict::Ok => Cell::styled("ok", GOOD),
            CheckVerdict::Violation => Cell::styled("VIOLATION", BAD),
            CheckVerdict::NothingChecked => Cell::styled("nothing checked", NOTICE),
            CheckVerdict::Malformed => Cell::styled("MALFORMED", BAD),
        };
        let threads = match (report.runs, report.runs_correct) {
            (_, Some(false)) => Cell::styled("WRONG", BAD),
            (Some(1..), Some(true)) => Cell::styled("ok", GOOD),
            _ => "-".into(),
        };
        table.row([
            Cell::styled(&report.name, HEADING),
            report.range.as_deref().unwrap_or("-").into(),
            report.checked.into(),
            report.refused.into(),
            verdict,
            report.runs.map_or("-".into(), Cell::from),
            threads,
            format!("{:.2}", report.seconds).into(),
        ]);
    }
    let notes = reports.iter().flat_map(|report| &report.notes);
    let notes: String = notes.map(|note| format!("{NOTICE}note{NOTICE:#}: {note}\n")).collect();
    format!("{table}\n{notes}{}\n", conclusion(reports))
}

fn conclusion(reports: &[CheckReport]) -> String {
    let count = |wanted: &dyn Fn(&CheckReport) -> bool| reports.iter().filter(|report| wanted(report)).count() as i64;
    let correct = count(&|report| report.verdict == CheckVerdict::Ok && !report.wrong());
    let checked: usize = reports.iter().filter(|report| !report.wrong()).map(|report| report.checked).sum();
    let runs: usize = reports.iter().filter_map(|report| report.runs).sum();
    let mut parts = Vec::new();
    if correct > 0 {
        let ran = match runs {
            0 => String::new(),
            runs => format!(", and right in runs on threads at {}", counted(runs as i64, "point")),
        };
        let (what, points) = (counted(correct, "collective"), counted(checked as i64, "point"));
        parts.push(format!("{GOOD}{what} correct{GOOD:#} at {points}{ran}"));
    }
    let mut others = |n: i64, style: Style, text: &str| {
        if n > 0 {
            parts.push(format!("{style}{} {text}{style:#}", counted(n, "collective")));
        }
    };
    others(count(&CheckReport::wrong), BAD, "wrong");
    others(count(&|report| report.verdict == CheckVerdict::Malformed), BAD, "malformed");
    others(count(&|report| report.verdict == CheckVerdict::NothingChecked), NOTICE, "without a point in the range");
    parts.join("; ")
}

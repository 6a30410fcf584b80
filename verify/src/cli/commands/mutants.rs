//! `roundel mutants`: measures whether the checker notices faults.

use super::target::{Target, all_or_errors, malformed};
use super::{CommandOutcome, counted, print, print_json, save};
use crate::attack::mutants::harness::KILLERS;
use crate::attack::mutants::induction::{self, OBSTACLES};
use crate::attack::mutants::{self, Class, Fate, Mutant, Original};
use crate::cli::{MutantsArgs, Tested};
use crate::declared::crate_of;
use crate::error::Error;
use crate::proving::progress::WorkProgress;
use crate::proving::smt::{Effort, Portfolio};
use crate::proving::sweep::parallel;
use crate::recorded;
use crate::replay::counterexample::Counterexample;
use crate::report::table::{Align, BAD, Cell, FAINT, GOOD, HEADING, NOTICE, Table};
use anstyle::Style;
use roundel_spec::Violation;
use roundel_spec::check::Points;
use roundel_spec::harness::claims::has_harnesses;
use roundel_spec::schedule::Schedule;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

/// The label of a fault that the checker missed.
const ESCAPED: &str = "ESCAPED";
/// The label of a correct mutant that the checker rejected.
const FALSE_ALARM: &str = "FALSE ALARM";

/// The default number of second-order mutants.
const PAIRS: usize = 200;

/// Creates mutants and reports their fates.
pub(super) fn mutants(args: &MutantsArgs, json: bool) -> Result<CommandOutcome, Error> {
    let start = Instant::now();
    let mut schedules = Vec::new();
    for target in Target::all(&args.of)? {
        match target {
            Target::Entry(entry) => schedules.push((entry.name.to_string(), recorded::of_entry(entry))),
            Target::File(source, declared) => match all_or_errors(declared) {
                Ok(all) => {
                    let root = crate_of(Path::new(&source.origin));
                    let claimed = |schedule| recorded::claimed(schedule, root.as_deref());
                    schedules.extend(all.into_iter().map(|d| (d.schedule.name.clone(), claimed(d.schedule))));
                }
                Err(errors) => return malformed(&source, &errors, json),
            },
        }
    }
    if args.engine == Tested::Harness {
        keep_those_with_harnesses(&mut schedules, args.of.all)?;
    }
    if args.engine == Tested::Smt {
        schedules.iter_mut().for_each(|(_, schedule)| *schedule = schedule.inducted());
    }
    let (reports, counterexamples) = report_all(schedules, &Inquiry::new(args)?)?;
    save(args.save.as_deref(), &counterexamples)?;
    // A range without a point of a collective's domain is an error only if the collective was named.
    let fine = |report: &MutantsReport| report.fine() || (args.of.all && report.unmeasured);
    let outcome = if reports.iter().all(fine) { CommandOutcome::Fine } else { CommandOutcome::Wrong };
    if json {
        let (ok, engine) = (outcome == CommandOutcome::Fine, args.engine.name());
        print_json(&MutantsSummary {
            ok,
            engine,
            order: args.order,
            range: args.p.to_string(),
            collectives: &reports,
        })?;
    } else {
        print(&text(&reports, args, start))?;
    }
    Ok(outcome)
}

/// Keeps the collectives with harnesses. One without is an error if it was named, and is skipped otherwise.
fn keep_those_with_harnesses(schedules: &mut Vec<(String, Schedule)>, all: bool) -> Result<(), Error> {
    match schedules.iter().find(|(_, schedule)| !has_harnesses(schedule)) {
        Some((name, _)) if !all => Err(Error::NoHarness { name: name.clone() }),
        _ => {
            schedules.retain(|(_, schedule)| has_harnesses(schedule));
            Ok(())
        }
    }
}

struct Inquiry<'a> {
    args: &'a MutantsArgs,
    /// The solvers, if the engine needs them.
    portfolio: Option<Portfolio>,
}

impl<'a> Inquiry<'a> {
    fn new(args: &'a MutantsArgs) -> Result<Self, Error> {
        let portfolio = match args.engine {
            Tested::Exhaustive | Tested::Harness => None,
            Tested::Smt => Some(Portfolio { limit: Effort::seconds(args.limit), ..Portfolio::installed() }),
        };
        match &portfolio {
            Some(portfolio) if portfolio.solvers.is_empty() => Err(Error::NoSolver),
            _ => Ok(Inquiry { args, portfolio }),
        }
    }

    fn litter(&self, name: &str, schedule: &Schedule) -> Result<Vec<Mutant>, Error> {
        let mut all = match (self.args.order, self.args.sample) {
            (1, None) => mutants::mutants(schedule),
            (1, Some(n)) => mutants::sample(mutants::mutants(schedule), n),
            (_, n) => mutants::pairs(schedule, n.unwrap_or(PAIRS)),
        };
        if let Some(id) = self.args.only {
            let (name, count) = (name.to_string(), all.len());
            all.retain(|mutant| mutant.id == id);
            if all.is_empty() {
                return Err(Error::NoSuchMutant { name, id, count });
            }
        }
        Ok(all)
    }

    /// The counterexamples behind the fates of one collective's mutants. A solver has to be asked again, so the first
    /// of its models suffices.
    fn counterexamples(
        &self,
        name: &str,
        original: &Original,
        litter: &[Mutant],
        fates: &[Fate],
    ) -> Vec<Counterexample> {
        let wrong = litter.iter().zip(fates).filter_map(|(mutant, fate)| match fate {
            Fate::Killed(_) | Fate::Escaped(_) => Some((mutant, fate, original.violation(&mutant.schedule)?)),
            _ => None,
        });
        let exact = |mutant: &Mutant, violation: &Violation| {
            let one = Counterexample::of_violation("exhaustive", name, &mutant.schedule, violation);
            one.mutated(&mutant.description)
        };
        let Some(portfolio) = &self.portfolio else {
            return wrong.map(|(mutant, _, violation)| exact(mutant, &violation)).collect();
        };
        let mut found: Option<Counterexample> = None;
        for (mutant, fate, violation) in wrong {
            if matches!(fate, Fate::Escaped(_)) {
                return vec![exact(mutant, &violation)];
            }
            if *fate == Fate::Killed("refuted") && found.is_none() {
                let model = induction::refutation(&mutant.schedule, &violation, portfolio);
                let of_model =
                    |model| Counterexample::of_model(name, &mutant.schedule, model).mutated(&mutant.description);
                found = model.as_ref().map(of_model).filter(Counterexample::is_readable);
            }
        }
        found.into_iter().collect()
    }

    fn fate(&self, original: &Original, mutant: &Schedule) -> Fate {
        match &self.portfolio {
            Some(portfolio) => original.fate_in_proof(mutant, portfolio),
            None if self.args.engine == Tested::Harness => original.fate_in_harnesses(mutant),
            None => original.fate(mutant),
        }
    }
}

/// All mutants of one collective.
#[derive(Serialize)]
struct MutantsReport {
    name: String,
    mutants: usize,
    killed: BTreeMap<&'static str, usize>,
    survived: BTreeMap<&'static str, usize>,
    /// Correct in the range, but not proved for all p.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    unproved: BTreeMap<&'static str, usize>,
    /// Wrong in a way that the engine does not claim to detect.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    unclaimed: BTreeMap<&'static str, usize>,
    escaped: usize,
    false_alarms: usize,
    /// No point of the range lies in the original's domain, so nothing was measured.
    unmeasured: bool,
    /// The fault of the original itself, in which case nothing was measured either.
    original: Option<String>,
    all: Vec<Individual>,
}

/// One mutant.
#[derive(Serialize)]
struct Individual {
    id: usize,
    description: String,
    fate: &'static str,
    /// The check that killed it, the class it survived in, or why it should not have survived.
    detail: String,
}

#[derive(Serialize)]
struct MutantsSummary<'a> {
    ok: bool,
    engine: &'static str,
    order: u8,
    range: String,
    collectives: &'a [MutantsReport],
}

impl MutantsReport {
    fn fine(&self) -> bool {
        self.escaped == 0 && self.false_alarms == 0 && self.original.is_none() && !self.unmeasured
    }
}

type Found = (Vec<MutantsReport>, Vec<Counterexample>);

fn report_all(schedules: Vec<(String, Schedule)>, inquiry: &Inquiry<'_>) -> Result<Found, Error> {
    let originals = parallel(schedules.len(), |n| {
        let schedule = &schedules[n].1;
        Original::new(schedule, &Points::new(schedule, inquiry.args.p.iter()))
    });
    let litters: Vec<Vec<Mutant>> =
        schedules.iter().map(|(name, schedule)| inquiry.litter(name, schedule)).collect::<Result<_, _>>()?;
    let work: Vec<(usize, &Mutant)> =
        litters.iter().enumerate().flat_map(|(n, litter)| litter.iter().map(move |mutant| (n, mutant))).collect();
    let progress = WorkProgress::new(work.len(), "mutants");
    let fates = parallel(work.len(), |i| {
        let (n, mutant) = work[i];
        let original = originals[n].as_ref().ok().filter(|original| !original.is_empty());
        let fate = original.map(|original| inquiry.fate(original, &mutant.schedule));
        progress.step();
        fate
    });
    let mut fates = fates.into_iter();
    let (mut reports, mut counterexamples) = (Vec::new(), Vec::new());
    for (((name, _), original), litter) in schedules.iter().zip(&originals).zip(&litters) {
        let fates: Vec<Fate> = fates.by_ref().take(litter.len()).flatten().collect();
        if let (Some(_), Ok(original)) = (&inquiry.args.save, original) {
            counterexamples.extend(inquiry.counterexamples(name, original, litter, &fates));
        }
        reports.push(report(name.clone(), original, litter, fates));
    }
    Ok((reports, counterexamples))
}

fn report(name: String, original: &Result<Original, String>, litter: &[Mutant], fates: Vec<Fate>) -> MutantsReport {
    let (mut killed, mut survived) = (BTreeMap::new(), BTreeMap::new());
    let (mut unproved, mut unclaimed) = (BTreeMap::new(), BTreeMap::new());
    let (mut escaped, mut false_alarms) = (0, 0);
    let mut all = Vec::new();
    for (mutant, fate) in litter.iter().zip(fates) {
        let (fate, detail) = match fate {
            Fate::Killed(code) => {
                *killed.entry(code).or_insert(0) += 1;
                ("killed", code.to_string())
            }
            Fate::Survived(class) => {
                *survived.entry(class.name()).or_insert(0) += 1;
                ("survived", class.name().to_string())
            }
            Fate::Escaped(reason) => {
                escaped += 1;
                (ESCAPED, reason)
            }
            Fate::Unproved(class) => {
                *unproved.entry(class.name()).or_insert(0) += 1;
                ("unproved", class.name().to_string())
            }
            Fate::Unclaimed(code) => {
                *unclaimed.entry(code).or_insert(0) += 1;
                ("unclaimed", code.to_string())
            }
            Fate::FalseAlarm(what) => {
                false_alarms += 1;
                (FALSE_ALARM, what)
            }
        };
        all.push(Individual { id: mutant.id, description: mutant.description.clone(), fate, detail });
    }
    let unmeasured = original.as_ref().is_ok_and(Original::is_empty);
    let original = original.as_ref().err().cloned();
    let mutants = all.len();
    MutantsReport {
        name,
        mutants,
        killed,
        survived,
        unproved,
        unclaimed,
        escaped,
        false_alarms,
        unmeasured,
        original,
        all,
    }
}

fn text(reports: &[MutantsReport], args: &MutantsArgs, start: Instant) -> String {
    let mut out = tables(reports, args.engine);
    for report in reports {
        if let Some(reason) = &report.original {
            let _ = writeln!(out, "\n{BAD}{} is wrong itself{BAD:#}: {reason}", report.name);
        }
        if report.unmeasured {
            let (name, range) = (&report.name, args.p);
            let reason = format!("no point of p = {range} lies in its domain; choose another `-p`");
            let _ = writeln!(out, "\n{NOTICE}{name}: nothing measured{NOTICE:#}: {reason}");
        }
        let disputed = |one: &Individual| one.fate == ESCAPED || one.fate == FALSE_ALARM;
        let differs = |one: &Individual| one.fate == "survived" && one.detail != Class::Identical.name();
        for one in report.all.iter().filter(|one| disputed(one) || (args.survivors && differs(one))) {
            let style = if disputed(one) { BAD } else { NOTICE };
            let Individual { id, description, fate, detail } = one;
            let _ = writeln!(out, "\n{style}{} #{id}{style:#} {description}\n  {fate}: {detail}", report.name);
        }
    }
    let sum = |count: fn(&MutantsReport) -> usize| reports.iter().map(count).sum::<usize>();
    let (total, escaped, false_alarms) = (sum(|r| r.mutants), sum(|r| r.escaped), sum(|r| r.false_alarms));
    let verdict = if escaped + false_alarms > 0 {
        let engine = args.engine.name();
        format!("{BAD}{escaped} ESCAPED, {false_alarms} FALSE ALARM: the {engine} engine is wrong{BAD:#}")
    } else {
        let fine = match args.engine {
            Tested::Exhaustive => "checker and independent simulation agree on every mutant",
            Tested::Smt => "no mutant with a fault in this range is proved",
            Tested::Harness => "no mutant for which a claim of the harnesses is false passes them",
        };
        format!("{GOOD}{fine}{GOOD:#}")
    };
    let seconds = start.elapsed().as_secs_f64();
    let _ = writeln!(out, "\n{}, p = {}, {seconds:.1} s: {verdict}", counted(total as i64, "mutant"), args.p);
    out
}

/// The checks in the order in which they are applied.
const CODES: [&str; 13] = [
    "domain",
    "self-message",
    "unmatched-send",
    "unmatched-recv",
    "different-blocks",
    "confused-messages",
    "phantom-data",
    "written-twice",
    "coverage",
    "bound",
    "holds",
    "hint",
    "nothing-checked",
];

/// The maximum width of a table.
const WIDTH: usize = 110;

/// One column per collective, in as many tables as needed.
fn tables(reports: &[MutantsReport], engine: Tested) -> String {
    let mut out = String::new();
    let mut rest = reports;
    while !rest.is_empty() {
        let mut width = 32;
        let fitting = rest.iter().take_while(|report| {
            width += short(report).len().max(5) + 2;
            width <= WIDTH
        });
        let (now, later) = rest.split_at(fitting.count().max(1));
        let gap = if out.is_empty() { "" } else { "\n" };
        let _ = write!(out, "{gap}{}", table(now, engine));
        rest = later;
    }
    out
}

/// The last part of a collective's name.
fn short(report: &MutantsReport) -> &str {
    report.name.rsplit('/').next().unwrap_or(&report.name)
}

fn table(reports: &[MutantsReport], engine: Tested) -> Table {
    let columns = reports.iter().map(|report| (short(report), Align::Right));
    let mut table = Table::new([("", Align::Left)].into_iter().chain(columns));
    let mut row = |head: Cell, number: &dyn Fn(&MutantsReport) -> usize, style: Style| {
        let cell = |n: usize| if n == 0 { Cell::styled("·", FAINT) } else { Cell::styled(n.to_string(), style) };
        table.row([head].into_iter().chain(reports.iter().map(|report| cell(number(report)))));
    };
    row(Cell::styled("mutants", HEADING), &|report| report.mutants, HEADING);
    let killers = match engine {
        Tested::Exhaustive => &CODES[..],
        Tested::Smt => &OBSTACLES[..],
        Tested::Harness => &KILLERS[..],
    };
    for &code in killers {
        let killed = |report: &MutantsReport| report.killed.get(code).copied().unwrap_or(0);
        row(format!("killed: {code}").into(), &killed, Style::new());
    }
    for class in Class::ALL.map(Class::name) {
        let survived = |report: &MutantsReport| report.survived.get(class).copied().unwrap_or(0);
        row(format!("survived: {class}").into(), &survived, NOTICE);
    }
    for class in Class::ALL.map(Class::name).into_iter().filter(|_| engine == Tested::Smt) {
        let unproved = |report: &MutantsReport| report.unproved.get(class).copied().unwrap_or(0);
        row(format!("not proved: {class}").into(), &unproved, FAINT);
    }
    for code in CODES.into_iter().filter(|code| reports.iter().any(|report| report.unclaimed.contains_key(code))) {
        let unclaimed = |report: &MutantsReport| report.unclaimed.get(code).copied().unwrap_or(0);
        row(format!("not claimed: {code}").into(), &unclaimed, FAINT);
    }
    row(ESCAPED.into(), &|report| report.escaped, BAD);
    row(FALSE_ALARM.into(), &|report| report.false_alarms, BAD);
    table
}

//! `roundel bounds`: what collectives cost, as formulas that are proved for all p where a solver can.

mod write_bounds;

use super::check::{Subject, candidates};
use super::target::Target;
use super::{CommandOutcome, print, print_json};
use crate::cli::BoundsArgs;
use crate::cli::range::ProcessRange;
use crate::error::Error;
use crate::proving::bounds::{self, Support, ToldBound};
use crate::proving::smt::{Effort, Portfolio};
use crate::report::table::{Align, Cell, FAINT, GOOD, HEADING, NOTICE, Table};
use roundel_spec::Schedule;
use roundel_spec::check::{LooseBound, loose_bounds};
use roundel_spec::schedule::Bound;
use serde::Serialize;
use std::path::PathBuf;

/// The default ranges: work grows with p, with the number of placements and with the number of blocks.
const FLAT: ProcessRange = ProcessRange { from: 1, to: 64 };
const MANY_BLOCKS: ProcessRange = ProcessRange { from: 1, to: 32 };
const ON_NODES: ProcessRange = ProcessRange { from: 1, to: 24 };

fn range(schedule: &Schedule) -> ProcessRange {
    let reduces_many = schedule.kind.reduces() && (schedule.kind.is_divided() || schedule.kind.has_a_block_each());
    if schedule.uses_placement() {
        ON_NODES
    } else if schedule.kind.moves() || reduces_many || schedule.kind.has_root() {
        MANY_BLOCKS
    } else {
        FLAT
    }
}

/// Tells the costs of the requested targets.
pub(super) fn bounds(args: &BoundsArgs, json: bool) -> Result<CommandOutcome, Error> {
    let targets = Target::all(&args.of)?;
    let candidates = candidates(&targets, args.p, &args.set, range)?;
    let mut subjects = Vec::new();
    for candidate in candidates {
        match candidate {
            Ok(mut subject) => {
                subject.claim_what_was_found();
                subjects.push(subject);
            }
            Err(report) => {
                report.print_errors();
                if json {
                    print_json(&report.errors_alone())?;
                }
                return Ok(CommandOutcome::Malformed);
            }
        }
    }
    let portfolio = portfolio(args)?;
    let mut reports = Vec::new();
    for subject in &subjects {
        let report = BoundsReport::of(args, subject, portfolio.as_ref())?;
        if !json {
            print(&text(&report))?;
        }
        reports.push(report);
    }
    let ok = reports.iter().all(|report| !report.wrong);
    if json {
        print_json(&serde_json::json!({ "ok": ok, "collectives": reports }))?;
    }
    Ok(if ok { CommandOutcome::Fine } else { CommandOutcome::Wrong })
}

fn portfolio(args: &BoundsArgs) -> Result<Option<Portfolio>, Error> {
    if args.seen {
        return Ok(None);
    }
    let portfolio = Portfolio { limit: Effort::seconds(args.limit), ..Portfolio::installed() };
    if portfolio.solvers.is_empty() { Err(Error::NoSolverForBounds) } else { Ok(Some(portfolio)) }
}

/// Everything about one collective.
#[derive(Serialize)]
struct BoundsReport {
    name: String,
    measured: String,
    bounds: Vec<BoundRow>,
    /// Declared bounds that are not tight.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_tight: Vec<LooseRow>,
    /// The file that the bounds were written into.
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<PathBuf>,
    #[serde(skip)]
    wrong: bool,
}

/// One cost.
#[derive(Serialize)]
struct BoundRow {
    metric: &'static str,
    /// `each` where every rank uses as much, `max` for the largest amount.
    scope: &'static str,
    /// The clause that one could write, if a formula fits.
    bound: Option<String>,
    proved: bool,
    /// Why it is not proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The amount at the largest p that was measured.
    example: i64,
}

#[derive(Serialize)]
struct LooseRow {
    bound: String,
    case: String,
    value: i64,
    found: i64,
}

impl BoundsReport {
    fn of(args: &BoundsArgs, subject: &Subject<'_>, portfolio: Option<&Portfolio>) -> Result<Self, Error> {
        let Subject { name, schedule, .. } = subject;
        // A file's own limits are those of the compiler; costs are measured further where that is cheap.
        let range = args.p.unwrap_or_else(|| range(schedule));
        let points = subject.points(range);
        let mut report = BoundsReport {
            name: name.clone(),
            measured: format!("p = {range}"),
            bounds: Vec::new(),
            not_tight: Vec::new(),
            written: None,
            wrong: false,
        };
        let told = match bounds::tell(schedule, &points, portfolio) {
            Ok(told) => told,
            Err(violation) => {
                subject.shown(&violation)?.print();
                report.wrong = true;
                return Ok(report);
            }
        };
        let loose = loose_bounds(schedule, &points);
        report.not_tight = loose.iter().map(|loose| LooseRow::of(schedule, loose)).collect();
        report.bounds = told.iter().map(BoundRow::of).collect();
        if args.write_bounds {
            report.written = write(subject, &told)?;
        }
        Ok(report)
    }
}

impl BoundRow {
    fn of(told: &ToldBound) -> Self {
        let reason = match &told.support {
            Support::Seen(reason) => Some(reason.clone()),
            Support::Proved | Support::None => None,
        };
        BoundRow {
            metric: told.metric.name(),
            scope: if told.alike { "each" } else { "max" },
            bound: told.bound.as_ref().map(ToString::to_string),
            proved: told.is_proved(),
            reason,
            example: told.example,
        }
    }
}

impl LooseRow {
    fn of(schedule: &Schedule, loose: &LooseBound) -> Self {
        let LooseBound { bound, case, value, found } = loose;
        LooseRow { bound: schedule.bounds[*bound].to_string(), case: case.to_string(), value: *value, found: *found }
    }
}

/// Writes what is proved, and not declared yet, into the source.
fn write(subject: &Subject<'_>, told: &[ToldBound]) -> Result<Option<PathBuf>, Error> {
    let Some(path) = subject.file() else { return Ok(None) };
    let declared = |bound: &Bound| subject.schedule.bounds.iter().any(|known| known.metric == bound.metric);
    let proved = told.iter().filter(|told| told.is_proved()).filter_map(|told| told.bound.as_ref());
    let new: Vec<Bound> = proved.filter(|bound| !declared(bound)).cloned().collect();
    let written = write_bounds::write(&path, &subject.schedule, &new)?;
    Ok(written.then_some(path))
}

/// The report about one collective.
fn text(report: &BoundsReport) -> String {
    let BoundsReport { name, measured, bounds, not_tight, written, wrong } = report;
    if *wrong {
        return String::new();
    }
    let mut table =
        Table::new([("cost", Align::Left), ("formula", Align::Left), ("holds for", Align::Left)]).indented(2);
    for row in bounds {
        let (cost, formula) = match &row.bound {
            Some(bound) => split(bound),
            None => (row.metric.to_string(), "no formula found".into()),
        };
        let holds = match (&row.bound, row.proved) {
            (Some(_), true) => Cell::styled("all p", GOOD),
            (Some(_), false) => Cell::styled(format!("{measured} (seen)"), NOTICE),
            (None, _) => Cell::styled(format!("{} at the largest p", row.example), FAINT),
        };
        table.row([Cell::from(&cost), Cell::from(&formula), holds]);
    }
    let mut out = format!("{HEADING}{name}{HEADING:#}\n{table}");
    let mut said: Vec<&str> = Vec::new();
    for reason in bounds.iter().filter_map(|row| row.reason.as_deref()) {
        if !said.contains(&reason) {
            said.push(reason);
            out += &format!("  {NOTICE}note{NOTICE:#}: seen, not proved: {reason}\n");
        }
    }
    for LooseRow { bound, case, value, found } in not_tight {
        out += &format!(
            "  {NOTICE}note{NOTICE:#}: the declared bound `{bound}` is not tight: with {case} it is {value}, and {found} \
             is the most that is used\n"
        );
    }
    if let Some(path) = written {
        let path = path.display();
        out += &format!("  written into {path}, which is another declaration now: `roundel prove` records it\n");
    }
    out + "\n"
}

/// A bound as a cost and its formula: `each blocks_sent` and `= p - 1`.
fn split(bound: &str) -> (String, String) {
    let at = [" <= ", " = "].iter().filter_map(|sign| bound.find(sign)).min();
    at.map_or((bound.into(), String::new()), |at| (bound[..at].into(), bound[at + 1..].into()))
}

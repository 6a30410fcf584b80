//! `roundel prove`: for all p where the solver reaches, for a stated range elsewhere; and the record of it.

use super::check::{Report, Subject, candidates};
use super::target::Target;
use super::{Outcome, counted, print, print_json, records, save};
use crate::cli::{Engine, Prove};
use crate::counterexample::Counterexample;
use crate::error::Error;
use crate::progress::Progress;
use crate::prove::{self, Induction};
use crate::range::{PAIRS_WITH_PLACES, Range, WITH_PLACES};
use crate::smt::{Answer, Portfolio, Solver, lemmas, obligations};
use crate::sweep;
use crate::table::{Align, BAD, Cell, FAINT, GOOD, HEADING, NOTICE, Table};
use roundel_spec::Schedule;
use roundel_spec::check::Checked;
use roundel_spec::expr::Expr;
use roundel_spec::proof::Record;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How far the exhaustive engine goes for the catalogue, unless told otherwise; files have their own limits.
const EXHAUSTIVE_RANGE: Range = Range { from: 1, to: 256 };

/// The same for reductions of a vector in several blocks, where every rank's contribution to every block is followed, for
/// several blocks with every root, and for a block of each pair of ranks: work grows with the cube of p.
const MANY_BLOCKS_RANGE: Range = Range { from: 1, to: 64 };

/// How far the exhaustive engine goes for an entry of the catalogue.
fn exhaustive_range(schedule: &Schedule) -> Range {
    if schedule.uses_placement() && schedule.kind.moves() {
        return Range { from: 1, to: PAIRS_WITH_PLACES as usize };
    }
    if schedule.uses_placement() {
        return Range { from: 1, to: WITH_PLACES as usize };
    }
    let several_blocks = !matches!(schedule.blocks, Expr::Int(_));
    let heavy = schedule.kind.reduces() || schedule.kind.has_root() || schedule.kind.moves();
    if heavy && several_blocks { MANY_BLOCKS_RANGE } else { EXHAUSTIVE_RANGE }
}

/// Proves what was asked for.
pub(super) fn prove(args: &Prove, json: bool) -> Result<Outcome, Error> {
    let targets = Target::all(&args.targets, args.all)?;
    let candidates = candidates(&targets, args.p, exhaustive_range)?;
    let mut subjects = Vec::new();
    for candidate in &candidates {
        match candidate {
            Ok(subject) => subjects.push(subject),
            Err(report) => return malformed(report),
        }
    }
    if args.record.is_some() && subjects.len() != 1 {
        return Err(Error::OneRecord { found: subjects.len() });
    }
    if !args.no_record && args.record.is_none() {
        records::names_differ(&subjects)?;
    }
    let mut proofs = exhaustive(args, &subjects)?;
    let base = by_induction(args, &subjects, &mut proofs);
    for proof in &mut proofs {
        proof.write(args)?;
    }
    save(args.save.as_deref(), proofs.iter().flat_map(|proof| &proof.found))?;
    let outcome = outcome(&proofs, &base, args);
    if json {
        print_json(&Everything { ok: outcome == Outcome::Fine, lemmas: &base, collectives: &proofs })?;
    } else {
        print(&text(&proofs, &base))?;
    }
    Ok(outcome)
}

fn malformed(report: &Report) -> Result<Outcome, Error> {
    report.print_errors();
    Ok(Outcome::Malformed)
}

/// One line of the table.
#[derive(Serialize)]
struct Row {
    property: String,
    engine: &'static str,
    range: String,
    verdict: &'static str,
    cases: usize,
    seconds: f64,
    open: Vec<String>,
}

/// Everything about one collective.
#[derive(Serialize)]
struct Proof<'a> {
    name: String,
    proved_for: Option<String>,
    rows: Vec<Row>,
    record: Option<PathBuf>,
    /// Why there is no record, though there could be one.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip)]
    subject: &'a Subject<'a>,
    #[serde(skip)]
    checked: Option<Checked>,
    #[serde(skip)]
    result: Option<Record>,
    #[serde(skip)]
    violated: bool,
    #[serde(skip)]
    failed: bool,
    #[serde(skip)]
    found: Vec<Counterexample>,
}

#[derive(Serialize)]
struct Everything<'a> {
    ok: bool,
    lemmas: &'a [Row],
    collectives: &'a [Proof<'a>],
}

/// The exhaustive engine over all subjects.
fn exhaustive<'a>(args: &Prove, subjects: &[&'a Subject<'a>]) -> Result<Vec<Proof<'a>>, Error> {
    let mut proofs: Vec<Proof<'a>> = subjects.iter().map(|subject| Proof::new(subject)).collect();
    if !args.uses(Engine::Exhaustive) {
        return Ok(proofs);
    }
    let jobs: Vec<_> = subjects.iter().map(|subject| subject.job()).collect();
    for ((proof, tally), job) in proofs.iter_mut().zip(sweep::sweep(&jobs, "checking")).zip(jobs) {
        let range = proof.subject.range;
        let mut open = Vec::new();
        if let Some(violation) = &tally.wrong {
            proof.subject.shown(violation)?.print();
            open.push(violation.to_string());
            let Subject { name, schedule, .. } = proof.subject;
            proof.found.push(Counterexample::of_violation("exhaustive", name, schedule, violation));
        }
        proof.violated = tally.wrong.is_some();
        proof.checked = tally.wrong.is_none().then(|| job.points.checked(&proof.subject.schedule, tally.checked));
        proof.rows.push(Row {
            property: "all, exactly".into(),
            engine: "exhaustive",
            range: format!("p = {range}"),
            verdict: match (proof.violated, tally.checked) {
                (true, _) => "VIOLATION",
                (false, 0) => "nothing checked",
                _ => "proved",
            },
            cases: tally.checked,
            seconds: tally.time.as_secs_f64(),
            open,
        });
    }
    Ok(proofs)
}

/// The solver engine over all subjects; gives what the encoding itself rests on.
fn by_induction(args: &Prove, subjects: &[&Subject<'_>], proofs: &mut [Proof<'_>]) -> Vec<Row> {
    let engine = args.uses(Engine::Smt);
    let portfolio = portfolio(args);
    let all = |proof: &Proof<'_>| obligations(&proof.subject.schedule).all.len();
    let total: usize = if engine { proofs.iter().map(all).sum() } else { 0 };
    let progress = Progress::new(total, "proving");
    for (proof, subject) in proofs.iter_mut().zip(subjects) {
        let induction =
            engine.then(|| Induction::over(&subject.name, &subject.schedule, &portfolio, &|| progress.step()));
        if let Some(induction) = &induction {
            proof.add(induction);
        }
        let record = || prove::record(&subject.schedule, proof.checked.as_ref(), induction.as_ref());
        // Where an exact check found a fault, no induction counts.
        proof.result = if proof.violated { None } else { record() };
        proof.proved_for = proof.result.as_ref().map(|record| record.range.text(&subject.schedule));
    }
    // Where nothing is encoded, nothing rests on the encoding.
    if total > 0 { base(&portfolio) } else { Vec::new() }
}

fn portfolio(args: &Prove) -> Portfolio {
    let mut portfolio = Portfolio { keep: args.emit_smt.clone(), ..Portfolio::installed() };
    if !args.solver.is_empty() {
        portfolio.solvers = args.solver.iter().map(Solver::at).collect();
    }
    if let Some(seconds) = args.limit {
        portfolio.limit = Duration::from_secs(seconds.max(1));
    }
    portfolio
}

/// The lemmas about machine arithmetic and the laws that the encoding instantiates.
fn base(portfolio: &Portfolio) -> Vec<Row> {
    let prove = |lemma: &crate::smt::Lemma| {
        let start = Instant::now();
        let answers: Vec<Answer> =
            portfolio.solvers.iter().map(|solver| solver.ask(&lemma.text, 5 * portfolio.limit)).collect();
        let proved = answers.contains(&Answer::Unsat);
        Row {
            property: lemma.name.clone(),
            engine: "smt",
            range: lemma.claim.into(),
            verdict: if proved { "proved" } else { "NOT PROVED" },
            cases: 1,
            seconds: start.elapsed().as_secs_f64(),
            open: match (proved, answers.is_empty()) {
                (true, _) => vec![],
                (false, true) => vec![Error::NoSolver.to_string()],
                (false, false) => answers.iter().map(Answer::to_string).collect(),
            },
        }
    };
    lemmas().iter().map(prove).collect()
}

impl<'a> Proof<'a> {
    fn new(subject: &'a Subject<'a>) -> Self {
        Proof {
            name: subject.name.clone(),
            proved_for: None,
            rows: Vec::new(),
            record: None,
            note: None,
            subject,
            checked: None,
            result: None,
            violated: false,
            failed: false,
            found: Vec::new(),
        }
    }

    fn add(&mut self, induction: &Induction) {
        self.failed = induction.failed();
        let Subject { name, schedule, .. } = self.subject;
        let models = induction.refutations();
        self.found.extend(models.iter().map(|model| Counterexample::of_model(name, schedule, model)));
        let range = roundel_spec::proof::ProvedRange::all(&self.subject.schedule).text(&self.subject.schedule);
        for (property, summary) in induction.by_property() {
            self.rows.push(Row {
                property: property.name().into(),
                engine: "smt",
                range: range.clone(),
                verdict: match (summary.open.is_empty(), summary.failed) {
                    (true, _) => "proved",
                    (false, true) => "NOT PROVED",
                    (false, false) => "not encoded",
                },
                cases: summary.proved,
                seconds: summary.seconds,
                open: summary.open,
            });
        }
    }

    /// Writes the record into the crate that declares the collective, or where the user says.
    fn write(&mut self, args: &Prove) -> Result<(), Error> {
        let Some(record) = &self.result else { return Ok(()) };
        if args.no_record || self.violated {
            return Ok(());
        }
        let text = serde_json::to_string_pretty(record).map_err(std::io::Error::from)? + "\n";
        match (&args.record, self.subject.crate_root()) {
            (Some(path), _) => {
                write(path, &text)?;
                self.record = Some(path.clone());
            }
            (None, Some(root)) => self.record = Some(records::write(&root, self.subject, &text)?),
            (None, None) => self.note = Some(records::NO_CRATE.into()),
        }
        Ok(())
    }
}

pub(super) fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text).map_err(|source| Error::Write { path: path.into(), source })
}

fn outcome(proofs: &[Proof<'_>], base: &[Row], args: &Prove) -> Outcome {
    let unproved = |proof: &Proof<'_>| proof.violated || proof.failed || proof.result.is_none();
    let all_p = |proof: &Proof<'_>| proof.result.as_ref().is_some_and(|record| record.range.p.is_none());
    let broken = base.iter().any(|row| row.verdict != "proved");
    let short = args.require_all_p && !proofs.iter().all(all_p);
    if broken || short || proofs.iter().any(unproved) { Outcome::Wrong } else { Outcome::Fine }
}

fn text(proofs: &[Proof<'_>], base: &[Row]) -> String {
    let heads = [
        ("collective", Align::Left),
        ("property", Align::Left),
        ("engine", Align::Left),
        ("range", Align::Left),
        ("verdict", Align::Left),
        ("cases", Align::Right),
        ("seconds", Align::Right),
    ];
    let mut table = Table::new(heads);
    let mut notes = Vec::new();
    for proof in proofs {
        proof.rows.iter().for_each(|row| table.row(cells(&proof.name, row)));
        let open = proof.rows.iter().flat_map(|row| row.open.iter().map(move |why| (row, why)));
        notes.extend(open.map(|(row, why)| format!("{}: {}: {why}", proof.name, row.property)));
        let left = proof.subject.schedule.bounds.iter().filter(|bound| bound.checked);
        let range = match &proof.checked {
            Some(_) => format!("p = {}", proof.subject.range),
            None => "no p".into(),
        };
        notes.extend(left.map(|bound| format!("{}: `{bound}` is left to exact checks: {range}", proof.name)));
    }
    notes.extend(
        base.iter()
            .filter(|row| row.verdict != "proved")
            .map(|row| format!("{BAD}lemma {} is not proved{BAD:#}: {}", row.property, row.open.join("; "))),
    );
    let mut out = format!("{table}\n");
    notes.iter().for_each(|note| out += &format!("{NOTICE}note{NOTICE:#}: {note}\n"));
    out + &conclusion(proofs, base)
}

fn cells(name: &str, row: &Row) -> [Cell; 7] {
    let style = match row.verdict {
        "proved" => GOOD,
        "not encoded" | "nothing checked" => NOTICE,
        _ => BAD,
    };
    [
        Cell::styled(name, HEADING),
        Cell::from(&row.property),
        row.engine.into(),
        Cell::from(&row.range),
        Cell::styled(row.verdict, style),
        row.cases.into(),
        format!("{:.2}", row.seconds).into(),
    ]
}

fn conclusion(proofs: &[Proof<'_>], base: &[Row]) -> String {
    let mut out = String::new();
    if !base.is_empty() {
        let proved = base.iter().filter(|row| row.verdict == "proved").count() as i64;
        out += &format!("{} about the machine and the encoding proved\n", counted(proved, "lemma"));
    }
    for proof in proofs {
        let range = match &proof.proved_for {
            Some(range) => format!("{GOOD}proved for {range}{GOOD:#}"),
            None => format!("{BAD}not proved{BAD:#}"),
        };
        let record =
            proof.record.as_ref().map_or(String::new(), |path| format!(" {FAINT}({}){FAINT:#}", path.display()));
        let note = proof.note.as_ref().map_or(String::new(), |note| format!(" {NOTICE}({note}){NOTICE:#}"));
        out += &format!("{HEADING}{}{HEADING:#}: {range}{record}{note}\n", proof.name);
    }
    out
}

//! `roundel prove`: proves for all p where the solver can, otherwise for a stated range; and writes the proof record.

use super::{records, verify_records, write_holds};
use crate::cli::commands::check::{CheckReport, Subject, candidates};
use crate::cli::commands::target::Target;
use crate::cli::commands::{CommandOutcome, counted, print, print_json, save};
use crate::cli::range::{PAIRS_WITH_PLACES, ProcessRange, WITH_PLACES};
use crate::cli::{Engine, ProveArgs};
use crate::error::Error;
use crate::proving::invariants::{self, MissingClause, written};
use crate::proving::progress::WorkProgress;
use crate::proving::prove::{self, ADVICE, Base, InductionResult, Obstacle};
use crate::proving::smt::{AnswerCache, Effort, Portfolio, Solver, SolverAnswer, lemmas, obligations};
use crate::proving::sweep;
use crate::replay::counterexample::Counterexample;
use crate::report::table::{Align, BAD, Cell, FAINT, GOOD, HEADING, NOTICE, Table};
use roundel_spec::Schedule;
use roundel_spec::check::Checked;
use roundel_spec::expr::Expr;
use roundel_spec::proof::{Answered, Claim, FoundClause, Record};
use serde::Serialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The default range of the exhaustive engine for the catalogue; files have their own limits.
const EXHAUSTIVE_RANGE: ProcessRange = ProcessRange { from: 1, to: 256 };

/// The default range if work grows with the cube of p: reductions of a vector in several blocks, where every
/// contribution to every block is followed; several blocks with every root; one block per pair of ranks.
const MANY_BLOCKS_RANGE: ProcessRange = ProcessRange { from: 1, to: 64 };

/// The default range of the exhaustive engine for an entry of the catalogue.
fn exhaustive_range(schedule: &Schedule) -> ProcessRange {
    if schedule.uses_placement() && schedule.kind.moves() {
        return ProcessRange { from: 1, to: PAIRS_WITH_PLACES as usize };
    }
    if schedule.uses_placement() {
        return ProcessRange { from: 1, to: WITH_PLACES as usize };
    }
    let several_blocks = !matches!(schedule.blocks, Expr::Int(_));
    let heavy = schedule.kind.reduces() || schedule.kind.has_root() || schedule.kind.moves();
    if heavy && several_blocks { MANY_BLOCKS_RANGE } else { EXHAUSTIVE_RANGE }
}

/// Proves the requested targets.
pub(crate) fn prove(args: &ProveArgs, json: bool) -> Result<CommandOutcome, Error> {
    let every_record = args.verify_records && args.of.targets.is_empty();
    let targets = if every_record { Target::catalogue() } else { Target::all(&args.of)? };
    let candidates = candidates(&targets, args.p, &args.set, exhaustive_range)?;
    let mut subjects = Vec::new();
    for candidate in &candidates {
        match candidate {
            Ok(subject) => subjects.push(subject),
            Err(report) => return malformed(report, json),
        }
    }
    if args.verify_records && !args.again {
        return verify_records::verify(&subjects, json);
    }
    if args.record.is_some() && subjects.len() != 1 {
        return Err(Error::OneRecord { found: subjects.len() });
    }
    if !args.again && !args.no_record && args.record.is_none() {
        records::names_differ(&subjects)?;
    }
    let portfolio = portfolio(args, &subjects)?;
    // The lemmas of the encoding come first; they are skipped if nothing is encoded.
    let (rows, base) = portfolio.as_ref().map_or_else(|| (Vec::new(), Base(Vec::new())), base);
    if !json {
        print(&lemmas_in_words(&rows))?;
    }
    let (mut proofs, mut notes) = (Vec::new(), Notes::default());
    for subject in subjects {
        let mut proof = exhaustive(args, subject)?;
        by_induction(args.uses(Engine::Smt), portfolio.as_ref(), &base, &mut proof);
        match () {
            () if args.again => proof.compare(),
            () if args.write_holds && proof.write_holds()? => {}
            () => proof.write(args)?,
        }
        if !json {
            print(&text(&proof, &mut notes))?;
        }
        proofs.push(proof);
    }
    save(args.save.as_deref(), proofs.iter().flat_map(|proof| &proof.found))?;
    let outcome = outcome(&proofs, &rows, args);
    if json {
        print_json(&ProveReport { ok: outcome == CommandOutcome::Fine, lemmas: &rows, collectives: &proofs })?;
    } else {
        print(&conclusion(&proofs))?;
    }
    Ok(outcome)
}

fn malformed(report: &CheckReport, json: bool) -> Result<CommandOutcome, Error> {
    report.print_errors();
    if json {
        print_json(&report.errors_alone())?;
    }
    Ok(CommandOutcome::Malformed)
}

/// One line of the table.
#[derive(Serialize)]
struct ProveRow {
    property: String,
    engine: &'static str,
    range: String,
    verdict: RowVerdict,
    cases: usize,
    seconds: f64,
    open: Vec<Obstacle>,
}

/// What an engine says about a property.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
enum RowVerdict {
    Proved,
    NotProved,
    NotEncoded,
    Violation,
    NothingChecked,
}

impl From<RowVerdict> for &'static str {
    fn from(verdict: RowVerdict) -> Self {
        match verdict {
            RowVerdict::Proved => "proved",
            RowVerdict::NotProved => "NOT PROVED",
            RowVerdict::NotEncoded => "not encoded",
            RowVerdict::Violation => "VIOLATION",
            RowVerdict::NothingChecked => "nothing checked",
        }
    }
}

/// Everything about one collective.
#[derive(Serialize)]
struct ProofReport<'a> {
    name: String,
    proved_for: Option<String>,
    rows: Vec<ProveRow>,
    record: Option<PathBuf>,
    /// What was found of what the declaration leaves out, as clauses to write.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    found_clauses: Vec<FoundClause>,
    /// What was not found: what was seen at small p, and what to write.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_found: Vec<MissingClause>,
    /// Why there is no record, although there could be one.
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
struct ProveReport<'a> {
    ok: bool,
    lemmas: &'a [ProveRow],
    collectives: &'a [ProofReport<'a>],
}

/// The exhaustive engine.
fn exhaustive<'a>(args: &ProveArgs, subject: &'a Subject<'a>) -> Result<ProofReport<'a>, Error> {
    let mut proof = ProofReport::new(subject);
    if !args.uses(Engine::Exhaustive) {
        return Ok(proof);
    }
    let jobs = [subject.job()];
    let Some(tally) = sweep::sweep(&jobs, "checking").pop() else { return Ok(proof) };
    let mut open = Vec::new();
    if let Some(violation) = &tally.wrong {
        subject.shown(violation)?.print();
        open.push(Obstacle::new(violation.to_string()));
        let Subject { name, schedule, .. } = subject;
        proof.found.push(Counterexample::of_violation("exhaustive", name, schedule, violation));
    }
    proof.violated = tally.wrong.is_some();
    let [job] = &jobs;
    proof.checked = tally.wrong.is_none().then(|| job.points.checked(&subject.schedule, tally.checked));
    proof.rows.push(ProveRow {
        property: "all, exactly".into(),
        engine: "exhaustive",
        range: format!("p = {}", subject.range_in_words()),
        verdict: match (proof.violated, tally.checked) {
            (true, _) => RowVerdict::Violation,
            (false, 0) => RowVerdict::NothingChecked,
            _ => RowVerdict::Proved,
        },
        cases: tally.checked,
        seconds: tally.time.as_secs_f64(),
        open,
    });
    Ok(proof)
}

/// The solver engine, and what both engines have proved. Without a portfolio nothing is encoded, and the report says
/// so.
fn by_induction(engine: bool, portfolio: Option<&Portfolio>, base: &Base, proof: &mut ProofReport<'_>) {
    let subject = proof.subject;
    let unasked = Portfolio { solvers: Vec::new(), ..Portfolio::installed() };
    let induction = engine.then(|| inducted(subject, portfolio.unwrap_or(&unasked), proof.violated));
    if let Some(induction) = &induction {
        proof.add(induction);
    }
    let record = || prove::record(&subject.schedule, proof.checked.as_ref(), induction.as_ref(), base);
    // If an exact check found a fault, no induction counts.
    proof.result = if proof.violated { None } else { record() };
    proof.proved_for = proof.result.as_ref().map(|record| record.text(&subject.schedule));
    let is_no_range = |checked: &Checked| checked.cases() > 0 && checked.range().is_none();
    if proof.result.is_none() && proof.checked.as_ref().is_some_and(is_no_range) {
        proof.note =
            Some("the range leaves out smaller values, and a record states ranges from the least value on".into());
    }
}

/// The proof by induction: with the clauses of the record that there is, or else with those that a search finds.
fn inducted(subject: &Subject<'_>, portfolio: &Portfolio, violated: bool) -> InductionResult {
    let Subject { name, schedule, found, .. } = subject;
    let over =
        |clauses: &[FoundClause]| WorkProgress::new(prove::obligations_with(schedule, clauses).all.len(), "proving");
    let progress = over(found);
    if let Some(proved) = InductionResult::again(found, name, schedule, portfolio, &|| progress.step()) {
        return proved;
    }
    // A collective that is wrong has no invariant.
    let findings = if violated { Default::default() } else { invariants::find(schedule, portfolio) };
    let progress = over(&findings.clauses);
    InductionResult::with(findings, name, schedule, portfolio, &|| progress.step())
        .strengthened(name, schedule, portfolio)
}

/// The solvers, if there is anything to prove: they must be installed, and the folder for queries must be writable.
fn portfolio(args: &ProveArgs, subjects: &[&Subject<'_>]) -> Result<Option<Portfolio>, Error> {
    let encoded = |subject: &&Subject<'_>| {
        invariants::wants_claims(&subject.schedule) || !obligations(&subject.schedule).all.is_empty()
    };
    if !args.uses(Engine::Smt) || !subjects.iter().any(encoded) {
        return Ok(None);
    }
    let mut portfolio = Portfolio { keep: args.emit_smt.clone(), ..Portfolio::installed() };
    if !args.solver.is_empty() {
        portfolio.solvers = args.solver.iter().map(Solver::at).collect();
    }
    let answers = AnswerCache::of_user().filter(|_| !args.no_cache && !args.again);
    let mut portfolio = portfolio.keeping(answers.as_ref());
    if let Some(missing) = portfolio.solvers.iter().find(|solver| !solver.is_there()) {
        return Err(Error::NoSuchSolver { program: missing.program.clone() });
    }
    if portfolio.solvers.is_empty() {
        return Err(Error::NoSolver);
    }
    if let Some(folder) = &portfolio.keep {
        std::fs::create_dir_all(folder).map_err(|source| Error::NoFolder { path: folder.clone(), source })?;
    }
    if let Some(seconds) = args.limit {
        portfolio.limit = Effort::seconds(seconds.max(1));
    }
    Ok(Some(portfolio))
}

/// The lemmas about machine arithmetic and the laws that the encoding instantiates, as report rows and for records.
fn base(portfolio: &Portfolio) -> (Vec<ProveRow>, Base) {
    let prove = |lemma: &crate::proving::smt::Lemma| {
        let start = Instant::now();
        let ask = |solver: &Solver| solver.ask(&lemma.text, 5 * portfolio.limit);
        let answers: Vec<SolverAnswer> = portfolio.solvers.iter().map(ask).collect();
        let proved = answers.iter().position(|answer| *answer == SolverAnswer::Unsat).map(|i| &portfolio.solvers[i]);
        let (name, query) = (lemma.name.clone(), lemma.hash());
        let shown = match proved {
            Some(solver) => Answered { name, query, verdict: Answered::PROVED.into(), solver: solver.version() },
            None => Answered { name, query, verdict: "open".into(), solver: "-".into() },
        };
        let row = ProveRow {
            property: lemma.name.clone(),
            engine: "smt",
            range: lemma.claim.into(),
            verdict: if proved.is_some() { RowVerdict::Proved } else { RowVerdict::NotProved },
            cases: 1,
            seconds: start.elapsed().as_secs_f64(),
            open: match proved {
                Some(_) => vec![],
                None => answers.iter().map(|answer| Obstacle::new(answer.to_string())).collect(),
            },
        };
        (row, shown)
    };
    let lemmas = lemmas();
    let (rows, shown) = sweep::parallel(lemmas.len(), |i| prove(&lemmas[i])).into_iter().unzip();
    (rows, Base(shown))
}

impl<'a> ProofReport<'a> {
    fn new(subject: &'a Subject<'a>) -> Self {
        ProofReport {
            name: subject.name.clone(),
            proved_for: None,
            rows: Vec::new(),
            record: None,
            found_clauses: Vec::new(),
            not_found: Vec::new(),
            note: None,
            subject,
            checked: None,
            result: None,
            violated: false,
            failed: false,
            found: Vec::new(),
        }
    }

    fn add(&mut self, induction: &InductionResult) {
        self.failed = induction.failed();
        self.found_clauses = induction.findings.clauses.clone();
        self.not_found = induction.findings.missing.clone();
        let Subject { name, schedule, .. } = self.subject;
        let models = induction.refutations();
        self.found.extend(models.iter().map(|model| Counterexample::of_model(name, schedule, model)));
        let range = roundel_spec::proof::ProvedRange::all(&self.subject.schedule).text(&self.subject.schedule);
        for (property, summary) in induction.by_property() {
            self.rows.push(ProveRow {
                property: property.name().into(),
                engine: "smt",
                range: range.clone(),
                verdict: match (summary.open.is_empty(), summary.failed) {
                    (true, _) => RowVerdict::Proved,
                    (false, true) => RowVerdict::NotProved,
                    (false, false) => RowVerdict::NotEncoded,
                },
                cases: summary.proved,
                seconds: summary.seconds,
                open: summary.open,
            });
        }
    }

    /// Writes the record into the crate that declares the collective, or to the requested path. Does not replace a
    /// record that covers more, unless the user asks for it.
    fn write(&mut self, args: &ProveArgs) -> Result<(), Error> {
        let Some(record) = &self.result else { return Ok(()) };
        if args.no_record || self.violated {
            return Ok(());
        }
        let root = self.subject.crate_root();
        let Some(path) = args.record.clone().or(root.as_ref().map(|root| Record::path(root, &self.subject.schedule)))
        else {
            self.note = Some(records::NO_CRATE.into());
            return Ok(());
        };
        if let Some(more) = records::says_more(&path, &self.subject.schedule, record).filter(|_| !args.replace) {
            let path = path.display();
            self.note = Some(format!("{path} says more, {more}, and stays; `--replace` writes this all the same"));
            return Ok(());
        }
        let text = record.to_json().map_err(std::io::Error::from)?;
        match (&args.record, root) {
            (None, Some(root)) => self.record = Some(records::write(&root, self.subject, &text)?),
            _ => {
                write(&path, &text)?;
                self.record = Some(path);
            }
        }
        Ok(())
    }

    /// Writes what was found into the source, if it is proved. False if there is nothing to write.
    fn write_holds(&mut self) -> Result<bool, Error> {
        let proved = self.result.as_ref().is_some_and(|record| record.range.p.is_none());
        if !proved || self.found_clauses.is_empty() {
            return Ok(false);
        }
        let Some(path) = self.subject.file() else { return Ok(false) };
        if !write_holds::write(&path, &self.subject.schedule.name, &self.found_clauses)? {
            return Ok(false);
        }
        let path = path.display();
        self.note =
            Some(format!("written into {path}, which is another declaration now: `roundel prove` records it"));
        Ok(true)
    }

    /// Compares what was proved with the stored record.
    fn compare(&mut self) {
        let Some((path, text)) = verify_records::stored(self.subject) else {
            self.note = Some("there is no record".into());
            return;
        };
        self.note = match (Record::read(&text, &self.subject.schedule), &self.result) {
            (Ok(stored), Some(found)) if found.covers(&stored) => Some("as the record says".into()),
            (Ok(stored), _) => {
                self.failed = true;
                Some(format!("the record says {}", stored.text(&self.subject.schedule)))
            }
            (Err(unfit), _) => {
                self.failed = true;
                Some(format!("the record does not count: {unfit}"))
            }
        };
        self.record = Some(path);
    }
}

pub(super) fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text).map_err(|source| Error::Write { path: path.into(), source })
}

fn outcome(proofs: &[ProofReport<'_>], base: &[ProveRow], args: &ProveArgs) -> CommandOutcome {
    let unproved = |proof: &ProofReport<'_>| proof.violated || proof.failed || proof.result.is_none();
    let all_p = |proof: &ProofReport<'_>| proof.result.as_ref().is_some_and(|record| record.range.p.is_none());
    let broken = base.iter().any(|row| row.verdict != RowVerdict::Proved);
    let short = args.require_all_p && !proofs.iter().all(all_p);
    if broken || short || proofs.iter().any(unproved) { CommandOutcome::Wrong } else { CommandOutcome::Fine }
}

/// The notes printed so far: a note about several collectives is printed once.
#[derive(Default)]
struct Notes(HashSet<String>);

impl Notes {
    fn once(&mut self, note: String) -> Option<String> {
        self.0.insert(note.clone()).then_some(note)
    }
}

/// The report about one collective.
fn text(proof: &ProofReport<'_>, said: &mut Notes) -> String {
    let heads = [
        ("property", Align::Left),
        ("engine", Align::Left),
        ("range", Align::Left),
        ("verdict", Align::Left),
        ("cases", Align::Right),
        ("seconds", Align::Right),
    ];
    let mut table = Table::new(heads).indented(2);
    proof.rows.iter().for_each(|row| table.row(cells(row)));
    let mut out = format!("{HEADING}{}{HEADING:#}\n{table}", proof.name);
    out += &found_in_words(proof);
    let advice = proof.not_found.iter().filter_map(|missing| missing.advice.clone());
    let notes = advice.chain(notes(proof)).filter_map(|note| said.once(note));
    notes.for_each(|note| out += &format!("  {NOTICE}note{NOTICE:#}: {note}\n"));
    let range = match &proof.proved_for {
        Some(range) => format!("{GOOD}proved for {range}{GOOD:#}{}", limits_in_words(proof)),
        None => format!("{BAD}not proved{BAD:#}"),
    };
    let record = proof.record.as_ref().map_or(String::new(), |path| format!(" {FAINT}({}){FAINT:#}", path.display()));
    let note = proof.note.clone().and_then(|note| said.once(note));
    let note = note.map_or(String::new(), |note| format!(" {NOTICE}({note}){NOTICE:#}"));
    out + &format!("{HEADING}{}{HEADING:#}: {range}{record}{note}\n\n", proof.name)
}

/// Why what is proved is not proved for all p: the first construct that is not encoded, and the clause it is in; or the
/// first obligation that is open.
fn limits_in_words(proof: &ProofReport<'_>) -> String {
    match decisive(proof) {
        Some((_, obstacle)) if is_shown(proof, obstacle) => {
            ", and not for all p because no invariant was found".into()
        }
        Some((row, obstacle)) if row.verdict == RowVerdict::NotEncoded => {
            let place = obstacle.expression.as_ref().and_then(|e| clause_with(&proof.subject.schedule, e));
            let place = place.map_or(String::new(), |clause| format!(" (in `{clause}`)"));
            format!(", and not for all p because {obstacle}{place}")
        }
        Some((row, _)) => format!(", and not for all p because {} is not proved", row.property),
        None => String::new(),
    }
}

/// The first obstacle to a proof for all p that the collective is right, if there is none.
fn decisive<'p>(proof: &'p ProofReport<'_>) -> Option<(&'p ProveRow, &'p Obstacle)> {
    let all_p = proof.result.as_ref().is_some_and(|record| record.range.p.is_none());
    let decisive = |row: &&ProveRow| row.engine == "smt" && Claim::of(&row.property) == Claim::Correct;
    let mut rows = proof.rows.iter().filter(decisive);
    if all_p { None } else { rows.find_map(|row| Some((row, row.open.first()?))) }
}

/// Whether an obstacle is a `holds` that was looked for, so that what was seen is shown.
fn is_shown(proof: &ProofReport<'_>, obstacle: &Obstacle) -> bool {
    obstacle.lacks_holds && !proof.not_found.is_empty()
}

/// The first clause that has an expression, unless it has nothing else.
fn clause_with(schedule: &Schedule, wanted: &Expr) -> Option<String> {
    let mut found = None;
    schedule.for_each_expr(&mut |spot, e| {
        let mut inside = false;
        e.walk(&mut |e| inside |= e == wanted);
        if inside && found.is_none() {
            found = spot.in_words(schedule);
        }
    });
    found.filter(|clause| *clause != wanted.to_string())
}

/// What was found, round by round.
fn found_in_words(proof: &ProofReport<'_>) -> String {
    let mut out = String::new();
    for n in 0..proof.subject.schedule.loops.len() {
        let found = proof.found_clauses.iter().filter(|one| one.round == n);
        let place = if proof.subject.schedule.loops.len() > 1 { format!(" for round {n}") } else { String::new() };
        for line in written::lines(found, 100) {
            out += &format!("  found{place}: {line}\n");
        }
    }
    for missing in &proof.not_found {
        out += &format!("  {NOTICE}{}{NOTICE:#}\n", missing.seen);
    }
    out
}

/// As many obligations that no solver discharges are shown; the JSON report has all of them.
const SHOWN: usize = 3;

/// What prevents properties from being proved, and what only exact checks verify. The advice is given once.
fn notes(proof: &ProofReport<'_>) -> Vec<String> {
    let mut open: Vec<(&str, Vec<&str>)> = Vec::new();
    // What the verdict says, notes do not say again.
    let verdict =
        decisive(proof).filter(|(row, _)| row.verdict == RowVerdict::NotEncoded && proof.proved_for.is_some());
    let is_said = |obstacle: &Obstacle| {
        is_shown(proof, obstacle) || verdict.is_some_and(|(_, decisive)| decisive.reason == obstacle.reason)
    };
    let all = proof.rows.iter().flat_map(|row| row.open.iter().map(move |obstacle| (row, obstacle)));
    for (row, obstacle) in all.filter(|(_, obstacle)| !is_said(obstacle)) {
        match open.iter_mut().find(|(known, _)| *known == obstacle.reason) {
            Some((_, properties)) if properties.contains(&row.property.as_str()) => {}
            Some((_, properties)) => properties.push(&row.property),
            None => open.push((&obstacle.reason, vec![&row.property])),
        }
    }
    let refuted = proof.rows.iter().flat_map(|row| &row.open).any(|obstacle| obstacle.refuted);
    let (shown, hidden) = open.split_at(open.len().min(if refuted { SHOWN } else { open.len() }));
    let mut all: Vec<String> =
        shown.iter().map(|(reason, properties)| format!("{}: {reason}", properties.join(", "))).collect();
    if !hidden.is_empty() {
        all.push(format!("{} more; `--json` shows all", hidden.len()));
    }
    if refuted {
        all.push(ADVICE.into());
    }
    let left = proof.subject.schedule.bounds.iter().filter(|bound| bound.checked);
    let range = match &proof.checked {
        Some(_) => format!("p = {}", proof.subject.range),
        None => "no p".into(),
    };
    all.extend(left.map(|bound| format!("`{bound}` is left to exact checks: {range}")));
    all
}

fn cells(row: &ProveRow) -> [Cell; 6] {
    let style = match row.verdict {
        RowVerdict::Proved => GOOD,
        RowVerdict::NotEncoded | RowVerdict::NothingChecked => NOTICE,
        RowVerdict::NotProved | RowVerdict::Violation => BAD,
    };
    [
        Cell::from(&row.property),
        row.engine.into(),
        Cell::from(&row.range),
        Cell::styled(<&str>::from(row.verdict), style),
        row.cases.into(),
        format!("{:.2}", row.seconds).into(),
    ]
}

fn lemmas_in_words(base: &[ProveRow]) -> String {
    if base.is_empty() {
        return String::new();
    }
    let (proved, open): (Vec<&ProveRow>, Vec<&ProveRow>) =
        base.iter().partition(|row| row.verdict == RowVerdict::Proved);
    let mut out = format!("{} about the machine and the encoding proved\n", counted(proved.len() as i64, "lemma"));
    for row in open {
        let reasons: Vec<&str> = row.open.iter().map(|obstacle| obstacle.reason.as_str()).collect();
        out += &format!("{BAD}lemma {} is not proved{BAD:#}: {}\n", row.property, reasons.join("; "));
    }
    out + "\n"
}

/// The number of proved collectives, if there are several.
fn conclusion(proofs: &[ProofReport<'_>]) -> String {
    let records = || proofs.iter().filter_map(|proof| proof.result.as_ref());
    let (proved, all_p) = (records().count(), records().filter(|record| record.range.p.is_none()).count());
    match proofs.len() {
        0 | 1 => String::new(),
        n if proved == n => format!("{GOOD}{n} collectives proved{GOOD:#}, {all_p} of them for all p\n"),
        n => format!("{BAD}{proved} of {n} collectives proved{BAD:#}, {all_p} of them for all p\n"),
    }
}

//! `roundel replay`: replays a saved counterexample, round by round, on threads, and as a picture.

use super::{CommandOutcome, print, print_json};
use crate::cli::ReplayArgs;
use crate::error::Error;
use crate::replay::counterexample::{Counterexample, Refutes};
use crate::replay::reach::{self, Reached};
use crate::replay::recorded_run::{self, Ended};
use crate::report::drawing::Drawing;
use crate::report::highlight::Highlight;
use crate::report::picture::{self, Picture, PictureOptions};
use crate::report::rounds::Round;
use crate::report::run::PointRun;
use crate::report::table::{Align, BAD, Cell, FAINT, GOOD, HEADING, NOTICE, Table};
use roundel_spec::Direction;
use roundel_spec::check::{self, Point};
use roundel_spec::record::Message;
use roundel_spec::{Schedule, Trace, Violation};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// With at most this many ranks the table shows all; with more, only those involved in the fault.
const ALL_RANKS: usize = 16;

/// A replay, for JSON output.
#[derive(Serialize)]
struct ReplayReport<'a> {
    /// Whether the collective is wrong in this case.
    reproduces: bool,
    /// Whether the fault is the saved one.
    same: bool,
    engine: &'a str,
    refutes: Refutes,
    collective: &'a str,
    mutation: Option<&'a str>,
    case: Option<String>,
    /// The saved message.
    saved: &'a str,
    /// The fault that the replay finds.
    found: Option<String>,
    round: Option<usize>,
    /// The rounds up to the fault, as seen by the senders.
    rounds: Vec<Round>,
    threads: Option<Threads>,
    /// For a counterexample to an induction: whether its state is reachable.
    reached: Option<bool>,
    reachability: Option<String>,
}

#[derive(Serialize)]
struct Threads {
    outcome: &'static str,
    detail: Option<String>,
}

/// Replays a file.
pub(super) fn replay(args: &ReplayArgs, json: bool) -> Result<CommandOutcome, Error> {
    let saved = Counterexample::read(&args.file)?;
    let schedule = saved.schedule(&args.file)?;
    let state = (saved.refutes == Refutes::Induction).then(|| reach::state(&saved, &schedule));
    // The model of an induction may not be a valid case: then only its state can be shown.
    let no_case = |state: &Option<Reached>| state.as_ref().is_some_and(|state| state.point.is_none());
    let scene = if no_case(&state) { None } else { Some(ReplayedCase::new(&saved, &schedule, &args.file)?) };
    if let Some(scene) = scene.as_ref().filter(|_| args.picture.wanted()) {
        args.picture.write(&scene.drawing(&saved)?)?;
    }
    let report = report(&saved, scene.as_ref(), state.as_ref());
    if json {
        print_json(&report)?;
    } else {
        print(&text(&saved, &report, scene.as_ref(), args))?;
    }
    Ok(if report.reproduces { CommandOutcome::Wrong } else { CommandOutcome::Fine })
}

/// The run of a counterexample's case.
struct ReplayedCase<'a> {
    schedule: &'a Schedule,
    point: Point,
    /// The recorded rounds; `None` if an expression has no value, or outside the domain.
    trace: Option<Trace>,
    violation: Option<Violation>,
    in_domain: bool,
    fault: Option<Highlight>,
}

impl<'a> ReplayedCase<'a> {
    fn new(saved: &Counterexample, schedule: &'a Schedule, file: &Path) -> Result<Self, Error> {
        let point = saved.point(schedule, file)?;
        let mut scene = ReplayedCase { schedule, point, trace: None, violation: None, in_domain: true, fault: None };
        match check::in_domain(schedule, &scene.point) {
            Err(violation) => scene.violation = Some(violation),
            Ok(false) => scene.in_domain = false,
            Ok(true) => match check::record_schedule(schedule, &scene.point) {
                Err(violation) => scene.violation = Some(violation),
                Ok(trace) => {
                    scene.violation = check::trace(schedule, &scene.point, &trace).err();
                    scene.trace = Some(trace);
                }
            },
        }
        if let (Some(violation), Some(trace)) = (&scene.violation, &scene.trace) {
            let run = PointRun::new(schedule, &scene.point, trace);
            scene.fault = Some(Highlight::of(violation, trace, &run, &scene.point.placement));
        }
        Ok(scene)
    }

    /// The number of rounds up to the fault; all rounds if there is none.
    fn shown(&self) -> usize {
        let all = self.trace.as_ref().map_or(0, Trace::rounds);
        self.fault.as_ref().map_or(all, |fault| fault.rounds)
    }

    fn run(&self) -> Option<PointRun<'_>> {
        self.trace.as_ref().map(|trace| PointRun::new(self.schedule, &self.point, trace))
    }

    fn rounds(&self) -> Vec<Round> {
        let Some(run) = self.run() else { return Vec::new() };
        (0..self.shown()).map(|number| run.round(number)).collect()
    }

    fn threads(&self) -> Option<Threads> {
        let ended = recorded_run::run(self.schedule, self.trace.as_ref()?, &self.point);
        let (outcome, detail) = match ended {
            Ended::Right => ("right-data", None),
            Ended::WrongData(detail) => ("wrong-data", Some(detail)),
            Ended::Failed(detail) => ("failed", Some(detail)),
        };
        Some(Threads { outcome, detail })
    }

    fn drawing(&self, saved: &Counterexample) -> Result<Drawing, Error> {
        let (p, rounds) = (self.point.placement.p(), self.rounds());
        if p > picture::MAX_RANKS {
            return Err(Error::PictureTooLarge { p, rounds: rounds.len(), limit: picture::MAX_RANKS });
        }
        let case = self.point.case(self.schedule);
        let subtitle = self.violation.as_ref().map_or_else(|| case.to_string(), Violation::to_string);
        let numbers: Vec<usize> = (0..self.shown()).collect();
        let film = self.run().map(|run| run.pictured(&numbers)).unwrap_or_default();
        Ok(picture::draw(&Picture {
            title: &saved.collective,
            subtitle: &subtitle,
            placement: &self.point.placement,
            rounds: &rounds,
            film: &film,
            fault: self.fault.as_ref(),
            options: PictureOptions::default(),
        }))
    }

    /// The ranks to show.
    fn ranks(&self) -> Vec<usize> {
        let p = self.point.placement.p();
        match &self.fault {
            Some(fault) if p > ALL_RANKS => {
                let messages = fault.messages.iter().flat_map(|(from, to)| [*from, *to]);
                messages.chain(fault.ranks.iter().copied()).collect::<BTreeSet<_>>().into_iter().collect()
            }
            _ => (0..p.min(ALL_RANKS)).collect(),
        }
    }

    /// Every round up to the fault for each rank: what it sends, expects and holds.
    fn table(&self) -> String {
        let (Some(trace), Some(run)) = (&self.trace, self.run()) else { return String::new() };
        let mut table =
            Table::new(["round", "rank", "sends", "receives", "holds afterwards"].map(|head| (head, Align::Left)));
        let (kind, root) = (self.schedule.kind, self.schedule.root(&self.point.args));
        let ranks = self.ranks();
        let initial = |rank: usize| {
            (0..run.blocks()).filter(|&block| kind.initially_holds(rank, block, root, trace.p())).collect()
        };
        let mut held: Vec<BTreeSet<usize>> = (0..trace.p()).map(initial).collect();
        for round in 0..self.shown() {
            for (rank, log) in trace.ranks.iter().enumerate() {
                let sent = log.directed(round, Direction::Send).flat_map(|message| log.blocks(message));
                sent.filter(|_| kind.moves()).for_each(|&block| {
                    held[rank].remove(&(block as usize));
                });
                let received = log.directed(round, Direction::Recv).flat_map(|message| log.blocks(message));
                held[rank].extend(received.map(|&block| block as usize));
            }
            for (line, &rank) in ranks.iter().enumerate() {
                let log = &trace.ranks[rank];
                let blocks =
                    |m: &Message| run.naming().text(&log.blocks(m).iter().map(|&b| b as usize).collect::<Vec<_>>());
                let effect = |m: &Message| match (m.direction, self.schedule.kind.reduces()) {
                    (Direction::Recv, true) => format!(", {}", run.effect_of(m.site)),
                    _ => String::new(),
                };
                let side = |direction, word: &str| {
                    let text = |m: &Message| format!("{} {word} {}{}", blocks(m), m.peer, effect(m));
                    let all: Vec<String> = log.directed(round, direction).map(text).collect();
                    if all.is_empty() { "-".into() } else { all.join("; ") }
                };
                let holds: Vec<usize> = held[rank].iter().copied().collect();
                let at_fault =
                    self.fault.as_ref().is_some_and(|fault| fault.ranks.contains(&rank) && round + 1 == fault.rounds);
                let name = rank.to_string();
                table.row([
                    if line == 0 { Cell::from(round) } else { "".into() },
                    if at_fault { Cell::styled(name, BAD) } else { name.into() },
                    side(Direction::Send, "to").into(),
                    side(Direction::Recv, "from").into(),
                    run.shares_of(rank, round + 1).unwrap_or_else(|| run.naming().text(&holds)).into(),
                ]);
            }
        }
        if self.shown() == 0 { String::new() } else { table.to_string() }
    }
}

fn report<'a>(
    saved: &'a Counterexample,
    scene: Option<&ReplayedCase<'_>>,
    state: Option<&Reached>,
) -> ReplayReport<'a> {
    let violation = scene.and_then(|scene| scene.violation.as_ref());
    ReplayReport {
        reproduces: violation.is_some(),
        same: violation.is_some_and(|found| found.code() == saved.violation && found.to_string() == saved.message),
        engine: &saved.engine,
        refutes: saved.refutes,
        collective: &saved.collective,
        mutation: saved.mutation.as_deref(),
        case: scene.map(|scene| scene.point.case(scene.schedule).to_string()),
        saved: &saved.message,
        found: violation.map(Violation::to_string),
        round: violation.and_then(|violation| violation.round),
        rounds: scene.map(ReplayedCase::rounds).unwrap_or_default(),
        threads: scene.and_then(ReplayedCase::threads),
        reached: state.map(|state| state.reached),
        reachability: state.map(|state| state.text.clone()),
    }
}

fn text(
    saved: &Counterexample,
    report: &ReplayReport<'_>,
    scene: Option<&ReplayedCase<'_>>,
    args: &ReplayArgs,
) -> String {
    let case = report.case.as_ref().map_or(String::new(), |case| format!("  {case}"));
    let mut out = format!("{HEADING}{}{HEADING:#}{case}\n", saved.collective);
    if let Some(mutation) = &saved.mutation {
        let _ = writeln!(out, "{FAINT}a mutant: {mutation}{FAINT:#}");
    }
    let what = match saved.refutes {
        Refutes::Collective => "said",
        Refutes::Induction => "found a counterexample to the induction, not to the collective:",
    };
    let _ = writeln!(
        out,
        "the {} engine {what} {}\n\n{FAINT}{}{FAINT:#}",
        saved.engine, saved.message, saved.declaration
    );
    if let Some(reachability) = &report.reachability {
        let values: Vec<String> = saved
            .model
            .iter()
            .filter_map(|(symbol, value)| Some(format!("{} = {value}", crate::proving::smt::name_of(symbol)?)))
            .collect();
        let _ = writeln!(out, "{HEADING}the state{HEADING:#}  {}\n{reachability}\n", values.join(", "));
    }
    if let Some(scene) = scene {
        out += &verdicts(report, scene);
    }
    if scene.is_some() {
        out += &args.picture.places();
    }
    out
}

fn verdicts(report: &ReplayReport<'_>, scene: &ReplayedCase<'_>) -> String {
    let mut out = scene.table();
    let gap = if out.is_empty() { "" } else { "\n" };
    let verdict = match &report.found {
        Some(found) if report.same => format!("{BAD}wrong, as saved{BAD:#}: {found}"),
        Some(found) => format!("{BAD}wrong{BAD:#}: {found}"),
        None if !scene.in_domain => format!("{NOTICE}not wrong{NOTICE:#}: the case lies outside the domain"),
        None => format!("{GOOD}not wrong{GOOD:#}: every check passes in this case"),
    };
    let _ = writeln!(out, "{gap}{HEADING}provenance{HEADING:#}  {verdict}");
    let all = if scene.schedule.kind.reduces() { "every contribution" } else { "every block" };
    let threads = match report.threads.as_ref().map(|threads| (threads.outcome, threads.detail.as_deref())) {
        None => "not run: there are no rounds to run".into(),
        Some(("right-data", _)) if report.reproduces => {
            format!("every rank ends with {all}: the fault does not show in the data")
        }
        Some(("right-data", _)) => format!("{GOOD}every rank ends with {all}{GOOD:#}"),
        Some((_, detail)) => format!("{BAD}{}{BAD:#}", detail.unwrap_or("wrong")),
    };
    let _ = writeln!(out, "{HEADING}threads{HEADING:#}     {threads}");
    out
}

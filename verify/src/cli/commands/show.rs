//! `roundel show`: shows the rounds of one call, as the generated code performs them, or as a file declares them.

mod one_rank;

use super::target::Target;
use super::{CommandOutcome, counted, print, print_json};
use crate::alone;
use crate::catalogue::Recorded;
use crate::cli::ShowArgs;
use crate::cli::range::RoundRange;
use crate::error::Error;
use crate::named::NamedCollective;
use crate::params::Params;
use crate::report::drawing::Drawing;
use crate::report::picture::{self, Picture, PictureOptions};
use crate::report::rounds::{self, DrawnMessage, Naming, Round};
use crate::report::run::PointRun;
use crate::report::table::{Align, BAD, Cell, FAINT, GOOD, HEADING, NOTICE, Table};
use roundel_spec::schedule::Metric;
use roundel_spec::violation::nodes_in_words;
use roundel_spec::{Placement, Schedule};
use serde::Serialize;
use std::fmt::Write;

/// The maximum width of lines of messages.
const WIDTH: usize = 100;

/// The largest number of ranks.
const MAX_P: usize = 1024;

/// A run, for JSON output.
#[derive(Serialize)]
struct ShowReport<'a> {
    name: &'a str,
    p: usize,
    ppn: usize,
    /// The node of each rank, if `ppn` does not determine it.
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<Vec<usize>>,
    params: &'a Params,
    /// The inner collectives for which the simplest one of their kind stands in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stand_ins: Vec<String>,
    rounds: Vec<Round>,
    census: Totals,
}

/// The largest total of any rank over the run.
#[derive(Serialize)]
struct Totals {
    rounds: i64,
    nonlocal_rounds: i64,
    max_messages_sent: i64,
    max_blocks_sent: i64,
    max_nonlocal_messages_sent: i64,
    max_nonlocal_blocks_sent: i64,
    /// For an all-to-all: the largest number of blocks that a rank holds for others at any time.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_scratch: Option<i64>,
}

/// The data to show.
struct ShowInput {
    collective: NamedCollective,
    schedule: Schedule,
    params: Params,
    recorded: Recorded,
    rounds: Vec<Round>,
}

impl ShowInput {
    fn run(&self) -> PointRun<'_> {
        PointRun::new(&self.schedule, &self.recorded.point, &self.recorded.trace)
    }

    fn placement(&self) -> &Placement {
        &self.recorded.point.placement
    }

    fn p(&self) -> usize {
        self.placement().p()
    }

    fn ppn(&self) -> usize {
        self.placement().ppn()
    }

    fn totals(&self) -> Totals {
        let max = |metric| self.recorded.census.max(metric);
        Totals {
            rounds: self.recorded.census.rounds.active,
            nonlocal_rounds: self.recorded.census.rounds.nonlocal,
            max_messages_sent: max(Metric::MessagesSent),
            max_blocks_sent: max(Metric::BlocksSent),
            max_nonlocal_messages_sent: max(Metric::NonlocalMessagesSent),
            max_nonlocal_blocks_sent: max(Metric::NonlocalBlocksSent),
            max_scratch: self.schedule.kind.moves().then(|| max(Metric::Scratch)),
        }
    }

    /// The case as text, with a note where a parameter was not given.
    fn case(&self) -> String {
        self.case_with(" (the smallest; change it with --set)")
    }

    fn case_with(&self, note: &str) -> String {
        let mut parts = vec![format!("p = {}", self.p())];
        match self.placement().irregular() {
            Some(nodes) => parts.push(format!("nodes = {}", nodes_in_words(&nodes))),
            None if self.ppn() < self.p() => parts.push(format!("ppn = {}", self.ppn())),
            None => {}
        }
        for (name, value) in self.params.named() {
            let note = if self.params.defaulted.contains(&name) { note } else { "" };
            parts.push(format!("{name} = {value}{note}"));
        }
        parts.join(", ")
    }

    /// The cost as text.
    fn cost(&self) -> String {
        let totals = self.totals();
        let mut cost = format!(
            "{}, at most {} and {} sent by a rank",
            counted(totals.rounds, "round"),
            counted(totals.max_messages_sent, "message"),
            counted(totals.max_blocks_sent, "block"),
        );
        if self.ppn() < self.p() {
            let (messages, blocks) = (totals.max_nonlocal_messages_sent, totals.max_nonlocal_blocks_sent);
            let _ = write!(
                cost,
                ", of these {} and {} to other nodes, in {}",
                counted(messages, "message"),
                counted(blocks, "block"),
                counted(totals.nonlocal_rounds, "round"),
            );
        }
        if let Some(scratch) = totals.max_scratch {
            let _ = write!(cost, ", {} kept for others", counted(scratch, "block"));
        }
        cost
    }
}

/// Shows the rounds of one call.
pub(super) fn show(args: &ShowArgs, json: bool) -> Result<CommandOutcome, Error> {
    let mut collectives = Target::collectives(&args.name)?;
    if args.picture.wanted() {
        collectives = vec![Target::only(&args.name, collectives)?];
    }
    if let Some(rank) = args.rank.filter(|_| args.p > alone::RECORDED_TOGETHER && !args.picture.wanted()) {
        return one_rank::show(&collectives, args, rank, json);
    }
    let scenes: Vec<ShowInput> = collectives.into_iter().map(|one| scene(one, args)).collect::<Result<_, _>>()?;
    if let ([scene], true) = (scenes.as_slice(), args.picture.wanted()) {
        args.picture.write(&drawing(scene, args)?)?;
    }
    match scenes.as_slice() {
        [scene] if json => print_json(&shown(scene, args.rank))?,
        several if json => print_json(&several.iter().map(|scene| shown(scene, args.rank)).collect::<Vec<_>>())?,
        all => print(&all.iter().map(|scene| text(scene, args)).collect::<Result<Vec<_>, _>>()?.join("\n"))?,
    }
    let fine = scenes.iter().all(|scene| scene.recorded.violation.is_none());
    Ok(if fine { CommandOutcome::Fine } else { CommandOutcome::Wrong })
}

fn scene(collective: NamedCollective, args: &ShowArgs) -> Result<ShowInput, Error> {
    let p = args.p;
    if p == 0 || p > MAX_P {
        let reason = "every message is held in memory; with `--rank`, more are possible";
        return Err(Error::Ranks { p, limit: MAX_P, reason });
    }
    if let Some(rank) = args.rank.filter(|&rank| rank >= p) {
        return Err(Error::NoSuchRank { rank, p });
    }
    let schedule = collective.schedule();
    let params = Params::resolve(collective.name(), &schedule, &args.set)?;
    let recorded = collective.examine(&params.args, args.placing.of(p)?)?;
    let run = PointRun::new(&schedule, &recorded.point, &recorded.trace);
    let rounds = run.active_rounds().into_iter().map(|number| run.round(number)).collect();
    Ok(ShowInput { collective, schedule, params, recorded, rounds })
}

fn concerns(message: &DrawnMessage, rank: Option<usize>) -> bool {
    rank.is_none_or(|rank| message.from == rank || message.to == rank)
}

fn shown(scene: &ShowInput, rank: Option<usize>) -> ShowReport<'_> {
    let only = |round: &Round| {
        let messages: Vec<DrawnMessage> = round.messages.iter().filter(|m| concerns(m, rank)).cloned().collect();
        (!messages.is_empty()).then_some(Round { messages })
    };
    ShowReport {
        name: scene.collective.name(),
        p: scene.p(),
        ppn: scene.ppn(),
        nodes: scene.placement().irregular(),
        params: &scene.params,
        stand_ins: scene.collective.stand_ins(),
        rounds: scene.rounds.iter().filter_map(only).collect(),
        census: scene.totals(),
    }
}

fn drawing(scene: &ShowInput, args: &ShowArgs) -> Result<Drawing, Error> {
    if scene.p() > picture::MAX_RANKS {
        return Err(Error::PictureTooLarge { p: scene.p(), rounds: scene.rounds.len(), limit: picture::MAX_RANKS });
    }
    let subtitle = format!("{} · {}", scene.case_with(""), scene.cost());
    let (run, count) = (scene.run(), scene.rounds.len());
    let drawn = match args.rounds {
        Some(RoundRange { first, last }) if first >= count => return Err(Error::NoSuchRounds { first, last, count }),
        Some(RoundRange { first, last }) => first..(last + 1).min(count),
        None => 0..count,
    };
    let film = run.pictured(&run.active_rounds());
    Ok(picture::draw(&Picture {
        title: scene.collective.name(),
        subtitle: &subtitle,
        placement: scene.placement(),
        rounds: &scene.rounds[drawn.clone()],
        film: &film[drawn.start..=drawn.end],
        fault: None,
        options: PictureOptions { first: drawn.start, columns: args.columns, untitled: args.no_title },
    }))
}

fn text(scene: &ShowInput, args: &ShowArgs) -> Result<String, Error> {
    let mut out = format!("{HEADING}{}{HEADING:#}  {}\n", scene.collective.name(), scene.case());
    let _ = writeln!(out, "{FAINT}{}{FAINT:#}\n", scene.collective.summary());
    match args.rank {
        Some(rank) => out += &rank_table(scene, rank),
        None => all_ranks(&mut out, scene),
    }
    let _ = match &scene.recorded.violation {
        None => writeln!(out, "\n{}; {GOOD}checked{GOOD:#}", scene.cost()),
        Some(violation) => writeln!(out, "\n{}; {BAD}wrong{BAD:#}: {violation}", scene.cost()),
    };
    if let names @ [_, ..] = scene.collective.stand_ins().as_slice() {
        let names = names.join("`, `");
        let note =
            format!("`{names}` may be any: here it is the simplest one, because its type has no known default");
        let _ = writeln!(out, "{FAINT}{note}{FAINT:#}");
    }
    out += &args.picture.places();
    Ok(out)
}

/// All messages, round by round.
fn all_ranks(out: &mut String, scene: &ShowInput) {
    let run = scene.run();
    for (number, round) in scene.rounds.iter().enumerate() {
        // Blocks can be relative to ranks only if there are equally many.
        let relative = run.blocks() == scene.p() || run.naming() != Naming::Numbers;
        let pattern = if relative { rounds::pattern(round, scene.p()) } else { None };
        let heading = match pattern {
            Some(messages) => format!("every rank r sends {}", messages.join("; ")),
            None => format!(
                "{}, {}",
                counted(round.messages.len() as i64, "message"),
                counted(round.blocks() as i64, "block")
            ),
        };
        let _ = writeln!(out, "{HEADING}round {number}{HEADING:#}  {heading}");
        grid(out, &run, round);
    }
    if scene.ppn() < scene.p() {
        let _ = writeln!(out, "{FAINT}→ inside a node, {FAINT:#}{NOTICE}⇒{NOTICE:#}{FAINT} to another node{FAINT:#}");
    }
}

/// Messages side by side, as many as fit into a line.
fn grid(out: &mut String, run: &PointRun<'_>, round: &Round) {
    let rank_width = round.messages.iter().map(|m| m.from.max(m.to)).max().unwrap_or(0).to_string().len();
    let cells: Vec<(String, usize)> = round.messages.iter().map(|m| message(run, m, rank_width)).collect();
    let width = cells.iter().map(|(_, width)| *width).max().unwrap_or(0) + 4;
    let per_line = (WIDTH / width).max(1);
    for line in cells.chunks(per_line) {
        out.push_str("  ");
        for (i, (cell, cell_width)) in line.iter().enumerate() {
            let gap = if i + 1 == line.len() { 0 } else { width - cell_width };
            let _ = write!(out, "{cell}{:gap$}", "");
        }
        out.push('\n');
    }
}

/// A message as text, and how wide it is.
fn message(run: &PointRun<'_>, m: &DrawnMessage, rank_width: usize) -> (String, usize) {
    let blocks = run.content(m);
    let width = 2 * rank_width + 5 + blocks.chars().count();
    let arrow = if m.nonlocal { format!("{NOTICE}⇒{NOTICE:#}") } else { "→".into() };
    (format!("{:>rank_width$} {arrow} {:>rank_width$}: {blocks}", m.from, m.to), width)
}

/// What one rank sends, receives and holds.
fn rank_table(scene: &ShowInput, rank: usize) -> String {
    let mut table = Table::new(["round", "sends", "receives", "holds afterwards"].map(|head| (head, Align::Left)));
    let (run, active) = (scene.run(), scene.run().active_rounds());
    let film = run.film(&active);
    // What the rank holds after this many rounds.
    let held = |shown: usize| {
        let before = shown.checked_sub(1).map_or(0, |last| active[last] + 1);
        run.shares_of(rank, before).unwrap_or_else(|| run.naming().text(&film[shown].held(rank)))
    };
    table.row(["start".into(), "".into(), "".into(), held(0).into()]);
    for (number, round) in scene.rounds.iter().enumerate() {
        let side = |wanted: &dyn Fn(&DrawnMessage) -> bool, text: &dyn Fn(&DrawnMessage) -> String| {
            let texts: Vec<String> = round.messages.iter().filter(|m| wanted(m)).map(text).collect();
            if texts.is_empty() { "-".to_string() } else { texts.join("; ") }
        };
        let away = |m: &DrawnMessage| if m.nonlocal { " (other node)" } else { "" };
        let effect = |m: &DrawnMessage| m.effect.as_ref().map_or(String::new(), |effect| format!(", {effect}"));
        table.row([
            Cell::from(number),
            side(&|m| m.from == rank, &|m| format!("{} to {}{}", run.content(m), m.to, away(m))).into(),
            side(&|m| m.to == rank, &|m| format!("{} from {}{}{}", run.content(m), m.from, away(m), effect(m)))
                .into(),
            held(number + 1).into(),
        ]);
    }
    format!("{HEADING}rank {rank}{HEADING:#}\n{table}")
}

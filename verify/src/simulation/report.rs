//! A simulation as text, as JSON and as a picture.

use super::run::Traffic;
use super::{PathStep, Simulation};
use crate::report::drawing::{Anchor, Contour, Drawing, LINE, LOCAL, Lettering, REMOTE, Rectangle, SOFT, Stroke};
use crate::report::table::{Align, Cell, FAINT, HEADING, Table};
use crate::report::units::time;
use serde::Serialize;
use std::fmt::Write;

/// The largest number of rounds, and of messages of the critical path, that text shows.
const SHOWN: usize = 40;
/// If there are more, so many of the last ones are shown.
const LAST: usize = 5;
/// The largest number of rounds that JSON has.
pub const MOST_ROUNDS: usize = 10_000;

/// A simulation, for JSON output.
#[derive(Debug, Serialize)]
pub struct SimulationReport {
    name: String,
    p: usize,
    ppn: usize,
    bytes: u64,
    machine: String,
    /// The number of ranks that were followed; each stands for as many.
    followed: usize,
    seconds: f64,
    earliest_seconds: f64,
    levels: Vec<LevelReport>,
    number_of_rounds: usize,
    /// The first rounds, if there are many.
    rounds: Vec<RoundReport>,
    /// The messages of the critical path; null if they were not kept.
    critical_path: Option<PathReport>,
}

#[derive(Debug, Serialize)]
struct LevelReport {
    name: String,
    messages: u64,
    bytes: f64,
}

#[derive(Debug, Serialize)]
struct RoundReport {
    round: usize,
    first_end: f64,
    end: f64,
    seconds: f64,
    messages: Vec<u64>,
    bytes: Vec<f64>,
}

#[derive(Debug, Serialize)]
struct PathReport {
    messages: usize,
    by_level: Vec<usize>,
    /// The first ones, if there are many: round, from, to, level.
    steps: Vec<(usize, usize, usize, u8)>,
}

/// What was simulated, in words.
#[derive(Clone, Debug)]
pub struct SimulatedCase {
    /// The collective.
    pub name: String,
    /// Its number of ranks per node, at most.
    pub ppn: usize,
    /// The bytes of a block or of the data.
    pub bytes: u64,
    /// The machine.
    pub machine: String,
    /// p, placement and parameters.
    pub case: String,
}

impl SimulationReport {
    /// The report of a simulation.
    pub fn new(subject: &SimulatedCase, simulation: &Simulation) -> Self {
        let level = |(name, sum): (&String, Traffic)| LevelReport {
            name: name.clone(),
            messages: sum.messages,
            bytes: sum.bytes,
        };
        let path = simulation.path.as_ref().zip(simulation.path_levels()).map(|(path, by_level)| PathReport {
            messages: path.len(),
            by_level,
            steps: path.iter().take(MOST_ROUNDS).map(|step| (step.round, step.from, step.to, step.level)).collect(),
        });
        SimulationReport {
            name: subject.name.clone(),
            p: simulation.p,
            ppn: subject.ppn,
            bytes: subject.bytes,
            machine: subject.machine.clone(),
            followed: simulation.followed,
            seconds: simulation.seconds,
            earliest_seconds: simulation.earliest,
            levels: simulation.levels.iter().zip(simulation.traffic()).map(level).collect(),
            number_of_rounds: simulation.rounds.len(),
            rounds: (0..simulation.rounds.len().min(MOST_ROUNDS)).map(|at| round(simulation, at)).collect(),
            critical_path: path,
        }
    }
}

/// The time that a round adds.
fn seconds(simulation: &Simulation, at: usize) -> f64 {
    simulation.rounds[at].last - at.checked_sub(1).map_or(0.0, |before| simulation.rounds[before].last)
}

fn round(simulation: &Simulation, at: usize) -> RoundReport {
    let found = &simulation.rounds[at];
    RoundReport {
        round: found.number,
        first_end: found.first,
        end: found.last,
        seconds: seconds(simulation, at),
        messages: found.traffic.iter().map(|level| level.messages).collect(),
        bytes: found.traffic.iter().map(|level| level.bytes).collect(),
    }
}

/// The positions that text shows, with a gap if there are many.
fn shown(count: usize) -> (Vec<usize>, Option<usize>) {
    if count <= SHOWN {
        return ((0..count).collect(), None);
    }
    let first = SHOWN - LAST;
    ((0..first).chain(count - LAST..count).collect(), Some(first))
}

/// A simulation as text.
pub fn text(subject: &SimulatedCase, simulation: &Simulation) -> String {
    let SimulatedCase { name, case, machine, bytes, .. } = subject;
    let mut out = format!("{HEADING}{name}{HEADING:#}  {case}, {bytes} bytes\n{FAINT}{machine}{FAINT:#}\n\n");
    out += &rounds_table(simulation);
    let (total, rounds) = (time(simulation.seconds), simulation.rounds.len());
    let _ = writeln!(
        out,
        "\n{HEADING}{total}{HEADING:#} in {rounds} rounds; the first rank ends after {}",
        time(simulation.earliest)
    );
    for (level, sum) in simulation.levels.iter().zip(simulation.traffic()).filter(|(_, sum)| sum.messages > 0) {
        let _ = writeln!(out, "{level}: {} messages, {} bytes", sum.messages, whole(sum.bytes));
    }
    out += &path_text(simulation);
    let note = if simulation.followed == simulation.p {
        "every rank was followed".into()
    } else {
        let (followed, p) = (simulation.followed, simulation.p);
        format!("{followed} of {p} ranks were followed: by the declaration, the others do the same at the same times")
    };
    let _ = writeln!(out, "{FAINT}{note}{FAINT:#}");
    out
}

fn rounds_table(simulation: &Simulation) -> String {
    let heads = ["round", "messages", "bytes", "all end at", "takes"].map(|head| (head.to_string(), Align::Right));
    let crossed: Vec<usize> = used_levels(simulation);
    let levels = crossed.iter().map(|&level| (format!("bytes {}", simulation.levels[level]), Align::Right));
    let heads: Vec<(String, Align)> = heads.into_iter().chain(levels.filter(|_| crossed.len() > 1)).collect();
    let mut table = Table::new(heads.iter().map(|(head, align)| (head.as_str(), *align)));
    let (positions, gap) = shown(simulation.rounds.len());
    for at in positions {
        if gap.is_some_and(|first| at == simulation.rounds.len() - LAST && first > 0) {
            table.row([Cell::from("…")]);
        }
        let found = &simulation.rounds[at];
        let messages: u64 = found.traffic.iter().map(|level| level.messages).sum();
        let bytes: f64 = found.traffic.iter().map(|level| level.bytes).sum();
        let cells = [Cell::from(at), messages.into(), whole(bytes).into(), time(found.last).into()];
        let cells = cells.into_iter().chain([Cell::from(time(seconds(simulation, at)))]);
        let levels = crossed.iter().filter(|_| crossed.len() > 1);
        table.row(cells.chain(levels.map(|&level| Cell::from(whole(found.traffic[level].bytes)))));
    }
    table.to_string()
}

/// The levels that any message crosses.
fn used_levels(simulation: &Simulation) -> Vec<usize> {
    let sums = simulation.traffic();
    (0..sums.len()).filter(|&level| sums[level].messages > 0).collect()
}

/// Bytes without digits that mean nothing.
fn whole(bytes: f64) -> String {
    if bytes.fract() == 0.0 { format!("{bytes:.0}") } else { format!("{bytes:.2}") }
}

fn path_text(simulation: &Simulation) -> String {
    let Some((path, by_level)) = simulation.path.as_ref().zip(simulation.path_levels()) else {
        return "critical path: not kept, because there are too many ranks and rounds\n".into();
    };
    let levels = by_level.iter().zip(&simulation.levels).filter(|(count, _)| **count > 0);
    let levels: Vec<String> = levels.map(|(count, level)| format!("{count} {level}")).collect();
    if path.is_empty() {
        return "critical path: no rank waits for one that is later than itself\n".into();
    }
    let mut out = format!("critical path: {} messages", path.len());
    if !levels.is_empty() {
        let _ = write!(out, " ({})", levels.join(", "));
    }
    let ranks = |path: &[PathStep]| path.iter().map(|step| format!(" → {}", step.to)).collect::<String>();
    if let Some(first) = path.first() {
        let _ = write!(out, ": {}", first.from);
        match path.len() {
            few if few <= SHOWN => out += &ranks(path),
            many => {
                let _ = write!(out, "{} → …{}", ranks(&path[..SHOWN - LAST]), ranks(&path[many - LAST..]));
            }
        }
    }
    out + "\n"
}

const WIDTH: f64 = 860.0;
const LEFT: f64 = 96.0;
const RIGHT: f64 = 760.0;
const TOP: f64 = 92.0;
const ROW: f64 = 20.0;

/// One bar of the picture: consecutive rounds, and from when to when they last.
struct Bar {
    label: String,
    begin: f64,
    end: f64,
    /// The part of the bytes that leaves nodes.
    away: f64,
}

/// A simulation as a picture: when each round lasts until all ranks have ended it, and whether its bytes leave nodes.
pub fn picture(subject: &SimulatedCase, simulation: &Simulation) -> Drawing {
    let SimulatedCase { name, case, machine, bytes, .. } = subject;
    let bars = bars(simulation);
    let bottom = TOP + ROW * bars.len() as f64;
    let mut drawing = Drawing::new(WIDTH, bottom + 76.0, format!("{name}: {case}"));
    let note = format!("{case}, {bytes} bytes · {}", time(simulation.seconds));
    drawing.add(Lettering::new(19.0).bold().at(24.0, 36.0, name.as_str()));
    drawing.add(Lettering::new(13.0).colour(SOFT).at(24.0, 56.0, note));
    drawing.add(Lettering::new(12.0).colour(SOFT).at(24.0, 74.0, machine.as_str()));
    let total = simulation.seconds.max(f64::MIN_POSITIVE);
    let at = |seconds: f64| LEFT + (RIGHT - LEFT) * seconds / total;
    for tick in 0..=4 {
        let seconds = simulation.seconds * f64::from(tick) / 4.0;
        let (x, style) = (at(seconds), Lettering::new(12.0).colour(SOFT).anchor(Anchor::Middle));
        drawing.add(Contour::stroked(Stroke::new(LINE, 0.6)).line([(x, TOP), (x, bottom)]));
        drawing.add(style.at(x, bottom + 18.0, time(seconds)));
    }
    for (row, bar) in bars.iter().enumerate() {
        draw_bar(&mut drawing, bar, TOP + ROW * row as f64, at(bar.begin), at(bar.end));
    }
    legend(&mut drawing, bottom + 48.0);
    drawing
}

/// One bar with its label and its time.
fn draw_bar(drawing: &mut Drawing, bar: &Bar, y: f64, x: f64, end: f64) {
    let split = x + (end - x) * (1.0 - bar.away);
    let part = |from: f64, to: f64| Rectangle::new((from, y + 3.0), ((to - from).max(0.0), 13.0));
    drawing.add(Lettering::new(12.0).anchor(Anchor::End).at(LEFT - 8.0, y + 14.0, bar.label.as_str()));
    drawing.add(part(x, split).filled(LOCAL));
    drawing.add(part(split, end).filled(REMOTE));
    drawing.add(Lettering::new(11.0).colour(SOFT).at(end + 5.0, y + 14.0, time(bar.end - bar.begin)));
}

fn legend(drawing: &mut Drawing, y: f64) {
    let entries =
        [(LEFT, LOCAL, "bytes inside nodes, as a part of the round"), (LEFT + 300.0, REMOTE, "bytes between nodes")];
    for (x, colour, text) in entries {
        drawing.add(Rectangle::new((x, y - 10.0), (14.0, 12.0)).filled(colour));
        drawing.add(Lettering::new(12.0).colour(SOFT).at(x + 20.0, y, text));
    }
}

/// One bar for each round; if there are many, for consecutive ones together.
fn bars(simulation: &Simulation) -> Vec<Bar> {
    let count = simulation.rounds.len();
    let together = count.div_ceil(SHOWN).max(1);
    let positions: Vec<usize> = (0..count).collect();
    let bar = |chunk: &[usize]| {
        let (first, last) = (chunk[0], chunk[chunk.len() - 1]);
        let bytes = |from_level: usize| -> f64 {
            let levels = chunk.iter().flat_map(|&at| simulation.rounds[at].traffic.iter().skip(from_level));
            levels.map(|level| level.bytes).sum()
        };
        Bar {
            label: if first == last { format!("round {first}") } else { format!("{first}–{last}") },
            begin: first.checked_sub(1).map_or(0.0, |before| simulation.rounds[before].last),
            end: simulation.rounds[last].last,
            away: if bytes(0) > 0.0 { bytes(1) / bytes(0) } else { 0.0 },
        }
    };
    positions.chunks(together).map(bar).collect()
}

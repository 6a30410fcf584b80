//! A simulation as text, as JSON and as a picture.

use super::run::Traffic;
use super::{PathStep, Simulation};
use crate::report::svg::{INK, LINE, LOCAL, REMOTE, SOFT, escape};
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
pub struct Subject {
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
    pub fn new(subject: &Subject, simulation: &Simulation) -> Self {
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
pub fn text(subject: &Subject, simulation: &Simulation) -> String {
    let Subject { name, case, machine, bytes, .. } = subject;
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
pub fn svg(subject: &Subject, simulation: &Simulation) -> String {
    let bars = bars(simulation);
    let height = TOP + ROW * bars.len() as f64 + 76.0;
    let bottom = TOP + ROW * bars.len() as f64;
    let total = simulation.seconds.max(f64::MIN_POSITIVE);
    let at = |seconds: f64| LEFT + (RIGHT - LEFT) * seconds / total;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" font-family="'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif">
<title>{name}: {case}</title>
<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>
<text x="24" y="36" font-size="19" font-weight="700" fill="{INK}">{name}</text>
<text x="24" y="56" font-size="13" fill="{SOFT}">{case}, {bytes} bytes · {total_text}</text>
<text x="24" y="74" font-size="12" fill="{SOFT}">{machine}</text>"##,
        name = escape(&subject.name),
        case = escape(&subject.case),
        bytes = subject.bytes,
        total_text = time(simulation.seconds),
        machine = escape(&subject.machine),
    );
    for tick in 0..=4 {
        let seconds = simulation.seconds * f64::from(tick) / 4.0;
        let x = at(seconds);
        let _ = writeln!(
            svg,
            r##"<path d="M{x:.1} {TOP}V{bottom:.1}" stroke="{LINE}" stroke-width="0.6"/><text x="{x:.1}" y="{:.1}" font-size="12" fill="{SOFT}" text-anchor="middle">{}</text>"##,
            bottom + 18.0,
            time(seconds),
        );
    }
    for (row, bar) in bars.iter().enumerate() {
        let (y, x, end) = (TOP + ROW * row as f64, at(bar.begin), at(bar.end));
        let split = x + (end - x) * (1.0 - bar.away);
        let _ = writeln!(
            svg,
            r##"<text x="{:.1}" y="{:.1}" font-size="12" fill="{INK}" text-anchor="end">{}</text><rect x="{x:.2}" y="{:.1}" width="{:.2}" height="13" fill="{LOCAL}"/><rect x="{split:.2}" y="{:.1}" width="{:.2}" height="13" fill="{REMOTE}"/><text x="{:.1}" y="{:.1}" font-size="11" fill="{SOFT}">{}</text>"##,
            LEFT - 8.0,
            y + 14.0,
            bar.label,
            y + 3.0,
            (split - x).max(0.0),
            y + 3.0,
            (end - split).max(0.0),
            end + 5.0,
            y + 14.0,
            time(bar.end - bar.begin),
        );
    }
    let y = bottom + 48.0;
    let _ = writeln!(
        svg,
        r##"<rect x="{LEFT}" y="{:.1}" width="14" height="12" fill="{LOCAL}"/><text x="{:.1}" y="{y:.1}" font-size="12" fill="{SOFT}">bytes inside nodes, as a part of the round</text><rect x="{:.1}" y="{:.1}" width="14" height="12" fill="{REMOTE}"/><text x="{:.1}" y="{y:.1}" font-size="12" fill="{SOFT}">bytes between nodes</text>
</svg>"##,
        y - 10.0,
        LEFT + 20.0,
        LEFT + 300.0,
        y - 10.0,
        LEFT + 320.0,
    );
    svg
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

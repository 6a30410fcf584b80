//! The modelled and counted figures of the papers, made from the declarations of the catalogue and the simulator.
//!
//! The papers' machines are not at hand, and their parameters mostly not printed, so times are those of one machine of
//! round figures, the same for all figures. What can agree is therefore the shape: which algorithm wins, where, and
//! whether counts are exact. Each figure states a claim of its paper and whether this reproduction bears it out.

mod allreduce_ports;
mod locality;
mod node_aware;
mod radix;
mod sparbit;

use crate::catalogue;
use crate::error::Error;
use crate::params::Params;
use crate::report::drawing::Drawing;
use crate::report::plot::{self, Dash, Plot, Series};
use crate::simulation::machine::SimulatedMachine;
use crate::simulation::symmetry::Symmetry;
use crate::simulation::topology::{Level, Topology};
use crate::simulation::{SimulatedCall, Simulation};
use roundel::clock::LogGps;
use roundel_spec::Placement;
use std::fmt::Write;

/// A figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The name of its files.
    pub name: &'static str,
    /// Its heading.
    pub title: String,
    /// The paper, and which of its figures it corresponds to.
    pub paper: &'static str,
    /// The columns of its data.
    pub columns: Vec<&'static str>,
    /// The rows of its data.
    pub rows: Vec<Vec<String>>,
    /// The picture.
    pub picture: Drawing,
    /// What the paper says, what is found here, and whether these agree.
    pub claims: Vec<Claim>,
}

/// A statement of a paper.
#[derive(Clone, Debug)]
pub struct Claim {
    /// What the paper says.
    pub paper: &'static str,
    /// What is found here.
    pub found: String,
    /// Whether it agrees.
    pub agrees: bool,
}

/// Makes a figure.
type Make = fn() -> Result<Figure, Error>;

/// All figures, by their names.
const FIGURES: [(&str, Make); 7] = [
    ("locality-bruck", locality::over_nodes),
    ("sparbit", sparbit::cases_won),
    ("nap-nodes", node_aware::over_nodes),
    ("nap-sizes", node_aware::over_sizes),
    ("radix-counts", radix::counts),
    ("radix-best", radix::best),
    ("ports", allreduce_ports::table_1),
];

/// The names of all figures.
pub const NAMES: [&str; FIGURES.len()] = {
    let mut names = [""; FIGURES.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = FIGURES[i].0;
        i += 1;
    }
    names
};

/// The figures with these names, or all.
pub fn figures(names: &[String]) -> Result<Vec<Figure>, Error> {
    let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    FIGURES.iter().filter(|(name, _)| wanted(name)).map(|(_, make)| make()).collect()
}

impl Figure {
    /// Its data, as comma-separated values.
    pub fn csv(&self) -> String {
        let mut out = self.columns.join(",") + "\n";
        self.rows.iter().for_each(|row| out += &(row.join(",") + "\n"));
        out
    }
}

/// A page that shows all figures, whose pictures are in `folder`.
pub fn page(figures: &[Figure], folder: &str) -> String {
    let mut out = String::from(HEAD);
    for figure in figures {
        let Figure { name, title, paper, .. } = figure;
        let _ = writeln!(
            out,
            "## {title}\n\n{}\n\n![{title}]({folder}{name}.svg)\n\nData: [{name}.csv]({folder}{name}.csv)\n",
            wrapped(paper)
        );
        let _ = writeln!(out, "| the paper says | found here | |\n|---|---|---|");
        for Claim { paper, found, agrees } in &figure.claims {
            let _ = writeln!(out, "| {paper} | {found} | {} |", if *agrees { "agrees" } else { "**differs**" });
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

/// A paragraph in lines of at most 120 columns.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + word.chars().count() < 120 => *line += &format!(" {word}"),
            _ => lines.push(word.into()),
        }
    }
    lines.join("\n")
}

const HEAD: &str = "\
# The figures of the papers

`roundel figures --out DIR` makes these figures, as SVG and CSV, and this page; with `--tikz` also as TikZ. Messages and
blocks come from the declarations of the catalogue; times come from `roundel simulate` (docs/simulation.md). The papers'
machines are not at hand, so times are those of one machine of round figures: messages between nodes LogGPS with
L = 2 us, o = 0.3 us, g = 0.1 us, G = 0.1 ns, S = 8192 bytes; inside a node L = 0.4 us and 0.05 ns for a byte; the ranks
of a node share 20 GB/s each way. Only shapes can agree: which algorithm wins, and where. Counts must be exact.

";

/// The machine of all figures.
fn machine() -> SimulatedMachine {
    let numbers =
        LogGps { latency: 2e-6, overhead: 0.3e-6, gap: 0.1e-6, byte_gap: 1e-10, byte_overhead: 0.0, eager: 8192 };
    let node =
        Level { name: "node".into(), size: 64, latency: Some(0.4e-6), byte_gap: Some(0.5e-10), uplink: Some(2e10) };
    SimulatedMachine::Messages { numbers, topology: Some(Topology { levels: vec![node] }) }
}

/// Simulates a collective of the catalogue; `None` if its domain does not contain the call.
fn simulated(name: &str, placement: &Placement, bytes: u64, set: &[String]) -> Result<Option<Simulation>, Error> {
    let (entry, machine) = (catalogue::find(name)?, machine());
    let schedule = (entry.schedule)();
    let set = set.iter().map(|text| text.parse()).collect::<Result<Vec<_>, _>>()?;
    let params = Params::resolve(name, &schedule, &set)?;
    let (kind, symmetry) = (schedule.kind, Symmetry::of(&schedule));
    let answer = catalogue::with_rounds(entry, &params.args, placement, |source| {
        SimulatedCall { source, symmetry, kind, placement, machine: &machine, bytes }.simulate()
    });
    match answer {
        Err(Error::OutsideDomain { .. }) => Ok(None),
        answer => answer.map(Some),
    }
}

/// Microseconds with enough digits for a plot.
fn microseconds(seconds: f64) -> String {
    format!("{:.3}", seconds * 1e6)
}

/// Colours that colour-blind readers can tell apart (Okabe and Ito), and styles of lines.
const STYLES: [(&str, Dash); 6] = [
    ("#0072b2", Dash::Solid),
    ("#d55e00", Dash::Dashed),
    ("#009e73", Dash::Solid),
    ("#cc79a7", Dash::Dashed),
    ("#56b4e9", Dash::Solid),
    ("#e69f00", Dash::Dashed),
];

/// A picture of curves on logarithmic axes.
fn curves(title: &str, subtitle: &str, [x, y]: [&str; 2], named: Vec<(&'static str, Vec<(f64, f64)>)>) -> Drawing {
    let styled = named.into_iter().zip(STYLES.iter().cycle());
    let series: Vec<Series> =
        styled.map(|((name, points), &(colour, dash))| Series { name, points, colour, dash }).collect();
    plot::draw(&Plot { title, subtitle, x, y, series: &series, mark: None })
}

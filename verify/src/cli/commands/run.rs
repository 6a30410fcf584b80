//! `roundel run`: runs a collective on threads.

use super::target::Target;
use super::{CommandOutcome, print, print_json};
use crate::catalogue::Recorded;
use crate::cli::{self, RunArgs};
use crate::error::Error;
use crate::named::NamedCollective;
use crate::params::Params;
use crate::report::table::{BAD, GOOD, HEADING};
use roundel::Layout;
use roundel_spec::Direction;
use roundel_spec::schedule;
use roundel_spec::{Kind, Schedule, eval};
use serde::Serialize;
use std::convert::Infallible;
use std::time::Duration;

/// The largest number of threads.
const MAX_THREADS: usize = 1024;

/// The largest amount of memory for all buffers.
const MAX_BYTES: usize = 4 << 30;

/// A run, for JSON output.
#[derive(Serialize)]
struct RunReport {
    #[serde(skip)]
    kind: Kind,
    /// Whether a radix was chosen for this call.
    #[serde(skip)]
    chosen: bool,
    name: String,
    p: usize,
    bytes: usize,
    params: Params,
    layout: &'static str,
    repeat: u32,
    correct: bool,
    error: Option<String>,
    median_seconds: Option<f64>,
    bytes_moved: u64,
}

/// Runs a collective, or all those of a file.
pub(super) fn run(args: &RunArgs, json: bool) -> Result<CommandOutcome, Error> {
    // Nothing runs unless everything can.
    let all =
        Target::collectives(&args.name)?.into_iter().map(|one| prepare(one, args)).collect::<Result<Vec<_>, _>>()?;
    let reports: Vec<RunReport> = all.into_iter().map(|one| one.run(args)).collect();
    match reports.as_slice() {
        [report] if json => print_json(report)?,
        several if json => print_json(&several)?,
        all => print(&all.iter().map(text).collect::<Vec<_>>().join("\n"))?,
    }
    Ok(if reports.iter().all(|report| report.correct) { CommandOutcome::Fine } else { CommandOutcome::Wrong })
}

/// A call that the domain and the proofs admit.
struct Prepared {
    collective: NamedCollective,
    declaration: Schedule,
    params: Params,
    chosen: bool,
    recorded: Recorded,
    layout: Layout,
}

/// Checks that a call can be made.
fn prepare(collective: NamedCollective, args: &RunArgs) -> Result<Prepared, Error> {
    let p = args.p;
    if p == 0 || p > MAX_THREADS {
        return Err(Error::Ranks { p, limit: MAX_THREADS, reason: "every rank is a thread" });
    }
    let (declaration, name) = (collective.schedule(), collective.name());
    fits(declaration.kind, p, args.bytes)?;
    let rotated = |layout: &schedule::Layout| matches!(layout, schedule::Layout::Rotated(_));
    let layout = match args.layout {
        Some(cli::LayoutArg::Rotated) if !declaration.layouts.iter().any(rotated) => {
            return Err(Error::NoSuchLayout { name: name.into() });
        }
        Some(cli::LayoutArg::Rotated) => Layout::Rotated,
        None if declaration.layouts.first().is_some_and(rotated) => Layout::Rotated,
        Some(cli::LayoutArg::InPlace) | None => Layout::InPlace,
    };
    let mut params = Params::resolve(name, &declaration, &args.set)?;
    let chosen = params.choose_radix(name, p, args.bytes);
    let placement = args.placing.of(p)?;
    let recorded = collective.examine(&params.args, placement.clone())?;
    collective.proved(&params.args, &placement)?;
    Ok(Prepared { collective, declaration, params, chosen, recorded, layout })
}

impl Prepared {
    fn run(self, args: &RunArgs) -> RunReport {
        let result = self.collective.run(&self.recorded, self.layout, args.bytes, args.repeat as usize);
        RunReport {
            kind: self.declaration.kind,
            chosen: self.chosen,
            name: self.collective.name().into(),
            p: args.p,
            bytes: args.bytes,
            layout: if self.layout == Layout::Rotated { "rotated" } else { "in-place" },
            repeat: args.repeat,
            correct: result.is_ok(),
            median_seconds: result.as_ref().ok().map(|times| median(times).as_secs_f64()),
            error: result.err(),
            bytes_moved: moved(&self.declaration, &self.recorded, args.bytes),
            params: self.params,
        }
    }
}

/// Checks that the buffers fit: every rank has one for all blocks, or for a vector.
fn fits(kind: Kind, p: usize, bytes: usize) -> Result<(), Error> {
    let (each, what) = match kind {
        kind if kind.has_a_block_each() || kind.moves() => (p, format!("{p} blocks of {bytes} bytes")),
        _ => (1, format!("a vector of {bytes} bytes")),
    };
    let total = p.checked_mul(each).and_then(|blocks| blocks.checked_mul(bytes));
    match total {
        Some(total) if total <= MAX_BYTES => Ok(()),
        Some(total) => Err(Error::TooLarge { p, what, total: size(total as u64) }),
        None => Err(Error::TooLarge { p, what, total: "more memory than there is".into() }),
    }
}

/// The number of bytes of all messages. A block of a vector is a fraction of it.
fn moved(declaration: &Schedule, recorded: &Recorded, bytes: usize) -> u64 {
    let Recorded { point, trace, .. } = recorded;
    let blocks = eval::blocks::<Infallible>(declaration, &point.args, &point.placement.place(0));
    let parts = match (declaration.kind, blocks) {
        (kind, Ok(blocks)) if !kind.has_a_block_each() && kind != Kind::Alltoall => blocks as usize,
        _ => 1,
    };
    let length = |block: u32| bytes / parts + usize::from((block as usize) < bytes % parts);
    let sent = trace.ranks.iter().flat_map(|log| {
        (0..log.rounds()).flat_map(|round| log.directed(round, Direction::Send)).flat_map(|sent| log.blocks(sent))
    });
    sent.map(|&block| length(block) as u64).sum()
}

fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn text(report: &RunReport) -> String {
    let (what, result) = match report.kind {
        Kind::Allgather => ("blocks", "every rank has every block"),
        Kind::Allreduce => ("vectors", "every rank has the sum of all vectors"),
        Kind::ReduceScatter => ("blocks", "every rank has its block of the sum"),
        Kind::Broadcast => ("vectors", "every rank has the root's vector"),
        Kind::Reduce => ("vectors", "the root has the sum of all vectors"),
        Kind::Gather => ("blocks", "the root has every block"),
        Kind::Scatter => ("blocks", "every rank has its block of the root's"),
        Kind::Alltoall => ("blocks", "every rank has its block of every rank"),
    };
    let text = |(name, value): (String, String)| {
        let note = match report.params.defaulted.contains(&name) {
            true if report.chosen => " (chosen; change it with --set)",
            _ => "",
        };
        format!(", {name} = {value}{note}")
    };
    let params: String = report.params.named().into_iter().map(text).collect();
    let head = format!(
        "{HEADING}{}{HEADING:#}  {} ranks as threads, {what} of {}{params}, layout {}\n",
        report.name,
        report.p,
        size(report.bytes as u64),
        report.layout
    );
    let verdict = match &report.error {
        None => format!("{GOOD}correct{GOOD:#}: {result}"),
        Some(error) => format!("{BAD}wrong{BAD:#}: {error}"),
    };
    let time = match report.median_seconds {
        Some(seconds) => format!("median of {}: {:.3} ms, ", report.repeat, seconds * 1e3),
        None => String::new(),
    };
    format!("{head}{verdict}\n{time}{} moved between ranks\n", size(report.bytes_moved))
}

/// A number of bytes, for people.
fn size(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = "B";
    for larger in units {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, larger);
    }
    if value.fract() == 0.0 { format!("{value} {unit}") } else { format!("{value:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_for_people() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(1024), "1 KiB");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(4 << 30), "4 GiB");
    }

    #[test]
    fn the_median_is_the_middle() {
        let times = [5, 1, 3].map(Duration::from_secs);
        assert_eq!(median(&times), Duration::from_secs(3));
    }

    #[test]
    fn too_much_memory_is_refused() {
        assert!(fits(Kind::Allgather, 16, 1 << 20).is_ok());
        assert!(fits(Kind::Allgather, 1024, 1 << 20).is_err());
        assert!(fits(Kind::Allreduce, 1024, 1 << 20).is_ok());
        assert!(fits(Kind::ReduceScatter, 1024, usize::MAX).is_err());
    }
}

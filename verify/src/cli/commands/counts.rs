//! `roundel counts`: how much Bruck's all-to-all sends, by radix or by substep.

use super::{CommandOutcome, counted, print, print_json};
use crate::cli::CountsArgs;
use crate::error::Error;
use crate::report::drawing::{Drawing, REMOTE};
use crate::report::plot::{self, Dash, Plot, Series};
use crate::report::table::{Align, Cell, FAINT, HEADING, NOTICE, Table};
use roundel::choice::alltoalls::{Split, ceil_sqrt};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The largest number of lines that are printed.
const MAX_LINES: i64 = 1 << 20;

/// If there are at most this many radices, all are printed.
const EVERY_RADIX: i64 = 40;

/// Counts by radix, for JSON output.
#[derive(Serialize)]
struct Curve {
    p: i64,
    ceil_sqrt: i64,
    radices: Vec<Radix>,
}

#[derive(Serialize)]
struct Radix {
    radix: i64,
    digits: i64,
    substeps: i64,
    blocks: i64,
    largest: i64,
}

/// The substeps of one radix, for JSON output.
#[derive(Serialize)]
struct Detail {
    p: i64,
    #[serde(flatten)]
    radix: Radix,
    steps: Vec<StepCounts>,
}

#[derive(Serialize)]
struct StepCounts {
    digit: i64,
    value: i64,
    distance: i64,
    blocks: i64,
}

impl From<Split> for Radix {
    fn from(split: Split) -> Self {
        Radix {
            radix: split.radix(),
            digits: split.digits(),
            substeps: split.substeps(),
            blocks: split.total(),
            largest: split.largest(),
        }
    }
}

/// Runs the command.
pub(super) fn counts(args: &CountsArgs, json: bool) -> Result<CommandOutcome, Error> {
    match args.radix {
        Some(radix) => one_radix(Split::new(args.p, radix)?, json)?,
        None => over_radices(args, json)?,
    }
    Ok(CommandOutcome::Fine)
}

fn few_enough(rows: i64, instead: &'static str) -> Result<(), Error> {
    if rows > MAX_LINES { Err(Error::TooManyLines { rows, limit: MAX_LINES, instead }) } else { Ok(()) }
}

fn one_radix(split: Split, json: bool) -> Result<(), Error> {
    few_enough(split.substeps(), "give `--radix` a smaller number")?;
    let steps =
        split.each().map(|s| StepCounts { digit: s.digit, value: s.value, distance: s.distance, blocks: s.blocks });
    if json {
        return print_json(&Detail { p: split.p(), radix: split.into(), steps: steps.collect() });
    }
    let mut table = Table::new(["substep", "digit", "value", "distance", "blocks"].map(|head| (head, Align::Right)));
    for (number, step) in steps.enumerate() {
        table.row([number.into(), step.digit.into(), step.value.into(), step.distance.into(), step.blocks.into()]);
    }
    let note = "in each substep, rank r sends to r + distance the blocks whose offset has the value at the digit";
    print(&format!(
        "{HEADING}p = {}, radix {}{HEADING:#}  {}, {}, {} sent by each rank\n{table}\n{FAINT}{note}{FAINT:#}\n",
        split.p(),
        split.radix(),
        counted(split.digits(), "digit"),
        counted(split.substeps(), "substep"),
        counted(split.total(), "block"),
    ))
}

/// The radices of a table or a plot.
fn splits(p: i64, radices: impl IntoIterator<Item = i64>) -> Result<Vec<Split>, Error> {
    Ok(radices.into_iter().map(|radix| Split::new(p, radix)).collect::<Result<_, _>>()?)
}

/// Nothing changes from radix `p` on; at least radix 2 is listed, so that the table is not empty.
fn last(p: i64) -> i64 {
    (p - 1).max(2)
}

fn over_radices(args: &CountsArgs, json: bool) -> Result<(), Error> {
    let p = args.p;
    // Validates p before it is used.
    Split::new(p, 2)?;
    let chosen: Vec<i64> = if json || args.all {
        few_enough(last(p) - 1, "leave out `--all` and `--json` for a selection, or give `--radix`")?;
        (2..=last(p)).collect()
    } else {
        selection(p)
    };
    let splits = splits(p, chosen)?;
    if args.picture.wanted() {
        args.picture.write(&drawing(p)?)?;
    }
    if json {
        let radices = splits.into_iter().map(Radix::from).collect();
        return print_json(&Curve { p, ceil_sqrt: ceil_sqrt(p), radices });
    }
    print(&text(args, &splits))
}

fn text(args: &CountsArgs, splits: &[Split]) -> String {
    let heads = ["radix", "digits", "substeps", "blocks", "largest"].map(|head| (head, Align::Right));
    let mut table = Table::new(heads.into_iter().chain([("note", Align::Left)]));
    let root = ceil_sqrt(args.p);
    for split in splits {
        let Radix { radix, digits, substeps, blocks, largest } = (*split).into();
        let mark = (radix == root).then(|| Cell::styled("ceil(sqrt p)", NOTICE));
        let cells = [radix, digits, substeps, blocks, largest].map(Cell::from);
        table.row(cells.into_iter().chain(mark));
    }
    let mut out = format!("{HEADING}p = {}{HEADING:#}  Bruck's all-to-all over the radix\n{table}\n", args.p);
    let note = "substeps: messages that a rank sends; blocks: in all of them, once for every hop; largest: blocks of \
                one message";
    let _ = writeln!(out, "{FAINT}{note}{FAINT:#}");
    if (splits.len() as i64) < last(args.p) - 1 {
        let _ = writeln!(out, "{FAINT}a selection; `--all` prints every radix, `--radix R` its substeps{FAINT:#}");
    }
    out + &args.picture.places()
}

/// All radices if there are few; otherwise the small ones, powers of two, round numbers, the square root and its
/// neighbours, and the last.
fn selection(p: i64) -> Vec<i64> {
    let (last, root) = (last(p), ceil_sqrt(p));
    if last <= EVERY_RADIX {
        return (2..=last).collect();
    }
    let mut chosen: BTreeSet<i64> = (2..=10).chain([root - 1, root, root + 1, last]).collect();
    chosen.extend((1..32).map(|exponent| 1i64 << exponent));
    chosen.extend((1..10).flat_map(|exponent| [1, 2, 5].map(|digit| digit * 10i64.pow(exponent))));
    chosen.into_iter().filter(|radix| (2..=last).contains(radix)).collect()
}

/// Radices for a plot: dense enough that more would not be visible on a logarithmic axis.
fn plotted(p: i64) -> Vec<i64> {
    let next = |&radix: &i64| Some(radix + 1 + radix / 300);
    let mut all: BTreeSet<i64> = std::iter::successors(Some(2), next).take_while(|&radix| radix < p).collect();
    all.extend([ceil_sqrt(p), p - 1]);
    all.into_iter().collect()
}

fn drawing(p: i64) -> Result<Drawing, Error> {
    if p < 4 {
        return Err(Error::NothingToPlot { p });
    }
    let splits = splits(p, plotted(p))?;
    let points = |count: &dyn Fn(&Split) -> i64| {
        splits.iter().map(|split| (split.radix() as f64, count(split) as f64)).collect::<Vec<_>>()
    };
    let root = ceil_sqrt(p);
    Ok(plot::draw(&Plot {
        title: "Bruck's all-to-all over the radix",
        subtitle: &format!("p = {p}; what each rank sends"),
        x: "radix",
        y: "messages and blocks",
        series: &[
            Series {
                name: "blocks, in all messages",
                points: points(&Split::total),
                colour: BLOCKS,
                dash: Dash::Solid,
            },
            Series {
                name: "messages (substeps)",
                points: points(&Split::substeps),
                colour: REMOTE,
                dash: Dash::Dashed,
            },
        ],
        mark: Some((root as f64, &format!("ceil(sqrt p) = {root}"))),
    }))
}

/// Much darker than the colour of messages, so that colour-blind readers can tell them apart.
const BLOCKS: &str = "#1e3a8a";

//! Explains which all-to-all is chosen on a network, and why.

use crate::cli::ExplainArgs;
use crate::cli::commands::{CommandOutcome, counted, print, print_json};
use crate::error::Error;
use crate::report::table::{Align, Cell, FAINT, GOOD, HEADING, NOTICE, Table};
use crate::report::units::{rate, time};
use roundel::choice::alltoalls::{AlltoallAlgorithm, Cluster, ModelledAlltoall, Network, ceil_sqrt};
use serde::Serialize;
use std::fmt::Write;

/// The collective that this module explains.
const KNOWN: &str = "alltoall";

/// The number of best candidates that are printed.
const BEST: usize = 8;

/// An explanation, for JSON output.
#[derive(Serialize)]
struct AlltoallExplanation {
    collective: &'static str,
    p: i64,
    bytes: i64,
    network: Figures,
    #[serde(skip_serializing_if = "Option::is_none")]
    ppn: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inside: Option<Figures>,
    ceil_sqrt: i64,
    bound: Option<&'static str>,
    chosen: Option<AlltoallCandidate>,
    candidates: Vec<AlltoallCandidate>,
}

#[derive(Serialize)]
struct Figures {
    latency: f64,
    bandwidth: f64,
    overhead: f64,
}

#[derive(Clone, Serialize)]
struct AlltoallCandidate {
    name: &'static str,
    radix: Option<i64>,
    rounds: i64,
    messages: i64,
    blocks: i64,
    bytes: i64,
    seconds: f64,
    latency_seconds: f64,
    overhead_seconds: f64,
    transfer_seconds: f64,
}

impl From<&ModelledAlltoall> for AlltoallCandidate {
    fn from(choice: &ModelledAlltoall) -> Self {
        AlltoallCandidate {
            name: choice.algorithm.name(),
            radix: choice.radix,
            rounds: choice.rounds,
            messages: choice.messages,
            blocks: choice.blocks,
            bytes: choice.bytes,
            seconds: choice.time.total(),
            latency_seconds: choice.time.latency,
            overhead_seconds: choice.time.overhead,
            transfer_seconds: choice.time.transfer,
        }
    }
}

/// What takes most of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bottleneck {
    Latency,
    Overhead,
    Bandwidth,
    /// No single part takes half of the time.
    Several,
}

impl Bottleneck {
    /// `None` if nothing takes any time.
    fn of(choice: &ModelledAlltoall) -> Option<Self> {
        let (time, half) = (choice.time, choice.time.total() / 2.0);
        let parts = [
            (time.latency, Bottleneck::Latency),
            (time.overhead, Bottleneck::Overhead),
            (time.transfer, Bottleneck::Bandwidth),
        ];
        let most = parts.into_iter().find(|&(part, _)| part >= half).map_or(Bottleneck::Several, |(_, bound)| bound);
        (half > 0.0).then_some(most)
    }

    const fn name(self) -> &'static str {
        match self {
            Bottleneck::Latency => "latency",
            Bottleneck::Overhead => "overhead",
            Bottleneck::Bandwidth => "bandwidth",
            Bottleneck::Several => "several",
        }
    }

    const fn meaning(self) -> &'static str {
        match self {
            Bottleneck::Latency => "it is latency-bound, so few rounds count",
            Bottleneck::Overhead => "it is bound by overhead, so few messages count",
            Bottleneck::Bandwidth => "it is bandwidth-bound, so few hops of each block count",
            Bottleneck::Several => "nothing takes half of the time, so rounds, messages and hops all count",
        }
    }
}

/// Explains a choice.
pub(super) fn explain(args: &ExplainArgs, json: bool) -> Result<CommandOutcome, Error> {
    refuse_profile(args)?;
    let p = args.ranks()?;
    let cluster = cluster(args, p)?;
    let all = cluster.candidates(args.bytes)?;
    if json {
        print_json(&AlltoallExplanation {
            collective: KNOWN,
            p,
            bytes: args.bytes,
            network: Figures::from(&cluster.between),
            ppn: args.ppn,
            inside: args.ppn.map(|_| Figures::from(&cluster.inside)),
            ceil_sqrt: ceil_sqrt(p),
            bound: all.first().and_then(Bottleneck::of).map(Bottleneck::name),
            chosen: all.first().map(AlltoallCandidate::from),
            candidates: all.iter().map(AlltoallCandidate::from).collect(),
        })?;
    } else {
        print(&text(args, &cluster, &all))?;
    }
    Ok(CommandOutcome::Fine)
}

/// Refuses options that apply only to plans with ports.
fn refuse_profile(args: &ExplainArgs) -> Result<(), Error> {
    let given =
        [(args.profile.is_some(), "--profile"), (args.foreign, "--foreign"), (args.reproducible, "--reproducible")];
    let instead = "describe the network with `--latency`, `--bandwidth` and `--overhead`";
    let odd = given.into_iter().find(|(given, _)| *given);
    odd.map_or(Ok(()), |(_, flag)| Err(Error::OtherModel { flag, collective: KNOWN.into(), instead }))
}

/// The cluster from the options, with defaults for the rest.
fn cluster(args: &ExplainArgs, p: i64) -> Result<Cluster, Error> {
    let default = Network::default();
    let between = Network::new(
        args.latency.map_or(default.latency(), |time| time.0),
        args.bandwidth.map_or(default.bandwidth(), |rate| rate.0),
        args.overhead.map_or(default.overhead(), |time| time.0),
    )?;
    let Some(ppn) = args.ppn else { return Ok(Cluster::flat(p, between)) };
    let inside = Network::new(
        args.inside_latency.map_or(1e-6, |time| time.0),
        args.inside_bandwidth.map_or(5e9, |rate| rate.0),
        args.inside_overhead.map_or(3e-7, |time| time.0),
    )?;
    Ok(Cluster::new(p, ppn, inside, between)?)
}

impl From<&Network> for Figures {
    fn from(network: &Network) -> Self {
        Figures { latency: network.latency(), bandwidth: network.bandwidth(), overhead: network.overhead() }
    }
}

fn text(args: &ExplainArgs, cluster: &Cluster, all: &[ModelledAlltoall]) -> String {
    let network = &cluster.between;
    let mut out = format!(
        "{HEADING}{KNOWN}{HEADING:#}  p = {}, blocks of {}\n{FAINT}latency {}, overhead {} for each message, \
         bandwidth {}{FAINT:#}\n\n",
        cluster.p,
        counted(args.bytes, "byte"),
        time(network.latency()),
        time(network.overhead()),
        rate(network.bandwidth()),
    );
    if args.ppn.is_some() {
        let inside = &cluster.inside;
        out.truncate(out.len() - 1);
        let _ = writeln!(
            out,
            "{FAINT}inside of nodes of {}: latency {}, overhead {}, bandwidth {}{FAINT:#}\n",
            counted(cluster.ppn, "rank"),
            time(inside.latency()),
            time(inside.overhead()),
            rate(inside.bandwidth()),
        );
    }
    let root = ceil_sqrt(cluster.p);
    let shown = selection(all, root, args.all);
    out += &table(&shown, root).to_string();
    if shown.len() < all.len() {
        let _ =
            writeln!(out, "{FAINT}{} of {} candidates; `--all` prints the others{FAINT:#}", shown.len(), all.len());
    }
    out.push('\n');
    if let Some(chosen) = all.first() {
        let _ = writeln!(out, "{}", reason(chosen));
        if let Some(sentence) = compared(chosen, all, root) {
            let _ = writeln!(out, "{sentence}");
        }
    }
    let _ = writeln!(
        out,
        "\n{FAINT}by a model of rounds, messages and bytes; not of copies, of waiting, or of wires that ranks share.\n\
         With `--ppn`, alltoall/hierarchical and alltoall/leaders are candidates, too.{FAINT:#}"
    );
    out
}

/// The best candidates, the best of each algorithm, and the square root.
fn selection(all: &[ModelledAlltoall], root: i64, everything: bool) -> Vec<ModelledAlltoall> {
    let kinds =
        AlltoallAlgorithm::ALL.into_iter().chain([AlltoallAlgorithm::Hierarchical, AlltoallAlgorithm::Leaders]);
    let firsts: Vec<Option<usize>> =
        kinds.map(|algorithm| all.iter().position(|choice| choice.algorithm == algorithm)).collect();
    let wanted = |&(rank, choice): &(usize, &ModelledAlltoall)| {
        everything || rank < BEST || firsts.contains(&Some(rank)) || choice.radix == Some(root)
    };
    all.iter().enumerate().filter(wanted).map(|(_, choice)| *choice).collect()
}

fn table(shown: &[ModelledAlltoall], root: i64) -> Table {
    use Align::{Left, Right};
    let numbers = ["radix", "rounds", "messages", "blocks", "bytes", "time"].map(|head| (head, Right));
    let mut table = Table::new([("algorithm", Left)].into_iter().chain(numbers).chain([("note", Left)]));
    for (rank, choice) in shown.iter().enumerate() {
        let marks = [(rank == 0, "chosen"), (choice.radix == Some(root), "ceil(sqrt p)")];
        let marks: Vec<&str> = marks.into_iter().filter(|(marked, _)| *marked).map(|(_, mark)| mark).collect();
        let cells = [
            Cell::styled(choice.algorithm.name(), if rank == 0 { HEADING } else { anstyle::Style::new() }),
            choice.radix.map_or("-".into(), Cell::from),
            choice.rounds.into(),
            choice.messages.into(),
            choice.blocks.into(),
            choice.bytes.into(),
            time(choice.time.total()).into(),
        ];
        // An empty last cell would leave trailing spaces.
        let note = (!marks.is_empty()).then(|| Cell::styled(marks.join(", "), if rank == 0 { GOOD } else { NOTICE }));
        table.row(cells.into_iter().chain(note));
    }
    table
}

fn named(choice: &ModelledAlltoall) -> String {
    match choice.radix {
        Some(radix) => format!("{} with radix {radix}", choice.algorithm),
        None => choice.algorithm.to_string(),
    }
}

/// Why it is chosen: the parts of its time.
fn reason(chosen: &ModelledAlltoall) -> String {
    let all = chosen.time.total();
    let Some(bound) = Bottleneck::of(chosen) else {
        return format!("{HEADING}{}{HEADING:#}: by the model it takes no time at all", named(chosen));
    };
    let share = |part: f64| format!("{:.0} %", part / all * 100.0);
    format!(
        "{HEADING}{}{HEADING:#} takes {}: {} latency ({}), {} overhead ({}), {} transfer ({}); {}",
        named(chosen),
        time(all),
        share(chosen.time.latency),
        counted(chosen.rounds, "round"),
        share(chosen.time.overhead),
        counted(chosen.messages, "message"),
        share(chosen.time.transfer),
        counted(chosen.bytes, "byte"),
        bound.meaning(),
    )
}

/// Compares the choice with the radix that the paper recommends, with one message at a time as in the paper.
fn compared(chosen: &ModelledAlltoall, all: &[ModelledAlltoall], root: i64) -> Option<String> {
    let substeps = |choice: &&ModelledAlltoall| choice.algorithm == AlltoallAlgorithm::ModifiedBruck;
    let best = all.iter().find(substeps)?;
    let at_root = all.iter().filter(substeps).find(|choice| choice.radix == Some(root))?;
    let times = |choice: &ModelledAlltoall, than: &ModelledAlltoall| choice.time.total() / than.time.total();
    let of_best = match best.radix == at_root.radix {
        true => "the best radix of this algorithm".into(),
        false => {
            format!("{:.2} times the time of its best radix, {}", times(at_root, best), best.radix.unwrap_or(root))
        }
    };
    if chosen.time.total() <= 0.0 || chosen == at_root {
        return None;
    }
    let (time, ratio) = (time(at_root.time.total()), times(at_root, chosen));
    Some(format!(
        "{} = ceil(sqrt p) takes {time}: {of_best}, and {ratio:.2} times the time of the choice",
        named(at_root)
    ))
}

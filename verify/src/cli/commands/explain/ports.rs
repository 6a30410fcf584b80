//! Explains which factors and ports are chosen on a machine, and why, in the notation of Table 2 of Jocksch et al.

use crate::cli::ExplainArgs;
use crate::cli::commands::machine::profile;
use crate::cli::commands::{CommandOutcome, counted, print, print_json};
use crate::error::Error;
use crate::report::table::{Align, Cell, FAINT, GOOD, HEADING, NOTICE, Table};
use crate::report::units::time;
use roundel::choice::Question;
use roundel::choice::ports::{self, ModelledPorts, PlanEvidence, REPLAYED};
use roundel::plan::ports::Ports;
use roundel::profile::Profile;
use roundel::selection::{Estimate, Selection};
use roundel_spec::Kind;
use serde::Serialize;
use std::fmt::Write;

/// The number of best candidates that are printed.
const BEST: usize = 10;

/// An explanation, for JSON output.
#[derive(Serialize)]
struct PortsExplanation {
    collective: &'static str,
    ranks: usize,
    nodes: usize,
    ppn: [usize; 2],
    bytes: u64,
    profile: Option<String>,
    fingerprint: String,
    reproducible: bool,
    proof: &'static str,
    chosen: Option<PortsCandidate>,
    candidates: Vec<PortsCandidate>,
}

#[derive(Clone, Serialize)]
struct PortsCandidate {
    notation: String,
    family: &'static str,
    lanes: usize,
    node: &'static str,
    rounds: usize,
    bytes: u64,
    seconds: f64,
    between_seconds: f64,
    inside_seconds: f64,
}

impl From<&ModelledPorts> for PortsCandidate {
    fn from(ranked: &ModelledPorts) -> Self {
        PortsCandidate {
            notation: ranked.notation.to_string(),
            family: Family::of(&ranked.notation).name(),
            lanes: ranked.lanes,
            node: ranked.scheme.name(),
            rounds: ranked.rounds,
            bytes: ranked.bytes,
            seconds: ranked.seconds(),
            between_seconds: ranked.between,
            inside_seconds: ranked.inside,
        }
    }
}

/// The first phase of a notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// Everything is scattered and gathered, or nothing else is needed.
    Complete,
    /// A part is scattered, the rest is reduced as a whole.
    Partial,
    /// Nothing is scattered.
    Prefixes,
}

impl Family {
    const ALL: [Family; 3] = [Family::Complete, Family::Partial, Family::Prefixes];

    fn of(notation: &Ports) -> Self {
        let scatters = notation.groups.iter().any(|group| group.ports.iter().any(|&ports| ports < 0));
        match (notation.is_complete(), scatters) {
            (true, _) => Family::Complete,
            (false, true) => Family::Partial,
            (false, false) => Family::Prefixes,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Family::Complete => "complete",
            Family::Partial => "partial",
            Family::Prefixes => "prefixes",
        }
    }

    const fn meaning(self) -> &'static str {
        match self {
            Family::Complete => "best that scatters everything",
            Family::Partial => "best that scatters a part",
            Family::Prefixes => "best that scatters nothing",
        }
    }
}

/// Explains a choice.
pub(super) fn explain(args: &ExplainArgs, kind: Kind, json: bool) -> Result<CommandOutcome, Error> {
    refuse_network(args, kind)?;
    let profile = match &args.profile {
        Some(path) => profile::read(path, args.foreign)?,
        None => Profile::default(),
    };
    let question = question(args, kind)?;
    ports::check(&question)?;
    let answers = Selection::default().with_profile(&profile).answers(&question);
    let all: Vec<ModelledPorts> = answers.into_iter().filter_map(|answer| modelled(answer.estimate)).collect();
    if json {
        print_json(&explained(args, &question, &profile, &all))?;
    } else {
        print(&text(args, &question, &profile, &all))?;
    }
    Ok(CommandOutcome::Fine)
}

fn modelled(estimate: Option<Estimate>) -> Option<ModelledPorts> {
    if let Some(Estimate::Ports(modelled)) = estimate { Some(modelled) } else { None }
}

/// Refuses options that apply only to all-to-alls.
fn refuse_network(args: &ExplainArgs, kind: Kind) -> Result<(), Error> {
    let given = [
        (args.latency.is_some(), "--latency"),
        (args.bandwidth.is_some(), "--bandwidth"),
        (args.overhead.is_some(), "--overhead"),
        (args.inside_latency.is_some(), "--inside-latency"),
        (args.inside_bandwidth.is_some(), "--inside-bandwidth"),
        (args.inside_overhead.is_some(), "--inside-overhead"),
    ];
    let instead = "describe the machine with `--profile FILE`, which `roundel tune` writes";
    let odd = given.into_iter().find(|(given, _)| *given);
    odd.map_or(Ok(()), |(_, flag)| Err(Error::OtherModel { flag, collective: kind.name().into(), instead }))
}

/// The ranks on as few nodes as they need; the last node may have fewer.
fn question(args: &ExplainArgs, kind: Kind) -> Result<Question, Error> {
    let limit = i32::MAX as usize;
    let wrong = |p: i64| match usize::try_from(p) {
        Ok(p) => Error::Ranks { p, limit, reason: "MPI numbers ranks with 31 bits" },
        Err(_) => Error::Number { text: p.to_string(), what: "number of ranks", least: 1 },
    };
    let p = args.ranks()?;
    let ranks = usize::try_from(p).ok().filter(|ranks| (1..=limit).contains(ranks)).ok_or_else(|| wrong(p))?;
    let ppn = usize::try_from(args.ppn.unwrap_or(1)).ok().filter(|&ppn| ppn > 0);
    let ppn = ppn.ok_or(Error::NoRanksPerNode { p: ranks })?;
    let bytes = u64::try_from(args.bytes).map_err(|_| Error::NegativeBytes { bytes: args.bytes })?;
    let reproducible = args.reproducible;
    Ok(Question { request: true, reproducible, ..Question::new(kind, ranks, ppn, bytes) })
}

fn explained(args: &ExplainArgs, question: &Question, profile: &Profile, all: &[ModelledPorts]) -> PortsExplanation {
    PortsExplanation {
        collective: question.kind.name(),
        ranks: question.p,
        nodes: question.nodes,
        ppn: [question.ppn_min, question.ppn_max],
        bytes: question.bytes,
        profile: args.profile.as_ref().map(|path| path.display().to_string()),
        fingerprint: format!("{:016x}", profile.fingerprint()),
        reproducible: args.reproducible,
        proof: match ports::proved(question.nodes) {
            PlanEvidence::Replayed => "replayed",
            PlanEvidence::AtInitialisation => "at initialisation",
        },
        chosen: all.first().map(PortsCandidate::from),
        candidates: all.iter().map(PortsCandidate::from).collect(),
    }
}

fn text(args: &ExplainArgs, question: &Question, profile: &Profile, all: &[ModelledPorts]) -> String {
    let mut out = head(args, question, profile);
    let shown = selection(all, args.all);
    out += &table(&shown, question.ppn_max).to_string();
    if shown.len() < all.len() {
        let _ =
            writeln!(out, "{FAINT}{} of {} candidates; `--all` prints the others{FAINT:#}", shown.len(), all.len());
    }
    if let Some(chosen) = all.first() {
        let _ = writeln!(out, "\n{}\n{}", reason(chosen, question.ppn_max), proof(chosen, question.nodes));
    }
    out
}

fn head(args: &ExplainArgs, question: &Question, profile: &Profile) -> String {
    let Question { kind, p, nodes, ppn_min, ppn_max, bytes, .. } = *question;
    let (ranks, nodes) = (counted(p as i64, "rank"), counted(nodes as i64, "node"));
    let each = match (ppn_min, ppn_max) {
        (least, most) if least == most => format!("of {most}"),
        (least, most) => format!("of {most}, the last one of {least}"),
    };
    let what = match kind {
        Kind::Allgather => "from each rank",
        Kind::ReduceScatter => "for each rank",
        _ => "on each rank",
    };
    let bytes = counted(bytes, "byte");
    let mut out = format!("{HEADING}{kind}{HEADING:#}  {ranks} on {nodes} {each}, {bytes} {what}\n{FAINT}");
    match &args.profile {
        Some(path) => {
            let _ = write!(out, "by {}: {}", path.display(), profile::measured(profile));
            if !profile.between.is_measured() {
                out += "\nbut not between nodes: there the default stands";
            }
        }
        None => {
            out +=
                "by the default profile, of no machine in particular: `roundel tune` measures yours, for `--profile`"
        }
    }
    if args.reproducible {
        out += "\nonly what gives the same bits on all ranks";
    }
    let _ = writeln!(out, "{FAINT:#}\n");
    out
}

/// The best candidates, and the best of each family.
fn selection(all: &[ModelledPorts], everything: bool) -> Vec<(&ModelledPorts, Option<Family>)> {
    let first = |family: Family| all.iter().position(|one| Family::of(&one.notation) == family);
    let firsts: Vec<(usize, Family)> =
        Family::ALL.into_iter().filter_map(|family| Some((first(family)?, family))).collect();
    let marked = |rank: usize| firsts.iter().find(|(at, _)| *at == rank).map(|(_, family)| *family);
    let shown = all.iter().enumerate().map(|(rank, one)| (rank, one, marked(rank)));
    let shown = shown.filter(|(rank, _, family)| everything || *rank < BEST || family.is_some());
    shown.map(|(_, one, family)| (one, family)).collect()
}

fn table(shown: &[(&ModelledPorts, Option<Family>)], ppn: usize) -> Table {
    use Align::{Left, Right};
    let heads = [("factors(ports)", Left), ("lanes", Right), ("node", Left), ("rounds", Right), ("bytes", Right)];
    let mut table = Table::new(heads.into_iter().chain([("time", Right), ("note", Left)]));
    for (rank, (one, family)) in shown.iter().enumerate() {
        let cells = [
            Cell::styled(one.notation.to_string(), if rank == 0 { HEADING } else { anstyle::Style::new() }),
            one.lanes.into(),
            if ppn > 1 { one.scheme.name() } else { "-" }.into(),
            one.rounds.into(),
            one.bytes.into(),
            time(one.seconds()).into(),
        ];
        // An empty last cell would leave trailing spaces.
        let note = match (rank, family) {
            (0, _) => Some(Cell::styled("chosen", GOOD)),
            (_, family) => family.map(|family| Cell::styled(family.meaning(), NOTICE)),
        };
        table.row(cells.into_iter().chain(note));
    }
    table
}

/// Why it is chosen: the parts of its time.
fn reason(chosen: &ModelledPorts, ppn: usize) -> String {
    let all = chosen.seconds();
    let name = format!("{HEADING}{}{HEADING:#} takes {}", chosen.notation, time(all));
    let share = |part: f64| format!("{:.0} %", if all > 0.0 { part / all * 100.0 } else { 0.0 });
    let senders = match chosen.lanes {
        1 => "one process of each sends".into(),
        lanes => format!("{lanes} processes of each send"),
    };
    let (rounds, bytes) = (counted(chosen.rounds as i64, "round"), counted(chosen.bytes, "byte"));
    match (chosen.rounds, ppn) {
        (0, _) => format!("{name}: all of it inside of one node ({})", chosen.scheme),
        (_, 1) => format!("{name}: {rounds}, {bytes} from each node"),
        _ => format!(
            "{name}: {} between nodes ({rounds}, {bytes} from each node, {senders}), {} inside of them ({})",
            share(chosen.between),
            share(chosen.inside),
            chosen.scheme
        ),
    }
}

fn proof(chosen: &ModelledPorts, nodes: usize) -> String {
    match chosen.proof {
        PlanEvidence::Replayed => {
            format!("{FAINT}plans of up to {REPLAYED} nodes have been replayed and checked{FAINT:#}")
        }
        PlanEvidence::AtInitialisation => format!(
            "{FAINT}plans of up to {REPLAYED} nodes have been replayed and checked; with {nodes} nodes, the plan of a \
             call is checked when it is made{FAINT:#}"
        ),
    }
}

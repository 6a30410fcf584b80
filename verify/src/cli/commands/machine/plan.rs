//! `roundel plan`: the steps of one node, by ports and factors or by a collective; or their cost.

use crate::alone::{self, AloneCall};
use crate::cli::PlanArgs as Request;
use crate::cli::commands::target::Target;
use crate::cli::commands::{CommandOutcome, print, print_json};
use crate::error::Error;
use crate::named::NamedCollective;
use crate::params::Params;
use crate::report::table::{Align, Table};
use roundel::plan::listing::{Listing, ListingLine as Line};
use roundel::plan::ports::{Fractions, Ports};
use roundel::plan::{Plan, RankPlan, SlotMessage, Turn, Unplanned};
use roundel_spec::Kind;
use serde::Serialize;

/// The largest number of ranks of a plan of a collective.
const MAX_P: usize = 1024;

/// The costs of alternative plans.
#[derive(Serialize)]
struct PlanSummary {
    collective: String,
    ways: Vec<PlanVariant>,
}

/// One alternative. The size is what a node sends, as a fraction of all data.
#[derive(Serialize)]
struct PlanVariant {
    name: String,
    nodes: usize,
    steps: usize,
    sent: usize,
    fractions: usize,
    messages: usize,
}

/// A listing, for JSON output. `null` as a node stands for the user.
#[derive(Serialize)]
struct ListingReport {
    collective: &'static str,
    ports: String,
    nodes: usize,
    node: usize,
    stages: Vec<StageReport>,
}

#[derive(Serialize)]
struct StageReport {
    title: &'static str,
    lines: Vec<Listable>,
}

#[derive(Serialize)]
struct Listable {
    fraction: u32,
    to: Vec<Option<usize>>,
    from: Vec<(Option<usize>, usize)>,
}

/// A rank's part, for JSON output: slots and local steps as in the text.
#[derive(Serialize)]
struct ShareReport {
    collective: &'static str,
    p: usize,
    rank: usize,
    root: usize,
    lines: usize,
    blocks: usize,
    rounds: Vec<RoundReport>,
}

#[derive(Serialize)]
struct RoundReport {
    sends: Vec<Packet>,
    receives: Vec<Packet>,
    locals: Vec<String>,
}

#[derive(Serialize)]
struct Packet {
    peer: usize,
    slots: Vec<String>,
}

/// Runs the command.
pub(crate) fn plan(args: &Request, json: bool) -> Result<CommandOutcome, Error> {
    let kind = kind_of(&args.name);
    match (kind, &args.ports[..]) {
        (None, [_, ..]) => return Err(Error::NoPortsOf { name: args.name.clone() }),
        (Some(kind), []) => return Err(Error::PortsNeeded { kind: kind.to_string() }),
        (Some(kind), ports) => by_ports(kind, ports, args, json)?,
        (None, []) => of_collective(args, json)?,
    }
    Ok(CommandOutcome::Fine)
}

/// The kind with this name, as written in declarations or in the catalogue.
pub(crate) fn kind_of(name: &str) -> Option<Kind> {
    name.replace('-', "_").parse().ok()
}

fn by_ports(kind: Kind, texts: &[String], args: &Request, json: bool) -> Result<(), Error> {
    let all: Vec<Ports> = texts.iter().map(|text| read(text)).collect::<Result<_, _>>()?;
    all.iter().try_for_each(|ports| fits(ports, kind, args.p))?;
    match (args.node, &all[..]) {
        (None, _) if args.part => Err(Error::NodeNeeded { option: "--part" }),
        (None, _) if !args.sizes.is_empty() => Err(Error::NodeNeeded { option: "--sizes" }),
        (None, all) => {
            let ways = all.iter().map(|ports| way(ports, kind)).collect::<Result<_, _>>()?;
            summarise(PlanSummary { collective: kind.to_string(), ways }, json)
        }
        (Some(node), [ports]) if args.part => {
            print_part(&ports.part(kind, node).map_err(|source| Error::Unfit { ports: ports.clone(), source })?, json)
        }
        (Some(node), [ports]) => list(ports, kind, node, args, json),
        (Some(_), several) => Err(Error::OneWay { found: several.len() }),
    }
}

/// Reads ports and factors.
pub(crate) fn read(text: &str) -> Result<Ports, Error> {
    text.parse().map_err(|source| Error::Ports { text: text.into(), source })
}

/// Checks that the ports implement such a collective for this number of nodes.
fn fits(ports: &Ports, kind: Kind, nodes: Option<usize>) -> Result<(), Error> {
    let found = ports.nodes(kind).map_err(|source| Error::Unfit { ports: ports.clone(), source })?;
    match nodes {
        Some(nodes) if nodes != found => Err(Error::OtherNodes { ports: ports.clone(), found, nodes }),
        _ => Ok(()),
    }
}

fn way(ports: &Ports, kind: Kind) -> Result<PlanVariant, Error> {
    let unfit = |source| Error::Unfit { ports: ports.clone(), source };
    let pattern = ports.pattern(kind, Fractions::Scattered).map_err(unfit)?;
    let (sent, messages) = pattern.sent();
    Ok(PlanVariant {
        name: ports.to_string(),
        nodes: pattern.nodes(),
        steps: pattern.steps().len(),
        sent,
        fractions: pattern.fractions(),
        messages,
    })
}

fn summarise(summary: PlanSummary, json: bool) -> Result<(), Error> {
    if json {
        return print_json(&summary);
    }
    let heads = [("factors(ports)", Align::Left), ("nodes", Align::Right), ("steps", Align::Right)];
    let mut table = Table::new(heads.into_iter().chain([("size", Align::Right), ("messages", Align::Right)]));
    for way in summary.ways {
        let size = ratio(way.sent, way.fractions);
        table.row([way.name.into(), way.nodes.into(), way.steps.into(), size.into(), way.messages.into()]);
    }
    print(&format!("{table}\nsize: what a node sends, in units of all of the data\n"))
}

/// `76/39`, in lowest terms.
fn ratio(a: usize, b: usize) -> String {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    let (a, b) = (a / x.max(1), b / x.max(1));
    if b == 1 { a.to_string() } else { format!("{a}/{b}") }
}

fn list(ports: &Ports, kind: Kind, node: usize, args: &Request, json: bool) -> Result<(), Error> {
    let unfit = |source| Error::Unfit { ports: ports.clone(), source };
    let mut listing = ports.listing(kind, node).map_err(unfit)?;
    if !args.sizes.is_empty() && args.sizes.len() != listing.nodes {
        return Err(Error::Sizes { found: args.sizes.len(), nodes: listing.nodes });
    }
    if args.placing.ppn == Some(0) {
        return Err(Error::NoRanksPerNode { p: listing.nodes });
    }
    listing.sizes.clone_from(&args.sizes);
    listing.ranks_per_node = args.placing.ppn.unwrap_or(1);
    if json { print_json(&ListingReport::from(listing)) } else { print(&listing.to_string()) }
}

impl From<Listing> for ListingReport {
    fn from(listing: Listing) -> Self {
        let line = |line: Line| Listable { fraction: line.fraction, to: line.to, from: line.from };
        let stages = listing.stages.into_iter();
        ListingReport {
            collective: listing.kind.name(),
            ports: listing.ports.to_string(),
            nodes: listing.nodes,
            node: listing.node,
            stages: stages
                .map(|s| StageReport { title: s.title, lines: s.lines.into_iter().map(line).collect() })
                .collect(),
        }
    }
}

fn of_collective(args: &Request, json: bool) -> Result<(), Error> {
    let collective = Target::only(&args.name, Target::collectives(&args.name)?)?;
    let p = args.p.ok_or_else(|| Error::RanksNeeded { name: collective.name().into() })?;
    if let Some(rank) = args.node.filter(|_| p > alone::RECORDED_TOGETHER) {
        return print_part(&alone_part(&collective, p, rank, args)?, json);
    }
    let plan = recorded(&collective, p, args)?;
    match args.node {
        _ if args.summary => summarise(
            PlanSummary { collective: plan.kind.to_string(), ways: vec![cost(collective.name(), &plan)] },
            json,
        ),
        Some(rank) => print_part(&plan.part(rank).ok_or(Error::NoSuchRank { rank, p })?, json),
        None if json => print_json(&plan.parts().iter().map(ShareReport::from).collect::<Vec<_>>()),
        None => print(&plan.to_string()),
    }
}

/// The part of one rank, without a plan of all.
fn alone_part(collective: &NamedCollective, p: usize, rank: usize, args: &Request) -> Result<RankPlan, Error> {
    if p > alone::MAX_P {
        return Err(Error::Ranks { p, limit: alone::MAX_P, reason: "every rank is placed one by one" });
    }
    if rank >= p {
        return Err(Error::NoSuchRank { rank, p });
    }
    let schedule = collective.schedule();
    if schedule.kind.moves() {
        let source = Unplanned::Moves { kind: schedule.kind };
        return Err(Error::Unplanned { name: collective.name().into(), source });
    }
    let params = Params::resolve(collective.name(), &schedule, &args.set)?;
    let call = AloneCall { schedule: &schedule, args: &params.args, p, rank };
    collective.with_rounds(&params.args, &args.placing.of(p)?, |source| alone::part(source, call))
}

fn recorded(collective: &NamedCollective, p: usize, args: &Request) -> Result<Plan, Error> {
    if !(1..=MAX_P).contains(&p) {
        return Err(Error::Ranks {
            p,
            limit: MAX_P,
            reason: "a plan has all messages of all ranks; with `--node`, more are possible",
        });
    }
    let params = Params::resolve(collective.name(), &collective.schedule(), &args.set)?;
    collective.plan(&params.args, args.placing.of(p)?)
}

/// The cost for the rank that sends most.
fn cost(name: &str, plan: &Plan) -> PlanVariant {
    let messages =
        |rank: usize| plan.rounds.iter().filter_map(|round| round.get(rank)).map(|turn| turn.sends.len()).sum();
    PlanVariant {
        name: name.into(),
        nodes: plan.p,
        steps: plan.steps(),
        sent: (0..plan.p).map(|rank| plan.sent(rank)).max().unwrap_or(0),
        fractions: plan.blocks,
        messages: (0..plan.p).map(messages).max().unwrap_or(0),
    }
}

fn print_part(part: &RankPlan, json: bool) -> Result<(), Error> {
    if json { print_json(&ShareReport::from(part)) } else { print(&part.to_string()) }
}

impl From<&RankPlan> for ShareReport {
    fn from(part: &RankPlan) -> Self {
        let &RankPlan { p, rank, root, lines, blocks, .. } = part;
        let rounds = part.turns.iter().map(RoundReport::from).collect();
        ShareReport { collective: part.kind.name(), p, rank, root, lines, blocks, rounds }
    }
}

impl From<&Turn> for RoundReport {
    fn from(turn: &Turn) -> Self {
        let packet = |message: &SlotMessage| Packet {
            peer: message.peer,
            slots: message.slots.iter().map(ToString::to_string).collect(),
        };
        RoundReport {
            sends: turn.sends.iter().map(packet).collect(),
            receives: turn.receives.iter().map(packet).collect(),
            locals: turn.locals.iter().map(ToString::to_string).collect(),
        }
    }
}

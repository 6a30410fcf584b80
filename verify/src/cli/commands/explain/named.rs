//! Explains how a collective of a file or of the catalogue compares with the catalogue's others: whether it is proved
//! for the call, and what each of them would take by a profile.

use crate::cli::ExplainArgs;
use crate::cli::commands::machine::profile;
use crate::cli::commands::target::Target;
use crate::cli::commands::{CommandOutcome, print, print_json};
use crate::error::Error;
use crate::named::NamedCollective;
use crate::params::{Assignment, Params};
use crate::report::table::{Align, Cell, FAINT, GOOD, HEADING, Table};
use crate::report::units::time;
use crate::simulation::SimulatedCall;
use crate::simulation::machine::SimulatedMachine;
use crate::simulation::symmetry::Symmetry;
use roundel::algorithms::{Unknown, catalogue, find};
use roundel_spec::Placement;
use serde::Serialize;

/// The largest number of ranks: every rank of every algorithm may have to be followed.
const MAX_P: usize = 1024;

/// An explanation, for JSON output.
#[derive(Serialize)]
struct Comparison {
    name: String,
    collective: &'static str,
    p: usize,
    ppn: usize,
    bytes: u64,
    machine: String,
    proved_for: String,
    /// The fastest first; the collective itself among those of the catalogue that serve the call.
    candidates: Vec<ComparedCollective>,
}

#[derive(Serialize)]
struct ComparedCollective {
    name: String,
    params: Params,
    rounds: usize,
    seconds: f64,
    proved_for: String,
}

/// A call on a machine.
struct ComparedCall<'a> {
    placement: &'a Placement,
    machine: &'a SimulatedMachine,
    bytes: u64,
}

/// Whether a name is one of a file or of the catalogue, perhaps of several.
pub(super) fn is_named(name: &str) -> bool {
    let file = name.rsplit_once(':').map_or(name, |(file, _)| file);
    file.ends_with(".rs") || name.ends_with(".rs") || !matches!(find(name), Err(Unknown::Nowhere { .. }))
}

/// Explains how a collective compares.
pub(super) fn explain(args: &ExplainArgs, json: bool) -> Result<CommandOutcome, Error> {
    let collective = Target::only(&args.collective, Target::collectives(&args.collective)?)?;
    let ranks = args.ranks()?;
    let p = usize::try_from(ranks).ok().filter(|p| (1..=MAX_P).contains(p)).ok_or(Error::Ranks {
        p: usize::try_from(ranks).unwrap_or(0),
        limit: MAX_P,
        reason: "every rank of every candidate is followed",
    })?;
    let ppn = args.ppn.map_or(Ok(1), |ppn| usize::try_from(ppn).ok().filter(|&n| n > 0).ok_or(ppn));
    let ppn = ppn.map_err(|_| Error::NoRanksPerNode { p })?;
    let read = args.profile.as_deref().map(|path| profile::read(path, args.foreign)).transpose()?;
    let (placement, machine) =
        (Placement::consecutive(p, ppn), SimulatedMachine::Profile(Box::new(read.unwrap_or_default())));
    let call = ComparedCall { placement: &placement, machine: &machine, bytes: args.bytes.max(0) as u64 };
    let report = compared(&collective, &args.set, &call)?;
    if json {
        print_json(&report)?
    } else {
        print(&text(&report))?
    }
    Ok(CommandOutcome::Fine)
}

fn compared(collective: &NamedCollective, set: &[Assignment], call: &ComparedCall<'_>) -> Result<Comparison, Error> {
    let kind = collective.schedule().kind;
    let own = candidate(collective, set, call)?;
    let others = catalogue().iter().map(NamedCollective::Entry).filter(|other| other.name() != own.name);
    let others = others.filter(|other| other.schedule().kind == kind);
    // Those whose domain or proof does not contain the call are no candidates.
    let mut candidates: Vec<ComparedCollective> =
        others.filter_map(|other| candidate(&other, &[], call).ok()).collect();
    let (name, proved_for) = (own.name.clone(), own.proved_for.clone());
    candidates.insert(0, own);
    candidates.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let ComparedCall { placement, machine, bytes } = *call;
    let (p, ppn, machine) = (placement.p(), placement.ppn(), machine.to_string());
    Ok(Comparison { name, collective: kind.name(), p, ppn, bytes, machine, proved_for, candidates })
}

/// What a collective takes, if it is declared and proved for the call.
fn candidate(
    collective: &NamedCollective,
    set: &[Assignment],
    call: &ComparedCall<'_>,
) -> Result<ComparedCollective, Error> {
    let ComparedCall { placement, machine, bytes } = *call;
    let schedule = collective.schedule();
    let mut params = Params::resolve(collective.name(), &schedule, set)?;
    params.choose_radix(collective.name(), placement.p(), bytes as usize);
    let symmetry = Symmetry::of(&schedule);
    let simulation = collective.with_rounds(&params.args, placement, |source| {
        SimulatedCall { source, symmetry, kind: schedule.kind, placement, machine, bytes }.simulate()
    })?;
    collective.proved(&params.args, placement)?;
    Ok(ComparedCollective {
        name: collective.name().into(),
        params,
        rounds: simulation.rounds.len(),
        seconds: simulation.seconds,
        proved_for: collective.proved_range()?.into(),
    })
}

fn text(report: &Comparison) -> String {
    let Comparison { name, collective, p, ppn, bytes, machine, proved_for, candidates } = report;
    let heads =
        [("time", Align::Right), ("rounds", Align::Right), ("algorithm", Align::Left), ("proved for", Align::Left)];
    let mut table = Table::new(heads);
    for candidate in candidates {
        let values = candidate.params.named();
        let values: String = values.iter().map(|(name, value)| format!(" {name} = {value}")).collect();
        let named = format!("{}{values}", candidate.name);
        let named = if candidate.name == *name { Cell::styled(named, GOOD) } else { named.into() };
        let rounds = candidate.rounds.into();
        table.row([time(candidate.seconds).into(), rounds, named, candidate.proved_for.clone().into()]);
    }
    let place = candidates.iter().position(|candidate| candidate.name == *name).map_or(1, |at| at + 1);
    let left = "Algorithms that need a list, and calls in shared memory, are left out.";
    format!(
        "{HEADING}{name}{HEADING:#}  {collective} of {bytes} bytes, p = {p}, ppn = {ppn}: proved for {proved_for}\n\
         number {place} of {} by {machine}\n\n{table}\n{FAINT}{left}{FAINT:#}\n",
        candidates.len()
    )
}

//! `roundel simulate`: what a collective would take on a machine, rank by rank, without a run.

use super::machine::{plan, profile};
use super::target::Target;
use super::{CommandOutcome, print, print_json};
use crate::cli::SimulateArgs;
use crate::cli::placing::Placing;
use crate::error::Error;
use crate::params::Params;
use crate::simulation::machine::SimulatedMachine;
use crate::simulation::report::{self, SimulatedCase, SimulationReport};
use crate::simulation::rounds::{PlannedRounds, RankSource};
use crate::simulation::symmetry::Symmetry;
use crate::simulation::topology::Topology;
use crate::simulation::{MAX_P, SimulatedCall, SimulationError, goal};
use roundel::clock::LogGps;
use roundel::plan::ports::Fractions;
use roundel_spec::{Kind, Placement};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Runs the command.
pub(super) fn simulate(args: &SimulateArgs, json: bool) -> Result<CommandOutcome, Error> {
    let machine = machine(args)?;
    match &args.ports {
        Some(ports) => of_ports(args, &machine, ports, json)?,
        None => of_collective(args, &machine, json)?,
    }
    Ok(CommandOutcome::Fine)
}

/// The machine: a profile, LogGPS, or the default profile. A topology without numbers has those of the default.
fn machine(args: &SimulateArgs) -> Result<SimulatedMachine, Error> {
    let topology = args.topology.as_deref().map(Topology::read).transpose()?;
    match (&args.profile, args.loggps, topology) {
        (Some(_), _, Some(_)) => Err(SimulationError::MeasuredLinks.into()),
        (Some(path), ..) => Ok(SimulatedMachine::Profile(Box::new(profile::read(path, true)?))),
        (None, Some(given), topology) => Ok(SimulatedMachine::Messages { numbers: given.0, topology }),
        (None, None, Some(topology)) => {
            Ok(SimulatedMachine::Messages { numbers: LogGps::default(), topology: Some(topology) })
        }
        (None, None, None) => Ok(SimulatedMachine::Profile(Box::default())),
    }
}

fn of_collective(args: &SimulateArgs, machine: &SimulatedMachine, json: bool) -> Result<(), Error> {
    let collective = Target::only(&args.name, Target::collectives(&args.name)?)?;
    let p = args.p.unwrap_or(0);
    if !(1..=MAX_P).contains(&p) {
        return Err(Error::Ranks { p, limit: MAX_P, reason: "every rank may have to be followed" });
    }
    let schedule = collective.schedule();
    let params = Params::resolve(collective.name(), &schedule, &args.set)?;
    let placement = placed(args, machine, p)?;
    let mut case = vec![format!("p = {p}")];
    if placement.ppn() < p {
        case.push(format!("ppn = {}", placement.ppn()));
    }
    case.extend(params.named().into_iter().map(|(name, value)| format!("{name} = {value}")));
    let call =
        SimulateCommand { args, machine, placement: &placement, kind: schedule.kind, case: case.join(", "), json };
    let symmetry = Symmetry::of(&schedule);
    collective.with_rounds(&params.args, &placement, |source| call.answer(collective.name(), source, symmetry))
}

/// The placement; a topology has a number of ranks per node, too.
fn placed(args: &SimulateArgs, machine: &SimulatedMachine, p: usize) -> Result<Placement, Error> {
    let node = machine.topology().and_then(|topology| topology.levels.first()).map(|level| level.size);
    match (&args.placing, node) {
        (Placing { ppn: None, placement: None }, Some(size)) => Ok(Placement::consecutive(p, size)),
        (placing, _) => placing.of(p),
    }
}

fn of_ports(args: &SimulateArgs, machine: &SimulatedMachine, text: &str, json: bool) -> Result<(), Error> {
    let kind = plan::kind_of(&args.name).ok_or_else(|| Error::NoPortsOf { name: args.name.clone() })?;
    let ports = plan::read(text)?;
    let unfit = |source| Error::Unfit { ports: ports.clone(), source };
    let p = ports.nodes(kind).map_err(unfit)?;
    if p > MAX_P {
        return Err(Error::Ranks { p, limit: MAX_P, reason: "every rank may have to be followed" });
    }
    let pattern = ports.pattern(kind, Fractions::Scattered).map_err(unfit)?;
    let placement = Placement::consecutive(p, 1);
    let call =
        SimulateCommand { args, machine, placement: &placement, kind, case: format!("{p} nodes, {ports}"), json };
    call.answer(kind.name(), &PlannedRounds { pattern: &pattern, ports: &ports }, Symmetry::None)
}

/// What was asked for.
struct SimulateCommand<'a> {
    args: &'a SimulateArgs,
    machine: &'a SimulatedMachine,
    placement: &'a Placement,
    kind: Kind,
    case: String,
    json: bool,
}

impl SimulateCommand<'_> {
    fn answer(&self, name: &str, source: &dyn RankSource, symmetry: Symmetry) -> Result<(), Error> {
        let SimulateCommand { args, machine, placement, kind, .. } = *self;
        let request = SimulatedCall { source, symmetry, kind, placement, machine, bytes: args.bytes };
        let simulation = request.simulate()?;
        let subject = SimulatedCase {
            name: name.into(),
            ppn: placement.ppn(),
            bytes: args.bytes,
            machine: machine.to_string(),
            case: self.case.clone(),
        };
        if args.picture.wanted() {
            args.picture.write(&report::picture(&subject, &simulation))?;
        }
        if let Some(path) = &args.goal {
            write_goal(&request, path)?;
        }
        if self.json {
            return print_json(&SimulationReport::new(&subject, &simulation));
        }
        print(&report::text(&subject, &simulation))
    }
}

fn write_goal(request: &SimulatedCall<'_>, path: &Path) -> Result<(), Error> {
    let failed = |source| Error::Write { path: path.into(), source };
    let mut file = BufWriter::new(File::create(path).map_err(failed)?);
    goal::write(request.source, request.placement.p(), request.block(), &mut file)?;
    file.flush().map_err(failed)
}

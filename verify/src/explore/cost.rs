//! What a call would cost on a machine, for comparisons: messages and bytes by level, and predicted times over sizes.

use super::Refusal;
use super::ask::ExploredCall;
use super::subject::ExploredCollective;
use crate::params::Params;
use crate::simulation::SimulatedCall;
use crate::simulation::machine::{GivenNumbers, SimulatedMachine};
use crate::simulation::symmetry::Symmetry;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The sizes of a block, or of the data, in bytes.
const SIZES: [u64; 8] = [8, 64, 512, 4096, 32 << 10, 256 << 10, 2 << 20, 16 << 20];

/// The longest time that all sizes may take; those that were not reached are left out.
const PATIENCE: Duration = Duration::from_secs(20);

/// Simulates a call for all sizes.
pub(super) fn cost(
    subject: &ExploredCollective,
    call: &ExploredCall,
    machine: Option<&str>,
) -> Result<Value, Refusal> {
    let params = Params::resolve(&subject.name, &subject.schedule, &call.set)?;
    let placement = call.placement()?;
    let machine = match machine.map(str::trim).filter(|text| !text.is_empty()) {
        Some(text) => SimulatedMachine::Messages { numbers: text.parse::<GivenNumbers>()?.0, topology: None },
        None => SimulatedMachine::Profile(Box::default()),
    };
    let (kind, start) = (subject.schedule.kind, Instant::now());
    let symmetry = Symmetry::of(&subject.schedule);
    Ok(subject.with_rounds(&params.args, &placement, |source| {
        let mut sizes = Vec::new();
        for bytes in SIZES {
            if start.elapsed() > PATIENCE {
                break;
            }
            let request = SimulatedCall { source, symmetry, kind, placement: &placement, machine: &machine, bytes };
            let simulation = request.simulate()?;
            let traffic = simulation.traffic();
            sizes.push(json!({
                "bytes": bytes,
                "seconds": simulation.seconds,
                "rounds": simulation.rounds.len(),
                "levels": simulation.levels,
                "messages": traffic.iter().map(|level| level.messages).collect::<Vec<_>>(),
                "sent": traffic.iter().map(|level| level.bytes).collect::<Vec<_>>(),
            }));
        }
        Ok(json!({ "name": subject.name, "machine": machine.to_string(), "sizes": sizes }))
    })?)
}

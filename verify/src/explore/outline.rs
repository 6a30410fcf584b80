//! Calls with more ranks than can be drawn one by one: what each round sends in total, and the messages of one rank.

use super::Refusal;
use super::ask::ExploredCall;
use super::proof;
use super::recording::MAX_P;
use super::subject::ExploredCollective;
use crate::alone::{self, AloneMessage};
use crate::error::Error;
use crate::params::Params;
use crate::simulation::SimulatedCall;
use crate::simulation::machine::SimulatedMachine;
use crate::simulation::symmetry::Symmetry;
use serde_json::{Value, json};

/// The largest number of rounds that is sent.
const MOST_ROUNDS: usize = 4096;

/// Up to this many messages and blocks of all ranks are kept one by one.
const MOST_MESSAGES: usize = 3 << 20;
const MOST_BLOCKS: usize = 1 << 26;

/// Whether a call is too large to keep every message, judged by its first rank.
pub(super) fn is_needed(subject: &ExploredCollective, call: &ExploredCall) -> Result<bool, Refusal> {
    if call.p <= 64 || call.p > MAX_P {
        return Ok(call.p > MAX_P);
    }
    let params = Params::resolve(&subject.name, &subject.schedule, &call.set)?;
    Ok(subject.with_rounds(&params.args, &call.placement()?, |source| {
        let first = alone::rounds(source, 0)?;
        let sent = first.iter().flat_map(|round| &round.sends);
        let (messages, blocks) = sent.fold((0, 0), |(n, sum), message| (n + 1, sum + message.blocks));
        Ok(messages * call.p > MOST_MESSAGES || blocks * call.p > MOST_BLOCKS)
    })?)
}

/// The outline of a call.
pub(super) fn outline(subject: &ExploredCollective, call: &ExploredCall) -> Result<Value, Refusal> {
    let params = Params::resolve(&subject.name, &subject.schedule, &call.set)?;
    let placement = call.placement()?;
    let answer = subject.with_rounds(&params.args, &placement, |source| {
        let (kind, machine) = (subject.schedule.kind, SimulatedMachine::Profile(Box::default()));
        let symmetry = Symmetry::of(&subject.schedule);
        let request = SimulatedCall { source, symmetry, kind, placement: &placement, machine: &machine, bytes: 1 };
        let simulation = request.simulate()?;
        let block = request.block();
        let step = |round: &crate::simulation::run::RoundTime| {
            let messages: Vec<u64> = round.traffic.iter().map(|level| level.messages).collect();
            let blocks: Vec<f64> = round.traffic.iter().map(|level| (level.bytes / block).round()).collect();
            json!({ "messages": messages, "blocks": blocks })
        };
        Ok(json!({
            "mode": "outline",
            "name": subject.name,
            "kind": kind.name(),
            "summary": subject.summary,
            "case": format!("p = {}, ppn = {}", call.p, placement.ppn()),
            "p": call.p,
            "ppn": placement.ppn(),
            "params": params,
            "defaulted": params.defaulted,
            "evaluated": subject.entry.is_none(),
            "levels": simulation.levels,
            "steps": simulation.rounds.iter().take(MOST_ROUNDS).map(step).collect::<Vec<_>>(),
            "all_steps": simulation.rounds.len(),
            "clauses": subject.clauses(),
            "verdict": { "state": "unchecked" },
            "proof": proof::known(subject, &params.args, &placement),
        }))
    })?;
    Ok(answer)
}

/// The messages of one rank of such a call.
pub(super) fn rank(subject: &ExploredCollective, call: &ExploredCall, rank: usize) -> Result<Value, Refusal> {
    let p = call.p;
    if rank >= p {
        return Err(Error::NoSuchRank { rank, p }.into());
    }
    let params = Params::resolve(&subject.name, &subject.schedule, &call.set)?;
    let placement = call.placement()?;
    let kind = subject.schedule.kind;
    let rounds = subject.with_rounds(&params.args, &placement, |source| {
        let text = |message: &AloneMessage| {
            let nonlocal = placement.nonlocal(rank, message.peer);
            json!([message.peer, message.blocks, u8::from(nonlocal), message.text(kind, p, source.blocks())])
        };
        let all = |messages: &[AloneMessage]| messages.iter().map(text).collect::<Vec<_>>();
        let rounds = alone::rounds(source, rank)?;
        let one = |round: &alone::AloneRound| {
            json!({ "round": round.round, "sends": all(&round.sends), "receives": all(&round.receives) })
        };
        Ok(rounds.iter().take(MOST_ROUNDS).map(one).collect::<Vec<_>>())
    })?;
    Ok(json!({ "rank": rank, "rounds": rounds }))
}

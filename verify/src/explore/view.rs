//! A call as a whole: what the picture is about, and what is true of it.

use super::Refusal;
use super::proof;
use super::recording::{Recording, Rows, Verdict};
use super::subject::PlaceKey;
use crate::error::Error;
use crate::report::picture::{self, Picture, PictureOptions};
use crate::report::rounds::Round;
use roundel_spec::Direction;
use roundel_spec::violation::nodes_in_words;
use serde_json::{Value, json};

/// Describes a recorded call.
pub(super) fn view(recording: &Recording) -> Result<Value, Refusal> {
    let Recording { subject, params, point, .. } = recording;
    let p = recording.p();
    Ok(json!({
        "mode": "full",
        "name": subject.name,
        "kind": subject.schedule.kind.name(),
        "summary": subject.summary,
        "case": case(recording),
        "p": p,
        "ppn": point.placement.ppn(),
        "nodes": (0..p).map(|rank| point.placement.node(rank)).collect::<Vec<_>>(),
        "params": params,
        "defaulted": params.defaulted,
        "evaluated": subject.entry.is_none(),
        "steps": steps(recording),
        "rows": rows(recording),
        "clauses": subject.clauses(),
        "start": subject.place(PlaceKey::Type).map(|place| place.0),
        "verdict": verdict(recording),
        "proof": proof::known(subject, &params.args, &point.placement),
    }))
}

/// The case as text.
fn case(recording: &Recording) -> String {
    let placement = &recording.point.placement;
    let mut parts = vec![format!("p = {}", recording.p())];
    match placement.irregular() {
        Some(nodes) if nodes.len() <= 64 => parts.push(format!("nodes = {}", nodes_in_words(&nodes))),
        Some(_) => parts.push("ranks placed one by one".into()),
        None if placement.ppn() < recording.p() => parts.push(format!("ppn = {}", placement.ppn())),
        None => {}
    }
    parts.extend(recording.params.named().into_iter().map(|(name, value)| format!("{name} = {value}")));
    parts.join(", ")
}

/// The totals of each step: messages and blocks, inside and between nodes.
fn steps(recording: &Recording) -> Vec<Value> {
    let placement = &recording.point.placement;
    let step = |&round: &usize| {
        let mut totals = [[0usize; 2]; 2];
        for (rank, log) in recording.trace.ranks.iter().enumerate() {
            for sent in log.directed(round, Direction::Send) {
                let level = &mut totals[usize::from(placement.nonlocal(rank, sent.peer))];
                level[0] += 1;
                level[1] += log.blocks(sent).len();
            }
        }
        let [local, remote] = totals;
        json!({ "messages": [local[0], remote[0]], "blocks": [local[1], remote[1]] })
    };
    recording.active.iter().map(step).collect()
}

fn rows(recording: &Recording) -> Value {
    let (rows, p) = (recording.rows(), recording.p());
    let lines = &recording.subject.schedule.lines;
    let (meaning, each) = match rows {
        Rows::Blocks { blocks } => ("blocks", blocks),
        Rows::Destinations => ("destinations", p),
        Rows::Contributors { .. } => ("contributors", p),
        Rows::Slots { blocks, .. } => ("slots", blocks),
        Rows::None => ("none", 0),
    };
    json!({ "count": rows.count(p), "meaning": meaning, "each": each, "lines": lines })
}

fn verdict(recording: &Recording) -> Value {
    match &recording.verdict {
        Verdict::Right => json!({ "state": "right" }),
        Verdict::Unchecked => json!({ "state": "unchecked" }),
        Verdict::Wrong(violation, highlight) => {
            // A vector that is not divided has a row for each contributor: all of them are marked.
            let slots = match recording.rows() {
                Rows::Contributors { .. } => Vec::new(),
                _ => highlight.slots.clone(),
            };
            let expected = highlight.expected.as_ref().map(|message| (message.from, message.to));
            json!({
                "state": "wrong",
                "message": violation.to_string(),
                "code": violation.code(),
                "step": recording.step_of_panel(highlight.panel),
                "ranks": highlight.ranks,
                "messages": highlight.messages,
                "expected": expected,
                "slots": slots,
            })
        }
    }
}

/// The call as a figure for a document: that of `roundel show --svg`.
pub(super) fn figure(recording: &Recording) -> Result<String, Refusal> {
    let (run, p) = (recording.run(), recording.p());
    let rounds: Vec<Round> = recording.active.iter().map(|&round| run.round(round)).collect();
    if p > picture::MAX_RANKS {
        return Err(Error::PictureTooLarge { p, rounds: rounds.len(), limit: picture::MAX_RANKS }.into());
    }
    let fault = match &recording.verdict {
        Verdict::Wrong(_, highlight) => Some(highlight.as_ref()),
        _ => None,
    };
    Ok(picture::draw(&Picture {
        title: &recording.subject.name,
        subtitle: &case(recording),
        placement: &recording.point.placement,
        rounds: &rounds,
        film: &run.pictured(&recording.active),
        fault,
        options: PictureOptions::default(),
    })
    .svg())
}

//! The trace of a program: its calls as the page shows them, with what differs from the declaration.

use super::Refusal;
use super::ask::ExploredCall;
use crate::params::{Assignment, Params};
use crate::replay::trace::diff::{CallDifference, Discrepancy, Who, diff};
use crate::replay::trace::file::{File, Id, What};
use crate::replay::trace::job::Job;
use crate::replay::trace::promise::DeclaredMessage;
use roundel::algorithms;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;

/// The largest number of calls that are listed.
const MOST_CALLS: usize = 2000;

/// What the page sends.
#[derive(Deserialize)]
struct SentFiles {
    files: Vec<SentFile>,
}

#[derive(Deserialize)]
struct SentFile {
    name: String,
    text: String,
}

/// Describes the calls of a job.
pub(super) fn trace(body: &str) -> Result<Value, Refusal> {
    let wrong = |error: serde_json::Error| Refusal::Question { name: "files", reason: error.to_string() };
    let sent: SentFiles = serde_json::from_str(body).map_err(wrong)?;
    let files = sent.files.iter().map(|file| File::parse(Path::new(&file.name), &file.text));
    let job = Job::of(files.collect::<Result<_, _>>()?)?;
    let report = diff(&job);
    let all: Vec<&CallDifference> = report.rows.iter().flat_map(|row| &row.differences).collect();
    let calls = job.calls();
    let listed = calls.iter().take(MOST_CALLS).filter_map(|id| {
        let differences = all.iter().filter(|one| one.call == **id).map(|one| &one.fault);
        call(&job, id, differences.collect())
    });
    let by_others = report.rows.iter().filter(|row| !matches!(row.who, Who::Algorithm(_))).map(|row| row.calls);
    Ok(json!({
        "calls": listed.collect::<Vec<_>>(),
        "all": calls.len(),
        "others": by_others.sum::<usize>(),
        "missing": report.missing,
        "fine": report.is_fine(),
    }))
}

/// A call that an algorithm performed; `None` for others, which have no rounds to show.
fn call(job: &Job, id: &Id, differences: Vec<&Discrepancy>) -> Option<Value> {
    let communicators = job.communicators();
    let communicator = communicators.get(id.communicator.as_str())?;
    let done = job.files.values().filter_map(|file| match &file.calls.get(id)?.what {
        What::Done(done) => Some(done),
        _ => None,
    });
    let done = done.into_iter().next()?;
    let p = communicator.ranks.len();
    let entry = algorithms::catalogue().iter().find(|entry| entry.name == done.algorithm)?;
    let schedule = (entry.schedule)();
    let fits = (schedule.numbers.len(), schedule.lists.len()) == (done.args.numbers.len(), done.args.lists.len());
    let set: Vec<Assignment> = if fits { assignments(&Params::of(&schedule, &done.args)) } else { Vec::new() };
    let nodes = communicator.nodes.clone();
    let shown = ExploredCall { collective: entry.name.into(), p, nodes, set, ..ExploredCall::default() };
    // A rank without a record of the call had not ended it when the job ended.
    let late = |rank: &usize| {
        let file = communicator.ranks.get(*rank).and_then(|world| job.files.get(world));
        file.is_some_and(|file| !file.calls.contains_key(id))
    };
    let absent = |rank: &usize| communicator.ranks.get(*rank).is_some_and(|world| !job.files.contains_key(world));
    Some(json!({
        "title": format!("{id}: {}", entry.name),
        "collective": entry.name,
        "p": p,
        "address": shown.address(),
        "late": (0..p).filter(late).collect::<Vec<_>>(),
        "absent": (0..p).filter(absent).collect::<Vec<_>>(),
        "differences": differences.iter().map(|one| difference(one)).collect::<Vec<_>>(),
    }))
}

fn assignments(params: &Params) -> Vec<Assignment> {
    let value = |(name, text): (String, String)| {
        format!("{name}={}", text.trim_matches(['[', ']']).replace(' ', "")).parse().ok()
    };
    params.named().into_iter().filter_map(value).collect()
}

fn difference(fault: &Discrepancy) -> Value {
    let (what, message): (&str, Option<&DeclaredMessage>) = match fault {
        Discrepancy::NotSent(message) => ("not-sent", Some(message)),
        Discrepancy::Sent(message) => ("sent", Some(message)),
        Discrepancy::NotReceived(message) => ("not-received", Some(message)),
        Discrepancy::Received(message) => ("received", Some(message)),
        _ => ("other", None),
    };
    json!({
        "what": what,
        "text": fault.to_string(),
        "step": message.map(|message| message.round + 1),
        "from": message.map(|message| message.from),
        "to": message.map(|message| message.to),
    })
}

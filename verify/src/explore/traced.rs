//! The trace of a program: its calls as the page shows them, with what differs from the declaration.

use super::Refusal;
use super::ask::ExploredCall;
use crate::params::{Assignment, Params};
use crate::replay::trace::diff::{CallDifference, Discrepancy, Who, diff};
use crate::replay::trace::file::{Communicator, File, Id, TracedTime, What};
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
    let incomplete = |rank: &usize| {
        let file = communicator.ranks.get(*rank).and_then(|world| job.files.get(world));
        file.is_some_and(|file| !file.calls.contains_key(id))
    };
    let absent = |rank: &usize| communicator.ranks.get(*rank).is_some_and(|world| !job.files.contains_key(world));
    Some(json!({
        "title": format!("{id}: {}", entry.name),
        "collective": entry.name,
        "p": p,
        "address": shown.address(),
        "incomplete": (0..p).filter(incomplete).collect::<Vec<_>>(),
        "late": late(&times(job, communicator, id)),
        "absent": (0..p).filter(absent).collect::<Vec<_>>(),
        "differences": differences.iter().map(|one| difference(one)).collect::<Vec<_>>(),
    }))
}

/// When each rank of a call began and ended, if its file says so.
fn times(job: &Job, communicator: &Communicator, id: &Id) -> Vec<Option<TracedTime>> {
    let time = |world: &usize| match &job.files.get(world)?.calls.get(id)?.what {
        What::Done(done) => done.time,
        _ => None,
    };
    communicator.ranks.iter().map(time).collect()
}

/// The ranks that began when more than half of the time of the call had passed, from the first beginning to the last
/// end: the others waited for them. For each, how long after the first rank it began, and how long the call took, in
/// seconds.
fn late(times: &[Option<TracedTime>]) -> Vec<Value> {
    let known = || times.iter().flatten();
    let first = known().map(|time| time.0).min().unwrap_or(0);
    let whole = known().map(|time| time.1).max().unwrap_or(0).saturating_sub(first);
    let after = times.iter().enumerate().filter_map(|(rank, time)| Some((rank, time.as_ref()?.0 - first)));
    let late = after.filter(|&(_, after)| after > whole / 2);
    late.map(|(rank, after)| json!({ "rank": rank, "after": after as f64 / 1e9, "of": whole as f64 / 1e9 })).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_begins_after_half_of_the_time_is_late() {
        let ranks = |times: &[(u64, u64)]| {
            let times: Vec<_> = times.iter().map(|&(began, ended)| Some(TracedTime(began, ended))).collect();
            late(&times).iter().map(|one| one["rank"].as_u64().unwrap_or(u64::MAX)).collect::<Vec<_>>()
        };
        assert_eq!(ranks(&[(1000, 1100), (1050, 1100), (1051, 1090)]), [2]);
        assert_eq!(ranks(&[(1000, 2000), (1010, 2000), (1000, 1900)]), [0; 0]);
        assert_eq!(ranks(&[(1900, 2001), (1000, 2000), (1800, 1900)]), [0, 2]);
        // Clocks that disagree: a rank ends before another begins.
        assert_eq!(ranks(&[(10, 20), (500, 510)]), [1]);
        let some = late(&[None, Some(TracedTime(5_000, 9_000)), Some(TracedTime(8_000, 9_000))]);
        assert_eq!(some, [json!({ "rank": 2, "after": 3e-6, "of": 4e-6 })]);
        assert!(late(&[None, None]).is_empty());
    }
}

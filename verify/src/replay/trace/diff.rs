//! Compares what was done with what was declared.

use super::file::{Communicator, Done, Id, TracedCall, TracedMessage, What};
use super::job::Job;
use super::promise::{DeclaredMessage, Promise};
use roundel_spec::{Arguments, Kind, Placement};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

/// The report about a job.
#[derive(Clone, Debug)]
pub struct TraceReport {
    /// One row for each algorithm and number of ranks.
    pub rows: Vec<TraceRow>,
    /// Ranks of the world whose files are missing.
    pub missing: BTreeSet<usize>,
    /// The number of calls that were skipped, because a file is missing.
    pub unseen: usize,
}

impl TraceReport {
    /// Whether nothing differs and nothing is missing.
    pub fn is_fine(&self) -> bool {
        self.missing.is_empty() && self.rows.iter().all(|row| row.differences.is_empty())
    }
}

/// The calls of an algorithm on one number of ranks.
#[derive(Clone, Debug)]
pub struct TraceRow {
    /// Who performed the calls.
    pub who: Who,
    /// The number of ranks.
    pub p: usize,
    /// The number of calls.
    pub calls: usize,
    /// The number of messages sent.
    pub messages: usize,
    /// The number of bytes sent.
    pub bytes: u64,
    /// The differences from the schedule.
    pub differences: Vec<CallDifference>,
    /// The first error, if the calls failed.
    pub error: Option<String>,
}

/// Who performed a call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// An algorithm, by name.
    Algorithm(String),
    /// The MPI library, for a reason.
    Library {
        /// The collective.
        kind: &'static str,
        /// The reason.
        reason: String,
    },
    /// None: the call failed on all ranks.
    Nobody {
        /// The collective.
        kind: &'static str,
    },
}

/// A difference between a call and its declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallDifference {
    /// The call.
    pub call: Id,
    /// The difference.
    pub fault: Discrepancy,
}

/// The kind of difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Discrepancy {
    /// A declared message was not sent.
    NotSent(DeclaredMessage),
    /// A message was sent that was not declared.
    Sent(DeclaredMessage),
    /// A declared message was not received.
    NotReceived(DeclaredMessage),
    /// A message was received that was not declared.
    Received(DeclaredMessage),
    /// A rank has no record of the call: it did not complete it.
    Incomplete {
        /// The rank of the communicator.
        rank: usize,
    },
    /// Two ranks have different records.
    Unlike {
        /// The rank of the communicator.
        rank: usize,
        /// The other one.
        other: usize,
        /// The part that differs.
        what: &'static str,
    },
    /// The algorithm cannot have performed such a call.
    Impossible(String),
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Id { communicator, request, number } = self;
        match request {
            0 => write!(f, "call {number} on communicator {communicator}"),
            _ => write!(f, "start {number} of request {request} on communicator {communicator}"),
        }
    }
}

impl fmt::Display for DeclaredMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeclaredMessage { round, from, to, bytes } = self;
        write!(f, "round {round}, {bytes} bytes from rank {from} to rank {to}")
    }
}

impl fmt::Display for Discrepancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Discrepancy::NotSent(message) => write!(f, "{message}: declared, but not sent"),
            Discrepancy::Sent(message) => write!(f, "{message}: sent, but not declared"),
            Discrepancy::NotReceived(message) => write!(f, "{message}: declared, but not received"),
            Discrepancy::Received(message) => write!(f, "{message}: received, but not declared"),
            Discrepancy::Incomplete { rank } => write!(f, "rank {rank} did not complete it"),
            Discrepancy::Unlike { rank, other, what } => write!(f, "ranks {other} and {rank} have different {what}"),
            Discrepancy::Impossible(reason) => f.write_str(reason),
        }
    }
}

impl fmt::Display for CallDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.call, self.fault)
    }
}

/// Compares all calls of a job with the declarations.
pub fn diff(job: &Job) -> TraceReport {
    let mut judge = Judge { promises: HashMap::new(), rows: BTreeMap::new() };
    let (missing, mut unseen) = (job.missing(), 0);
    let communicators = job.communicators();
    for id in job.calls() {
        let Some(&communicator) = communicators.get(id.communicator.as_str()) else { continue };
        let members: Option<Vec<_>> = communicator.ranks.iter().map(|rank| job.files.get(rank)).collect();
        match members {
            Some(members) => judge.call(id, communicator, members.iter().map(|file| file.calls.get(id)).collect()),
            None => unseen += 1,
        }
    }
    TraceReport { rows: judge.rows.into_values().collect(), missing, unseen }
}

struct Judge {
    /// By algorithm, parameters and communicator.
    promises: HashMap<(Kind, String, Arguments, String), Result<Promise, String>>,
    rows: BTreeMap<(Who, usize), TraceRow>,
}

impl Judge {
    /// Examines a call, given the records of each rank, if any.
    fn call(&mut self, id: &Id, communicator: &Communicator, traced: Vec<Option<&TracedCall>>) {
        let Some(first) = traced.iter().position(Option::is_some) else { return };
        let Some(one) = traced[first] else { return };
        let row = TraceRow::new(one, communicator.ranks.len());
        let calls: Vec<&TracedCall> = traced.iter().copied().flatten().collect();
        let mut faults: Vec<Discrepancy> = (0..traced.len()).filter_map(|rank| apart(&traced, first, rank)).collect();
        let done: Vec<&Done> = calls.iter().filter_map(|call| call.done()).collect();
        if faults.is_empty() && !done.is_empty() {
            faults = self.messages(id, one.kind, communicator, &done);
        }
        let sent = done.iter().flat_map(|done| &done.sent);
        let row = self.rows.entry((row.who.clone(), row.p)).or_insert(row);
        row.calls += 1;
        sent.for_each(|TracedMessage(_, _, bytes)| {
            row.messages += 1;
            row.bytes = row.bytes.saturating_add(*bytes);
        });
        row.differences.extend(faults.into_iter().map(|fault| CallDifference { call: id.clone(), fault }));
    }

    /// Compares the messages of a call that all ranks have completed.
    fn messages(&mut self, id: &Id, kind: Kind, communicator: &Communicator, done: &[&Done]) -> Vec<Discrepancy> {
        let Done { algorithm, args, .. } = done[0];
        let key = (kind, algorithm.clone(), args.clone(), id.communicator.clone());
        let promise = self
            .promises
            .entry(key)
            .or_insert_with(|| Promise::new(kind, algorithm, args, Placement::from_levels(&communicator.nodes)));
        let lengths: Vec<_> = done.iter().map(|done| &done.blocks).collect();
        let declared = match promise.as_ref().map_err(Clone::clone).and_then(|promise| promise.messages(&lengths)) {
            Ok(declared) => declared,
            Err(reason) => return vec![Discrepancy::Impossible(reason)],
        };
        let ranks = || done.iter().enumerate();
        let sent = ranks().flat_map(|(from, done)| {
            done.sent.iter().map(move |&TracedMessage(round, to, bytes)| DeclaredMessage { round, from, to, bytes })
        });
        let received = ranks().flat_map(|(to, done)| {
            done.received.iter().map(move |&TracedMessage(round, from, bytes)| DeclaredMessage {
                round,
                from,
                to,
                bytes,
            })
        });
        let mut faults = differ(declared.clone(), sent.collect(), Discrepancy::NotSent, Discrepancy::Sent);
        faults.extend(differ(declared, received.collect(), Discrepancy::NotReceived, Discrepancy::Received));
        faults
    }
}

impl TraceRow {
    fn new(call: &TracedCall, p: usize) -> Self {
        let kind = call.kind.name();
        let who = match &call.what {
            What::Done(done) => Who::Algorithm(done.algorithm.clone()),
            What::Library(reason) => Who::Library { kind, reason: reason.clone() },
            What::Failed(_) => Who::Nobody { kind },
        };
        let error = if let What::Failed(error) = &call.what { Some(error.clone()) } else { None };
        TraceRow { who, p, calls: 0, messages: 0, bytes: 0, differences: Vec::new(), error }
    }
}

impl TracedCall {
    fn done(&self) -> Option<&Done> {
        if let What::Done(done) = &self.what { Some(done) } else { None }
    }
}

/// How a rank's record differs from the first one. Errors may differ, because some ranks know more about them than
/// others.
fn apart(traced: &[Option<&TracedCall>], first: usize, rank: usize) -> Option<Discrepancy> {
    let unlike = |what| Some(Discrepancy::Unlike { rank, other: first, what });
    let (Some(one), Some(call)) = (traced[first], traced[rank]) else {
        return Some(Discrepancy::Incomplete { rank });
    };
    match (&one.what, &call.what) {
        _ if one.kind != call.kind => unlike("collectives"),
        (What::Done(a), What::Done(b)) if a.algorithm != b.algorithm => unlike("algorithms"),
        (What::Done(a), What::Done(b)) if a.args != b.args => unlike("parameters"),
        (What::Done(_), What::Done(_))
        | (What::Library(_), What::Library(_))
        | (What::Failed(_), What::Failed(_)) => None,
        _ => unlike("outcomes"),
    }
}

/// The elements of one list that the other lacks, counting repetitions.
fn differ(
    mut declared: Vec<DeclaredMessage>,
    mut found: Vec<DeclaredMessage>,
    missing: fn(DeclaredMessage) -> Discrepancy,
    extra: fn(DeclaredMessage) -> Discrepancy,
) -> Vec<Discrepancy> {
    declared.sort_unstable();
    found.sort_unstable();
    let (mut faults, mut i, mut j) = (Vec::new(), 0, 0);
    loop {
        let order = match (declared.get(i), found.get(j)) {
            (Some(a), Some(b)) => a.cmp(b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return faults,
        };
        if order == Ordering::Less {
            faults.push(missing(declared[i]));
        }
        if order == Ordering::Greater {
            faults.push(extra(found[j]));
        }
        i += usize::from(order != Ordering::Greater);
        j += usize::from(order != Ordering::Less);
    }
}

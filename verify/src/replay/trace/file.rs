//! The file that one process wrote. `docs/trace.md` describes it.

use crate::error::Error;
use roundel_spec::{Arguments, Kind};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The first line.
const FORMAT: &str = "roundel-trace";
const VERSION: u64 = 1;

/// The calls of one process.
#[derive(Clone, Debug)]
pub struct File {
    /// The path of the file.
    pub path: PathBuf,
    /// The process's rank in the world.
    pub rank: usize,
    /// The number of ranks of the world.
    pub size: usize,
    /// The communicators that it called on, by name.
    pub communicators: BTreeMap<String, Communicator>,
    /// The calls that it completed.
    pub calls: BTreeMap<Id, TracedCall>,
}

/// A communicator.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Communicator {
    name: String,
    /// The process's rank in it.
    pub rank: usize,
    /// Its ranks, as ranks of the world, in its own order.
    pub ranks: Vec<usize>,
    /// The placement of each rank, from its node downwards.
    pub nodes: Vec<Vec<usize>>,
}

/// The identity of a call within a job.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id {
    /// The communicator.
    pub communicator: String,
    /// The number of the persistent request that it starts, counted from 1; 0 for a blocking call.
    pub request: u64,
    /// The number of earlier calls.
    pub number: u64,
}

/// A call, as recorded by one rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedCall {
    /// The line of the file.
    pub line: usize,
    /// The collective.
    pub kind: Kind,
    /// Its outcome.
    pub what: What,
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// An algorithm performed it.
    Done(Done),
    /// The MPI library performed it, for this reason.
    Library(String),
    /// It failed with an error.
    Failed(String),
}

/// One rank's part in a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The algorithm's full name.
    pub algorithm: String,
    /// Its parameters.
    pub args: Arguments,
    /// The lengths of the blocks.
    pub blocks: TracedLengths,
    /// When it began and ended, if the file says so.
    pub time: Option<TracedTime>,
    /// The messages sent.
    pub sent: Vec<TracedMessage>,
    /// The messages received.
    pub received: Vec<TracedMessage>,
}

/// The lengths of blocks, in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TracedLengths {
    /// All equal.
    Each(u64),
    /// One length per block.
    List(Vec<u64>),
    /// A number of elements of a size in bytes, divided as evenly as possible: the first blocks have one more.
    Vector(u64, u64),
    /// The lengths of this rank's blocks for each of the others.
    Own(Vec<u64>),
}

/// The beginning and the end of a call, in nanoseconds since 1970, by the clock of the process's node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct TracedTime(pub u64, pub u64);

/// A message: its round, the rank of the communicator at the other end, and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct TracedMessage(pub u64, pub usize, pub u64);

#[derive(Deserialize)]
struct Version {
    format: String,
    version: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    #[serde(rename = "format")]
    _format: String,
    #[serde(rename = "version")]
    _version: u64,
    rank: usize,
    size: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum TraceLine {
    Communicator(Communicator),
    Call(CallLine),
    Library(LibraryLine),
    Failed(FailedLine),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallLine {
    communicator: String,
    request: u64,
    number: u64,
    collective: String,
    algorithm: String,
    arguments: ArgumentsLine,
    blocks: TracedLengths,
    /// Files of earlier versions have none.
    time: Option<TracedTime>,
    sent: Vec<TracedMessage>,
    received: Vec<TracedMessage>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LibraryLine {
    communicator: String,
    request: u64,
    number: u64,
    collective: String,
    #[serde(rename = "why")]
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FailedLine {
    communicator: String,
    request: u64,
    number: u64,
    collective: String,
    error: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArgumentsLine {
    numbers: Vec<i64>,
    lists: Vec<Vec<i64>>,
    inner: Vec<ArgumentsLine>,
}

impl From<ArgumentsLine> for Arguments {
    fn from(ArgumentsLine { numbers, lists, inner }: ArgumentsLine) -> Self {
        Arguments { numbers, lists, inner: inner.into_iter().map(Arguments::from).collect() }
    }
}

impl File {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.into(), source })?;
        File::parse(path, &text)
    }

    /// Reads the text of a file; `path` is for errors.
    pub fn parse(path: &Path, text: &str) -> Result<Self, Error> {
        let wrong = |line: usize, reason: String| Error::Trace { path: path.into(), line, reason };
        let mut lines = (1..).zip(text.lines());
        let (_, first) = lines.next().ok_or_else(|| wrong(1, "the file is empty".into()))?;
        let Header { rank, size, .. } = header(first).map_err(|reason| wrong(1, reason))?;
        let (communicators, calls) = Default::default();
        let mut file = File { path: path.into(), rank, size, communicators, calls };
        for (number, line) in lines {
            file.line(number, line).map_err(|reason| wrong(number, reason))?;
        }
        Ok(file)
    }

    fn line(&mut self, number: usize, text: &str) -> Result<(), String> {
        match serde_json::from_str(text).map_err(|error| error.to_string())? {
            TraceLine::Communicator(communicator) => self.communicator(communicator),
            TraceLine::Call(CallLine {
                communicator,
                request,
                number: n,
                collective,
                algorithm,
                arguments,
                blocks,
                time,
                sent,
                received,
            }) => {
                let done = Done { algorithm, args: arguments.into(), blocks, time, sent, received };
                self.call(Id { communicator, request, number: n }, number, &collective, What::Done(done))
            }
            TraceLine::Library(LibraryLine { communicator, request, number: n, collective, reason }) => {
                self.call(Id { communicator, request, number: n }, number, &collective, What::Library(reason))
            }
            TraceLine::Failed(FailedLine { communicator, request, number: n, collective, error }) => {
                self.call(Id { communicator, request, number: n }, number, &collective, What::Failed(error))
            }
        }
    }

    fn communicator(&mut self, communicator: Communicator) -> Result<(), String> {
        let Communicator { name, rank, ranks, nodes } = &communicator;
        if ranks.get(*rank) != Some(&self.rank) {
            return Err(format!(
                "rank {rank} of the communicator is not rank {} of the world, whose file this is",
                self.rank
            ));
        }
        if nodes.len() != ranks.len() {
            return Err(format!("there are nodes of {} ranks, but {} ranks", nodes.len(), ranks.len()));
        }
        if let Some(outside) = ranks.iter().find(|&&rank| rank >= self.size) {
            return Err(format!("there is no rank {outside} in a world of {}", self.size));
        }
        let name = name.clone();
        match self.communicators.insert(name.clone(), communicator) {
            Some(_) => Err(format!("there are two communicators {name}")),
            None => Ok(()),
        }
    }

    fn call(&mut self, id: Id, line: usize, collective: &str, what: What) -> Result<(), String> {
        let kind = collective.parse().map_err(|()| format!("there is no collective `{collective}`"))?;
        if !self.communicators.contains_key(&id.communicator) {
            return Err(format!("there is no communicator {} in the lines before", id.communicator));
        }
        match self.calls.insert(id, TracedCall { line, kind, what }) {
            Some(before) => Err(format!("line {} tells of the same call", before.line)),
            None => Ok(()),
        }
    }
}

fn header(line: &str) -> Result<Header, String> {
    let other = |error: serde_json::Error| format!("this is no trace: {error}");
    let Version { format, version } = serde_json::from_str(line).map_err(other)?;
    if format != FORMAT {
        return Err(format!("the format is `{format}`, not `{FORMAT}`"));
    }
    if version != VERSION {
        return Err(format!(
            "the version is {version}, and only {VERSION} is known: use the `roundel` of the program"
        ));
    }
    let header: Header = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let Header { rank, size, .. } = header;
    if rank < size { Ok(header) } else { Err(format!("there is no rank {rank} in a world of {size}")) }
}

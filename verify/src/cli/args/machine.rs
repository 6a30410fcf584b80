//! The arguments of commands about machines: profiles, selections, choices and traces of jobs.

use crate::cli::number;
use crate::cli::placing::Placing;
use crate::error::Error;
use crate::params::Assignment;
use crate::report::units::{BytesPerSecond, Seconds};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

/// `roundel explain`
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The kind of collective: `alltoall`, `allreduce`, `reduce_scatter` or `allgather`. Or a collective of the
    /// catalogue or of a Rust file, to compare with those of its kind.
    #[arg(value_name = "KIND|NAME|FILE.rs[:TYPE]")]
    pub collective: String,
    /// A parameter's value, for a collective; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<Assignment>,
    /// The number of ranks.
    #[arg(short, value_name = "P", allow_hyphen_values = true, required_unless_present = "nodes")]
    pub p: Option<i64>,
    /// The number of nodes, all of them full, instead of the number of ranks.
    #[arg(long, value_name = "N", allow_hyphen_values = true, conflicts_with = "p")]
    pub nodes: Option<i64>,
    /// The size in bytes: of a block that one rank has for another, of the vector of an allreduce, of what a rank
    /// brings to an allgather, or of what it gets from a reduce_scatter.
    #[arg(long, value_name = "B", default_value_t = 1024, allow_hyphen_values = true)]
    pub bytes: i64,
    /// Time from departure to arrival of a message, in seconds, or as in `20us` [default: 20us]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub latency: Option<Seconds>,
    /// Bandwidth of one rank, in bytes per second, or as in `1.25GB/s` [default: 1.25GB/s]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub bandwidth: Option<BytesPerSecond>,
    /// Time that a rank spends sending and receiving one message, in seconds, or as in `1us` [default: 1us]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub overhead: Option<Seconds>,
    /// Ranks per node: messages inside a node cost less, and `alltoall/hierarchical` is a candidate. Without it,
    /// reductions and allgathers have one rank on each node.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub ppn: Option<i64>,
    /// The latency inside a node [default: 1us]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, requires = "ppn")]
    pub inside_latency: Option<Seconds>,
    /// The bandwidth of one rank inside a node [default: 5GB/s]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, requires = "ppn")]
    pub inside_bandwidth: Option<BytesPerSecond>,
    /// The cost of one message inside a node [default: 0.3us]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, requires = "ppn")]
    pub inside_overhead: Option<Seconds>,
    /// A profile of the machine, for all but all-to-alls [default: round figures]
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// The profile may be one of another machine.
    #[arg(long, requires = "profile")]
    pub foreign: bool,
    /// Only reductions that give the same bits on all ranks.
    #[arg(long)]
    pub reproducible: bool,
    /// Print all candidates.
    #[arg(long)]
    pub all: bool,
}

impl ExplainArgs {
    /// The number of ranks: as given, or those of the nodes.
    pub fn ranks(&self) -> Result<i64, Error> {
        let Some(nodes) = self.nodes else { return Ok(self.p.unwrap_or(0)) };
        let ppn = self.ppn.unwrap_or(1);
        let product = nodes.checked_mul(ppn).filter(|&ranks| nodes > 0 && ppn > 0 && ranks <= i64::from(i32::MAX));
        product.ok_or(Error::NoSuchNodes { nodes, ppn })
    }
}

/// `roundel tune`
#[derive(Debug, Args)]
pub struct TuneArgs {
    /// Write the profile to this file.
    #[arg(short, long, value_name = "FILE", default_value = "roundel-profile.toml")]
    pub output: PathBuf,
    /// The approximate time to measure, in seconds, or as in `30s`.
    #[arg(long, value_name = "TIME", default_value = "60s", allow_hyphen_values = true)]
    pub budget: Seconds,
}

impl TuneArgs {
    /// How long to measure.
    pub fn budget(&self) -> Result<Duration, Error> {
        let seconds = self.budget.0;
        // NaN lies in no range.
        if (0.1..=3600.0).contains(&seconds) {
            Ok(Duration::from_secs_f64(seconds))
        } else {
            Err(Error::Budget { seconds })
        }
    }
}

/// `roundel profile`
#[derive(Debug, Subcommand)]
pub enum ProfileCommand {
    /// Print a profile, or what is wrong with it
    Check(CheckProfileArgs),
}

/// `roundel profile check`
#[derive(Debug, Args)]
pub struct CheckProfileArgs {
    /// The profile.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// It may be one of another machine.
    #[arg(long)]
    pub foreign: bool,
}

/// `roundel selection`
#[derive(Debug, Subcommand)]
pub enum SelectionCommand {
    /// Check every rule against what is proved, and print what it covers
    Check(CheckSelectionArgs),
    /// Print which algorithm a call uses, why, and what proof covers it
    Explain(ExplainSelectionArgs),
    /// Print the JSON schema of the file
    Schema,
}

/// `roundel trace`
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Compare the messages of every call with the declared schedule
    Diff(TraceDiffArgs),
}

/// `roundel trace diff`
#[derive(Debug, Args)]
pub struct TraceDiffArgs {
    /// The value of ROUNDEL_TRACE, which stands for all FILE.R; or such files.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

/// `roundel selection check`
#[derive(Debug, Args)]
pub struct CheckSelectionArgs {
    /// The rules.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// `roundel selection explain`
#[derive(Debug, Args)]
pub struct ExplainSelectionArgs {
    /// The collective: allgather, allreduce, reduce_scatter, broadcast, reduce, gather, scatter or alltoall.
    pub collective: String,
    /// The number of ranks.
    #[arg(short, value_name = "P", allow_hyphen_values = true, value_parser = number::ranks)]
    pub p: usize,
    /// The placement of ranks.
    #[command(flatten)]
    pub placing: Placing,
    /// The size in bytes: of the vector of an allreduce, a reduce or a broadcast; of what a rank brings to an allgather
    /// or a gather, or gets from a reduce_scatter or a scatter; of what it has for one other in an alltoall.
    #[arg(long, value_name = "B", default_value_t = 1024, allow_hyphen_values = true)]
    #[arg(value_parser = number::long_bytes)]
    pub bytes: u64,
    /// The rules; only the default if left out.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// A profile of the machine, which defines what the default takes for short [default: round figures]
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// The profile may be one of another machine.
    #[arg(long, requires = "profile")]
    pub foreign: bool,
    /// The value of ROUNDEL_FORCE, as in `allreduce:nap`.
    #[arg(long, value_name = "COLLECTIVE:ALGORITHM", default_value = "")]
    pub force: String,
    /// The operation does not commute.
    #[arg(long)]
    pub ordered: bool,
    /// All ranks must get the same bits.
    #[arg(long)]
    pub reproducible: bool,
    /// The call is a request of roundel::mpi::persistent, which uses plans with ports.
    #[arg(long)]
    pub request: bool,
}

//! The command line: what can be asked, and how.

pub mod commands;
pub mod number;
pub mod placing;
pub mod range;
pub mod setting;

use crate::cli::placing::Placing;
use crate::cli::range::{ProcessRange, RoundRange};
use crate::cli::setting::Setting;
use crate::error::Error;
use crate::params::Assignment;
use crate::report::units::{BytesPerSecond, Seconds};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Verified MPI collectives: look at them, check them, run them.
#[derive(Debug, Parser)]
#[command(name = "roundel", version, max_term_width = 100, after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Print JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

const EXAMPLES: &str = "\
Examples:
  roundel check --all                     check the whole catalogue, and run it on threads
  roundel show sparbit -p 5               who sends which blocks to whom
  roundel show sparbit -p 5 --svg s.svg   the same as a picture
  roundel check my_collective.rs          check a declaration without compiling it

Exit codes:
  0  all is well
  1  a violation, or a run with a wrong result
  2  a request that makes no sense, or malformed input";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the catalogue: domains, rounds, and for which calls each collective is proved
    #[command(after_help = "\
Examples:
  roundel list
  roundel list allreduce/             those of a kind
  roundel list sparbit                all about one: bounds, layouts, order of reduction
  roundel list --json")]
    List(ListArgs),
    /// Show who sends which blocks to whom in every round, as the generated code does it
    #[command(after_help = "\
Examples:
  roundel show sparbit -p 5
  roundel show allgather/ring -p 8 --ppn 4 --rank 3
  roundel show sparbit -p 12 --ppn 4 --svg sparbit.svg
  roundel show allgather/ring -p 8 --svg ring.svg --rounds 2..=4 --columns 4 --no-title
  roundel show locality-bruck -p 12 --ppn 4 --placement cyclic
  roundel show sparbit -p 5 --json

Parameters are set with `--set radix=3`, lists with `--set ports=1,2`; `roundel list` names them.")]
    Show(ShowArgs),
    /// Check collectives exactly, at every point of a range
    #[command(after_help = "\
Examples:
  roundel check --all                 the whole catalogue, which is also run on threads
  roundel check sparbit -p 1..=256
  roundel check allreduce/            all collectives of a kind
  roundel check allgather/k-bruck -p 1..=32 --set radix=2..=16
  roundel check my_collective.rs      every declaration of a file, without compiling it
  roundel check sparbit -p 7 --json

A range is written as in Rust: `7`, `1..64` (63 is the last), `1..=64`. Catalogue entries are \
checked by the rounds of their generated code, files by evaluating their declarations. Points \
outside a collective's domain are refused, and counted apart.")]
    Check(CheckArgs),
    /// Run a collective on threads and compare the result with the plain definition
    #[command(after_help = "\
Examples:
  roundel run sparbit -p 8
  roundel run sparbit -p 16 --bytes 65536 --repeat 20
  roundel run nap -p 16 --ppn 4
  roundel run bruck -p 6 --layout rotated")]
    Run(RunArgs),
    /// Print the code that a declaration expands to
    #[command(after_help = "\
Examples:
  roundel expand sparbit
  roundel expand my_collective.rs --type MyCollective
  roundel expand sparbit --all        with the declaration as data, which is left out otherwise")]
    Expand(ExpandArgs),
    /// Write a collective as code of another language: one self-contained file, its header and a harness
    #[command(
        subcommand,
        after_help = "\
Examples:
  roundel emit c allgather/sparbit -o sparbit.c --header sparbit.h
  roundel emit c allgather/sparbit -o sparbit.c --harness sparbit_harness.c   for tests and CBMC
  roundel emit c allgather/sparbit -o sparbit.c --calls macros                for the tree of an MPI
  roundel emit c my_collective.rs --type MyCollective
  mpicc -std=c99 -c sparbit.c

The file has MPI's own call, such as `roundel_allgather_sparbit`, and its head says what is proved of it."
    )]
    Emit(EmitCommand),
    /// Prove collectives for all p by induction over their rounds, and exactly for small p
    #[command(after_help = "\
Examples:
  roundel prove --all                          the whole catalogue; needs an SMT solver (z3)
  roundel prove allgather/ --require-all-p     all collectives of a kind
  roundel prove sparbit --emit-smt /tmp/smt    keep the questions put to the solver
  roundel prove src/my_collective.rs           writes proofs/NAME.json into that crate
  roundel prove sparbit --engine exhaustive -p 1..=512
  roundel prove src/pipeline.rs -p 1..=64 --set segments=1..=64

The record is what the derive embeds: calls outside its range are refused at run time. An obligation that no solver
discharges is shown with the solver's model, a counterexample to the induction, and the exit code is 1.")]
    Prove(ProveArgs),
    /// Change one detail of a declaration after the other, and see whether the checks notice
    #[command(after_help = "\
Examples:
  roundel mutants --all -p 1..=16
  roundel mutants sparbit --survivors
  roundel mutants my_collective.rs
  roundel mutants sparbit --engine smt         a wrong mutant must not be proved for all p
  roundel mutants sparbit --engine harness     what the Kani harnesses claim, tried without Kani
  roundel mutants --all --order 2 --sample 200
  roundel mutants sparbit --json

Every mutant is killed by a check, or it survives. An independent simulation of the data judges \
the checker: a survivor that is wrong has ESCAPED, a kill without a fault is a FALSE ALARM. Both \
are faults of the checker, and the exit code is 1.")]
    Mutants(MutantsArgs),
    /// Show a saved counterexample again: round by round, on threads, and as a picture
    #[command(after_help = "\
Examples:
  roundel check my_collective.rs --save wrong.json
  roundel replay wrong.json
  roundel replay wrong.json --svg wrong.svg
  roundel mutants sparbit --only 17 --save mutant.json

The file holds the declaration, so it can be replayed anywhere. The exit code is 1 if the collective is still wrong \
there, and 0 if it is not. A counterexample to an induction (from `roundel prove`) is a state that need not be reachable: \
it is said whether it is.")]
    Replay(ReplayArgs),
    /// Say which algorithm, with which radix or which ports, is fastest, by a model, and why
    #[command(after_help = "\
Examples:
  roundel explain alltoall -p 512 --bytes 64
  roundel explain alltoall -p 512 --bytes 64 --latency 2us --overhead 1us --bandwidth 156MB/s
  roundel explain alltoall -p 4096 --bytes 1024 --json
  roundel explain alltoall -p 64 --ppn 8 --bytes 64 --latency 500us
  roundel explain allreduce -p 160 --ppn 12 --bytes 262144       160 ranks, on 14 nodes
  roundel explain allreduce --nodes 160 --ppn 12 --bytes 262144  1920 ranks, on 160 nodes
  roundel explain allgather --nodes 16 --bytes 64 --profile machine.toml

Nothing is run. For an allreduce, a reduce_scatter or an allgather, rounds are timed by a profile of the machine, which \
`roundel tune` writes; `16(-3 -3) 10(9) 16(3 3)` are rounds among 16 nodes that scatter through 3 ports, twice, a round among 10 \
through 9 ports, and rounds that gather again. For an all-to-all, a round costs the latency, each of its messages the overhead, each byte its share of the bandwidth; rounds, \
messages and bytes are exact. The same model chooses in programs: `roundel::choose`.")]
    Explain(ExplainArgs),
    /// Count what Bruck's all-to-all sends, for every radix or substep by substep
    #[command(after_help = "\
Examples:
  roundel counts -p 6 --radix 2            the substeps: digit, value, distance, blocks
  roundel counts -p 4096                   substeps and blocks over the radix
  roundel counts -p 4096 --svg radix.svg   the same as a picture
  roundel counts -p 100 --json")]
    Counts(CountsArgs),
    /// Measure what rounds, copies and reductions cost on this machine, and write a profile
    #[command(after_help = "\
Examples:
  mpirun -n 16 roundel tune                       writes roundel-profile.toml
  mpirun -n 16 roundel tune -o machine.toml --budget 30s
  roundel explain allreduce --nodes 4 --ppn 4 --bytes 8 --profile machine.toml

Needs a build with MPI: `cargo build --release -p roundel-verify --features mpi`. Run it on at least two nodes; with one, messages \
between nodes are not measured, and the profile says so.")]
    Tune(TuneArgs),
    /// Look at a profile
    #[command(
        subcommand,
        after_help = "\
Examples:
  roundel profile check machine.toml             what it says, or what is wrong, and in which line
  roundel profile check machine.toml --foreign   also if it is of another machine"
    )]
    Profile(ProfileCommand),
    /// Look at a file of rules that say which algorithm a call uses
    #[command(
        subcommand,
        after_help = "\
Examples:
  roundel selection check rules.toml                  what each rule covers, or what is wrong, and in which line
  roundel selection explain allreduce -p 64 --ppn 4 --bytes 8 --file rules.toml
  roundel selection explain alltoall -p 64 --force alltoall:k-bruck:radix=4
  roundel selection schema                            the JSON schema of such a file, for editors

The file is named by ROUNDEL_SELECTION when a program runs; docs/selection.md describes it."
    )]
    Selection(SelectionCommand),
    /// Look at what a program did
    #[command(
        subcommand,
        after_help = "\
Examples:
  ROUNDEL_TRACE=run mpirun -n 8 program         every process writes run.R, where R is its rank
  roundel trace diff run                        all of them
  roundel trace diff run.0 run.1                some of them
  roundel trace diff run --json

Every message must be declared, and every declared one must be there once, at both of its ends. The exit code is 1 if something \
differs or the file of a rank is missing. docs/trace.md describes the files."
    )]
    Trace(TraceCommand),
    /// Print what one node does: a listing for numbers of ports and factors, or the plan of a collective
    #[command(after_help = "\
Examples:
  roundel plan allreduce --nodes 8 --node 5 --ports \"8(-1 1 1 1)\" --ppn 4 --sizes 8,8,8,16,8,16,8,16
  roundel plan allreduce --node 5 --ports \"2(-1) 4(1 1) 2(1)\" --part
  roundel plan allreduce --summary --ports \"39(1 1 1 1 1 1)\" --ports \"3(1 1) 13(1 1 1 1)\"
  roundel plan allreduce/ring -p 5 --node 2

In `8(-1 1 1 1)`, 8 nodes take a step of reduce_scatter with one port and three steps of allgather. Groups such as \
`2(-1) 4(1 1) 2(1)` multiply. A slot of a plan is LINE.BLOCK; line 0 is the input, line 1 the output.")]
    Plan(PlanArgs),
    /// Print what makes a shell complete commands, options and names of collectives
    #[command(after_help = "\
Examples:
  roundel completions bash > ~/.local/share/bash-completion/completions/roundel
  roundel completions zsh > ~/.zfunc/_roundel
  roundel completions fish > ~/.config/fish/completions/roundel.fish")]
    Completions(CompletionsArgs),
    /// Write the manual pages
    #[command(after_help = "\
Examples:
  roundel man ~/.local/share/man/man1        then `man roundel`, `man roundel-check`")]
    Man(ManArgs),
}

/// `roundel list`
#[derive(Debug, Args)]
pub struct ListArgs {
    /// A collective, or a kind of them [default: all]
    #[arg(value_name = "NAME|KIND/")]
    pub name: Option<String>,
}

/// `roundel completions`
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// `roundel man`
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The folder for the pages; it is made if there is none.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

/// `roundel plan`
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// With `--ports`: allreduce, reduce_scatter or allgather. Otherwise a collective of the catalogue.
    #[arg(value_name = "KIND|NAME")]
    pub name: String,
    /// The number of nodes, or of ranks [default: what the factors multiply to]
    #[arg(short, long = "nodes", value_name = "P", allow_hyphen_values = true, value_parser = number::ranks)]
    pub p: Option<usize>,
    /// The node, or the rank; a summary or the whole plan if left out.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number::index)]
    pub node: Option<usize>,
    /// Factors and numbers of ports, as in `8(-1 1 1 1)`; may be repeated for a summary.
    #[arg(long, value_name = "GROUPS", allow_hyphen_values = true)]
    pub ports: Vec<String>,
    /// Where ranks sit.
    #[command(flatten)]
    pub placing: Placing,
    /// The sizes of all fractions of the data, for the listing.
    #[arg(long, value_name = "S,S,…", value_delimiter = ',', requires = "ports", allow_hyphen_values = true)]
    #[arg(value_parser = number::count)]
    pub sizes: Vec<usize>,
    /// Print steps, size and messages only.
    #[arg(long, conflicts_with = "node")]
    pub summary: bool,
    /// Print the node's part of the plan as it runs, not the listing.
    #[arg(long, requires = "ports")]
    pub part: bool,
    /// A parameter's value; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "ports")]
    pub set: Vec<Assignment>,
}

/// `roundel show`
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The collective: its full name, or the last part of it.
    pub name: String,
    /// The number of ranks.
    #[arg(short, value_name = "P", allow_hyphen_values = true, value_parser = number::ranks)]
    pub p: usize,
    /// Where ranks sit.
    #[command(flatten)]
    pub placing: Placing,
    /// A parameter's value; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<Assignment>,
    /// Show what this rank alone sends, receives and holds.
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = number::index)]
    pub rank: Option<usize>,
    /// Draw the rounds and the buffers as they fill, into this file.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Draw these rounds only, as in `2..=4`; they are counted from 0.
    #[arg(long, value_name = "RANGE", requires = "svg", allow_hyphen_values = true)]
    pub rounds: Option<RoundRange>,
    /// Draw so many rounds side by side [default: what fits a page]
    #[arg(long, value_name = "N", requires = "svg", allow_negative_numbers = true, value_parser = number::some)]
    pub columns: Option<usize>,
    /// Draw no title: for a text that has its own.
    #[arg(long, requires = "svg")]
    pub no_title: bool,
}

/// `roundel check`
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Collectives of the catalogue, kinds of them (`allgather/`), or Rust files with declarations.
    #[arg(value_name = "NAME|KIND/|FILE.rs", conflicts_with = "all")]
    pub targets: Vec<String>,
    /// Check the whole catalogue.
    #[arg(long)]
    pub all: bool,
    /// The process counts [default: 1..=64 for the catalogue, a file's own limits for its declarations]
    #[arg(short, value_name = "RANGE", allow_hyphen_values = true)]
    pub p: Option<ProcessRange>,
    /// The values of a parameter, as in `radix=2..=16`; may be repeated [default: up to the limits of the declaration]
    #[arg(long, value_name = "NAME=RANGE")]
    pub set: Vec<Setting>,
    /// Check this placement only, of as many ranks as `-p` says.
    #[command(flatten)]
    pub placing: Placing,
    /// Save the smallest counterexample in this file, for `roundel replay`.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
}

/// `roundel run`
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The collective: its full name, or the last part of it.
    pub name: String,
    /// The number of ranks: threads.
    #[arg(short, visible_short_alias = 'n', value_name = "P", allow_hyphen_values = true)]
    #[arg(value_parser = number::ranks)]
    pub p: usize,
    /// The size in bytes of a block, or of the vector that an allreduce reduces.
    #[arg(long, value_name = "B", default_value_t = 1024, allow_negative_numbers = true, value_parser = number::bytes)]
    pub bytes: usize,
    /// Where ranks sit.
    #[command(flatten)]
    pub placing: Placing,
    /// A parameter's value; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<Assignment>,
    /// Where blocks lie meanwhile; the declaration's first choice if left out.
    #[arg(long)]
    pub layout: Option<LayoutArg>,
    /// How many times; the median is printed.
    #[arg(long, value_name = "K", default_value_t = 5, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub repeat: u32,
}

/// Where blocks lie while a collective runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LayoutArg {
    /// Every block where it belongs.
    InPlace,
    /// Rotated, and put in place at the end.
    Rotated,
}

/// `roundel expand`
#[derive(Debug, Args)]
pub struct ExpandArgs {
    /// A collective of the catalogue, or a Rust file with declarations.
    #[arg(value_name = "NAME|FILE.rs")]
    pub target: String,
    /// Only this type.
    #[arg(long = "type", value_name = "NAME")]
    pub wanted: Option<String>,
    /// Print everything, also the declaration as data.
    #[arg(long)]
    pub all: bool,
}

/// `roundel emit`
#[derive(Debug, Subcommand)]
pub enum EmitCommand {
    /// C99 with MPI calls, without Rust
    C(EmitCArgs),
}

/// `roundel emit c`
#[derive(Debug, Args)]
pub struct EmitCArgs {
    /// A collective of the catalogue, or a Rust file with a declaration.
    #[arg(value_name = "NAME|FILE.rs")]
    pub target: String,
    /// Only this type; needed if the file declares several.
    #[arg(long = "type", value_name = "NAME")]
    pub wanted: Option<String>,
    /// Write to this file instead of printing.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the declarations of its functions to this header, which the file includes.
    #[arg(long, value_name = "FILE", requires = "output")]
    pub header: Option<PathBuf>,
    /// Write a program to this file that includes the other one, without MPI: for tests, and for CBMC.
    #[arg(long, value_name = "FILE", requires = "output")]
    pub harness: Option<PathBuf>,
    /// How the file communicates.
    #[arg(long, value_enum, default_value_t = CallsArg::Mpi)]
    pub calls: CallsArg,
}

/// How emitted code communicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CallsArg {
    /// By MPI's own functions.
    Mpi,
    /// By macros such as `ROUNDEL_ISEND`, which the including tree defines.
    Macros,
}

/// `roundel replay`
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// A file that `--save` wrote.
    pub file: PathBuf,
    /// Draw the rounds up to the fault into this file.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// `roundel explain`
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The kind of collective: `alltoall`, `allreduce`, `reduce_scatter` or `allgather`.
    pub collective: String,
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
    /// From departure to arrival, in seconds, or as in `20us` [default: 20us]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub latency: Option<Seconds>,
    /// Of one rank, in bytes per second, or as in `1.25GB/s` [default: 1.25GB/s]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub bandwidth: Option<BytesPerSecond>,
    /// What a rank is busy with sending and receiving one message, in seconds, or as in `1us` [default: 1us]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub overhead: Option<Seconds>,
    /// Ranks per node: messages inside of a node cost less, and `alltoall/hierarchical` is a candidate. Without it,
    /// reductions and allgathers have one rank on each node.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub ppn: Option<i64>,
    /// The latency inside of a node [default: 1us]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, requires = "ppn")]
    pub inside_latency: Option<Seconds>,
    /// The bandwidth of one rank inside of a node [default: 5GB/s]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, requires = "ppn")]
    pub inside_bandwidth: Option<BytesPerSecond>,
    /// What one message inside of a node costs [default: 0.3us]
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
    /// The number of ranks: as said, or those of the nodes.
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
    /// About how long to measure, in seconds, or as in `30s`.
    #[arg(long, value_name = "TIME", default_value = "60s", allow_hyphen_values = true)]
    pub budget: Seconds,
}

impl TuneArgs {
    /// How long to measure.
    pub fn budget(&self) -> Result<Duration, Error> {
        let seconds = self.budget.0;
        // A value that is no number lies in no range.
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
    /// Say what a profile says, or what is wrong with it
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
    /// Check every rule against what is proved, and say what it covers
    Check(CheckSelectionArgs),
    /// Say which algorithm a call uses, why, and what proof covers it
    Explain(ExplainSelectionArgs),
    /// Print the JSON schema of the file
    Schema,
}

/// `roundel trace`
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Hold the messages of every call against the declared schedule
    Diff(TraceDiffArgs),
}

/// `roundel trace diff`
#[derive(Debug, Args)]
pub struct TraceDiffArgs {
    /// What ROUNDEL_TRACE was, which stands for all FILE.R; or such files.
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
    /// Where ranks sit.
    #[command(flatten)]
    pub placing: Placing,
    /// The size in bytes: of the vector of an allreduce, a reduce or a broadcast; of what a rank brings to an allgather
    /// or a gather, or gets from a reduce_scatter or a scatter; of what it has for one other in an alltoall.
    #[arg(long, value_name = "B", default_value_t = 1024, allow_hyphen_values = true, value_parser = number::long_bytes)]
    pub bytes: u64,
    /// The rules; only the default if left out.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// A profile of the machine, which says what is short by default [default: round figures]
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// The profile may be one of another machine.
    #[arg(long, requires = "profile")]
    pub foreign: bool,
    /// What ROUNDEL_FORCE would say, as in `allreduce:nap`.
    #[arg(long, value_name = "COLLECTIVE:ALGORITHM", default_value = "")]
    pub force: String,
    /// The operation does not commute.
    #[arg(long)]
    pub ordered: bool,
    /// All ranks must get the same bits.
    #[arg(long)]
    pub reproducible: bool,
    /// A request of roundel::mpi::persistent, for which plans with ports are.
    #[arg(long)]
    pub request: bool,
}

/// `roundel counts`
#[derive(Debug, Args)]
pub struct CountsArgs {
    /// The number of ranks.
    #[arg(short, value_name = "P", allow_hyphen_values = true)]
    pub p: i64,
    /// Print the substeps of this radix, one by one.
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    pub radix: Option<i64>,
    /// Print every radix, not a selection.
    #[arg(long, conflicts_with = "radix")]
    pub all: bool,
    /// Plot substeps and blocks over the radix, into this file.
    #[arg(long, value_name = "FILE", conflicts_with = "radix")]
    pub svg: Option<PathBuf>,
}

/// `roundel mutants`
#[derive(Debug, Args)]
pub struct MutantsArgs {
    /// Collectives of the catalogue, kinds of them (`allgather/`), or Rust files with declarations.
    #[arg(value_name = "NAME|KIND/|FILE.rs", conflicts_with = "all")]
    pub targets: Vec<String>,
    /// The whole catalogue.
    #[arg(long)]
    pub all: bool,
    /// The process counts.
    #[arg(short, value_name = "RANGE", default_value = "1..=24", allow_hyphen_values = true)]
    pub p: ProcessRange,
    /// List the survivors that differ from their originals.
    #[arg(long)]
    pub survivors: bool,
    /// What is put to the test; `smt` needs a solver (z3) and takes about a second for each mutant.
    #[arg(long, value_name = "ENGINE", default_value = "exhaustive")]
    pub engine: Tested,
    /// Changes in each mutant: 1, or 2 for a sample of pairs.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=2))]
    pub order: u8,
    /// At most so many mutants of each collective, the same in every run [default: all, or 200 with `--order 2`]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number::some)]
    pub sample: Option<usize>,
    /// Only the mutant with this number.
    #[arg(long, value_name = "ID", conflicts_with = "sample", allow_negative_numbers = true)]
    #[arg(value_parser = number::index)]
    pub only: Option<usize>,
    /// Seconds for the first attempt at an obligation; later ones get three times as much.
    #[arg(long, value_name = "SECONDS", default_value_t = 1, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub limit: u64,
    /// Save the smallest counterexample in this file, for `roundel replay`.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_examples() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with("Examples:"), "{}", command.get_name());
        }
    }
}

/// An engine: what checks or proves a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// Every p of a range, exactly.
    Exhaustive,
    /// All p, by induction, with an SMT solver.
    Smt,
}

/// What mutants are tried on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Tested {
    /// Every p of a range, exactly.
    Exhaustive,
    /// All p, by induction, with an SMT solver.
    Smt,
    /// The bodies of the Kani harnesses, without Kani: every p of the range up to 32.
    Harness,
}

impl Tested {
    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Tested::Exhaustive => "exhaustive",
            Tested::Smt => "smt",
            Tested::Harness => "harness",
        }
    }
}

/// `roundel prove`
#[derive(Debug, Args)]
pub struct ProveArgs {
    /// Collectives of the catalogue, kinds of them (`allgather/`), or Rust files with declarations.
    #[arg(value_name = "NAME|KIND/|FILE.rs", conflicts_with = "all")]
    pub targets: Vec<String>,
    /// Prove the whole catalogue.
    #[arg(long)]
    pub all: bool,
    /// Use these engines only; may be repeated [default: both]
    #[arg(long, value_name = "ENGINE")]
    pub engine: Vec<Engine>,
    /// The process counts of the exhaustive engine [default: 1..=256 for the catalogue, 1..=64 for reductions of
    /// several blocks, a file's own limits]
    #[arg(short, value_name = "RANGE", allow_hyphen_values = true)]
    pub p: Option<ProcessRange>,
    /// The values of a parameter for the exhaustive engine, as in `segments=1..=64`; may be repeated [default: up to
    /// the limits of the declaration]
    #[arg(long, value_name = "NAME=RANGE")]
    pub set: Vec<Setting>,
    /// Write the record to this file instead of proofs/NAME.json of the crate that declares the collective.
    #[arg(long, value_name = "FILE", conflicts_with = "no_record")]
    pub record: Option<PathBuf>,
    /// Write no record.
    #[arg(long)]
    pub no_record: bool,
    /// Write a record also where it says less than the one that is there.
    #[arg(long)]
    pub replace: bool,
    /// Prove nothing, and verify the records that are there: that they count, and that every question in them is one
    /// that would be asked today. Without names: of the whole catalogue.
    #[arg(long, conflicts_with_all = ["record", "no_record", "replace"])]
    pub verify_records: bool,
    /// With `--verify-records`: prove everything once more, and compare.
    #[arg(long, requires = "verify_records")]
    pub again: bool,
    /// Keep the questions put to the solver in this folder, as SMT-LIB files.
    #[arg(long, value_name = "DIR")]
    pub emit_smt: Option<PathBuf>,
    /// The solver to use; may be repeated [default: z3 and cvc5, where installed]
    #[arg(long, value_name = "PROGRAM")]
    pub solver: Vec<PathBuf>,
    /// What the first attempt at an obligation is worth, in seconds of an idle processor; later ones get three times
    /// as much. It is counted in the solver's own steps, so that a busy machine proves the same [default: 4]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = number::seconds)]
    pub limit: Option<u64>,
    /// Fail unless everything is proved for all p.
    #[arg(long)]
    pub require_all_p: bool,
    /// Save the smallest counterexample in this file, for `roundel replay`.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
}

impl ProveArgs {
    /// Whether an engine is wanted.
    pub fn uses(&self, engine: Engine) -> bool {
        self.engine.is_empty() || self.engine.contains(&engine)
    }
}

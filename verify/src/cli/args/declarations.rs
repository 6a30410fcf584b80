//! The arguments of commands that look at declarations, check them, run them and translate them.

use super::targets::TargetArgs;
use crate::cli::number;
use crate::cli::pictures::PictureFiles;
use crate::cli::placing::Placing;
use crate::cli::range::{ProcessRange, RoundRange};
use crate::cli::setting::Setting;
use crate::params::Assignment;
use crate::simulation::machine::GivenNumbers;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// `roundel list`
#[derive(Debug, Args)]
pub struct ListArgs {
    /// A collective, a kind of them, or a Rust file with declarations [default: the catalogue]
    #[arg(value_name = "NAME|KIND/|FILE.rs[:TYPE]")]
    pub name: Option<String>,
}

/// `roundel new`
#[derive(Debug, Args)]
pub struct NewArgs {
    /// The folder of the crate, which must not exist; its name is that of the crate.
    #[arg(value_name = "NAME")]
    pub folder: PathBuf,
    /// What it declares: allgather, allreduce, reduce_scatter, broadcast, reduce, gather, scatter or alltoall.
    #[arg(long, value_name = "KIND", default_value = "allgather")]
    pub kind: String,
    /// Depend on this source tree of Roundel, not on a published version.
    #[arg(long, value_name = "DIR")]
    pub path: Option<PathBuf>,
}

/// `roundel plan`
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// With `--ports`: allreduce, reduce_scatter or allgather. Otherwise a collective of the catalogue, or a Rust file
    /// with a declaration.
    #[arg(value_name = "KIND|NAME|FILE.rs[:TYPE]")]
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
    /// The placement of ranks.
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
    /// The collective: its full name or the last part of it, or a Rust file with declarations.
    #[arg(value_name = "NAME|FILE.rs[:TYPE]")]
    pub name: String,
    /// The number of ranks.
    #[arg(short, value_name = "P", allow_hyphen_values = true, value_parser = number::ranks)]
    pub p: usize,
    /// The placement of ranks.
    #[command(flatten)]
    pub placing: Placing,
    /// A parameter's value; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<Assignment>,
    /// Show only what this rank sends, receives and holds.
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = number::index)]
    pub rank: Option<usize>,
    /// The rounds, and the buffers as they fill.
    #[command(flatten)]
    pub picture: PictureFiles,
    /// Draw these rounds only, as in `2..=4`; they are counted from 0.
    #[arg(long, value_name = "RANGE", requires = "picture", allow_hyphen_values = true)]
    pub rounds: Option<RoundRange>,
    /// Draw this many rounds side by side [default: what fits a page]
    #[arg(long, value_name = "N", requires = "picture", allow_negative_numbers = true, value_parser = number::some)]
    pub columns: Option<usize>,
    /// Draw no title, for documents that have their own.
    #[arg(long, requires = "picture")]
    pub no_title: bool,
}

/// `roundel simulate`
#[derive(Debug, Args)]
pub struct SimulateArgs {
    /// A collective of the catalogue, or a Rust file with a declaration. With `--ports`: allreduce, reduce_scatter or
    /// allgather.
    #[arg(value_name = "NAME|FILE.rs[:TYPE]|KIND")]
    pub name: String,
    /// The number of ranks [with `--ports`: what the factors multiply to]
    #[arg(short, value_name = "P", allow_hyphen_values = true, value_parser = number::ranks)]
    #[arg(required_unless_present = "ports", conflicts_with = "ports")]
    pub p: Option<usize>,
    /// A plan with ports and factors, as in `8(-1 1 1 1)`, among nodes with one rank each.
    #[arg(long, value_name = "GROUPS", allow_hyphen_values = true, conflicts_with_all = ["set", "ppn", "placement"])]
    pub ports: Option<String>,
    /// The placement of ranks.
    #[command(flatten)]
    pub placing: Placing,
    /// A parameter's value; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<Assignment>,
    /// The size in bytes of a block, or of the vector of an allreduce, a reduce or a broadcast.
    #[arg(long, value_name = "B", default_value_t = 1024, allow_hyphen_values = true)]
    #[arg(value_parser = number::long_bytes)]
    pub bytes: u64,
    /// A profile of any machine, which gives the times of rounds [default: round figures]
    #[arg(long, value_name = "FILE", conflicts_with = "loggps")]
    pub profile: Option<PathBuf>,
    /// The times of single messages, as in `L=2us,o=0.5us,g=0.1us,G=0.08ns,O=0,S=8192`; those left out are 0, and S
    /// unlimited.
    #[arg(long, value_name = "NUMBERS", allow_hyphen_values = true)]
    pub loggps: Option<GivenNumbers>,
    /// The levels of the network and their shared links, for `--loggps`.
    #[arg(long, value_name = "FILE")]
    pub topology: Option<PathBuf>,
    /// The times of the rounds.
    #[command(flatten)]
    pub picture: PictureFiles,
    /// Write the rounds of all ranks to this file in GOAL, for LogGOPSim and ATLAHS.
    #[arg(long, value_name = "FILE")]
    pub goal: Option<PathBuf>,
}

/// `roundel explore`
#[derive(Debug, Args)]
pub struct ExploreArgs {
    /// The collective to begin with: its full name or the last part of it, or a Rust file with declarations.
    #[arg(value_name = "NAME|FILE.rs[:TYPE]")]
    pub name: Option<String>,
    /// The number of ranks to begin with.
    #[arg(short, value_name = "P", default_value_t = 8, allow_hyphen_values = true, value_parser = number::ranks)]
    pub p: usize,
    /// The placement of ranks.
    #[command(flatten)]
    pub placing: Placing,
    /// A parameter's value; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<Assignment>,
    /// The port; 0 takes any that is free.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
    /// Print the address only, and open no browser.
    #[arg(long)]
    pub no_open: bool,
    /// Write the page to this file, with this call alone, and serve nothing.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["port", "no_open"])]
    pub html: Option<PathBuf>,
}

/// `roundel figures`
#[derive(Debug, Args)]
pub struct FiguresArgs {
    /// The figures [default: all, and a page that shows them]
    #[arg(value_name = "FIGURE", value_parser = clap::builder::PossibleValuesParser::new(crate::figures::NAMES))]
    pub figures: Vec<String>,
    /// Write the page papers.md into this folder, and the figures into its subfolder papers.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub out: PathBuf,
    /// Write the figures as TikZ, too, for `\input` in a LaTeX document.
    #[arg(long)]
    pub tikz: bool,
}

/// `roundel check`
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The collectives.
    #[command(flatten)]
    pub of: TargetArgs,
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
    /// The collective: its full name or the last part of it, or a Rust file with declarations.
    #[arg(value_name = "NAME|FILE.rs[:TYPE]")]
    pub name: String,
    /// The number of ranks, one thread each.
    #[arg(short, visible_short_alias = 'n', value_name = "P", allow_hyphen_values = true)]
    #[arg(value_parser = number::ranks)]
    pub p: usize,
    /// The size in bytes of a block, or of the vector that an allreduce reduces.
    #[arg(long, value_name = "B", default_value_t = 1024, allow_negative_numbers = true, value_parser = number::bytes)]
    pub bytes: usize,
    /// The placement of ranks.
    #[command(flatten)]
    pub placing: Placing,
    /// A parameter's value; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<Assignment>,
    /// Where blocks are while it runs; by default, the declaration's first choice.
    #[arg(long)]
    pub layout: Option<LayoutArg>,
    /// The number of runs; the median is printed.
    #[arg(long, value_name = "K", default_value_t = 5, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub repeat: u32,
}

/// Where blocks are while a collective runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LayoutArg {
    /// Every block at its final position.
    InPlace,
    /// Rotated, and put in place at the end.
    Rotated,
}

/// `roundel expand`
#[derive(Debug, Args)]
pub struct ExpandArgs {
    /// A collective of the catalogue, or a Rust file with declarations.
    #[arg(value_name = "NAME|FILE.rs[:TYPE]")]
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
    #[arg(value_name = "NAME|FILE.rs[:TYPE]")]
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
    /// Write to this file a program without MPI that includes the other file: for tests, and for CBMC.
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
    /// The rounds up to the fault.
    #[command(flatten)]
    pub picture: PictureFiles,
}

/// `roundel counts`
#[derive(Debug, Args)]
pub struct CountsArgs {
    /// The number of ranks.
    #[arg(short, value_name = "P", allow_hyphen_values = true)]
    pub p: i64,
    /// Print the substeps of this radix, one by one.
    #[arg(long, value_name = "R", allow_hyphen_values = true, conflicts_with = "picture")]
    pub radix: Option<i64>,
    /// Print every radix, not a selection.
    #[arg(long, conflicts_with = "radix")]
    pub all: bool,
    /// Substeps and blocks over the radix.
    #[command(flatten)]
    pub picture: PictureFiles,
}

//! The arguments of commands that prove, and that test the checks.

use super::targets::TargetArgs;
use crate::cli::number;
use crate::cli::range::ProcessRange;
use crate::cli::setting::Setting;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `roundel mutants`
#[derive(Debug, Args)]
pub struct MutantsArgs {
    /// The collectives.
    #[command(flatten)]
    pub of: TargetArgs,
    /// The process counts.
    #[arg(short, value_name = "RANGE", default_value = "1..=24", allow_hyphen_values = true)]
    pub p: ProcessRange,
    /// List the survivors that differ from their originals.
    #[arg(long)]
    pub survivors: bool,
    /// The engine to test; `smt` needs a solver (z3) and takes about a second for each mutant.
    #[arg(long, value_name = "ENGINE", default_value = "exhaustive")]
    pub engine: Tested,
    /// Changes in each mutant: 1, or 2 for a sample of pairs.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=2))]
    pub order: u8,
    /// At most this many mutants of each collective, the same in every run [default: all, or 200 with `--order 2`]
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

/// `roundel bounds`
#[derive(Debug, Args)]
pub struct BoundsArgs {
    /// The collectives.
    #[command(flatten)]
    pub of: TargetArgs,
    /// The process counts that are measured [default: 1..=64; on nodes 1..=24, for many blocks 1..=32]
    #[arg(short, value_name = "RANGE", allow_hyphen_values = true)]
    pub p: Option<ProcessRange>,
    /// The values of a parameter that are measured, as in `radix=2..=8`; may be repeated.
    #[arg(long, value_name = "NAME=RANGE")]
    pub set: Vec<Setting>,
    /// Do not ask a solver: say what was seen.
    #[arg(long, conflicts_with_all = ["limit", "write_bounds"])]
    pub seen: bool,
    /// Seconds for the first attempt at an obligation; later ones get three times as much.
    #[arg(long, value_name = "SECONDS", default_value_t = 4, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub limit: u64,
    /// Write the bounds that are proved, and not declared yet, into the source.
    #[arg(long)]
    pub write_bounds: bool,
}

/// An engine: what checks or proves a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// Every p of a range, exactly.
    Exhaustive,
    /// All p, by induction, with an SMT solver.
    Smt,
}

/// The engine that mutants test.
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
    /// The collectives.
    #[command(flatten)]
    pub of: TargetArgs,
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
    /// Write a record even if it covers less than the existing one.
    #[arg(long)]
    pub replace: bool,
    /// Prove nothing, and verify the existing records: that they count, and that every question in them is one that
    /// would be asked today. Without names: those of the whole catalogue.
    #[arg(long, conflicts_with_all = ["record", "no_record", "replace"])]
    pub verify_records: bool,
    /// With `--verify-records`: prove everything once more, and compare.
    #[arg(long, requires = "verify_records")]
    pub again: bool,
    /// Ask the solver every question, also those whose answers are kept in the folder that ROUNDEL_CACHE names, or in
    /// the user's folder for caches. `--again` implies it.
    #[arg(long)]
    pub no_cache: bool,
    /// Keep the questions to the solver in this folder, as SMT-LIB files.
    #[arg(long, value_name = "DIR")]
    pub emit_smt: Option<PathBuf>,
    /// The solver to use; may be repeated [default: z3 and cvc5, where installed]
    #[arg(long, value_name = "PROGRAM")]
    pub solver: Vec<PathBuf>,
    /// The limit of the first attempt at an obligation, in seconds of an idle processor; later ones get three times as
    /// much. It is counted in the solver's own steps, so that a busy machine proves the same [default: 4]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = number::seconds)]
    pub limit: Option<u64>,
    /// Write the `holds` and `hint` that were found, because the declaration leaves them out, into its source file.
    /// Only what is proved for all p is written; prove the file again to record it.
    #[arg(long, conflicts_with_all = ["verify_records", "record"])]
    pub write_holds: bool,
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

//! The collectives that a command is about.

use clap::Args;

/// Names and files, or the whole catalogue.
#[derive(Debug, Args)]
pub struct TargetArgs {
    /// Collectives of the catalogue, kinds of them (`allgather/`), or Rust files with declarations.
    #[arg(value_name = "NAME|KIND/|FILE.rs[:TYPE]", conflicts_with = "all")]
    pub targets: Vec<String>,
    /// The whole catalogue.
    #[arg(long)]
    pub all: bool,
}

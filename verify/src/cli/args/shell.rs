//! The arguments of commands for shells and manuals.

use clap::Args;
use std::path::PathBuf;

/// `roundel completions`
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// `roundel man`
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The folder for the pages; it is created if necessary.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

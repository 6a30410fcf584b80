//! `roundel completions`, `roundel man`: shell completions and manual pages, generated from the command line
//! definition.

use super::{CommandOutcome, print, print_json};
use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::error::Error;
use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory};
use roundel::algorithms;

/// Prints the completions of a shell.
pub(super) fn completions(args: &CompletionsArgs) -> Result<CommandOutcome, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut with_names(Cli::command()), "roundel", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(CommandOutcome::Fine)
}

/// The command line with the names of the catalogue as values, only for completion: the real parser gives better errors
/// for a wrong name.
fn with_names(command: Command) -> Command {
    let names = || PossibleValuesParser::new(algorithms::catalogue().iter().map(|entry| entry.name));
    command.mut_subcommands(|subcommand| {
        let is_about_names = matches!(subcommand.get_name(), "show" | "run" | "list");
        match is_about_names {
            true => subcommand.mut_arg("name", |name| name.value_parser(names())),
            false => subcommand,
        }
    })
}

/// Writes the manual pages into a folder: `roundel.1`, and one for each subcommand, such as `roundel-trace-diff.1`.
pub(super) fn man(args: &ManArgs, json: bool) -> Result<CommandOutcome, Error> {
    let folder = &args.folder;
    let failed = |source| Error::Write { path: folder.clone(), source };
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(failed)?;
    if json {
        print_json(&serde_json::json!({ "folder": folder }))?;
    } else {
        print(&format!("the pages are in {}\n", folder.display()))?;
    }
    Ok(CommandOutcome::Fine)
}

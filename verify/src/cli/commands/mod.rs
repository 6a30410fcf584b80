//! The commands, one file each.

mod bounds;
mod check;
mod counts;
mod emit;
mod expand;
mod explain;
mod explore;
mod figures;
mod list;
mod machine;
mod mutants;
mod new;
mod proofs;
mod replay;
mod run;
mod shell;
mod show;
mod simulate;
mod target;
mod trace;

use crate::cli::{Cli, Command};
use crate::error::Error;
use crate::replay::counterexample::{Counterexample, Refutes};
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// The result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// Everything is correct.
    Fine,
    /// A fault was found.
    Wrong,
    /// The input is malformed; the errors have been printed.
    Malformed,
}

impl From<CommandOutcome> for ExitCode {
    fn from(outcome: CommandOutcome) -> Self {
        match outcome {
            CommandOutcome::Fine => ExitCode::SUCCESS,
            CommandOutcome::Wrong => ExitCode::from(1),
            CommandOutcome::Malformed => ExitCode::from(2),
        }
    }
}

/// Executes a command line.
pub fn execute(cli: &Cli) -> Result<CommandOutcome, Error> {
    match perform(cli) {
        Err(Error::Diagnosed(found)) => {
            target::report(&found.source, &found.errors, cli.json)?;
            Ok(if found.is_wrong { CommandOutcome::Wrong } else { CommandOutcome::Malformed })
        }
        other => other,
    }
}

fn perform(cli: &Cli) -> Result<CommandOutcome, Error> {
    match &cli.command {
        Command::List(args) => list::list(args, cli.json),
        Command::Show(args) => show::show(args, cli.json),
        Command::Check(args) => check::check(args, cli.json),
        Command::New(args) => new::new(args, cli.json),
        Command::Run(args) => run::run(args, cli.json),
        Command::Expand(args) => expand::expand(args, cli.json),
        Command::Emit(command) => emit::emit(command, cli.json),
        Command::Prove(args) => proofs::prove::prove(args, cli.json),
        Command::Bounds(args) => bounds::bounds(args, cli.json),
        Command::Mutants(args) => mutants::mutants(args, cli.json),
        Command::Replay(args) => replay::replay(args, cli.json),
        Command::Explain(args) => explain::explain(args, cli.json),
        Command::Simulate(args) => simulate::simulate(args, cli.json),
        Command::Explore(args) => explore::explore(args, cli.json),
        Command::Figures(args) => figures::figures(args, cli.json),
        Command::Counts(args) => counts::counts(args, cli.json),
        Command::Tune(args) => machine::tune::tune(args, cli.json),
        Command::Profile(command) => machine::profile::profile(command, cli.json),
        Command::Selection(command) => machine::selection::selection(command, cli.json),
        Command::Trace(command) => trace::trace(command, cli.json),
        Command::Plan(args) => machine::plan::plan(args, cli.json),
        Command::Completions(args) => shell::completions(args),
        Command::Man(args) => shell::man(args, cli.json),
    }
}

/// Prints text, in colour if the output supports it.
fn print(text: &str) -> Result<(), Error> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Prints JSON and a newline.
fn print_json(value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(value).map_err(std::io::Error::from)?;
    print(&(text + "\n"))
}

/// Prints an error as JSON, in the form that all commands use.
pub fn print_error(message: &str) {
    // The error is already on standard error, so a failure to print it here does not matter.
    let _ = print_json(&serde_json::json!({ "ok": false, "errors": [{ "message": message }] }));
}

/// If requested, saves the smallest counterexample, preferring one to a collective over one to an induction.
fn save<'a>(path: Option<&Path>, found: impl IntoIterator<Item = &'a Counterexample>) -> Result<(), Error> {
    let Some(path) = path else { return Ok(()) };
    let size = |one: &&Counterexample| (!one.is_readable(), one.refutes == Refutes::Induction, one.size());
    match found.into_iter().min_by_key(size) {
        None => anstream::eprintln!("there is no counterexample, so {} is not written", path.display()),
        Some(smallest) => {
            smallest.write(path)?;
            anstream::eprintln!("the counterexample is in {0}; `roundel replay {0}` shows it", path.display());
        }
    }
    Ok(())
}

/// `1 message`, `2 messages`.
fn counted(n: impl Into<i128>, what: &str) -> String {
    let n = n.into();
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

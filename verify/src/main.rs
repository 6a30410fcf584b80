//! The command line tool `roundel`.

use clap::Parser;
use clap::error::ErrorKind as Usage;
use roundel_verify::cli::Cli;
use roundel_verify::{Error, execute, print_error};
use std::io::ErrorKind;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return not_understood(&error),
    };
    match execute(&cli) {
        Ok(outcome) => outcome.into(),
        // The reader closed the pipe, as in `roundel show … | head`.
        Err(Error::Output(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let style = roundel_verify::report::table::BAD;
            anstream::eprintln!("{style}error{style:#}: {error}");
            if cli.json {
                print_error(&error.to_string());
            }
            ExitCode::from(2)
        }
    }
}

/// Handles a command line that is invalid or asks for help. With `--json` the error is JSON, too.
fn not_understood(error: &clap::Error) -> ExitCode {
    // If printing fails, there is no other way to report it.
    let _ = error.print();
    let helps = matches!(
        error.kind(),
        Usage::DisplayHelp | Usage::DisplayVersion | Usage::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if !helps && std::env::args_os().any(|argument| argument == "--json") {
        let text = error.render().to_string();
        let message = text.split("\n\n").next().unwrap_or(&text);
        print_error(message.trim_start_matches("error: ").trim());
    }
    ExitCode::from(error.exit_code() as u8)
}

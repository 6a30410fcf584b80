//! The command line `roundel`.

use clap::Parser;
use roundel_verify::cli::Cli;
use roundel_verify::{Error, execute};
use std::io::ErrorKind;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match execute(&cli) {
        Ok(outcome) => outcome.into(),
        // The reader has seen enough, as in `roundel show … | head`.
        Err(Error::Output(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let style = roundel_verify::table::BAD;
            anstream::eprintln!("{style}error{style:#}: {error}");
            ExitCode::from(2)
        }
    }
}

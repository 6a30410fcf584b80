//! `roundel emit`: writes a collective as code of another language.

use super::target::{Target, all_or_errors, crate_of, malformed};
use super::{CommandOutcome, print, print_json};
use crate::cli::{EmitCArgs, EmitCommand};
use crate::emit::emit_c;
use crate::error::Error;
use crate::source::Source;
use roundel::algorithms;
use roundel_spec::check;
use roundel_spec::syntax::Declaration;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Emitted code, for JSON output.
#[derive(Serialize)]
struct Emitted {
    name: String,
    /// The code, unless it is in a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
}

/// Writes a collective as code of another language.
pub(super) fn emit(command: &EmitCommand, json: bool) -> Result<CommandOutcome, Error> {
    let EmitCommand::C(args) = command;
    let (schedule, root) = match Target::find(&args.target)? {
        Target::Entry(entry) => ((entry.schedule)(), Some(PathBuf::from(algorithms::CRATE_ROOT))),
        Target::File(source, declared) => match all_or_errors(declared) {
            Ok(declarations) => {
                let schedule = chosen(&source, &declarations, args.wanted.as_deref())?.schedule.clone();
                // A wrong collective is not emitted: it must pass the same check as in the derive.
                check::at_compile_time(&schedule).map_err(|violation| Error::wrong(&schedule, violation))?;
                (schedule, crate_of(Path::new(&source.origin)))
            }
            Err(errors) => return malformed(&source, &errors, json),
        },
    };
    let code = emit_c(&schedule, root.as_deref())?;
    deliver(args, json, schedule.name, code)
}

/// The only declaration, or the requested one.
fn chosen<'a>(
    source: &Source,
    declarations: &'a [Declaration],
    wanted: Option<&str>,
) -> Result<&'a Declaration, Error> {
    let named = |d: &&Declaration| wanted.is_none_or(|wanted| d.schedule.name == wanted);
    let known = || declarations.iter().map(|d| d.schedule.name.as_str()).collect::<Vec<_>>().join(", ");
    let found: Vec<&Declaration> = declarations.iter().filter(named).collect();
    match (found.as_slice(), wanted) {
        (&[declaration], _) => Ok(declaration),
        (_, Some(wanted)) => {
            Err(Error::NoSuchType { origin: source.origin.clone(), wanted: wanted.into(), known: known() })
        }
        (_, None) => Err(Error::SeveralTypes { origin: source.origin.clone(), known: known() }),
    }
}

fn deliver(args: &EmitCArgs, json: bool, name: String, code: String) -> Result<CommandOutcome, Error> {
    if let Some(path) = &args.output {
        std::fs::write(path, &code).map_err(|source| Error::Write { path: path.clone(), source })?;
    }
    match (json, &args.output) {
        (true, Some(path)) => print_json(&Emitted { name, code: None, file: Some(path.clone()) })?,
        (true, None) => print_json(&Emitted { name, code: Some(code), file: None })?,
        (false, Some(path)) => anstream::eprintln!("{name} is in {}", path.display()),
        (false, None) => print(&code)?,
    }
    Ok(CommandOutcome::Fine)
}

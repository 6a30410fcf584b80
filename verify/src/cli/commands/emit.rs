//! `roundel emit`: writes a collective as code of another language.

use super::target::{Target, all_or_errors, malformed, no_such_type};
use super::{CommandOutcome, print, print_json};
use crate::cli::{CallsArg, EmitCArgs, EmitCommand};
use crate::declared::crate_of;
use crate::emit::emit_c;
use crate::error::Error;
use crate::source::Source;
use roundel::algorithms;
use roundel_spec::c::{Calls, EmittedFiles, FileOptions};
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
    /// The file, its header and its harness.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    header: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    harness: Option<PathBuf>,
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
    let files = emit_c(&schedule, root.as_deref(), &options(args)?)?;
    deliver(args, json, schedule.name, &files)
}

/// How the files are written, and include each other.
fn options(args: &EmitCArgs) -> Result<FileOptions, Error> {
    let calls = match args.calls {
        CallsArg::Mpi => Calls::Mpi,
        CallsArg::Macros => Calls::Macros,
    };
    let source = args.output.clone().unwrap_or_default();
    let header = args.header.as_ref().map(|header| included(header, &source)).transpose()?;
    let source = args.harness.as_ref().map_or(Ok(String::new()), |harness| included(&source, harness))?;
    Ok(FileOptions { calls, header, source })
}

/// A file, as another one includes it.
fn included(file: &Path, from: &Path) -> Result<String, Error> {
    let whole =
        |path: &Path| std::path::absolute(path).map_err(|source| Error::Write { path: path.to_path_buf(), source });
    let (file, from) = (whole(file)?, whole(from)?);
    let folder = from.parent().unwrap_or(Path::new("/"));
    let common = file.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(common).map(|_| Path::new("..").to_path_buf());
    let down = file.components().skip(common).map(|part| Path::new(&part).to_path_buf());
    Ok(up.chain(down).collect::<PathBuf>().to_string_lossy().into_owned())
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
        (_, Some(wanted)) => Err(no_such_type(source, wanted, declarations.iter().map(|d| d.schedule.name.as_str()))),
        (_, None) => Err(Error::SeveralTypes { origin: source.origin.clone(), known: known() }),
    }
}

fn deliver(args: &EmitCArgs, json: bool, name: String, files: &EmittedFiles) -> Result<CommandOutcome, Error> {
    let written = [(&args.output, &files.code), (&args.header, &files.header), (&args.harness, &files.harness)];
    for (path, text) in written {
        let Some(path) = path else { continue };
        std::fs::write(path, text).map_err(|source| Error::Write { path: path.clone(), source })?;
    }
    let code = args.output.is_none().then(|| files.code.clone());
    match (json, &args.output) {
        (true, file) => {
            let (file, header, harness) = (file.clone(), args.header.clone(), args.harness.clone());
            print_json(&Emitted { name, code, file, header, harness })?;
        }
        (false, Some(path)) => anstream::eprintln!("{name} is in {}", path.display()),
        (false, None) => print(&files.code)?,
    }
    Ok(CommandOutcome::Fine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_include_each_other_by_relative_paths() {
        let included = |file: &str, from: &str| included(Path::new(file), Path::new(from)).ok();
        assert_eq!(included("a.c", "b.c").as_deref(), Some("a.c"));
        assert_eq!(included("x/a.c", "x/y/b.c").as_deref(), Some("../a.c"));
        assert_eq!(included("/x/inc/a.h", "/x/src/a.c").as_deref(), Some("../inc/a.h"));
    }
}

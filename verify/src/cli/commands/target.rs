//! The targets of a command: catalogue entries, or the declarations of a file.

use super::{CommandOutcome, print_json};
use crate::catalogue;
use crate::error::Error;
use crate::source::{DeclaredStruct, Diagnostic, Source};
use roundel::algorithms::{self, Entry};
use roundel_spec::similar::similar;
use roundel_spec::syntax::Declaration;
use std::path::{Path, PathBuf};

/// A named target.
pub(super) enum Target {
    /// A catalogue entry.
    Entry(&'static Entry),
    /// The declarations of a file, or the errors that keep it from being read.
    File(Source, Result<Vec<DeclaredStruct>, Vec<Diagnostic>>),
}

impl Target {
    /// A name of the catalogue, or a file if it looks like one.
    pub(super) fn find(text: &str) -> Result<Self, Error> {
        let path = Path::new(text);
        if path.extension().is_none_or(|extension| extension != "rs") {
            return catalogue::find(text).map(Target::Entry).map_err(|unknown| no_source(path).unwrap_or(unknown));
        }
        let source = Source::read(path)?;
        let declarations = source.declarations();
        match &declarations {
            Ok(none) if none.is_empty() => Err(Error::NothingDeclared { path: path.into() }),
            _ => Ok(Target::File(source, declarations)),
        }
    }

    /// The targets of one name: `allgather/` stands for all collectives of that kind.
    fn named(name: &str) -> Result<Vec<Self>, Error> {
        let Some(kind) = name.strip_suffix('/') else { return Ok(vec![Target::find(name)?]) };
        let of_kind = |entry: &&Entry| entry.name.split('/').next() == Some(&kind.replace('_', "-"));
        let found: Vec<Self> = algorithms::catalogue().iter().filter(of_kind).map(Target::Entry).collect();
        if found.is_empty() { Err(Error::NoSuchKind { kind: kind.into(), hint: kind_hint(kind) }) } else { Ok(found) }
    }

    /// All named targets, or the whole catalogue.
    pub(super) fn all(names: &[String], all: bool) -> Result<Vec<Self>, Error> {
        match (all, names) {
            (true, _) => Ok(algorithms::catalogue().iter().map(Target::Entry).collect()),
            (false, []) => Err(Error::NothingNamed),
            (false, names) => {
                let found: Vec<Vec<Self>> = names.iter().map(|name| Target::named(name)).collect::<Result<_, _>>()?;
                Ok(found.into_iter().flatten().collect())
            }
        }
    }
}

/// A hint at a kind with a similar name.
fn kind_hint(kind: &str) -> String {
    let kinds = algorithms::catalogue().iter().filter_map(|entry| entry.name.split('/').next());
    match similar(&kind.replace('_', "-"), kinds) {
        Some(close) => format!("did you mean `{close}/`?"),
        None => "`roundel list` shows which kinds there are".into(),
    }
}

/// The error for a path that is not a source file.
fn no_source(path: &Path) -> Option<Error> {
    let has_folders = path.is_absolute() || path.starts_with(".") || path.starts_with("..");
    (has_folders || path.exists()).then(|| Error::NoSource { path: path.into() })
}

/// The root of the crate that a source file belongs to.
pub(super) fn crate_of(file: &Path) -> Option<PathBuf> {
    let file = file.canonicalize().ok()?;
    file.ancestors().skip(1).find(|dir| dir.join("Cargo.toml").is_file()).map(Path::to_path_buf)
}

/// The declaration of a catalogue entry in its source, for errors that point into it and for its code.
pub(super) fn declaration_of(entry: &'static Entry) -> Result<(Source, Declaration), Error> {
    let source = Source::of_entry(entry);
    let wrong = |reason: String| Error::Catalogue { name: entry.name, reason };
    let first = |errors: Vec<Diagnostic>| errors.into_iter().next().map_or(String::new(), |error| error.message);
    let declared = source.declarations().map_err(|errors| wrong(first(errors)))?;
    match declared.into_iter().find(|declared| declared.name == entry.type_name) {
        Some(declared) => Ok((source, declared.result.map_err(|errors| wrong(first(errors)))?)),
        None => Err(wrong(format!("its source does not declare `{}`", entry.type_name))),
    }
}

/// All declarations of a file, or all errors in it.
pub(super) fn all_or_errors(
    declared: Result<Vec<DeclaredStruct>, Vec<Diagnostic>>,
) -> Result<Vec<Declaration>, Vec<Diagnostic>> {
    let (mut fine, mut errors) = (Vec::new(), Vec::new());
    for one in declared? {
        match one.result {
            Ok(declaration) => fine.push(declaration),
            Err(more) => errors.extend(more),
        }
    }
    if errors.is_empty() { Ok(fine) } else { Err(errors) }
}

/// Reports a malformed file.
pub(super) fn malformed(source: &Source, errors: &[Diagnostic], json: bool) -> Result<CommandOutcome, Error> {
    errors.iter().for_each(|error| anstream::eprintln!("{}\n", error.render(source)));
    if json {
        print_json(&serde_json::json!({ "ok": false, "errors": errors }))?;
    }
    Ok(CommandOutcome::Malformed)
}

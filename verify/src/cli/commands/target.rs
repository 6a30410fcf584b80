//! The targets of a command: catalogue entries, or the declarations of a file.

use super::{CommandOutcome, print_json};
use crate::catalogue;
use crate::cli::TargetArgs;
use crate::declared::DeclaredCollective;
use crate::error::{Diagnosed, Error};
use crate::named::NamedCollective;
use crate::source::{DeclaredStruct, Diagnostic, Source};
use roundel::algorithms::{self, Entry};
use roundel_spec::similar::similar;
use roundel_spec::syntax::Declaration;
use std::path::Path;

/// A named target.
pub(crate) enum Target {
    /// A catalogue entry.
    Entry(&'static Entry),
    /// The declarations of a file, or the errors that keep it from being read.
    File(Source, Result<Vec<DeclaredStruct>, Vec<Diagnostic>>),
}

impl Target {
    /// A name of the catalogue, a file if it looks like one, or one declaration of a file: `FILE.rs:Name`.
    pub(super) fn find(text: &str) -> Result<Self, Error> {
        let (path, wanted) = file_and_type(text);
        if !is_rust(path) {
            return catalogue::find(text).map(Target::Entry).map_err(|unknown| no_source(path).unwrap_or(unknown));
        }
        let source = Source::read(path)?;
        match source.declarations() {
            Ok(none) if none.is_empty() => Err(Error::NothingDeclared { path: path.into() }),
            Ok(all) => {
                let chosen = chosen(&source, all, wanted)?;
                Ok(Target::File(source, Ok(chosen)))
            }
            Err(errors) => Ok(Target::File(source, Err(errors))),
        }
    }

    /// The collectives of one name: a catalogue entry, or the declarations of a file, which must be correct.
    pub(crate) fn collectives(text: &str) -> Result<Vec<NamedCollective>, Error> {
        match Target::find(text)? {
            Target::Entry(entry) => Ok(vec![NamedCollective::Entry(entry)]),
            Target::File(source, Err(errors)) => Err(Diagnosed::malformed(&source, errors)),
            Target::File(source, Ok(declared)) => {
                let all = DeclaredCollective::all(&source, declared)?;
                Ok(all.into_iter().map(|one| NamedCollective::Declared(Box::new(one))).collect())
            }
        }
    }

    /// The same, or all collectives of a kind.
    pub(super) fn listed(text: &str) -> Result<Vec<NamedCollective>, Error> {
        if !text.ends_with('/') {
            return Target::collectives(text);
        }
        let of_kind = Target::named(text)?.into_iter().filter_map(|target| match target {
            Target::Entry(entry) => Some(NamedCollective::Entry(entry)),
            Target::File(..) => None,
        });
        Ok(of_kind.collect())
    }

    /// The one collective of a name, for commands that write one file.
    pub(crate) fn only(text: &str, mut all: Vec<NamedCollective>) -> Result<NamedCollective, Error> {
        let known = all.iter().map(NamedCollective::name).collect::<Vec<_>>().join(", ");
        match (all.pop(), all.is_empty()) {
            (Some(one), true) => Ok(one),
            _ => Err(Error::SeveralTypes { origin: text.into(), known }),
        }
    }

    /// The targets of one name: `allgather/` stands for all collectives of that kind.
    fn named(name: &str) -> Result<Vec<Self>, Error> {
        let Some(kind) = name.strip_suffix('/') else { return Ok(vec![Target::find(name)?]) };
        let of_kind = |entry: &&Entry| entry.name.split('/').next() == Some(&kind.replace('_', "-"));
        let found: Vec<Self> = algorithms::catalogue().iter().filter(of_kind).map(Target::Entry).collect();
        if found.is_empty() { Err(Error::NoSuchKind { kind: kind.into(), hint: kind_hint(kind) }) } else { Ok(found) }
    }

    /// The whole catalogue.
    pub(super) fn catalogue() -> Vec<Self> {
        algorithms::catalogue().iter().map(Target::Entry).collect()
    }

    /// All named targets, or the whole catalogue.
    pub(super) fn all(args: &TargetArgs) -> Result<Vec<Self>, Error> {
        match (args.all, args.targets.as_slice()) {
            (true, _) => Ok(Self::catalogue()),
            (false, []) => Err(Error::NothingNamed),
            (false, names) => {
                let found: Vec<Vec<Self>> = names.iter().map(|name| Target::named(name)).collect::<Result<_, _>>()?;
                Ok(found.into_iter().flatten().collect())
            }
        }
    }
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

/// `FILE.rs:Name` as a file and a type.
fn file_and_type(text: &str) -> (&Path, Option<&str>) {
    match text.rsplit_once(':') {
        Some((file, wanted)) if is_rust(Path::new(file)) => (Path::new(file), Some(wanted)),
        _ => (Path::new(text), None),
    }
}

/// All declarations, or those of the requested type.
fn chosen(source: &Source, all: Vec<DeclaredStruct>, wanted: Option<&str>) -> Result<Vec<DeclaredStruct>, Error> {
    let Some(wanted) = wanted else { return Ok(all) };
    let names: Vec<String> = all.iter().map(|declared| declared.name.clone()).collect();
    match all.into_iter().filter(|declared| declared.name == wanted).collect::<Vec<_>>() {
        none if none.is_empty() => Err(no_such_type(source, wanted, names.iter().map(String::as_str))),
        found => Ok(found),
    }
}

/// The error for a type that a source does not declare.
pub(super) fn no_such_type<'a>(source: &Source, wanted: &str, names: impl Iterator<Item = &'a str>) -> Error {
    let names: Vec<&str> = names.collect();
    let hint =
        similar(wanted, names.iter().copied()).map_or(String::new(), |close| format!("; did you mean `{close}`?"));
    Error::NoSuchType { origin: source.origin.clone(), wanted: wanted.into(), known: names.join(", "), hint }
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
    report(source, errors, json)?;
    Ok(CommandOutcome::Malformed)
}

/// Reports the errors of a file, each with its place.
pub(super) fn report(source: &Source, errors: &[Diagnostic], json: bool) -> Result<(), Error> {
    errors.iter().for_each(|error| anstream::eprintln!("{}\n", error.render(source)));
    if json {
        print_json(&serde_json::json!({ "ok": false, "errors": errors }))?;
    }
    Ok(())
}

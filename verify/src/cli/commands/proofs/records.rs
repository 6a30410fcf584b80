//! Proof records in the crates that declare collectives.
//!
//! The record of a collective is `proofs/NAME.json`, and the derive embeds its contents. Rustc recompiles the
//! declaration when the record changes, but it cannot watch a file that does not exist yet, so writing a first record
//! touches the source file.

use super::prove;
use crate::cli::commands::check::Subject;
use crate::error::Error;
use crate::proving::prove::outdated;
use crate::source::Source;
use roundel_spec::Schedule;
use roundel_spec::proof::Record;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Why a proof leaves no record.
pub(super) const NO_CRATE: &str =
    "no record is written, because the file belongs to no crate; `--record FILE` keeps one";

/// Writes the record of a collective into its crate, and returns its path.
pub(super) fn write(root: &Path, subject: &Subject<'_>, text: &str) -> Result<PathBuf, Error> {
    let path = Record::path(root, &subject.schedule);
    let is_new = !path.exists();
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|source| Error::Write { path: folder.into(), source })?;
    }
    prove::write(&path, text)?;
    if let Some(file) = subject.file().filter(|_| is_new) {
        touch(&file)?;
        let (record, file) = (path.display(), file.display());
        anstream::eprintln!("{record} is new, so {file} is marked as changed: the next build reads the record");
    }
    Ok(path)
}

/// The proved range of the record at a path, if it is valid and covers something that another record does not. A record
/// whose queries are outdated is not valid.
pub(super) fn says_more(path: &Path, schedule: &Schedule, other: &Record) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let there = Record::read(&text, schedule).ok()?;
    let more = !other.covers(&there) && outdated(schedule, &there).is_empty();
    more.then(|| there.text(schedule))
}

/// Sets the modification time of a file to now.
fn touch(path: &Path) -> Result<(), Error> {
    let file = std::fs::File::options().append(true).open(path);
    let touched = file.and_then(|file| file.set_modified(SystemTime::now()));
    touched.map_err(|source| Error::Write { path: path.into(), source })
}

/// Refuses two collectives of the same name in one crate, and warns about another one elsewhere in it.
pub(super) fn names_differ(subjects: &[&Subject<'_>]) -> Result<(), Error> {
    let mut seen = HashSet::new();
    for subject in subjects {
        let (Some(root), name) = (subject.crate_root(), &subject.schedule.name) else { continue };
        let record = Record::path(&root, &subject.schedule);
        if !seen.insert(record.clone()) {
            return Err(Error::SameName { name: name.clone(), root, record });
        }
        if let Some(other) = subject.file().and_then(|file| declared_elsewhere(&root, &file, name)) {
            anstream::eprintln!(
                "warning: {} declares `{name}` as well, and both have the record {}: give each collective of a crate \
                 a name of its own",
                other.display(),
                record.display()
            );
        }
    }
    Ok(())
}

/// Another file of the crate that declares a collective of this name.
fn declared_elsewhere(root: &Path, file: &Path, name: &str) -> Option<PathBuf> {
    let file = file.canonicalize().ok()?;
    let declares = |path: &PathBuf| {
        path.canonicalize().is_ok_and(|path| path != file)
            && Source::read(path)
                .ok()
                .and_then(|source| source.declarations().ok())
                .is_some_and(|declared| declared.iter().any(|one| one.name == name))
    };
    sources(root).into_iter().find(declares)
}

/// The Rust files of a crate, without those of nested crates.
fn sources(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            let hidden =
                path.file_name().is_some_and(|name| name == "target" || name.to_string_lossy().starts_with('.'));
            if path.is_dir() && !path.is_symlink() && !hidden && !path.join("Cargo.toml").exists() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

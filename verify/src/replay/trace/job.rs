//! The files of all processes of a job.

use super::file::{Communicator, File, Id};
use crate::error::Error;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The calls of all processes of a job.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// The files, by rank of the world.
    pub files: BTreeMap<usize, File>,
}

impl Job {
    /// Reads files. A name that is not a file stands for all `NAME.R`.
    pub fn read(names: &[PathBuf]) -> Result<Self, Error> {
        let mut paths = BTreeSet::new();
        for name in names {
            match name.is_file() {
                true => drop(paths.insert(name.clone())),
                false => paths.extend(numbered(name)?),
            }
        }
        Job::of(paths.iter().map(|path| File::read(path)).collect::<Result<_, _>>()?)
    }

    /// Joins files that were read.
    pub fn of(files: Vec<File>) -> Result<Self, Error> {
        let mut job = Job::default();
        for file in files {
            job.add(file)?;
        }
        Ok(job)
    }

    fn add(&mut self, file: File) -> Result<(), Error> {
        if let Some(first) = self.files.values().next().filter(|first| first.size != file.size) {
            let (first, other) = (first.path.clone(), file.path);
            return Err(Error::OtherJob { first, other, reason: "their worlds have different sizes".into() });
        }
        for (name, communicator) in &file.communicators {
            if let Some((first, _)) = self.knows(name).find(|(_, known)| !same(known, communicator)) {
                let reason = format!("they tell differently of communicator {name}");
                return Err(Error::OtherJob { first: first.path.clone(), other: file.path, reason });
            }
        }
        if let Some(first) = self.files.get(&file.rank) {
            let reason = format!("both are of rank {}", file.rank);
            return Err(Error::OtherJob { first: first.path.clone(), other: file.path, reason });
        }
        self.files.insert(file.rank, file);
        Ok(())
    }

    fn knows<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a File, &'a Communicator)> {
        self.files.values().filter_map(move |file| file.communicators.get(name).map(|known| (file, known)))
    }

    /// All communicators, by name.
    pub fn communicators(&self) -> BTreeMap<&str, &Communicator> {
        let all = self.files.values().flat_map(|file| &file.communicators);
        all.map(|(name, communicator)| (name.as_str(), communicator)).collect()
    }

    /// All calls that any rank recorded.
    pub fn calls(&self) -> BTreeSet<&Id> {
        self.files.values().flat_map(|file| file.calls.keys()).collect()
    }

    /// The ranks of the world that belong to a communicator but have no file.
    pub fn missing(&self) -> BTreeSet<usize> {
        let members = self.files.values().flat_map(|file| file.communicators.values()).flat_map(|one| &one.ranks);
        members.copied().filter(|rank| !self.files.contains_key(rank)).collect()
    }
}

/// Whether two ranks recorded the same communicator.
fn same(a: &Communicator, b: &Communicator) -> bool {
    (&a.ranks, &a.nodes) == (&b.ranks, &b.nodes)
}

/// The files `NAME.R`, where R is a number.
fn numbered(name: &Path) -> Result<Vec<PathBuf>, Error> {
    let none = || Error::NoTraces { path: name.into() };
    let file = name.file_name().ok_or_else(none)?;
    let folder = name.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).map_err(|source| Error::Read { path: folder.into(), source })?;
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|source| Error::Read { path: folder.into(), source })?;
        if is_numbered(&entry.file_name(), file) {
            found.push(name.with_file_name(entry.file_name()));
        }
    }
    if found.is_empty() { Err(none()) } else { Ok(found) }
}

fn is_numbered(found: &OsStr, name: &OsStr) -> bool {
    let rest = found.as_encoded_bytes().strip_prefix(name.as_encoded_bytes());
    let number = rest.and_then(|rest| rest.strip_prefix(b"."));
    number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_job_end_with_a_number() {
        let is = |found: &str| is_numbered(OsStr::new(found), OsStr::new("run"));
        assert!(is("run.0") && is("run.17"));
        assert!(!is("run") && !is("run.") && !is("run.x") && !is("run.1.2") && !is("runs.1") && !is("run.1~"));
    }
}

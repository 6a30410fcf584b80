//! Answers of solvers, kept on disk: proofs of similar declarations, and the same proof tomorrow, ask the same queries.
//!
//! An entry counts only for the same program (its path, size and date), version, limit and query. An entry that cannot
//! be read is ignored, and one that cannot be written is not kept: the solver is asked instead. Whoever can write into
//! the folder can forge an answer, as they could forge a record.

use super::solver::Solver;
use roundel_spec::canonical::hash;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::UNIX_EPOCH;

/// A folder of answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerCache {
    folder: PathBuf,
}

impl AnswerCache {
    /// The environment variable that names the folder; `off` keeps nothing.
    pub const VARIABLE: &str = "ROUNDEL_CACHE";

    /// The answers in a folder, which need not exist yet.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        AnswerCache { folder: folder.into() }
    }

    /// The folder that the environment names: `ROUNDEL_CACHE`, or `roundel/answers` in the user's folder for caches.
    pub fn of_user() -> Option<Self> {
        if let Some(named) = std::env::var_os(Self::VARIABLE) {
            return (named != "off" && !named.is_empty()).then(|| AnswerCache::at(named));
        }
        let folder = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
        let caches = folder("XDG_CACHE_HOME").or_else(|| folder("LOCALAPPDATA"));
        let caches = caches.or_else(|| folder("HOME").map(|home| home.join(".cache")));
        caches.map(|caches| AnswerCache::at(caches.join("roundel").join("answers")))
    }

    /// The entry for a query to a solver; `None` if the solver's program cannot be identified.
    pub(super) fn entry(&self, solver: &Solver, arguments: &[String], query: &str) -> Option<CacheEntry> {
        let program = identity(&solver.found()?)?;
        let asked = without_comments(query);
        let head = format!("{} {program} {}", solver.version(), arguments.join(" "));
        let name = hash(&format!("{head}\n{asked}"));
        Some(CacheEntry { path: self.folder.join(&name[..2]).join(&name[2..]), head })
    }
}

/// A query without what does not change the answer: comments name the collective.
fn without_comments(query: &str) -> String {
    query.lines().filter(|line| !line.starts_with(';')).flat_map(|line| [line, "\n"]).collect()
}

/// The answers of one solver since the program began, by the hash of arguments and query.
#[derive(Clone, Debug, Default)]
pub(super) struct Heard(Arc<Mutex<HashMap<String, String>>>);

impl Heard {
    /// The name of a query with arguments.
    pub(super) fn name(arguments: &[String], query: &str) -> String {
        hash(&format!("{}\n{}", arguments.join(" "), without_comments(query)))
    }

    /// The answer to a query of this name.
    pub(super) fn recall(&self, name: &str) -> Option<String> {
        self.answers().get(name).cloned()
    }

    /// Keeps an answer.
    pub(super) fn remember(&self, name: String, answer: &str) {
        self.answers().insert(name, answer.to_string());
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The path, size and date of a program.
fn identity(program: &Path) -> Option<String> {
    let program = program.canonicalize().ok()?;
    let data = fs::metadata(&program).ok()?;
    let changed = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} {} {}", program.display(), data.len(), changed.as_nanos()))
}

/// The place of one answer.
pub(super) struct CacheEntry {
    path: PathBuf,
    /// The first line of the file: who was asked, and with which limit.
    head: String,
}

/// The last line of a complete entry.
const END: &str = "; end\n";

impl CacheEntry {
    /// The answer, if there is a complete one.
    pub(super) fn read(&self) -> Option<String> {
        let text = fs::read_to_string(&self.path).ok()?;
        let answer = text.strip_prefix(&self.head)?.strip_prefix('\n')?.strip_suffix(END)?;
        Some(answer.to_string())
    }

    /// Keeps an answer. Others may write the same entry at the same time, so it appears at once or not at all.
    pub(super) fn write(&self, answer: &str) {
        let Some(folder) = self.path.parent() else { return };
        let own = self.path.with_extension(format!("{}-{:?}", std::process::id(), std::thread::current().id()));
        let written =
            fs::create_dir_all(folder).and_then(|()| fs::write(&own, format!("{}\n{answer}{END}", self.head)));
        if written.and_then(|()| fs::rename(&own, &self.path)).is_err() {
            let _ = fs::remove_file(&own);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::solver::{Effort, SolverAnswer};
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A solver that counts how often it is asked.
    struct Counting {
        folder: tempfile::TempDir,
    }

    impl Counting {
        fn answering(answer: &str) -> Self {
            let counting = Counting { folder: tempfile::tempdir().expect("a folder") };
            counting.change(answer, "1.0");
            counting
        }

        fn change(&self, answer: &str, version: &str) {
            let asked = self.folder.path().join("asked");
            let script = format!(
                "#!/bin/sh\nif [ \"$1\" = --version ]; then echo z3 {version}; exit; fi\ncat >>{}\necho {answer}\n",
                asked.display()
            );
            let program = self.folder.path().join("z3");
            fs::write(&program, script).expect("written");
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("executable");
        }

        fn ask(&self, query: &str, seconds: u64) -> SolverAnswer {
            let cache = AnswerCache::at(self.folder.path().join("answers"));
            Solver::at(self.folder.path().join("z3")).keeping(Some(cache)).ask(query, Effort::seconds(seconds))
        }

        fn asked(&self) -> usize {
            let asked = fs::read_to_string(self.folder.path().join("asked")).unwrap_or_default();
            asked.matches("(check-sat)").count()
        }

        fn entries(&self) -> Vec<PathBuf> {
            let list = |folder: &Path| {
                fs::read_dir(folder).map(|all| all.filter_map(|one| Some(one.ok()?.path())).collect())
            };
            let folders: Vec<PathBuf> = list(&self.folder.path().join("answers")).unwrap_or_default();
            folders.iter().flat_map(|folder| list(folder).unwrap_or_default()).collect()
        }
    }

    #[test]
    fn the_same_query_is_asked_once() {
        let solver = Counting::answering("unsat");
        for comment in ["; one\n", "; two\n", ""] {
            assert_eq!(solver.ask(&format!("{comment}(check-sat)\n"), 1), SolverAnswer::Unsat);
        }
        assert_eq!(solver.asked(), 1);
    }

    #[test]
    fn a_solver_without_a_cache_is_asked_once_while_it_lives() {
        for (answer, times) in [("unsat", 1), ("sat", 1), ("timeout", 2)] {
            let counting = Counting::answering(answer);
            let solver = Solver::at(counting.folder.path().join("z3"));
            solver.ask("; one\n(check-sat)\n", Effort::seconds(1));
            // Copies share what was heard.
            solver.clone().ask("; two\n(check-sat)\n", Effort::seconds(2));
            assert_eq!(counting.asked(), times, "{answer}");
        }
        // Only what does not know gets more: its first attempt is not repeated.
        let counting = Counting::answering("unknown");
        let solver = Solver::at(counting.folder.path().join("z3"));
        for (seconds, asked) in [(1, 2), (2, 3), (1, 3)] {
            solver.ask("(check-sat)\n", Effort::seconds(seconds));
            assert_eq!(counting.asked(), asked);
        }
    }

    #[test]
    fn another_query_limit_version_or_program_is_another_entry() {
        let solver = Counting::answering("unsat");
        solver.ask("(check-sat)\n", 1);
        solver.ask("(assert true)\n(check-sat)\n", 1);
        solver.ask("(check-sat)\n", 2);
        assert_eq!(solver.asked(), 3);
        solver.change("unsat", "1.1");
        solver.ask("(check-sat)\n", 1);
        assert_eq!(solver.asked(), 4);
        solver.change("sat", "1.1");
        assert_eq!(solver.ask("(check-sat)\n", 1), SolverAnswer::Sat);
        assert_eq!(solver.asked(), 5);
    }

    #[test]
    fn an_entry_that_is_cut_off_or_belongs_to_another_query_is_ignored() {
        let solver = Counting::answering("unsat");
        solver.ask("(check-sat)\n", 1);
        let [entry] = &solver.entries()[..] else { panic!("{:?}", solver.entries()) };
        let whole = fs::read_to_string(entry).expect("an entry");
        for wrong in ["", "sat\n", &whole[..whole.len() - 1], &whole.replacen("z3", "z4", 1)] {
            fs::write(entry, wrong).expect("written");
            assert_eq!(solver.ask("(check-sat)\n", 1), SolverAnswer::Unsat, "{wrong}");
        }
        assert_eq!(solver.asked(), 5);
    }

    #[test]
    fn what_is_no_answer_is_not_kept() {
        for answer in ["timeout", "'(error \"line 1\")'", "''"] {
            let solver = Counting::answering(answer);
            solver.ask("(check-sat)\n", 1);
            solver.ask("(check-sat)\n", 1);
            assert_eq!((solver.asked(), solver.entries()), (2, vec![]), "{answer}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_costs_only_time() {
        let solver = Counting::answering("sat");
        fs::write(solver.folder.path().join("answers"), "no folder").expect("written");
        assert_eq!(solver.ask("(check-sat)\n", 1), SolverAnswer::Sat);
        assert_eq!(solver.ask("(check-sat)\n", 1), SolverAnswer::Sat);
        assert_eq!(solver.asked(), 2);
    }
}

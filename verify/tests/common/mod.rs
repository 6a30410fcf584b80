//! Helpers for tests that use a solver, are slow, or run the program.

pub(crate) mod process;
pub(crate) mod wrong;

use std::path::PathBuf;

/// The path of z3. If there is none, prints that the test is skipped; but if `ROUNDEL_REQUIRE` is set, everything must
/// be installed, and a test that does not run fails.
#[allow(dead_code)] // Some tests that share this file use no solver.
pub(crate) fn z3() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths).map(|folder| folder.join("z3")).find(|path| path.is_file());
    if found.is_none() {
        let thread = std::thread::current();
        let missing = format!("{} needs z3, which is not in PATH", thread.name().unwrap_or("this test"));
        assert!(std::env::var_os("ROUNDEL_REQUIRE").is_none(), "{missing}");
        eprintln!("skipped: {missing}");
    }
    found
}

/// Every `step`-th of `all`; with `ROUNDEL_ALL=1`, which `tests/run.sh --all` sets, all of them.
#[allow(dead_code)] // Some tests that share this file never sample.
pub(crate) fn every<T>(step: usize, all: impl IntoIterator<Item = T>) -> Vec<T> {
    let step = if everything() { 1 } else { step };
    all.into_iter().step_by(step).collect()
}

/// Whether slow tests are requested, too.
#[allow(dead_code)] // Some tests are never slow.
pub(crate) fn everything() -> bool {
    std::env::var_os("ROUNDEL_ALL").is_some_and(|value| value == "1")
}

//! What the tests that put questions to a solver, or take long, share.

use std::path::PathBuf;

/// The path of z3. Where there is none, says that the test is skipped; but where `ROUNDEL_REQUIRE` says that everything
/// has been installed, a test that does not run is a failure.
#[allow(dead_code)] // Some tests of those that share this file ask no solver.
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

/// Every `step`-th of `all`, and with `ROUNDEL_ALL=1`, as `tests/run.sh --all` sets it, all of them.
#[allow(dead_code)] // Some tests of those that share this file take all of what they have.
pub(crate) fn every<T>(step: usize, all: impl IntoIterator<Item = T>) -> Vec<T> {
    let step = if everything() { 1 } else { step };
    all.into_iter().step_by(step).collect()
}

/// Whether what takes long is asked for, too.
#[allow(dead_code)] // Some tests never take long.
pub(crate) fn everything() -> bool {
    std::env::var_os("ROUNDEL_ALL").is_some_and(|value| value == "1")
}

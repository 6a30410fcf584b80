//! The tutorial's commands on MPI: a program under mpirun, the libraries with a collective of its own, emitted C.

#[path = "../../tutorial/mod.rs"]
mod commands;

use crate::job;
use crate::mpi::{OPEN_MPI, say};
use commands::{Commands, Folder, commands};
use std::path::{Path, PathBuf};

/// One MPI is enough: `own.rs` runs such libraries on all of them. Only with `tests/run.sh --all`, because it builds
/// everything once more.
#[test]
fn the_tutorial_on_open_mpi() {
    let mpi = &OPEN_MPI;
    if mpi.library().is_none() {
        return;
    }
    if std::env::var_os("ROUNDEL_ALL").is_none() {
        return say("the tutorial on MPI is tested with ROUNDEL_ALL=1");
    }
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/debug/roundel");
    let roundel = std::env::var_os("ROUNDEL").map_or(built, PathBuf::from);
    if !roundel.is_file() {
        assert!(std::env::var_os("ROUNDEL_REQUIRE").is_none(), "{} does not exist", roundel.display());
        return say(&format!("{} does not exist: the tutorial is not tested", roundel.display()));
    }
    let all = commands();
    // What needs no MPI is tested elsewhere, and building it twice takes long.
    let blocks: Vec<&Commands> =
        all.iter().filter(|block| block.needs_mpi || !block.text.contains("cargo")).collect();
    assert!(blocks.iter().filter(|block| block.needs_mpi).count() >= 4, "{blocks:?}");
    let folder = Folder::new("tutorial-mpi", &roundel.canonicalize().unwrap_or(roundel));
    folder.tool("mpicc", &format!("exec {} \"$@\"", mpi.tool("mpicc").display()));
    let mut launcher = mpi.launcher();
    let temporary = job::folder();
    launcher.env("TMPDIR", temporary.path());
    let words: Vec<String> = [launcher.get_program()]
        .into_iter()
        .chain(launcher.get_args())
        .map(|word| format!("'{}'", word.to_string_lossy()))
        .collect();
    let variables: String = launcher
        .get_envs()
        .filter_map(|(name, value)| Some(format!("export {}='{}'\n", name.to_str()?, value?.to_str()?)))
        .collect();
    folder.tool("mpirun", &format!("{variables}exec {} \"$@\"", words.join(" ")));
    folder.run(&blocks);
}

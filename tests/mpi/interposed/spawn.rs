//! Communicators with ranks of another world, which may run without the library.

use crate::launch::Settings;
use crate::mpi::OPEN_MPI;
use crate::programs::c;
use std::path::Path;

/// On Open MPI only: Debian's MPICH 4.0 refuses MPI_Comm_spawn, with or without this library.
#[test]
fn calls_with_ranks_of_another_world_are_the_library_s() {
    let mpi = &OPEN_MPI;
    let Some(library) = mpi.library() else { return };
    let program = c(mpi, "interposed_spawn");
    for children in ["", &path(&library)] {
        let run = mpi.run(2, &Settings::forced().with("ROUNDEL_EXPLAIN", "1"), &program, &[children]);
        run.succeeds();
        let told = run.output().contains("a communicator with ranks of another world are the library's");
        assert!(told && run.output().contains("all as expected"), "{}", run.report());
    }
    // Ranks agree on the names in a trace; ranks of another world take no part in that.
    let trace = Path::new(env!("CARGO_TARGET_TMPDIR")).join("spawn-trace");
    let run = mpi.run(2, &Settings::forced().with("ROUNDEL_TRACE", &path(&trace)), &program, &[""]);
    run.succeeds();
}

fn path(path: &Path) -> String {
    path.display().to_string()
}

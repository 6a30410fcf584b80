//! The ABI of MPI 5: one library for every MPI that has it.

use crate::launch::Settings;
use crate::mpi::MPI_5_ABI;
use crate::programs;

#[test]
fn calls_with_the_abi_of_mpi_5() {
    let mpi = &MPI_5_ABI;
    if mpi.library().is_none() {
        return;
    }
    let program = programs::c(mpi, "interposed_abi");
    for (p, settings) in [(1, Settings::served()), (3, Settings::served()), (5, Settings::usual())] {
        let run = mpi.run(p, &settings, &program, &[]);
        run.succeeds();
        assert!(run.output().contains("all as expected"), "{}", run.report());
    }
}

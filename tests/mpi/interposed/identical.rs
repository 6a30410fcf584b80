//! All ranks get identical results from an allreduce, whatever is forced.

use crate::faults::on_each;
use crate::launch::Settings;
use crate::programs;
use std::path::Path;

/// Neither promises that all ranks reduce the same tree; at 10 ranks sums of floats differ.
const MIXED: [&str; 2] = ["allreduce:prefix", "allreduce:cyclic-shift:ports=1+1+1+1"];

#[test]
fn sums_are_the_same_on_all_ranks() {
    on_each(|mpi| {
        let program = programs::c(mpi, "interposed_identical");
        for forced in MIXED {
            let settings = Settings::served().with("ROUNDEL_FORCE", forced).with("ROUNDEL_EXPLAIN", "1");
            let run = mpi.run(10, &settings, &program, &[]);
            run.succeeds();
            // Sums of floats use another algorithm, and the explanation says why; integers use the forced one.
            let name = forced.split(':').nth(1).unwrap_or_default();
            let said = run.output().contains("MPI demands identical results of an allreduce");
            let served = run.output().contains(&format!(": allreduce/{name}"));
            assert!(said && served, "{}", run.report());
        }
        mpi.run(10, &Settings::served(), &program, &[]).succeeds();
        mpi.run(4, &Settings::usual(), &program, &[]).succeeds();
        mpi.run(4, &Settings::shared(), &program, &[]).succeeds();
    });
}

/// A rule with `order = "any"` gets what was forced, and the program does find the difference.
#[test]
fn any_order_is_taken_knowingly() {
    let rule = "format = \"roundel-selection\"\nversion = 1\n\n[[rule]]\ncollective = \"allreduce\"\nalgorithm = \"prefix\"\n\
                p = \"10\"\norder = \"any\"\n";
    on_each(|mpi| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("any-order-{}.toml", mpi.id));
        std::fs::write(&path, rule).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
        let settings = Settings::served().with("ROUNDEL_SELECTION", &path.display().to_string());
        mpi.run(10, &settings, &programs::c(mpi, "interposed_identical"), &["--any"]).succeeds();
    });
}

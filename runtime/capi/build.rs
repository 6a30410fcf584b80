//! Checks whether MPI has persistent collectives.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(persistent)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=MPICC");
    if env::var_os("CARGO_FEATURE_MPI").is_none() {
        return;
    }
    if has_persistent_collectives(&macros()) {
        println!("cargo::rustc-cfg=persistent");
    }
}

/// Whether the library has persistent collectives that can be freed: freeing one in MPICH 4.0 fails an assertion about
/// the references to its datatypes.
fn has_persistent_collectives(macros: &str) -> bool {
    let number = |name: &str| -> Option<u32> {
        macros.lines().find_map(|line| line.strip_prefix("#define ")?.strip_prefix(name)?.trim().parse().ok())
    };
    number("MPI_VERSION ").is_some_and(|version| version >= 4)
        && number("MPICH_NUMVERSION ").is_none_or(|version| version >= 40_100_000)
}

/// The macros that the library's header defines.
fn macros() -> String {
    let mpicc = env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
    let output = Command::new(mpicc).args(["-dM", "-E", "-include", "mpi.h", "-x", "c", "/dev/null"]).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

//! Names the shared library, and finds out whether MPI has persistent collectives.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(persistent)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=MPICC");
    if env::var_os("CARGO_FEATURE_MPI").is_none() {
        return;
    }
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libroundel.so.{}", env!("CARGO_PKG_VERSION_MAJOR"));
    if mpi_version().is_some_and(|version| version >= 4) {
        println!("cargo::rustc-cfg=persistent");
    }
}

/// The version of the MPI standard that the library's header names.
fn mpi_version() -> Option<u32> {
    let mpicc = env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
    let output =
        Command::new(mpicc).args(["-dM", "-E", "-include", "mpi.h", "-x", "c", "/dev/null"]).output().ok()?;
    let macros = String::from_utf8_lossy(&output.stdout);
    macros.lines().find_map(|line| line.strip_prefix("#define MPI_VERSION ")?.trim().parse().ok())
}

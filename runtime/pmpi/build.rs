//! Detects which MPI this is, and which functions it has.
//!
//! The compiler wrapper is the one that the bindings are made with: `MPICC`, or `mpicc`.

use std::env;
use std::process::Command;

/// The configuration options of the crate, and the text in MPI's headers that enables each.
const QUESTIONS: [(&str, &str); 5] = [
    ("open_mpi", "ompi_communicator_t"),
    ("abi", "MPI_ABI_Comm"),
    ("persistent", "PMPI_Allreduce_init("),
    ("extension", "PMPIX_Allreduce_init("),
    ("large", "PMPI_Allreduce_c("),
];

fn main() {
    println!("cargo::rerun-if-env-changed=MPICC");
    println!("cargo::rerun-if-changed=build.rs");
    for (name, _) in QUESTIONS {
        println!("cargo::rustc-check-cfg=cfg({name})");
    }
    if env::var_os("CARGO_FEATURE_MPI").is_none() {
        return;
    }
    let headers = headers();
    for (name, text) in QUESTIONS {
        if headers.contains(text) {
            println!("cargo::rustc-cfg={name}");
        }
    }
}

/// MPI's headers after preprocessing, with those of its extensions if there are any.
fn headers() -> String {
    let both = preprocessed(&["mpi.h", "mpi-ext.h"]);
    both.or_else(|| preprocessed(&["mpi.h"])).unwrap_or_else(|| {
        panic!("mpi.h cannot be read; say in MPICC which compiler wrapper of MPI is to be used");
    })
}

fn preprocessed(headers: &[&str]) -> Option<String> {
    let mpicc = env::var("MPICC").unwrap_or_else(|_| "mpicc".to_owned());
    let mut command = Command::new(mpicc);
    command.args(["-E", "-xc", "/dev/null"]);
    for header in headers {
        command.args(["-include", header]);
    }
    let output = command.output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

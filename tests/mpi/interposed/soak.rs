//! Long runs: memory stays what it was. `ROUNDEL_ALL=1` makes them longer.

use crate::faults::{is_ours, on_each};
use crate::launch::Settings;
use crate::mpi::{everything, say};
use crate::programs;
use std::process::Command;

/// How many calls, communicators and requests.
fn amounts() -> [&'static str; 3] {
    if everything() { ["100000", "10000", "1000"] } else { ["4000", "200", "300"] }
}

#[test]
fn memory_stays_flat() {
    let (amounts, p) = (amounts(), 3);
    let long = |settings| Settings { long: everything(), ..settings };
    on_each(|mpi| {
        let program = programs::c(mpi, "interposed_soak");
        mpi.run(p, &long(Settings::forced()), &program, &amounts).succeeds();
        mpi.run(p, &long(Settings::served()), &program, &amounts).succeeds();
        mpi.run(p, &long(Settings::shared()), &program, &amounts).succeeds();
        let threads: Vec<&str> = amounts.into_iter().chain(["threads"]).collect();
        mpi.run(p, &long(Settings::forced()), &program, &threads).succeeds();
    });
}

#[test]
fn the_soak_program_under_valgrind() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return say("skipped: valgrind is not installed");
    }
    on_each(|mpi| {
        let options = ["valgrind", "--leak-check=full", "--show-leak-kinds=definite,indirect", "--num-callers=40"];
        let settings = Settings { under: options.map(String::from).into(), ..Settings::forced() };
        let run = mpi.run(2, &settings, &programs::c(mpi, "interposed_soak"), &["60", "4", "20"]);
        run.succeeds();
        let ours: Vec<&str> = run.output().split("== \n").filter(|report| is_ours(report)).collect();
        assert!(ours.is_empty(), "{}: valgrind finds\n{}", mpi.name, ours.join("\n"));
    });
}

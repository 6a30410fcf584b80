//! `libroundel` as programs in C and Fortran use it: installed, found by pkg-config and CMake, linked shared and
//! static, and run under `mpirun` on each MPI that was built for (`tests/tools/build-mpi.sh`).

#[path = "../mpi/job.rs"]
mod job;
mod kit;
#[path = "../mpi/mpi.rs"]
mod mpi;
mod names;

use kit::Kit;
use mpi::{MPICH, MPICH_5, Mpi, OPEN_MPI, OPEN_MPI_5};
use std::path::Path;
use std::process::Command;

/// The selection that the test program uses: an algorithm for each collective, or the library. Not for reductions to a
/// root, though: that of MPICH 4.0 reads from MPI_IN_PLACE where the root is not the first rank and there are more than
/// 2048 bytes.
const RULES: &str = r#"
format = "roundel-selection"
version = 1
[[rule]]
collective = "allgather"
bytes = "<100"
algorithm = "sparbit"
[[rule]]
collective = "allreduce"
order = "any"
algorithm = "ring"
[[rule]]
collective = "alltoall"
algorithm = "k-bruck"
parameters = { radix = 3 }
[[rule]]
collective = "broadcast"
algorithm = "library"
[[rule]]
collective = "reduce"
p = "<=256"
algorithm = "binomial-ordered"
"#;

/// A rule outside the domain of its algorithm, at line 4.
const WRONG_RULES: &str = r#"format = "roundel-selection"
version = 1

[[rule]]
collective = "allgather"
algorithm = "recursive-doubling"
"#;

/// An algorithm with messages for each collective.
const MESSAGES: &str = "allgather:ring;allreduce:ring;reduce_scatter:pairwise;alltoall:pairwise;broadcast:binomial;\
                        reduce:binomial;gather:binomial;scatter:binomial";

/// The collectives that can be forced.
const KINDS: [&str; 8] =
    ["allgather", "allreduce", "reduce_scatter", "alltoall", "broadcast", "reduce", "gather", "scatter"];

/// The files of the test program.
const SOURCES: [&str; 4] = ["main.c", "collectives.c", "requests.c", "errors.c"];

#[test]
fn c_and_fortran_on_open_mpi() {
    all(&OPEN_MPI);
}

#[test]
fn c_and_fortran_on_mpich() {
    all(&MPICH);
}

#[test]
fn c_on_open_mpi_5() {
    all(&OPEN_MPI_5);
}

#[test]
fn c_on_mpich_5() {
    all(&MPICH_5);
}

fn all(mpi: &'static Mpi) {
    let Some(kit) = Kit::install(mpi) else { return };
    without_debug_information(&kit);
    header_in_cpp(&kit);
    examples(&kit);
    cmake(&kit);
    every_function(&kit);
    repeated_calls(&kit);
    own_collective(&kit);
}

/// Calls that are made again, which skips everything but the plan: with messages, and in shared memory.
fn repeated_calls(kit: &Kit) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/interposed_repeated.c");
    let mut compiler = kit.c();
    compiler.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-DC_INTERFACE"]);
    let program = kit.link("capi-repeated", compiler, &[&source], &kit.shared());
    let forced = |how: &str| KINDS.map(|kind| format!("{kind}:{how}")).join(";");
    let fetched = "allgather:kernel-copy;alltoall:kernel-copy;broadcast:kernel-copy".to_string();
    let settings = [(MESSAGES.to_string(), 3), (forced("shared-memory"), 4), (forced("library"), 2), (fetched, 3)];
    for (setting, p) in settings {
        kit.run_with(("ROUNDEL_FORCE", &setting), p, &program, &[]).succeeds();
    }
    kit.run_with(("ROUNDEL_FORCE", MESSAGES), 3, &program, &["--spoilt"]).fails_with("gather of 1, root 0");
}

/// The same program with the library of a crate that has a collective of its own, `examples/cyclic-shift/c`.
fn own_collective(kit: &Kit) {
    let sources = SOURCES.map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join("c/capi").join(name));
    let program = kit.link("capi-own", kit.c(), &sources.each_ref().map(|path| path.as_path()), &kit.own());
    let (ours, catalogue) = ("allgather/cyclic-shift:ports=1+1", "allgather/sparbit");
    kit.run(4, &program, &["algorithms", "served", ours, "served", catalogue]).succeeds();
    kit.run(5, &program, &["algorithms", "refused", ours, "served", catalogue]).succeeds();
    kit.run(2, &program, &["requests"]).succeeds();
}

/// Debug information, nine tenths of what is built, is not installed.
fn without_debug_information(kit: &Kit) {
    for library in ["libroundel.so", "libroundel.a"] {
        let mut readelf = Command::new("readelf");
        readelf.args(["--section-headers", "--wide"]).arg(kit.prefix().join("lib").join(library));
        let sections = kit.build("readelf", readelf);
        assert!(sections.contains(".text") && !sections.contains(".debug_info"), "{library}: {sections}");
    }
}

/// The header is C++, too, and C of 1999 without extensions.
fn header_in_cpp(kit: &Kit) {
    let source =
        kit.write("header.c", "#include <roundel.h>\nint main(void) { return roundel_version() == NULL; }\n");
    for options in [["-x", "c++", "-std=c++11"], ["-x", "c", "-std=c99"]] {
        let mut compiler = kit.c();
        // Ignores warnings about the MPI libraries' old C++ interfaces.
        compiler.args(["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]);
        compiler.args(options).args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]).arg(&source);
        kit.build("the header", compiler);
    }
}

fn examples(kit: &Kit) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let source = root.join("c/allreduce.c");
    let programs = [
        kit.link("c-shared", kit.c(), &[&source], &kit.shared()),
        kit.link("c-static", kit.c(), &[&source], &kit.linked_statically()),
    ];
    let fortran = kit.fortran().map(|fortran| {
        let sources = [kit.prefix().join("include/roundel.f90"), root.join("fortran/allreduce.f90")];
        kit.link("fortran", fortran, &sources.each_ref().map(|path| path.as_path()), &kit.shared())
    });
    for program in programs.iter().chain(&fortran) {
        for p in [1, 2, 5] {
            kit.run(p, program, &[]).succeeds();
        }
    }
}

/// A project that finds the package, and links it both ways.
fn cmake(kit: &Kit) {
    if !kit::is_there("cmake") {
        return mpi::say("no cmake: the CMake package is not tested");
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/c/allreduce.c");
    let project = format!(
        "cmake_minimum_required(VERSION 3.13)\nproject(user C)\nfind_package(roundel 0.1 REQUIRED)\n\
         add_executable(shared {0})\ntarget_link_libraries(shared roundel::roundel)\n\
         add_executable(static {0})\ntarget_link_libraries(static roundel::static)\n",
        source.display()
    );
    kit.write("project/CMakeLists.txt", &project);
    let build = kit.cmake("project", "find_package(roundel)");
    for program in ["shared", "static"] {
        kit.run(2, &build.join(program), &[]).succeeds();
    }
    kit.write("future/CMakeLists.txt", &project.replace("roundel 0.1", "roundel 0.2"));
    assert!(!kit.cmake_finds("future"), "version 0.2 was found");
}

/// The numbers of ranks: each on one of the MPIs, unless everything is requested.
fn ranks(mpi: &Mpi) -> impl Iterator<Item = usize> {
    let own = usize::from(mpi.id == MPICH.id);
    let all = [1, 2, 3, 5, 8].into_iter().enumerate();
    all.filter(move |(i, _)| mpi::everything() || i % 2 == own).map(|(_, p)| p)
}

/// The test program: every function and every algorithm against MPI's own, requests, errors.
fn every_function(kit: &Kit) {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/capi");
    let sources = SOURCES.map(|name| sources.join(name));
    let mut compiler = kit.c();
    compiler.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"]);
    let sources = sources.each_ref().map(|path| path.as_path());
    let program = kit.link("capi", compiler, &sources, &kit.shared());
    let (rules, wrong) = (kit.write("rules.toml", RULES), kit.write("wrong.toml", WRONG_RULES));
    let (rules, wrong) = (rules.to_string_lossy(), wrong.to_string_lossy());
    for p in ranks(kit.mpi) {
        // A few at a time, so that they finish in time on a busy machine.
        for some in names::expectations(p).chunks(20) {
            let words: Vec<&str> = std::iter::once("algorithms").chain(some.iter().map(String::as_str)).collect();
            kit.run(p, &program, &words).succeeds();
        }
        if p <= 3 {
            kit.run(p, &program, &["selection", &rules]).succeeds();
        }
        kit.run(p, &program, &["requests"]).succeeds();
        kit.run(p, &program, &["errors", &wrong]).succeeds();
    }
    kit.run(2, &program, &["fatal"])
        .fails_with("roundel: an error occurred in roundel_bcast on MPI_COMM_WORLD: a count is -1: give 0 or more");
    // The program must be able to detect errors.
    kit.run(3, &program, &["algorithms", "served", "allgather/neighbor-exchange"])
        .fails_with("is wrong; the last error");
    kit.run(3, &program, &["algorithms", "refused", "allgather/ring"]).fails_with("is wrong; the last error");
    kit.run(3, &program, &["algorithms", "ordered", "allreduce/ring"]).fails_with("is wrong; the last error");
    kit.run(3, &program, &["errors", &rules]).fails_with("is wrong; the last error");
}

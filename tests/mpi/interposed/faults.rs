//! Tests other than random cases: separate programs, memory, and failures.

use crate::job::Run;
use crate::launch::Settings;
use crate::mpi::{MPICH, MPICH_5, Mpi, OPEN_MPI, OPEN_MPI_5, everything, say};
use crate::{programs, write_cases};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Cases of every kind, for tests that are not about particular cases.
const SOME: [&str; 6] = [
    "call=allreduce form=nonblocking type=double:plain op=sum count=7 comm=world finish=none seed=1",
    "call=allgather form=nonblocking type=int:vector other=plain count=5 comm=split:1 finish=waitany seed=2",
    "call=message way=recv finish=none seed=3",
    "call=alltoallv form=blocking type=int:indexed other=wide count=4 comm=dup finish=none seed=4",
    "call=reduce_scatter form=blocking type=int:structure op=compose count=3 comm=reversed finish=none seed=5",
    "call=bcast form=persistent starts=2 type=mixed:contiguous count=9 comm=world root=1 finish=waitall seed=6",
];

pub(crate) fn on_each(test: impl Fn(&Mpi)) {
    [&OPEN_MPI, &MPICH, &OPEN_MPI_5, &MPICH_5].into_iter().filter(|mpi| mpi.library().is_some()).for_each(test);
}

pub(crate) fn some_cases(mpi: &Mpi, p: usize, settings: &Settings, args: &[&str]) -> Run {
    let list: Vec<String> = SOME.iter().map(ToString::to_string).collect();
    let file = write_cases(mpi, &list).display().to_string();
    let args: Vec<&str> = [file.as_str()].into_iter().chain(args.iter().copied()).collect();
    mpi.run(p, settings, &programs::interposed(mpi), &args)
}

#[test]
fn the_program_finds_what_is_spoilt() {
    on_each(|mpi| {
        some_cases(mpi, 3, &Settings::default(), &[]).succeeds();
        // A guard, the first byte of data, one further on.
        let all = [1, 2, 4, 5].into_iter().flat_map(|line| [3, 64, 71].map(|byte| (line, byte)));
        // Every byte and three of the lines, if not all pairs of them.
        for (line, byte) in all.step_by(if everything() { 1 } else { 5 }) {
            let spoilt = format!("--spoil={line}:{byte}");
            some_cases(mpi, 3, &Settings::default(), &[&spoilt])
                .fails_with(&format!("line {line}: what was received"));
        }
        some_cases(mpi, 2, &Settings::default(), &["--expect-served"]).fails_with("MPI_Allreduce is not interposed");
        some_cases(mpi, 2, &Settings::served(), &["--expect-served"]).succeeds();
    });
}

/// Where the ranks of a node cannot have memory in common, the calls go to the library, and the user can read why:
/// there is no room, or each rank has a /dev/shm of its own.
#[test]
fn memory_that_cannot_be_had() {
    // MPICH does not start without /dev/shm.
    if OPEN_MPI.library().is_none() {
        return;
    }
    let under = |size: &str| {
        let script = format!("mount -t tmpfs -o size={size} tmpfs /dev/shm && exec \"$@\"");
        ["unshare", "--mount", "sh", "-c", &script, "sh"].map(String::from).to_vec()
    };
    let mounts = Command::new("unshare").args(&under("64k")[1..]).arg("true").output();
    if !mounts.is_ok_and(|output| output.status.success()) {
        return say("skipped: a rank cannot have a /dev/shm of its own without the right to mount one");
    }
    for (size, why) in [("64k", "No space left on device"), ("64m", "another rank cannot map it")] {
        let settings = Settings { under: under(size), ..Settings::shared() };
        // Open MPI's own memory is elsewhere.
        let settings = settings.with("OMPI_MCA_btl_vader_backing_directory", "/tmp").with("ROUNDEL_EXPLAIN", "1");
        let run = some_cases(&OPEN_MPI, 3, &settings, &[]);
        run.succeeds();
        let reason = format!("no memory for all ranks of this node: {why}");
        assert!(run.output().contains(&reason), "{}", run.report());
    }
}

/// Why ranks do not read each other's memory.
const UNREADABLE: &str = "ranks cannot read each other's memory";

/// Whether ranks can read each other's memory on this machine; if not, prints that it is not tested.
pub(crate) fn ranks_read_each_other(mpi: &Mpi) -> bool {
    let settings = Settings::fetched().with("ROUNDEL_EXPLAIN", "1");
    let reads = !mpi.run(2, &settings, &programs::c(mpi, "interposed_repeated"), &[]).output().contains(UNREADABLE);
    if !reads {
        say(&format!("{}: {UNREADABLE} on this machine, so that they do is not tested", mpi.name));
    }
    reads
}

/// Where the kernel lets no rank read another's memory, the calls go to the library, and the user can read why. If it
/// stops in the middle of a call, the call is an error, and no rank waits for ever.
#[test]
fn memory_that_cannot_be_read() {
    on_each(|mpi| {
        let program = programs::c(mpi, "interposed_repeated");
        // Open MPI reads other processes, too.
        let own = ("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
        let fetched = Settings { before: Some(programs::unreadable()), ..Settings::fetched() };
        let fetched = fetched.with(own.0, own.1).with("ROUNDEL_EXPLAIN", "1");
        let refused = mpi.run(3, &fetched.clone().with("READABLE", "0"), &program, &[]);
        refused.succeeds();
        assert!(refused.output().contains(UNREADABLE), "{}", refused.report());
        if !ranks_read_each_other(mpi) {
            return;
        }
        let read = mpi.run(3, &fetched.clone().with("READABLE", "100000000"), &program, &[]);
        read.succeeds();
        assert!(!read.output().contains(UNREADABLE) && read.output().contains(": kernel-copy"), "{}", read.report());
        // Every rank reads three numbers when it is asked whether it can.
        mpi.run(3, &fetched.with("READABLE", "7"), &program, &[]).fails_with("cannot read the memory of rank");
    });
}

/// When ranks ask each other whether they can read each other's memory, calls that were started go on.
#[test]
fn calls_that_were_started_go_on() {
    on_each(|mpi| {
        let program = programs::c(mpi, "interposed_started");
        let settings = Settings::usual().with("ROUNDEL_FORCE", "allreduce:shared-memory;allgather:kernel-copy");
        for p in [2, 3] {
            mpi.run(p, &settings, &program, &[]).succeeds();
        }
    });
}

/// Communicators do not ask for what is known about the world, and are set up only if one of their calls is served.
#[test]
fn communicators_that_are_set_up() {
    on_each(|mpi| {
        let program = programs::c(mpi, "interposed_setup");
        for p in [1, 2, 4] {
            let usual = if p == 1 { "library" } else { "late" };
            mpi.run(p, &Settings::usual(), &program, &[usual]).succeeds();
            mpi.run(p, &Settings::served(), &program, &["served"]).succeeds();
        }
        let forced = Settings::usual().with("ROUNDEL_FORCE", "allreduce:recursive-doubling,allgather:ring");
        mpi.run(3, &forced, &program, &["served"]).succeeds();
        mpi.run(3, &Settings::usual(), &program, &["served"])
            .fails_with("used once: 0 communicators and 1 exchanges");
    });
}

/// Few blocks of few elements, so that many calls have as much data as an earlier one but in different blocks: the
/// earlier plan must not be reused.
#[test]
fn calls_that_are_almost_alike() {
    let calls = ["allgatherv", "alltoallv", "reduce_scatter", "allgather", "gather", "scatter"];
    let types = ["int:plain op=sum other=plain", "int:vector op=add other=plain", "int:plain op=add other=wide"];
    let list: Vec<String> = (0..480)
        .map(|i| {
            let (call, types, count) = (calls[i % 6], types[i / 6 % 3], 1 + i / 18 % 2);
            let form = if i / 36 % 2 == 0 { "nonblocking" } else { "persistent" };
            format!(
                "call={call} form={form} type={types} count={count} root={} comm=world finish=wait seed={i}",
                i % 2
            )
        })
        .collect();
    on_each(|mpi| {
        let file = write_cases(mpi, &list).display().to_string();
        mpi.run(3, &Settings::served(), &programs::interposed(mpi), &[&file, "--expect-served"]).succeeds();
    });
}

#[test]
fn fortran_programs() {
    on_each(|mpi| {
        if !mpi.has("mpifort") {
            return;
        }
        for file in ["interposed.f90", "interposed_mpif.f90"] {
            let program = programs::fortran(mpi, file);
            mpi.run(3, &Settings::default(), &program, &[]).succeeds();
            mpi.run(4, &Settings::shared(), &program, &[]).succeeds();
            for p in [1, 2, 5, 8] {
                mpi.run(p, &Settings::served(), &program, &[]).succeeds();
            }
        }
    });
}

#[test]
fn two_threads() {
    on_each(|mpi| {
        let program = programs::c(mpi, "interposed_threads");
        for p in [1, 2, 4] {
            mpi.run(p, &Settings::served(), &program, &[]).succeeds();
            mpi.run(p, &Settings::shared(), &program, &[]).succeeds();
        }
    });
}

/// Handles that the program frees before a call is complete, and its attributes and thread levels.
#[test]
fn handles_that_are_freed() {
    on_each(|mpi| {
        let program = programs::c(mpi, "interposed_frees");
        for p in [1, 2, 3, 5] {
            mpi.run(p, &Settings::served(), &program, &[]).succeeds();
        }
        for p in [2, 3] {
            mpi.run(p, &Settings::served(), &program, &["levels"]).succeeds();
        }
    });
}

#[test]
fn a_rank_leaves() {
    on_each(|mpi| {
        let program = programs::c(mpi, "interposed_exits");
        for how in ["exits", "killed", "aborts"] {
            for p in [2, 5] {
                mpi.run(p, &Settings::served(), &program, &[how]).fails_with("the last rank leaves");
                mpi.run(p, &Settings::shared(), &program, &[how]).fails_with("the last rank leaves");
            }
        }
    });
}

/// Opt-in: `ROUNDEL_HUGE=1`.
#[test]
fn more_than_2_to_the_31_bytes() {
    if std::env::var_os("ROUNDEL_HUGE").is_none_or(|value| value != "1") {
        return say("ROUNDEL_HUGE=1 is not set: calls of more than 2^31 bytes are not tested");
    }
    let settings = Settings::served().with("ROUNDEL_FORCE", "broadcast:binomial");
    on_each(|mpi| mpi.run(2, &settings, &programs::c(mpi, "interposed_huge"), &[]).succeeds());
    on_each(|mpi| mpi.run(2, &Settings::shared(), &programs::c(mpi, "interposed_huge"), &[]).succeeds());
}

#[test]
fn selection_files_that_are_wrong() {
    on_each(|mpi| {
        for (name, text, expected) in wrong_files() {
            let path = file(mpi, name, text);
            let settings = Settings::served().with("ROUNDEL_SELECTION", &path.display().to_string());
            let run = some_cases(mpi, 3, &settings, &["--expect-served"]);
            run.fails_with(&format!("{name}-{}.toml", mpi.id));
            run.fails_with(expected);
        }
    });
}

/// Names, texts, and the expected error of each.
fn wrong_files() -> [(&'static str, Option<&'static str>, &'static str); 3] {
    let malformed = "format = \"roundel-selection\"\nversion = 1\n\n[[rule]]\ncollective = allreduce\n";
    let contradictory = concat!(
        "format = \"roundel-selection\"\nversion = 1\n\n",
        "[[rule]]\ncollective = \"allgather\"\nalgorithm = \"ring\"\np = \"2..8\"\n\n",
        "[[rule]]\ncollective = \"allgather\"\nalgorithm = \"bruck\"\np = \"2..8\"\n",
    );
    [
        ("missing", None, "missing"),
        ("malformed", Some(malformed), "line 5"),
        ("contradictory", Some(contradictory), "line 9"),
    ]
}

fn file(mpi: &Mpi, name: &str, text: Option<&str>) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.toml", mpi.id));
    if let Some(text) = text {
        std::fs::write(&path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    }
    path
}

#[test]
fn settings_that_differ_between_ranks() {
    on_each(|mpi| {
        let last = Some(("ROUNDEL_FORCE", "allreduce:ring".to_owned()));
        let run = some_cases(mpi, 3, &Settings { last, ..Settings::served() }, &["--expect-served"]);
        run.fails_with("ranks disagree about ROUNDEL_SELECTION");
    });
}

#[test]
fn settings_that_mean_nothing() {
    on_each(|mpi| {
        let settings = Settings::served().with("ROUNDEL_FORCE", "allreduce:quicksort");
        some_cases(mpi, 2, &settings, &["--expect-served"]).fails_with("ROUNDEL_FORCE");
    });
}

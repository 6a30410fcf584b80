//! The default serves calls between nodes: on an emulated cluster, with Open MPI. `tests/tools/cluster.sh` makes the
//! nodes.

use crate::job::{LIMIT, Run, run};
use crate::launch::SHARED;
use crate::mpi::{OPEN_MPI, say};
use crate::{programs, random_list, write_cases};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Random cases on each placement: enough for every collective to run in each form.
const CASES: usize = 400;

/// If the cluster cannot be made (it needs root and /dev/net/tun), cluster.sh ends with this status.
const NO_CLUSTER: i32 = 125;

/// The first calls on a communicator go to the library; then it is set up, in the same call on all ranks, whatever the
/// calls are.
#[test]
fn communicators_are_set_up_late() {
    let Some(library) = OPEN_MPI.library() else { return };
    let setup = programs::c(&OPEN_MPI, "interposed_setup");
    let cases = write_cases(&OPEN_MPI, &random_list(&OPEN_MPI, CASES)).display().to_string();
    let jobs = [
        ((3, "3"), setup.clone(), vec!["late"]),
        ((2, "3"), setup, vec!["late"]),
        ((3, "2"), programs::interposed(&OPEN_MPI), vec![cases.as_str(), "--expect-served"]),
        ((2, "3,1"), programs::c(&OPEN_MPI, "interposed_barrier"), vec!["20"]),
    ];
    for (shape, program, args) in jobs {
        let run = on_nodes(&library, shape, &[], &program, &args);
        if run.ended_with(NO_CLUSTER) {
            return say(&format!("tests on an emulated cluster are skipped: {}", run.output().trim()));
        }
        run.succeeds();
    }
}

/// Random calls through the memory of each node and with messages between them: on nodes of the same size, of different
/// sizes, and with ranks distributed cyclically.
#[test]
fn memory_of_several_nodes() {
    let Some(library) = OPEN_MPI.library() else { return };
    for (i, (shape, mapping)) in
        [((3, "2"), "slot"), ((3, "3,1,2"), "slot"), ((2, "3"), "node")].into_iter().enumerate()
    {
        let random = random_list(&OPEN_MPI, 3 * CASES).into_iter().skip(i * CASES).take(CASES);
        let list: Vec<_> = random.chain(long_allreduces()).collect();
        let cases = write_cases(&OPEN_MPI, &list).display().to_string();
        let forced = format!("ROUNDEL_FORCE={SHARED}");
        let variables = ["--map-by", mapping, "env", &forced, "ROUNDEL_EXPLAIN=1", "ROUNDEL_PREFER=catalogue"];
        let run =
            on_nodes(&library, shape, &variables, &programs::interposed(&OPEN_MPI), &[&cases, "--expect-served"]);
        if run.ended_with(NO_CLUSTER) {
            return say(&format!("tests on an emulated cluster are skipped: {}", run.output().trim()));
        }
        run.succeeds();
        let kinds = if mapping == "slot" { &["allgather", "reduce_scatter", "alltoall"][..] } else { &[] };
        for kind in ["allreduce", "broadcast", "reduce"].iter().chain(kinds) {
            for form in ["", " non-blocking", " as a persistent call"] {
                let ran = run.output().lines().any(|line| ran_on_nodes(line, kind, form));
                assert!(ran, "no {kind}{form} ran in the memory of nodes\n{}", run.report());
            }
        }
        let between: &[&str] = if shape.0 == 3 { &BETWEEN_THREE } else { &["allreduce/recursive-doubling"] };
        for algorithm in between {
            let ran = run
                .output()
                .lines()
                .any(|line| line.contains(": allreduce ") && line.contains(&format!("; between nodes {algorithm}")));
            assert!(ran, "no allreduce ran {algorithm} between nodes\n{}", run.report());
        }
    }
}

/// Calls that are made again with the same arguments.
#[test]
fn repeated_calls_on_several_nodes() {
    let Some(library) = OPEN_MPI.library() else { return };
    let program = programs::c(&OPEN_MPI, "interposed_repeated");
    let forced = format!("ROUNDEL_FORCE={SHARED}");
    for (shape, mapping) in [((2, "2"), "slot"), ((3, "1,2,1"), "slot"), ((2, "2"), "node")] {
        let variables = ["--map-by", mapping, "env", &forced, "ROUNDEL_PREFER=catalogue"];
        let run = on_nodes(&library, shape, &variables, &program, &[]);
        if run.ended_with(NO_CLUSTER) {
            return say(&format!("tests on an emulated cluster are skipped: {}", run.output().trim()));
        }
        run.succeeds();
    }
}

/// What allreduces run between three nodes, short ones and long ones.
const BETWEEN_THREE: [&str; 2] = [
    "allgather/k-bruck with radix = 3 and a reduction of all nodes' vectors",
    "reduce-scatter/cyclic-shift with ports = [2] and allgather/k-bruck with radix = 3",
];

/// Allreduces that are longer than the random ones: some pass through memory in segments, and 100,003 elements are not
/// a multiple of the nodes.
fn long_allreduces() -> impl Iterator<Item = String> {
    let types = [("double:plain", "sum"), ("int:plain", "compose"), ("short:plain", "max")];
    let forms = ["blocking", "nonblocking", "persistent"];
    types.into_iter().zip(forms).enumerate().flat_map(|(i, ((datatype, op), form))| {
        [20_000, 100_003].map(move |count| {
            format!(
                "call=allreduce form={form} starts=2 type={datatype} op={op} count={count} comm=world root=0 \
                 in_place=0 bottom=0 null=0 large=0 fresh=0 finish=wait seed={i}"
            )
        })
    })
}

/// Whether a line explains that a call of this kind and form ran in the memory of nodes.
fn ran_on_nodes(line: &str, kind: &str, form: &str) -> bool {
    let (call, how) = line.split_once(": shared-memory").unwrap_or((line, ""));
    let named = call.contains(&format!("roundel: {kind} ")) && how.contains("; between nodes ");
    let other = |word| call.contains(word) && form != word;
    named && call.contains(form) && !other(" non-blocking") && !other(" as a persistent call")
}

fn on_nodes(library: &Path, (nodes, ppn): (usize, &str), before: &[&str], program: &Path, args: &[&str]) -> Run {
    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/cluster.sh"));
    command.envs([("PPN", ppn), ("DELAY", "50"), ("MPI", "openmpi"), ("QUIET", "1")]);
    command.env("NODES", nodes.to_string()).env("TIMEOUT", LIMIT.as_secs().to_string());
    command.args(before).arg("env").arg(format!("LD_PRELOAD={}", library.display())).arg(program).args(args);
    let what = format!("{} on {nodes} nodes of {ppn} {}", program.display(), args.join(" "));
    run(what, command, LIMIT + Duration::from_secs(40))
}

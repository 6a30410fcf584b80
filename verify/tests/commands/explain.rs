//! `roundel explain` as users see it: the choice, its reasons, and error messages.

use crate::command::Subcommand;
use serde_json::{Value, json};

const EXPLAIN: Subcommand = Subcommand("explain");
const RUN: Subcommand = Subcommand("run");

fn text(args: &[&str]) -> String {
    EXPLAIN.text(args)
}

fn json(args: &[&str]) -> Value {
    EXPLAIN.json(args)
}

fn refused(args: &[&str], words: &str) {
    EXPLAIN.refused(args, words);
}

/// The arguments of a supercomputer's network, where 64 ranks of a node share the bandwidth.
const SHARED: [&str; 6] = ["--latency", "2us", "--overhead", "1us", "--bandwidth", "156.25MB/s"];

#[test]
fn the_choice_comes_first_and_is_marked() {
    let output = text(&["alltoall", "-p", "64", "--bytes", "8"]);
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines[0], "alltoall  p = 64, blocks of 8 bytes");
    assert_eq!(lines[1], "latency 20.0 us, overhead 1.00 us for each message, bandwidth 1.25 GB/s");
    assert_eq!(lines[3], "algorithm                radix  rounds  messages  blocks  bytes     time  note");
    assert_eq!(
        lines[4],
        "alltoall/k-bruck             8       2        14     112    896  54.7 us  chosen, ceil(sqrt p)"
    );
    assert_eq!(lines.iter().filter(|line| line.contains("chosen")).count(), 1);
    for name in ["alltoall/spread-out", "alltoall/pairwise", "alltoall/modified-bruck"] {
        assert!(lines[5..].iter().any(|line| line.starts_with(name)), "{name}: {output}");
    }
    assert!(output.contains(
        "alltoall/k-bruck with radix 8 takes 54.7 us: 73 % latency (2 rounds), 26 % overhead (14 messages), \
         1 % transfer (896 bytes); it is latency-bound, so few rounds count\n"
    ));
    assert!(output.contains("alltoall/modified-bruck with radix 8 = ceil(sqrt p) takes 295 us: "), "{output}");
    assert!(lines.iter().all(|line| *line == line.trim_end()), "{output}");
    assert!(text(&["alltoall", "-p", "64", "--all"]).lines().count() > 124);
}

#[test]
fn what_the_time_is_spent_on() {
    let bound = |args: &[&str]| json(&[&["alltoall", "-p", "64"], args].concat())["bound"].clone();
    assert_eq!(bound(&["--bytes", "8"]), "latency");
    assert_eq!(bound(&["--bytes", "1000000"]), "bandwidth");
    assert_eq!(bound(&["--bytes", "8", "--overhead", "1ms"]), "overhead");
    assert_eq!(json(&["alltoall", "-p", "512", "--bytes", "64"])["bound"], "several");
    assert_eq!(json(&["alltoall", "-p", "1"])["bound"], Value::Null);
    let output = text(&["alltoall", "-p", "64", "--bytes", "1000000"]);
    assert!(output.contains("alltoall/spread-out takes") && output.contains("bandwidth-bound"), "{output}");
}

/// The paper's Fig. 3: one message after the other, 64 bytes. Radix 22 with 512 processes and 64 with 4096.
#[test]
fn the_square_root_is_there_and_good_where_the_paper_measured() {
    for (p, root, best) in [("512", 23, 22), ("4096", 64, 64)] {
        let args = [&["alltoall", "-p", p, "--bytes", "64"][..], &SHARED].concat();
        let explained = json(&args);
        assert_eq!(explained["ceil_sqrt"], root);
        let all = explained["candidates"].as_array().unwrap();
        let substeps: Vec<&Value> = all.iter().filter(|c| c["name"] == "alltoall/modified-bruck").collect();
        assert_eq!(substeps[0]["radix"], best);
        let at_root = substeps.iter().find(|c| c["radix"] == root).unwrap();
        assert!(at_root["seconds"].as_f64().unwrap() <= 1.01 * substeps[0]["seconds"].as_f64().unwrap());
        let output = text(&args);
        assert!(output.lines().filter(|line| line.ends_with("ceil(sqrt p)")).count() == 2, "{output}");
    }
}

#[test]
fn json_has_everything() {
    let explained = json(&["alltoall/", "-p", "3", "--bytes", "100", "--latency", "1e-6", "--bandwidth", "100MB/s"]);
    assert_eq!(explained["network"], json!({ "latency": 1e-6, "bandwidth": 1e8, "overhead": 1e-6 }));
    let all = explained["candidates"].as_array().unwrap();
    let names: Vec<_> = all.iter().map(|c| (c["name"].as_str().unwrap(), c["radix"].as_i64())).collect();
    let expected = [
        ("alltoall/spread-out", None),
        ("alltoall/pairwise", None),
        ("alltoall/k-bruck", Some(2)),
        ("alltoall/modified-bruck", Some(2)),
    ];
    assert_eq!(names, expected);
    assert_eq!(explained["chosen"], all[0]);
    let counts = ["rounds", "messages", "blocks", "bytes"].map(|count| all[0][count].as_i64());
    assert_eq!(counts, [1, 2, 2, 200].map(Some));
    let parts =
        ["latency_seconds", "overhead_seconds", "transfer_seconds"].map(|part| all[0][part].as_f64().unwrap());
    assert_eq!(parts, [1e-6, 2e-6, 2e-6]);
    // The JSON parser is off by the last bit.
    assert!((all[0]["seconds"].as_f64().unwrap() - 5e-6).abs() < 1e-20);
    let seconds: Vec<f64> = all.iter().map(|c| c["seconds"].as_f64().unwrap()).collect();
    assert!(seconds.is_sorted());
}

#[test]
fn the_largest_call_is_explained() {
    let output = text(&["alltoall", "-p", "2147483647", "--bytes", "1"]);
    assert!(output.contains("46341") && output.contains("candidates; `--all`"), "{output}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    refused(
        &["alltoall", "-p", "0"],
        "there is no all-to-all among 0 ranks: give a number of ranks in 1..=2147483647",
    );
    refused(&["alltoall", "-p", "-3"], "among -3 ranks");
    refused(&["alltoall", "-p", "99999999999"], "among 99999999999 ranks");
    refused(
        &["alltoall", "-p", "4", "--bytes", "-1"],
        "blocks of -1 bytes cannot be sent among 4 ranks: give a number",
    );
    refused(&["alltoall", "-p", "4", "--bytes", "9223372036854775807"], "give a number of bytes in 0..=");
    refused(&["alltoall", "-p", "4", "--latency", "NaN"], "a latency of NaN seconds makes no sense");
    refused(&["alltoall", "-p", "4", "--latency", "-1us"], "a latency of -0.000001 seconds makes no sense");
    refused(&["alltoall", "-p", "4", "--overhead", "inf"], "an overhead of inf seconds makes no sense");
    refused(&["alltoall", "-p", "4", "--bandwidth", "0"], "a bandwidth of 0 bytes per second makes no sense");
    refused(&["alltoall", "-p", "4", "--bandwidth", "10GB"], "write `10GB/s`, `10Gbit/s` or `1.25e9`");
    refused(&["alltoall", "-p", "4", "--latency", "soon"], "write `500us`, `1.2ms` or `3e-6`");
    refused(
        &["broadcast", "-p", "4"],
        "there is no model of `broadcast`: `roundel explain` knows alltoall, allreduce",
    );
    refused(&["alltoall", "-p", "4", "--reproducible"], "`--reproducible` says nothing about alltoall");
    refused(&["alltoall", "-p", "4", "--nodes", "2"], "cannot be used with");
    refused(&["alltoall"], "-p <P>");
}

#[test]
fn nodes_make_the_hierarchical_one_a_candidate() {
    let nodes = ["alltoall", "-p", "16", "--ppn", "4", "--bytes", "8", "--latency", "500us"];
    let output = text(&nodes);
    assert!(
        output.contains("inside of nodes of 4 ranks: latency 1.00 us, overhead 300 ns, bandwidth 5.00 GB/s"),
        "{output}"
    );
    let first = output.lines().find(|line| line.contains("chosen")).unwrap();
    assert!(first.starts_with("alltoall/hierarchical"), "{output}");
    let machine = json(&nodes);
    assert_eq!((&machine["ppn"], &machine["chosen"]["messages"]), (&json!(4), &json!(6)));
    assert!(!text(&["alltoall", "-p", "16"]).lines().any(|line| line.starts_with("alltoall/hierarchical")));
    refused(&["alltoall", "-p", "16", "--ppn", "0"], "give at least one rank per node");
    refused(&["alltoall", "-p", "16", "--inside-latency", "1us"], "--ppn");
}

#[test]
fn a_run_without_a_radix_chooses_one() {
    let run = |args: &[&str]| RUN.text(args);
    let sqrt = run(&["alltoall/k-bruck", "-n", "16", "--bytes", "8"]);
    assert!(sqrt.contains("radix = 4 (chosen; change it with --set)") && sqrt.contains("correct"), "{sqrt}");
    let chosen = json(&["alltoall", "-p", "16", "--bytes", "8"])["candidates"].clone();
    let best = chosen.as_array().unwrap().iter().find(|choice| choice["name"] == "alltoall/modified-bruck").unwrap();
    let substeps = run(&["alltoall/modified-bruck", "-n", "16", "--bytes", "8"]);
    assert!(substeps.contains(&format!("radix = {} (chosen", best["radix"])), "{substeps}");
    assert!(run(&["alltoall/k-bruck", "-n", "16", "--set", "radix=5"]).contains("radix = 5, layout"));
    RUN.refused(&["alltoall/k-bruck", "-n", "4", "--set", "radix=1"], "2..");
    RUN.refused(&["alltoall/radix-bruck", "-n", "4", "--set", "radix=0"], "2..");
}

/// A declaration of a file, or one of the catalogue, among those of its kind.
#[test]
fn a_collective_compares_with_the_others_of_its_kind() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/cyclic-shift/src/lib.rs");
    let named = format!("{file}:CyclicShift");
    let explained = json(&[&named, "-p", "16", "--ppn", "4", "--set", "ports=3,3", "--bytes", "8"]);
    assert_eq!(
        (explained["name"].as_str(), explained["collective"].as_str()),
        (Some("CyclicShift"), Some("allgather"))
    );
    assert_eq!(explained["proved_for"], "all p, all ports");
    let all = explained["candidates"].as_array().unwrap();
    let seconds: Vec<f64> = all.iter().map(|one| one["seconds"].as_f64().unwrap()).collect();
    assert!(seconds.is_sorted() && seconds[0] > 0.0, "{seconds:?}");
    let own = all.iter().find(|one| one["name"] == "CyclicShift").unwrap();
    assert_eq!((own["rounds"].as_u64(), &own["params"]), (Some(2), &json!({ "ports": [3, 3] })));
    // Two rounds of three ports gather the same as two of radix 4.
    assert!(all.iter().any(|one| one["name"] == "allgather/ring" && one["rounds"] == 15), "{all:?}");
    // A collective that is in the catalogue is there once, and takes the same whether it is named or not.
    let sparbit = json(&["sparbit", "-p", "10", "--bytes", "8"]);
    let names: Vec<&Value> = sparbit["candidates"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names.iter().filter(|name| ***name == "allgather/sparbit").count(), 1, "{names:?}");
    let ring =
        |of: &Value| of["candidates"].as_array().unwrap().iter().find(|one| one["name"] == "allgather/ring").cloned();
    assert_eq!(ring(&sparbit), ring(&json(&["allgather/ring", "-p", "10", "--bytes", "8"])));
    assert!(text(&[file, "-p", "4", "--set", "ports=1,1"]).contains("CyclicShift ports = [1, 1]"));
    refused(&[file, "-p", "5", "--set", "ports=1,1"], "it requires `final D == p`, which is false with p = 5");
    refused(&[file, "-p", "2000", "--set", "ports=1,1"], "1024");
    refused(&[&format!("{file}:Cyclic"), "-p", "4"], "declares no collective `Cyclic`");
    refused(&["ring", "-p", "4"], "several collectives are called `ring`");
    refused(&["nonsense.rs", "-p", "4"], "nonsense.rs");
}

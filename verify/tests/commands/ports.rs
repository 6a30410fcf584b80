//! `roundel explain` for reductions and gathers, `roundel profile` and `roundel tune`, as users see them.

use crate::command::{Kept, Subcommand};
use roundel::profile::{Contention, Grid, Machine, NodeSpeed, Profile};
use serde_json::{Value, json};

const EXPLAIN: Subcommand = Subcommand("explain");
const PROFILE: Subcommand = Subcommand("profile");
const TUNE: Subcommand = Subcommand("tune");

/// A machine with much latency, ports that are nearly free for short messages, and a wire that many ports saturate.
fn made_up() -> Profile {
    let sizes: Vec<u64> = (0..10).map(|i| 8 << (2 * i)).chain([4 << 20]).collect();
    let ports = [1, 2, 3, 4, 6, 8, 12];
    let time = |ports: f64, bytes: f64| 3e-5 + 1e-7 * ports + ports * bytes / 5e9 * (1.0 + 0.1 * (ports - 1.0));
    let row = |&ports: &usize| sizes.iter().map(|&bytes| time(ports as f64, bytes as f64)).collect();
    let grid = Grid::new(sizes.clone(), ports.to_vec(), ports.iter().map(row).collect()).unwrap();
    Profile {
        machine: Machine { cpu: "of nobody".into(), cores: 12, nodes: 160, ranks: 1920, ..Machine::here("") },
        node: NodeSpeed { signal: 5e-7, copy: 1e10, combine: 5e9 },
        contention: Contention { lanes: 12, short: 1.5, long: 12.0 },
        inside: Profile::default().inside,
        between: grid,
    }
}

fn chosen(explained: &Value) -> &str {
    explained["chosen"]["notation"].as_str().unwrap()
}

/// The ranking by the default profile for the example of the documentation. Other figures give another ranking.
#[test]
fn the_ranking_by_the_default_profile() {
    let output = EXPLAIN.text(&["allreduce", "-p", "160", "--ppn", "12", "--bytes", "262144"]);
    let lines: Vec<&str> = output.lines().collect();
    let expected = [
        "allreduce  160 ranks on 14 nodes of 12, the last one of 4, 262144 bytes on each rank",
        "by the default profile, of no machine in particular: `roundel tune` measures yours, for `--profile`",
        "",
        "factors(ports)         lanes  node    rounds    bytes     time  note",
        "7(-6) 2(1) 7(6)            4  chunks       3   486844   590 us  chosen",
        "7(-6) 2(1) 7(6)            2  chunks       3   486842   590 us",
        "14(-1 -12) 14(12 1)        2  chunks       4   486844   614 us  best that scatters everything",
    ];
    assert_eq!(lines[..7], expected, "{output}");
    assert!(
        output.contains("best that scatters nothing") && output.contains("candidates; `--all` prints the others")
    );
    assert!(
        output.contains("7(-6) 2(1) 7(6) takes 590 us: 82 % between nodes (3 rounds, 486844 bytes from each node")
    );
    assert!(output.ends_with("plans of up to 64 nodes have been replayed and checked\n"), "{output}");
    assert!(lines.iter().all(|line| *line == line.trim_end()), "{output}");
}

/// Table 2 of the paper, on a made-up machine: the same trend.
#[test]
fn from_short_to_long_as_in_the_paper() {
    let file = Kept::new("profile.toml", &made_up().to_string());
    let explain = |bytes: &str| {
        let args = ["allreduce", "--nodes", "160", "--bytes", bytes, "--profile", file.path(), "--foreign"];
        EXPLAIN.json(&args)
    };
    assert_eq!(chosen(&explain("8")), "160(12 12)");
    for bytes in ["16384", "131072"] {
        let explained = explain(bytes);
        assert!(
            chosen(&explained).contains("(-") && explained["chosen"]["rounds"].as_i64() <= Some(5),
            "{explained}"
        );
    }
    let long = explain("33554432");
    assert_eq!(long["chosen"]["family"], "complete");
    let most = chosen(&long).split(['(', ')', ' ']).filter_map(|word| word.parse::<i64>().ok());
    let ports = most.filter(|&number| number < 0).map(i64::abs).max();
    assert!(long["chosen"]["rounds"].as_i64() >= Some(10) && ports <= Some(4), "{}", chosen(&long));
    assert_eq!(
        (&long["ranks"], &long["nodes"], &long["proof"]),
        (&json!(160), &json!(160), &json!("at initialisation"))
    );
}

#[test]
fn ranks_or_nodes() {
    let both = |args: &[&str]| {
        let explained = EXPLAIN.json(&[&["allreduce", "--bytes", "64"], args].concat());
        ["ranks", "nodes"].map(|key| explained[key].as_u64().unwrap())
    };
    assert_eq!(both(&["-p", "160", "--ppn", "12"]), [160, 14]);
    assert_eq!(both(&["--nodes", "160", "--ppn", "12"]), [1920, 160]);
    assert_eq!((both(&["-p", "7"]), both(&["-p", "3", "--ppn", "8"])), ([7, 7], [3, 1]));
    assert_eq!(EXPLAIN.json(&["alltoall", "--nodes", "4", "--ppn", "4"])["p"], 16);
    let output = EXPLAIN.text(&["allreduce", "--nodes", "160", "--ppn", "12"]);
    assert!(output.starts_with("allreduce  1920 ranks on 160 nodes of 12, 1024 bytes on each rank\n"), "{output}");
    assert!(output.contains("with 160 nodes, the plan of a call is checked when it is made"), "{output}");
    let alone = EXPLAIN.text(&["allreduce", "-p", "8", "--ppn", "8"]);
    assert!(alone.contains("all of it inside of one node (copies)"), "{alone}");
}

#[test]
fn json_has_everything() {
    let explained = EXPLAIN.json(&["reduce-scatter", "-p", "6", "--ppn", "2", "--bytes", "100"]);
    assert_eq!((&explained["collective"], &explained["ppn"]), (&json!("reduce_scatter"), &json!([2, 2])));
    let all = explained["candidates"].as_array().unwrap();
    assert_eq!(explained["chosen"], all[0]);
    assert!(all.iter().all(|one| one["notation"].as_str().unwrap().contains("(-")));
    let seconds: Vec<f64> = all.iter().map(|one| one["seconds"].as_f64().unwrap()).collect();
    assert!(seconds.is_sorted());
    for one in all {
        let parts = ["between_seconds", "inside_seconds"].map(|part| one[part].as_f64().unwrap());
        assert!((parts[0] + parts[1] - one["seconds"].as_f64().unwrap()).abs() < 1e-12);
        // The blocks of two processes for each of two other nodes.
        assert_eq!(one["bytes"], 400, "{one}");
    }
}

#[test]
fn the_same_bits_everywhere() {
    let explained = EXPLAIN.json(&["allreduce", "-p", "12", "--bytes", "8", "--reproducible"]);
    let all = explained["candidates"].as_array().unwrap();
    assert!(!all.is_empty() && all.iter().all(|one| one["family"] == "complete"));
    let output = EXPLAIN.text(&["allreduce", "-p", "12", "--reproducible"]);
    assert!(output.contains("only what gives the same bits on all ranks"), "{output}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |args: &[&str], words: &str| EXPLAIN.refused(&[&["allreduce"], args].concat(), words);
    refused(&["-p", "0"], "0 ranks are not possible here: give a number in 1..=2147483647");
    refused(&["-p", "-4"], "`-4` is no number of ranks");
    refused(&["-p", "4", "--ppn", "0"], "a node needs at least one rank");
    refused(&["--nodes", "0"], "0 nodes of 1 ranks cannot be counted");
    refused(&["--nodes", "3000000000", "--ppn", "4"], "cannot be counted");
    refused(&["-p", "4", "--bytes", "-1"], "-1 bytes do not exist");
    refused(&["-p", "4", "--bytes", "9223372036854775807"], "cannot be counted: give at most");
    refused(&["-p", "4", "--latency", "1us"], "`--latency` says nothing about allreduce: describe the machine");
    refused(&["-p", "4", "--nodes", "4"], "cannot be used with");
    refused(&["-p", "4", "--foreign"], "--profile");
    refused(&["-p", "4", "--profile", "no/such/file"], "cannot read no/such/file");
    refused(&[], "-p <P>");
}

/// Every error in a file is reported with its line.
#[test]
fn malformed_profiles_name_the_line() {
    let good = made_up().to_string();
    let line = |text: &str| good[..good.find(text).unwrap()].matches('\n').count() + 1;
    let end = |text: &str| &good[..good.find(text).unwrap()];
    let cut = end("[end]").lines().count();
    let cases = [
        (good.replace("signal = ", "signal == "), format!("line {}, column 9: ", line("signal = "))),
        (good.replace("version = 1", "version = 9"), "line 3: this profile has version `9`".into()),
        (good.replace("roundel-profile", "something"), "line 2: this is no profile".into()),
        (end("[end]").into(), format!("line {cut}: the profile ends here, before `[end]`: it is truncated")),
        (end("combine = ").into(), "it is truncated".into()),
        (good.replace("copy = 1e10", "copy = -1e10"), format!("line {}: `copy` is `-1e10`", line("copy = "))),
        (good.replace("ports = [1, 2", "ports = [1, 1"), format!("line {}: `ports` is `1`", line("ports = "))),
        (good.replace("lanes = 12", "lines = 12"), format!("line {}: `[crowd]` has no `lines`", line("lanes = "))),
        (good.replace("cores = 12\n", ""), format!("line {}: `cores` is missing in `[machine]`", line("[machine]"))),
        ("{\"version\": 1}".into(), "line 1, column 1: ".into()),
        (String::new(), "line 1: this is no profile".into()),
    ];
    for (text, words) in cases {
        let file = Kept::new("profile.toml", &text);
        PROFILE.refused(&["check", file.path(), "--foreign"], &words);
        EXPLAIN.refused(&["allreduce", "-p", "4", "--profile", file.path(), "--foreign"], &words);
    }
    let binary = Kept::new("profile.toml", "");
    std::fs::write(binary.path(), [0xff, 0xfe, 0x00]).unwrap();
    PROFILE.refused(&["check", binary.path()], "cannot read");
}

#[test]
fn foreign_profiles_need_a_word() {
    let foreign = Kept::new("profile.toml", &made_up().to_string());
    let line = made_up().to_string().lines().position(|line| line.starts_with("cpu = ")).unwrap() + 1;
    let words = format!("line {line}: this profile was taken on another machine: its `cpu` is `of nobody`");
    if !Machine::here("").cpu.is_empty() {
        PROFILE.refused(&["check", foreign.path()], &words);
        EXPLAIN.refused(&["allreduce", "-p", "4", "--profile", foreign.path()], &words);
    }
    let own = Kept::new("profile.toml", &Profile { machine: Machine::here("any"), ..made_up() }.to_string());
    let output = EXPLAIN.text(&["allreduce", "-p", "4", "--profile", own.path()]);
    assert!(output.contains("profile.toml: measured on ") && !output.contains("but not between nodes"), "{output}");
    let between = Profile::default().between;
    let one = Kept::new("profile.toml", &Profile { machine: Machine::here("any"), between, ..made_up() }.to_string());
    let output = EXPLAIN.text(&["allreduce", "-p", "4", "--profile", one.path()]);
    assert!(output.contains("with 1 rank on 1 node\nbut not between nodes: there the default stands\n"), "{output}");
}

#[test]
fn profiles_are_told() {
    let file = Kept::new("profile.toml", &made_up().to_string());
    let output = PROFILE.text(&["check", file.path(), "--foreign"]);
    assert!(output.contains("with 1920 ranks on 160 nodes\n12 cores, of nobody; "), "{output}");
    assert!(output.contains("inside of nodes: not measured, so this is the default\n"), "{output}");
    assert!(
        output.contains("a counter is answered after 500 ns, copies 10.0 GB/s, reductions 5.00 GB/s"),
        "{output}"
    );
    let machine = PROFILE.json(&["check", file.path(), "--foreign"]);
    let measured = ["inside_measured", "between_measured"].map(|key| machine[key].as_bool().unwrap());
    assert_eq!((measured, &machine["cores"]), ([false, true], &json!(12)));
    assert_eq!(machine["fingerprint"], format!("{:016x}", made_up().fingerprint()));
}

#[cfg(not(feature = "mpi"))]
#[test]
fn a_program_without_mpi_says_how_to_build_one() {
    TUNE.refused(&[], "cargo build --release -p roundel-verify --features mpi");
}

#[cfg(feature = "mpi")]
#[test]
fn times_that_make_no_sense_are_refused() {
    TUNE.refused(&["--budget", "0"], "give `--budget` a time in 0.1s..=3600s");
    TUNE.refused(&["--budget", "NaN"], "makes no sense");
}

//! `roundel plan` as users see it, compared with the paper's figures and tables.

use crate::command::Subcommand;
use roundel::plan::{Plan, RankPlan};
use serde_json::{Value, json};

const PLAN: Subcommand = Subcommand("plan");

fn text(args: &[&str]) -> String {
    PLAN.text(args)
}

fn json(args: &[&str]) -> Value {
    PLAN.json(args)
}

fn refused(args: &[&str], words: &str) {
    PLAN.refused(args, words);
}

/// The lines of a figure or of the output, without comments.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(|line| line.split('#').next().unwrap_or("").trim_end()).filter(|line| !line.is_empty()).collect()
}

const FIGURE_8: &str = "PARAMETER COLLECTIVE_TYPE ALLREDUCE
PARAMETER NODE 5
PARAMETER NUM_NODES 8
PARAMETER NUM_PORTS 8(-1 1 1 1)
PARAMETER NODE_RANK 0
PARAMETER NODE_SIZE 4
PARAMETER MESSAGE_SIZES 8 8 8 16 8 16 8 16
PARAMETER DATA_TYPE LONG_INT
";

const SIZES: &str = "8,8,8,16,8,16,8,16";

/// Jocksch and others, figures 8 and 9; of the latter, stage 1 is corrected.
#[test]
fn figures_8_and_9() {
    let common = ["allreduce", "--nodes", "8", "--node", "5", "--ppn", "4", "--sizes", SIZES];
    let listing = text(&[&common[..], &["--ports", "8(-1 1 1 1)"]].concat());
    let expected = [FIGURE_8, include_str!("../../../tests/papers/figure_8.txt")].concat();
    assert_eq!(lines(&listing), lines(&expected));
    let listing = text(&[&common[..], &["--ports", "2(-1) 4(1 1) 2(1)"]].concat());
    let head = FIGURE_8.replace("ALLREDUCE", "ALLREDUCE_GROUP").replace("8(-1 1 1 1)", "2(-1) 4(1 1) 2(1)");
    let expected = [&head, include_str!("../../../tests/papers/figure_9.txt")].concat();
    assert_eq!(lines(&listing), lines(&expected));
    let listed = json(&["allreduce", "--node", "5", "--ports", "8(-1 1 1 1)"]);
    assert_eq!(listed["stages"][1]["lines"][0], json!({"fraction": 5, "to": [5, 4], "from": [[5, 0], [1, 4]]}));
    assert_eq!(listed["stages"][4]["lines"][9]["to"], json!([5, null]));
}

/// Table 1.
#[test]
fn table_1() {
    let rows = [
        ("39(1 1 1 1 1 1)", 6, "8"),
        ("3(1 1) 13(1 1 1 1)", 6, "7"),
        ("13(-1 -1 -1 -1) 3(-1 -1) 3(1 1) 13(1 1 1 1)", 12, "76/39"),
        ("39(-1 -1 -1 -1 -1 -1) 39(1 1 1 1 1 1)", 12, "76/39"),
    ];
    let mut args = vec!["allreduce", "--nodes", "39", "--summary"];
    rows.iter().for_each(|(ports, ..)| args.extend(["--ports", ports]));
    let table = text(&args);
    for (line, (ports, steps, size)) in table.lines().skip(1).zip(rows) {
        let words: Vec<&str> = line.strip_prefix(ports).unwrap().split_whitespace().collect();
        assert_eq!(words, ["39", &steps.to_string(), size, &steps.to_string()], "{ports}");
    }
    let ways = json(&args);
    assert_eq!((&ways["collective"], ways["ways"].as_array().unwrap().len()), (&json!("allreduce"), 4));
    assert_eq!((&ways["ways"][3]["sent"], &ways["ways"][3]["fractions"]), (&json!(76), &json!(39)));
    // Without a node there is a summary anyway.
    args.remove(3);
    assert_eq!(text(&args), table);
}

/// Table 2: 160 nodes. With the most ports, 12 + 12 messages in 2 steps.
#[test]
fn table_2() {
    let summary =
        json(&["allreduce", "--nodes", "160", "--ports", "160(12 12)", "--ports", "16(-3 -3) 10(9) 16(3 3)"]);
    let counts = |way: &Value| ["steps", "messages"].map(|name| way[name].as_u64().unwrap());
    assert_eq!([&summary["ways"][0], &summary["ways"][1]].map(counts), [[2, 24], [5, 21]]);
}

#[test]
fn parts_and_plans_of_the_catalogue() {
    let part: RankPlan = text(&["allreduce/ring", "-p", "5", "--node", "2"]).parse().unwrap();
    let plan: Plan = text(&["allreduce/ring", "-p", "5"]).parse().unwrap();
    assert_eq!(plan.part(2), Some(part));
    assert!(plan.replay().is_ok());
    let nodes: Plan = text(&["smp", "-p", "12", "--ppn", "4"]).parse().unwrap();
    assert!(nodes.replay().is_ok());
    let share = json(&["allreduce/ring", "-p", "5", "--node", "2"]);
    assert_eq!((&share["rank"], &share["rounds"][1]["sends"][0]["peer"]), (&json!(2), &json!(3)));
    assert_eq!(json(&["allreduce/ring", "-p", "5"]).as_array().unwrap().len(), 5);
    assert!(text(&["allreduce/ring", "-p", "5", "--summary"]).contains("8/5"));
    assert!(text(&["allreduce/cyclic-shift", "-p", "5", "--node", "0", "--set", "ports=4"]).contains("< 4:"));
}

#[test]
fn parts_of_ports() {
    let parts =
        (0..8).map(|node| text(&["reduce-scatter", "--part", "--node", &node.to_string(), "--ports", "2(-1) 4(-3)"]));
    let parts: Vec<RankPlan> = parts.map(|text| text.parse().unwrap()).collect();
    assert!(Plan::from_parts(parts).unwrap().replay().is_ok());
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    refused(&["allreduce", "--node", "1"], "`--ports`");
    refused(&["allreduce/ring", "--node", "1"], "`-p`");
    refused(&["allreduce/ring", "-p", "5", "--ports", "5(4)"], "leave out `--ports`");
    refused(&["broadcast", "--ports", "5(4)"], "make no broadcast");
    refused(&["allreduce", "--ports", "5(4"], "group 1");
    refused(&["allreduce", "--ports", "5(3)"], "reaches only 4 nodes");
    refused(&["allreduce", "--ports", "5(4)", "--nodes", "6"], "has 5 nodes, but `--nodes` says 6");
    refused(&["allreduce", "--ports", "5(4)", "--node", "5"], "node 5 does not exist");
    refused(&["allreduce", "--ports", "5(4)", "--ports", "5(2 2)", "--node", "1"], "leave out `--node`");
    refused(&["allreduce", "--ports", "5(4)", "--node", "1", "--sizes", "1,2"], "2 sizes were given");
    refused(&["allreduce", "--ports", "5(4)", "--node", "1", "--ppn", "0"], "at least one rank");
    refused(&["allreduce", "--ports", "5(4)", "--sizes", "1,2,3,4,5"], "`--node`");
    refused(&["allreduce", "--ports", "5(4)", "--part"], "`--node`");
    refused(&["allreduce/ring", "-p", "5", "--node", "5"], "rank 5 does not exist");
    refused(&["allreduce/ring", "-p", "0"], "1..=1024");
    refused(&["allreduce/recursive-halving", "-p", "8"], "there is no collective");
    refused(&["alltoall/spread-out", "-p", "4"], "has no plan");
    refused(&["allgather/recursive-doubling", "-p", "5"], "does not serve this call");
}

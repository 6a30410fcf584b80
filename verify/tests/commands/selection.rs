//! `roundel selection`, as users see it.

use crate::command::{Kept, Subcommand};
use roundel::profile::{Grid, Profile};
use serde_json::{Value, json};

const SELECTION: Subcommand = Subcommand("selection");

const RULES: &str = r#"format = "roundel-selection"
version = 1

[[rule]]
collective = "allreduce"
p = "2..=96"
ppn = ">=2"
placement = "regular"
bytes = "..4KiB"
algorithm = "nap"

[[rule]]
collective = "alltoall"
algorithm = "k-bruck"
parameters = { radix = 4 }
"#;

#[test]
fn rules_are_told_with_their_proofs() {
    let file = Kept::new("rules.toml", RULES);
    let output = SELECTION.text(&["check", file.path()]);
    let lines: Vec<&str> = output.lines().collect();
    assert!(lines[0].starts_with("line  calls"), "{output}");
    let nap = "   4  allreduce p=2..=96 ppn=2.. bytes=0..=4095 placement=regular order=rank-order  allreduce/nap";
    assert!(lines[1].starts_with(nap) && lines[1].ends_with("(proofs/NapAllreduce.json)"), "{output}");
    assert!(
        lines[2].contains("alltoall/k-bruck with radix = 4") && lines[2].contains("proved for all p, all radix"),
        "{output}"
    );
    assert!(output.contains("\n2 rules, all of them possible: the first rule that matches counts"), "{output}");
    let said = SELECTION.json(&["check", file.path()]);
    let keys = ["line", "collective", "placement", "bytes", "order", "algorithm"].map(|key| said[0][key].clone());
    let expected = json!([4, "allreduce", "regular", "0..=4095", "rank-order", "allreduce/nap"]);
    assert_eq!(Value::from(keys.to_vec()), expected);
}

#[test]
fn impossible_rules_name_file_and_line() {
    for (from, to, words) in [
        (
            "\"nap\"",
            "\"cyclic-shift\"\nparameters = { ports = [3, 3] }",
            "line 4: allreduce/cyclic-shift with ports = [3, 3]",
        ),
        ("\"nap\"", "\"map\"", "line 10: there is no algorithm `map` for allreduce"),
        ("radix = 4", "radix = 1", "line 15: parameter `radix` of alltoall/k-bruck must lie in 2.., but is 1"),
        ("version = 1", "version = 7", "line 2: this selection has version `7`"),
        ("p = ", "p == ", "line 6, column 4: "),
        ("alltoall", "allreduce", "line 14: `allgather/k-bruck` is no allreduce"),
    ] {
        let file = Kept::new("rules.toml", &RULES.replacen(from, to, 1));
        let words = format!("{}: {words}", file.path());
        SELECTION.refused(&["check", file.path()], &words);
        SELECTION.refused(&["explain", "allreduce", "-p", "4", "--file", file.path()], &words);
    }
    SELECTION.refused(&["check", "no/such/file"], "cannot read no/such/file");
}

#[test]
fn choices_are_explained() {
    let file = Kept::new("rules.toml", RULES);
    let explain = |args: &[&str]| SELECTION.text(&[&["explain"], args].concat());
    let call = ["allreduce", "-p", "64", "--ppn", "4", "--bytes", "8", "--file", file.path()];
    let line = "allreduce p=64 nodes=16 ppn=4 bytes=8: allreduce/nap, by the rule at line 4; proved for all p";
    assert!(explain(&call).starts_with(line) && explain(&call).lines().count() == 1);
    let said = SELECTION.json(&[&["explain"], &call[..]].concat());
    let keys = ["algorithm", "rule", "nodes", "ppn"].map(|key| said[key].clone());
    assert_eq!(Value::from(keys.to_vec()), json!(["allreduce/nap", 4, 16, [4, 4]]));
    let dealt = explain(&[&call[..], &["--placement", "cyclic", "--ordered"]].concat());
    assert!(dealt.contains("library, by default: nothing that is proved for it is faster"), "{dealt}");
    let long = explain(&["reduce-scatter", "-p", "2147483647", "--bytes", "8"]);
    assert!(long.contains("library, by default: on one node nothing is faster; nothing is proved"), "{long}");
    // If a round takes 2 ms longer, long vectors count as short.
    let mut slow = Profile::default();
    let later = |row: &Vec<f64>| row.iter().map(|time| time + 2e-3).collect();
    let grid = &slow.between;
    slow.between =
        Grid::new(grid.sizes().to_vec(), grid.ports().to_vec(), grid.rows().iter().map(later).collect()).unwrap();
    let slow = Kept::new("rules.toml", &slow.to_string());
    let call = ["allreduce", "-p", "6", "--ppn", "2", "--bytes", "1000000"];
    assert!(explain(&call).contains(": library, by default"));
    let measured = explain(&[&call[..], &["--profile", slow.path(), "--foreign"]].concat());
    assert!(measured.contains(": allreduce/nap, by default"), "{measured}");
    let forced = explain(&["allgather", "-p", "6", "--force", "allgather:recursive-doubling"]);
    assert!(
        forced.contains("shared-memory, by default") && forced.contains("; not allgather/recursive-doubling"),
        "{forced}"
    );
    let same = explain(&["allreduce", "-p", "6", "--force", "allreduce:prefix", "--reproducible"]);
    assert!(same.contains("because it does not promise the same bits on all ranks"), "{same}");
    let ports = ["allreduce", "-p", "8", "--ppn", "2", "--force", "allreduce:4(1 1)"];
    let call = explain(&ports);
    assert!(
        call.contains("by default")
            && call.contains("; not 4(1 1), forced by ROUNDEL_FORCE, because plans with ports"),
        "{call}"
    );
    let request = explain(&[&ports[..], &["--request"]].concat());
    assert!(
        request
            .contains(" as a persistent request: 4(1 1), forced by ROUNDEL_FORCE; the plan of 4 nodes was replayed"),
        "{request}"
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |args: &[&str], words: &str| SELECTION.refused(&[&["explain"], args].concat(), words);
    refused(&["allmend", "-p", "4"], "there is no collective `allmend`: write one of allgather");
    refused(&["allreduce", "-p", "0"], "0 ranks are not possible here");
    refused(&["allreduce", "-p", "3000000000"], "3000000000 ranks are not possible here");
    refused(&["allreduce", "-p", "4", "--ppn", "0"], "a node needs at least one rank");
    refused(&["allreduce", "-p", "4000", "--ppn", "4", "--placement", "cyclic"], "4000 ranks are not possible here");
    refused(&["allreduce", "-p", "4", "--force", "nap"], "`--force`: `nap` forces nothing");
    refused(&["allreduce", "-p", "4", "--bytes", "-1"], "--bytes");
    refused(&["allreduce", "-p", "4", "--request"], "no rule has ports for allreduce p=4 nodes=1 ppn=4");
}

/// Whether a schema allows a value, for the few keywords that our schema uses.
fn allows(schema: &Value, root: &Value, value: &Value) -> bool {
    let Some(words) = schema.as_object() else { return true };
    words.iter().all(|(word, said)| match word.as_str() {
        "$ref" => allows(root.pointer(said.as_str().unwrap().trim_start_matches('#')).unwrap(), root, value),
        "const" => said == value,
        "enum" => said.as_array().unwrap().contains(value),
        "type" => match said.as_str().unwrap() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "integer" => value.is_i64(),
            "string" => value.is_string(),
            other => panic!("{other}"),
        },
        "minimum" => value.as_i64().is_none_or(|number| number >= said.as_i64().unwrap()),
        "required" => said.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some()),
        "oneOf" => said.as_array().unwrap().iter().filter(|one| allows(one, root, value)).count() == 1,
        "allOf" => said.as_array().unwrap().iter().all(|one| allows(one, root, value)),
        "not" => !allows(said, root, value),
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| allows(said, root, item))),
        "properties" => said
            .as_object()
            .unwrap()
            .iter()
            .all(|(key, one)| value.get(key).is_none_or(|value| allows(one, root, value))),
        "additionalProperties" if said == false => {
            value.as_object().is_none_or(|keys| keys.keys().all(|key| schema["properties"].get(key).is_some()))
        }
        "additionalProperties" => {
            value.as_object().is_none_or(|keys| keys.values().all(|value| allows(said, root, value)))
        }
        _ => true,
    })
}

#[test]
fn the_schema_is_that_of_the_files() {
    let schema: Value = serde_json::from_str(&SELECTION.text(&["schema"])).unwrap();
    let file = |rule: Value| json!({ "format": "roundel-selection", "version": 1, "rule": [rule] });
    let good = [
        json!({ "collective": "allreduce", "p": "2..=96", "nodes": 8, "bytes": "..4KiB", "order": "any", "ports": "8(1 1 1)" }),
        json!({ "collective": "alltoall", "placement": "even", "algorithm": "k-bruck", "parameters": { "radix": 4 } }),
        json!({ "collective": "allreduce", "algorithm": "cyclic-shift", "parameters": { "ports": [1, 2] } }),
    ];
    for rule in good {
        assert!(allows(&schema, &schema, &file(rule.clone())), "{rule}");
    }
    let wrong = [
        json!({ "collective": "allmend", "algorithm": "ring" }),
        json!({ "algorithm": "ring" }),
        json!({ "collective": "allgather" }),
        json!({ "collective": "allgather", "algorithm": "ring", "ports": "8(1 1 1)" }),
        json!({ "collective": "allgather", "ports": "8(1 1 1)", "parameters": {} }),
        json!({ "collective": "allgather", "algorithm": "ring", "ports": "8(1 1 1)", "parameters": {} }),
        json!({ "collective": "allgather", "algorithm": "ring", "ppm": 3 }),
        json!({ "collective": "allgather", "algorithm": "ring", "p": 0 }),
        json!({ "collective": "allgather", "algorithm": "ring", "order": "ranks" }),
        json!({ "collective": "allgather", "algorithm": "ring", "parameters": { "radix": "4" } }),
    ];
    for rule in wrong {
        assert!(!allows(&schema, &schema, &file(rule.clone())), "{rule}");
    }
    assert!(!allows(&schema, &schema, &json!({ "format": "roundel-profile", "version": 1 })));
}

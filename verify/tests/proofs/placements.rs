//! Placements on the command line: every node-aware collective on every kind of placement.

use crate::common::process::roundel;
use roundel::algorithms::catalogue;
use serde_json::Value;
use tempfile::TempDir;

fn json(args: &[&str], code: i32) -> Value {
    let output = roundel(&[args, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refused(args: &[&str], words: &str) {
    let output = roundel(args);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
    assert!(message.contains(words), "{args:?} should speak of {words:?}: {message}");
}

fn node_aware() -> Vec<&'static str> {
    let looks = |name: &str| {
        ["locality-bruck", "hierarchical", "leaders", "multi-lane", "smp", "nap"].map(|end| name.ends_with(end))
    };
    let found: Vec<_> =
        catalogue().iter().map(|entry| entry.name).filter(|name| looks(name).contains(&true)).collect();
    assert_eq!(found.len(), 8);
    found
}

/// A file with these nodes, rank by rank.
fn file(folder: &TempDir, nodes: &str) -> String {
    let path = folder.path().join("nodes.txt");
    std::fs::write(&path, nodes.split(' ').map(|node| format!("node{node}\n")).collect::<String>()).unwrap();
    path.to_str().unwrap().into()
}

#[test]
fn every_kind_of_placement_is_shown_and_checked() {
    let folder = TempDir::new().unwrap();
    let odd = file(&folder, "2 0 2 1 1 2 0 2 1 2");
    for name in node_aware() {
        for (placement, nodes) in [(vec!["--ppn", "4"], 3), (vec!["--ppn", "2", "--placement", "cyclic"], 5)] {
            let shown = json(&[&["show", name, "-p", "10"], &placement[..]].concat(), 0);
            let rounds = shown["census"]["nonlocal_rounds"].as_i64().unwrap();
            assert!(0 < rounds && rounds <= shown["census"]["rounds"].as_i64().unwrap(), "{name}, {nodes} nodes");
        }
        let shown = json(&["show", name, "-p", "10", "--placement", &odd], 0);
        assert_eq!(shown["nodes"], serde_json::json!([0, 1, 0, 2, 2, 0, 1, 0, 2, 0]), "{name}");
        json(&["run", name, "-n", "10", "--placement", &odd, "--repeat", "1"], 0);
        let checked = json(&["check", name, "--placement", &odd], 0);
        assert_eq!((&checked["collectives"][0]["checked"], &checked["ok"]), (&1.into(), &true.into()), "{checked}");
    }
}

#[test]
fn messages_between_nodes_are_those_of_the_file() {
    let folder = TempDir::new().unwrap();
    let nodes = "1 0 0 1 0 1";
    let of: Vec<&str> = nodes.split(' ').collect();
    let shown = json(&["show", "allreduce/nap", "-p", "6", "--placement", &file(&folder, nodes)], 0);
    let messages: Vec<&Value> =
        shown["rounds"].as_array().unwrap().iter().flat_map(|round| round["messages"].as_array().unwrap()).collect();
    assert!(messages.iter().any(|message| message["nonlocal"] == true));
    for message in messages {
        let node = |end: &str| of[message[end].as_u64().unwrap() as usize];
        assert_eq!(message["nonlocal"], node("from") != node("to"), "{message}");
    }
}

#[test]
fn a_wrong_collective_on_uneven_nodes_is_told_and_replayed() {
    let folder = TempDir::new().unwrap();
    // Right if all nodes have the same size.
    let source = folder.path().join("even.rs");
    std::fs::write(
        &source,
        "#[derive(Collective)]
         #[collective(allgather, inner: allgather)]
         #[round(\"inside\")]
         #[within(node, inner)]
         #[round(s in 1..nodes)]
         #[send(to = at(node - s, local), blocks = [at(node, local)])]
         #[recv(from = at(node + s, local), blocks = [at(node + s, local)])]
         #[round(\"once more\")]
         #[within(node, inner, brings = [at(node + s, local); s in 1..nodes])]
         pub struct Even<I> { inner: I }",
    )
    .unwrap();
    let (source, saved) = (source.to_str().unwrap(), folder.path().join("wrong.json"));
    json(&["check", source, "-p", "12", "--ppn", "4"], 0);
    json(&["check", source, "-p", "12", "--ppn", "4", "--placement", "cyclic"], 0);
    let output = roundel(&["check", source, "--save", saved.to_str().unwrap()]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    let again = roundel(&["replay", saved.to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(1), "{}", String::from_utf8_lossy(&again.stdout));
    let odd = file(&folder, "0 1 1 0 1");
    let output = roundel(&["check", source, "--placement", &odd, "--save", saved.to_str().unwrap()]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("nodes = {0, 3}, {1, 2, 4}"), "{message}");
    let again = roundel(&["replay", saved.to_str().unwrap()]);
    let text = String::from_utf8(again.stdout).unwrap();
    assert_eq!(again.status.code(), Some(1), "{text}");
    assert!(text.contains("nodes = {0, 3}, {1, 2, 4}"), "{text}");
}

#[test]
fn placements_that_make_no_sense() {
    let folder = TempDir::new().unwrap();
    let nodes = file(&folder, "0 1 1");
    refused(&["show", "nap", "-p", "4", "--placement", &nodes], "places 3 ranks, but there are 4");
    refused(&["show", "nap", "-p", "3", "--placement", &nodes, "--ppn", "2"], "leave out `--ppn`");
    refused(&["show", "nap", "-p", "3", "--placement", "cyclic"], "say with `--ppn`");
    refused(&["run", "nap", "-n", "3", "--ppn", "0"], "at least one rank");
    refused(&["check", "nap", "--placement", "/no/such/file"], "cannot read /no/such/file");
}

#[test]
fn pictures_have_a_box_for_each_node() {
    let folder = TempDir::new().unwrap();
    let (nodes, picture) = (file(&folder, "2 0 2 1 1 2"), folder.path().join("p.svg"));
    let output = roundel(&["show", "nap", "-p", "6", "--placement", &nodes, "--svg", picture.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    let drawn = std::fs::read_to_string(picture).unwrap();
    let panels = drawn.matches("<g>").count();
    for node in ["0", "1", "2"] {
        let label = |text: &str| drawn.matches(&format!(">{text}{node}<")).count();
        assert_eq!(label("node ") + label("n"), panels, "node {node}");
    }
}

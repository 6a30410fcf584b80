//! `roundel new`: crates with a collective of one's own, for every kind. The templates are compiled here, and their
//! tests run; the crates themselves are checked, shown and run from their files.

// The declarations are those of a library.
#![allow(unreachable_pub)]

use crate::command::Subcommand;
use crate::common::z3;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A template as the crate that it becomes.
macro_rules! template {
    ($($kind:ident in $file:literal),*) => {$(
        mod $kind {
            mod my_collective {
                include!(concat!("../../src/scaffold/templates/declarations/", $file));
            }

            include!(concat!("../../src/scaffold/templates/tests/", $file));
        }
    )*};
}

template!(
    allgather in "allgather.rs", allreduce in "allreduce.rs", reduce_scatter in "reduce_scatter.rs",
    broadcast in "broadcast.rs", reduce in "reduce.rs", gather in "gather.rs", scatter in "scatter.rs",
    alltoall in "alltoall.rs"
);

const KINDS: [&str; 8] =
    ["allgather", "allreduce", "reduce_scatter", "broadcast", "reduce", "gather", "scatter", "alltoall"];

/// The source tree of Roundel.
const TREE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

#[test]
fn a_new_crate_is_checked_shown_and_run_from_its_file() {
    let dir = TempDir::new().unwrap();
    for kind in KINDS {
        let folder = dir.path().join(format!("my-{}", kind.replace('_', "-")));
        let (folder, lib) = (folder.to_str().unwrap(), folder.join("src/lib.rs"));
        let lib = lib.to_str().unwrap();
        let said = Subcommand("new").text(&[folder, "--kind", kind, "--path", TREE]);
        assert!(said.contains("roundel check src/lib.rs") && said.contains("src/lib.rs"), "{said}");
        assert!(Subcommand("check").text(&[lib]).contains("1 collective correct"));
        assert!(Subcommand("show").text(&[lib, "-p", "5"]).contains("checked"));
        assert_eq!(Subcommand("run").json(&[lib, "-p", "7"])["correct"], true);
        assert!(Subcommand("emit").text(&["c", lib]).contains("MPI_Comm"));
    }
}

#[test]
fn without_a_tree_it_is_said_where_cargo_takes_roundel_from() {
    let dir = TempDir::new().unwrap();
    let said = |name: &str, more: &[&str]| {
        let folder = dir.path().join(name);
        Subcommand("new").text(&[&[folder.to_str().unwrap()], more].concat())
    };
    let words = "takes roundel from its registry; `--path PATH/TO/roundel`";
    assert!(said("of-registry", &[]).contains(words));
    assert!(!said("of-tree", &["--path", TREE]).contains(words));
}

#[test]
fn a_new_crate_is_proved_for_all_p() {
    if z3().is_none() {
        return;
    }
    let dir = TempDir::new().unwrap();
    let folder = dir.path().join("fast-ring");
    Subcommand("new").text(&[folder.to_str().unwrap()]);
    let lib = folder.join("src/lib.rs");
    let lib = lib.to_str().unwrap();
    Subcommand("run").refused(&[lib, "-p", "41"], "it is proved for p <= 40, and p = 41 lies outside");
    Subcommand("prove").text(&[lib, "--engine", "smt", "--require-all-p"]);
    assert!(folder.join("proofs/FastRing.json").is_file());
    assert_eq!(Subcommand("run").json(&[lib, "-p", "41"])["correct"], true);
}

#[test]
fn the_files_of_a_new_crate() {
    let dir = TempDir::new().unwrap();
    let folder = dir.path().join("fast-ring");
    let report = Subcommand("new").json(&[folder.to_str().unwrap()]);
    assert_eq!((report["type"].as_str(), report["kind"].as_str()), (Some("FastRing"), Some("allgather")));
    let read = |path: &str| std::fs::read_to_string(folder.join(path)).unwrap();
    for path in report["files"].as_array().unwrap() {
        assert!(!read(path.as_str().unwrap()).contains("my-collective"), "{path}");
    }
    let manifest = read("Cargo.toml");
    assert!(manifest.contains("name = \"fast-ring\"") && manifest.contains("roundel = \"0.1.0\""), "{manifest}");
    assert!(read("tests/threads.rs").contains("use fast_ring::FastRing;"));
    assert!(read("README.md").contains("proofs/FastRing.json") && read("README.md").contains("cargo kani"));
    let ci = read(".github/workflows/ci.yml");
    for step in ["roundel check src/lib.rs", "roundel prove src/lib.rs", "cargo test", "kani-github-action"] {
        assert!(ci.contains(step), "{ci}");
    }
    let preload = read("preload/src/lib.rs");
    assert!(preload.contains(r#"roundel::collectives!["fast-ring" => fast_ring::FastRing];"#), "{preload}");
    assert!(read("c/Cargo.toml").contains(r#"roundel-capi = { version = "0.1.0", features = ["mpi"] }"#));
    let tree = dir.path().join("with-tree");
    Subcommand("new").text(&[tree.to_str().unwrap(), "--path", TREE, "--kind", "reduce-scatter"]);
    let manifest = std::fs::read_to_string(tree.join("Cargo.toml")).unwrap();
    let runtime = Path::new(TREE).canonicalize().unwrap().join("runtime");
    assert!(manifest.contains(&format!("path = {:?}", runtime.to_str().unwrap())), "{manifest}");
    // Cargo accepts the manifest and finds Roundel; to build it takes minutes.
    std::fs::copy(Path::new(TREE).join("Cargo.lock"), tree.join("Cargo.lock")).unwrap();
    let found = Command::new(env!("CARGO")).args(["tree", "--offline"]).current_dir(&tree).output().unwrap();
    let (printed, message) = (String::from_utf8(found.stdout).unwrap(), String::from_utf8_lossy(&found.stderr));
    assert!(printed.starts_with("with-tree v0.1.0") && printed.contains("roundel v0.1.0"), "{message}");
}

#[test]
fn crates_that_cannot_be_made() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_string();
    let new = Subcommand("new");
    new.text(&[&at("once")]);
    new.refused(&[&at("once")], "exists already");
    new.refused(&[&at("once"), "--json"], "exists already");
    for wrong in ["Upper", "2nd", "with space", "fn", "std", "roundel"] {
        new.refused(&[&at(wrong)], "is no name for a crate");
        assert!(!dir.path().join(wrong).exists(), "{wrong}");
    }
    new.refused(&[&at("other"), "--kind", "allgahter"], "did you mean `allgather`?");
    new.refused(&[&at("other"), "--kind", "sort"], "allgather, allreduce");
    new.refused(&[&at("other"), "--path", &at("nowhere")], "is not the source tree of Roundel");
    new.refused(&[&at("once/Cargo.toml/below")], "cannot");
    assert!(!dir.path().join("other").exists());
    assert!(new.text(&["--help"]).contains("roundel new my-collective --kind allreduce"));
}

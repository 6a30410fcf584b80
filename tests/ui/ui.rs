//! What a user reads: declarations that must not compile, with the messages they get.
//!
//! `ROUNDEL_BLESS=1 cargo test -p roundel-ui-tests` writes the messages anew; read each of them before it is kept.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Each is a program of which every module is a wrong declaration. The derive reports all of them, because it never
/// stops the compiler; one program for each declaration would take ten times as long.
const PROGRAMS: [&str; 4] = ["violations", "misuse", "groups", "all_to_alls"];

/// Where the programs are, from the root of the workspace.
const FOLDER: &str = "tests/ui/";

#[test]
fn wrong_declarations_do_not_compile() {
    let reported = compile();
    let mut differing = Vec::new();
    for program in PROGRAMS {
        let messages = messages(&reported, program);
        assert!(!messages.is_empty(), "{program}.rs compiles");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("{program}.stderr"));
        if std::env::var_os("ROUNDEL_BLESS").is_some() {
            std::fs::write(&file, &messages).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        }
        let kept = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        if let Some(place) = first_difference(&kept, &messages) {
            differing.push(format!("{program}.stderr, {place}"));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n\n"));
}

/// Compiles all programs; returns what cargo prints, one JSON value in a line. All packages are selected, and the
/// features in `ROUNDEL_BUILT`, so that cargo finds what it has built for the other tests.
fn compile() -> Vec<Value> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let built = std::env::var("ROUNDEL_BUILT").unwrap_or_default();
    let features = format!("roundel-ui-tests/wrong,{built}");
    cargo.args(["build", "--workspace", "--features", &features, "--keep-going"]);
    cargo.args(["--message-format", "json"]);
    for program in PROGRAMS {
        cargo.args(["--test", program]);
    }
    let output = cargo.output().expect("cargo runs");
    assert!(!output.status.success(), "all programs compile");
    let text = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("cargo prints JSON")).collect()
}

/// The compiler's messages about a program, without numbers of lines: a declaration may move; and without Clippy's, in
/// case it is the compiler.
fn messages(reported: &[Value], program: &str) -> String {
    let is_clippys = |code: &Value| code.as_str().is_some_and(|code| code.starts_with("clippy::"));
    let about = |value: &&Value| {
        let message = &value["message"];
        let has_place = message["spans"] != Value::Array(vec![]);
        value["target"]["name"] == program && has_place && !is_clippys(&message["code"]["code"])
    };
    let rendered = reported.iter().filter(about).filter_map(|value| value["message"]["rendered"].as_str());
    let mut all: Vec<String> = rendered.map(normal).collect();
    // The compiler may report modules in any order, but each of them in that of its text.
    all.sort_by(|a, b| file_of(a).cmp(file_of(b)));
    all.join("\n")
}

/// The file that a message is about.
fn file_of(message: &str) -> &str {
    message.lines().find_map(|line| line.trim_start().strip_prefix("--> ")).unwrap_or_default()
}

/// A message without the numbers of lines and without the folder.
fn normal(rendered: &str) -> String {
    let mut text = String::new();
    for line in rendered.trim_end().lines() {
        let bare = line.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit());
        let kept = match bare.strip_prefix("--> ").or_else(|| bare.strip_prefix("::: ")) {
            Some(place) => {
                let file = place.split(':').next().unwrap_or(place);
                format!(" --> {}", file.strip_prefix(FOLDER).unwrap_or(file))
            }
            None if bare.starts_with(['|', '=']) => format!("  {bare}"),
            None => line.to_string(),
        };
        text.push_str(kept.trim_end());
        text.push('\n');
    }
    text
}

/// Where two texts differ first, with what is there.
fn first_difference(kept: &str, new: &str) -> Option<String> {
    let (mut kept, mut new) = (kept.lines(), new.lines());
    let mut number = 0;
    loop {
        number += 1;
        match (kept.next(), new.next()) {
            (None, None) => return None,
            (old, now) if old == now => {}
            (old, now) => {
                let show = |line: Option<&str>| line.unwrap_or("the end").to_string();
                return Some(format!("line {number}:\n  kept: {}\n  now:  {}", show(old), show(now)));
            }
        }
    }
}

/// A declaration that no program names would not be tested, and one without a message would compile.
#[test]
fn every_declaration_has_its_message() {
    for program in PROGRAMS {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let read = |name: String| {
            std::fs::read_to_string(here.join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"))
        };
        let (source, messages) = (read(format!("{program}.rs")), read(format!("{program}.stderr")));
        let files = std::fs::read_dir(here.join(program)).expect("a folder of declarations");
        let files: BTreeSet<_> =
            files.map(|file| file.expect("a file").file_name().into_string().expect("a name")).collect();
        assert!(!files.is_empty());
        for file in files {
            assert!(source.contains(&format!("\"{program}/{file}\"")), "{program}.rs does not name {program}/{file}");
            assert!(messages.contains(&format!("--> {program}/{file}\n")), "{program}/{file} has no message");
        }
    }
}

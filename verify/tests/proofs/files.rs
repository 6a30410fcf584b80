//! Collectives of one's own on the command line: `FILE.rs` and `FILE.rs:Name` stand wherever a name of the catalogue
//! does.
//!
//! A file has no generated code, so the evaluator performs it. Every declaration of the catalogue is compared with its
//! own source file: the same rounds, the same plans, the same refusals, the same words.

use crate::common::process::roundel;
use roundel::algorithms::{CRATE_ROOT, Entry, catalogue};
use roundel::{Collective, Refusal};
use roundel_spec::check::{Point, Points};
use roundel_spec::{Arguments, Placement};
use roundel_verify::catalogue::{plan, record, unproved};
use roundel_verify::declared::DeclaredCollective;
use roundel_verify::source::Source;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

fn text(output: &[u8]) -> String {
    String::from_utf8(output.to_vec()).unwrap()
}

/// What a command prints; it must succeed.
fn printed(args: &[&str]) -> String {
    let output = roundel(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&printed(&[args, &["--json"]].concat())).unwrap()
}

/// A command that must print nothing but an error with all of `words`, and end with `code`.
fn fails(args: &[&str], code: i32, words: &[&str]) {
    let output = roundel(args);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
    assert_eq!(text(&output.stdout), "", "{args:?}");
    for word in words {
        assert!(message.contains(word), "{args:?} should speak of {word:?}: {message}");
    }
    assert!(!message.contains("panicked"), "{args:?}: {message}");
}

/// The source file of a catalogue entry.
fn file(entry: &Entry) -> PathBuf {
    Path::new(CRATE_ROOT).join(format!("src/algorithms/{}.rs", entry.name.replace('-', "_")))
}

/// An entry, read from its file.
fn declared(entry: &Entry) -> DeclaredCollective {
    declared_in(&file(entry), entry.type_name)
}

/// A declaration, read from a file.
fn declared_in(file: &Path, name: &str) -> DeclaredCollective {
    let source = Source::read(file).unwrap();
    let mut all = DeclaredCollective::all(&source, source.declarations().unwrap()).unwrap();
    let at = all.iter().position(|one| one.name() == name).unwrap();
    all.swap_remove(at)
}

// ---- the catalogue, by its files

/// A refusal without the command that would prove more, which names the file.
fn without_command(refusal: Option<Refusal>) -> Option<Refusal> {
    match refusal {
        Some(Refusal::Unproved { range, outside, command }) => {
            Some(Refusal::Unproved { range, outside, command: command.map(|command| options(&command)) })
        }
        other => other,
    }
}

/// The options of a command, without the file.
fn options(command: &str) -> String {
    command.split_once(".rs").map_or(command, |(_, options)| options).into()
}

/// Compares the rounds, the plan and the refusals of a file with those of its generated code.
fn agree(entry: &'static Entry, declared: &DeclaredCollective, point: &Point) {
    let Point { placement, args } = point;
    let case = format!("{} with {args:?} on {placement:?}", entry.name);
    let code = record(entry, args, placement).unwrap();
    let admitted = declared.admits(point).unwrap();
    match (code, admitted) {
        (Ok(trace), Ok(())) => {
            assert_eq!(declared.examine(args, placement.clone()).unwrap().trace, trace, "{case}");
            let refusal = declared.served(args, placement).unwrap().err();
            let by_code = unproved(entry, args, placement.place(0)).unwrap();
            assert_eq!(without_command(refusal), without_command(by_code), "{case}");
            let (by_code, by_file) = (plan(entry, args, placement), declared.plan(args, placement.clone()));
            assert_eq!(by_file.ok(), by_code.ok(), "{case}");
        }
        (code, admitted) => assert_eq!(code.err(), admitted.err(), "{case}"),
    }
}

#[test]
fn the_rounds_of_a_file_are_those_of_its_generated_code() {
    for entry in catalogue() {
        let declared = declared(entry);
        assert_eq!(declared.schedule().fingerprint(), (entry.schedule)().fingerprint(), "{}", entry.name);
        assert!(declared.stand_ins().is_empty(), "{}", entry.name);
        let most = if declared.schedule().kind.moves() { 5 } else { 7 };
        let points: Vec<Point> = Points::new(declared.schedule(), 1..=most).thinned(40).iter().collect();
        assert!(points.len() > 3, "{}", entry.name);
        for point in &points {
            agree(entry, &declared, point);
        }
        // Ranks that are not numbered node by node.
        let args = points.last().map(|point| point.args.clone()).unwrap();
        for nodes in [vec![0, 1, 0, 1, 0], vec![2, 0, 1, 1, 0, 2, 2]] {
            let placement = Placement::from_nodes(nodes);
            agree(entry, &declared, &Point { placement, args: args.clone() });
        }
    }
}

#[test]
fn calls_that_are_not_proved_are_refused_in_the_same_words() {
    for entry in catalogue() {
        let (declared, schedule) = (declared(entry), (entry.schedule)());
        let lows = schedule.numbers.iter().map(|number| number.domain.lo);
        for (p, up) in
            [(17, 0), (33, 1), (64, 2), (65, 3), (97, 0), (97, 7), (257, 4), (500, 0), (97, 300), (3000, 70)]
        {
            let numbers: Vec<i64> = lows.clone().map(|low| low + up).collect();
            let lists = schedule.lists.iter().map(|list| vec![list.domain.lo + up; 6]).collect();
            let inner = roundel_spec::check::arguments::least_inner(&schedule);
            let args = Arguments { numbers, lists, inner };
            let uneven = Placement::from_nodes((0..p).map(|rank| (rank * rank / 7) % 5).collect());
            for placement in [Placement::consecutive(p, 4), Placement::consecutive(p, 1), uneven] {
                if record_is_long(entry, p)
                    || declared.admits(&Point { placement: placement.clone(), args: args.clone() }).unwrap().is_err()
                {
                    continue;
                }
                let (by_file, by_code) = (
                    declared.served(&args, &placement).unwrap().err(),
                    unproved(entry, &args, placement.place(0)).unwrap(),
                );
                assert_eq!(without_command(by_file), without_command(by_code), "{} p = {p}", entry.name);
            }
        }
    }
    // All of the catalogue is proved for all p; this one is not.
    let (declared, args) = (
        declared_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proofs/files.rs"), "Unrecorded"),
        Arguments::default(),
    );
    for p in 1..=40 {
        let placement = Placement::consecutive(p, 4);
        let by_file = declared.served(&args, &placement).unwrap().err();
        let by_code = Unrecorded.proved(&placement.place(0)).err();
        assert_eq!(by_code.is_some(), p > 12, "p = {p}: {by_code:?}");
        assert_eq!(without_command(by_file), without_command(by_code), "p = {p}");
    }
}

/// A ring without a proof record: it serves what the derive has checked.
#[derive(Collective, Clone, Copy)]
#[collective(allgather)]
#[check(p <= 12)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - s - 1])]
struct Unrecorded;

/// Whether the evaluator would walk through too many groups.
fn record_is_long(entry: &Entry, p: usize) -> bool {
    p > 500 && !(entry.schedule)().inners.is_empty()
}

/// The output of a command with the name of the catalogue in place of that of the type.
fn by_name(output: Output, entry: &Entry) -> (Option<i32>, String, String) {
    let renamed = |text: String| {
        let text = match text.strip_prefix(entry.type_name) {
            Some(rest) => format!("{}{rest}", entry.name),
            None => text,
        };
        let json = |name: &str| format!("\"name\": \"{name}\"");
        let refusal = |name: &str| format!("{name} does not serve");
        text.replace(&json(entry.type_name), &json(entry.name))
            .replace(&refusal(entry.type_name), &refusal(entry.name))
    };
    (output.status.code(), renamed(text(&output.stdout)), renamed(text(&output.stderr)))
}

#[test]
fn a_file_is_shown_as_its_entry_of_the_catalogue_is() {
    for entry in catalogue() {
        let file = file(entry).to_str().unwrap().to_string();
        let named = format!("{file}:{}", entry.type_name);
        let lists = !(entry.schedule)().lists.is_empty();
        let list = (entry.schedule)().lists.first().map_or(String::new(), |list| format!("{}=1,1,1", list.var.name));
        for place in [
            &["-p", "8"][..],
            &["-p", "5", "--ppn", "2", "--json"],
            &["-p", "8", "--ppn", "3", "--placement", "cyclic"],
        ] {
            let set = ["--set", &list];
            let args = [place, if lists { &set[..] } else { &[] }].concat();
            let of = |name: &str| by_name(roundel(&[&["show", name], &args[..]].concat()), entry);
            assert_eq!(of(&named), of(entry.name), "{} {args:?}", entry.name);
        }
    }
}

#[test]
fn pictures_and_one_rank_of_a_file() {
    let (sparbit, dir) = (Path::new(CRATE_ROOT).join("src/algorithms/allgather/sparbit.rs"), TempDir::new().unwrap());
    let (file, svg) = (sparbit.to_str().unwrap(), dir.path().join("s.svg"));
    let svg = svg.to_str().unwrap();
    let drawn = |name: &str| {
        printed(&["show", name, "-p", "5", "--svg", svg, "--rounds", "0..=1", "--columns", "1", "--no-title"]);
        std::fs::read_to_string(svg).unwrap()
    };
    assert_eq!(drawn(file).replacen("Sparbit", "allgather/sparbit", 1), drawn("sparbit"));
    let rank = |name: &str| printed(&["show", name, "-p", "5", "--rank", "3"]);
    assert_eq!(rank(file).replacen("Sparbit", "allgather/sparbit", 1), rank("sparbit"));
    let plan = |name: &str| printed(&["plan", name, "-p", "5", "--node", "2"]);
    assert_eq!(plan(file), plan("sparbit"));
    let listed = printed(&["list", file]);
    assert!(
        listed.starts_with("Sparbit") && listed.contains("all p") && listed.contains("ceil_log(2, p)"),
        "{listed}"
    );
}

#[test]
fn every_file_of_the_catalogue_runs_on_threads() {
    for entry in catalogue() {
        let file = file(entry).to_str().unwrap().to_string();
        let list = (entry.schedule)().lists.first().map(|list| format!("{}=1,1,1", list.var.name));
        let set: Vec<&str> = list.iter().flat_map(|list| ["--set", list]).collect();
        for more in [&[][..], &["--ppn", "4"]] {
            let args = [&["run", &file, "-p", "8", "--bytes", "43", "--repeat", "2"], more, &set[..]].concat();
            let by_file = json(&args);
            assert_eq!(by_file["correct"], true, "{}: {by_file}", entry.name);
            let args = [&["run", entry.name, "-p", "8", "--bytes", "43", "--repeat", "2"], more, &set[..]].concat();
            // An all-to-all of the catalogue gets a radix for the call.
            if !entry.name.starts_with("alltoall/") {
                let by_name = json(&args);
                for key in ["bytes_moved", "layout", "params", "p"] {
                    assert_eq!(by_file[key], by_name[key], "{}", entry.name);
                }
            }
        }
    }
    let bruck = Path::new(CRATE_ROOT).join("src/algorithms/allgather/bruck.rs");
    for layout in ["in-place", "rotated"] {
        let run = json(&["run", bruck.to_str().unwrap(), "-p", "6", "--layout", layout]);
        assert_eq!((&run["correct"], &run["layout"]), (&Value::Bool(true), &Value::from(layout)));
    }
}

// ---- files of one's own

/// A folder with files.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Files(TempDir::new().unwrap())
    }

    /// Writes a file of a crate, and returns its path.
    fn write(&self, name: &str, content: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().into()
    }
}

/// A direct allgather, with a limit of its check and the last round left out where `p` is not less than `wrong`.
fn direct(name: &str, limit: usize, wrong: usize) -> String {
    format!(
        "/// Sends its block to everyone.\n#[derive(Collective)]\n#[collective(allgather)]\n#[check(p <= {limit})]\n\
         #[round(s in 1..if p < {wrong} {{ p }} else {{ p - 1 }})]\n#[send(to = rank + s, blocks = [rank])]\n\
         #[recv(from = rank - s, blocks = [rank - s])]\npub struct {name};\n"
    )
}

const NEVER: usize = 1_000_000;

#[test]
fn all_declarations_of_a_file_or_one_of_them() {
    let files = Files::new();
    let path = files.write("two.rs", &(direct("Direct", 8, NEVER) + &direct("Another", 8, NEVER)));
    let both = printed(&["show", &path, "-p", "3"]);
    assert!(both.starts_with("Direct  p = 3") && both.contains("\nAnother  p = 3"), "{both}");
    let one = printed(&["show", &format!("{path}:Another"), "-p", "3"]);
    assert!(one.starts_with("Another") && !one.contains("Direct"), "{one}");
    assert_eq!(json(&["show", &path, "-p", "3"]).as_array().unwrap().len(), 2);
    assert_eq!(json(&["run", &path, "-p", "3"])[1]["name"], "Another");
    assert_eq!(json(&["run", &format!("{path}:Direct"), "-p", "3"])["name"], "Direct");
    assert_eq!(json(&["check", &format!("{path}:Direct")])["collectives"].as_array().unwrap().len(), 1);
    assert!(printed(&["emit", "c", &format!("{path}:Another")]).contains("another"));
    assert!(printed(&["expand", &format!("{path}:Another")]).contains("Another"));
    assert_eq!(json(&["list", &path]).as_array().unwrap().len(), 2);

    for command in ["show", "run", "plan"] {
        fails(
            &[command, &format!("{path}:Dirct"), "-p", "3"],
            2,
            &["no collective `Dirct`", "did you mean `Direct`?"],
        );
    }
    fails(&["check", &format!("{path}:Zzz")], 2, &["no collective `Zzz`", "Direct, Another"]);
    let several = format!("`{path}:Direct`");
    fails(&["show", &path, "-p", "3", "--svg", "never.svg"], 2, &["several collectives", &several]);
    fails(&["plan", &path, "-p", "3"], 2, &["several collectives", &several]);
    fails(&["emit", "c", &path], 2, &["several collectives", &several]);
}

#[test]
fn files_that_declare_nothing_right() {
    let files = Files::new();
    let nothing = files.write("nothing.rs", "pub struct Plain;\n");
    let notes = files.write("notes.txt", "");
    let malformed = files.write("malformed.rs", "struct ;");
    let clause = files.write("clause.rs", &direct("Direct", 8, NEVER).replace("#[send(", "#[sned("));
    for command in ["show", "run", "plan", "list"] {
        let of = |path: &str| match command {
            "list" => vec![command.to_string(), path.into()],
            _ => vec![command.to_string(), path.into(), "-p".into(), "4".into()],
        };
        let fails = |path: &str, words: &[&str]| {
            fails(&of(path).iter().map(String::as_str).collect::<Vec<_>>(), 2, words);
        };
        fails(&nothing, &["declares no collective", "#[derive(Collective)]"]);
        fails("nowhere.rs", &["nowhere.rs", "No such file"]);
        fails("nowhere.rs:Name", &["nowhere.rs", "No such file"]);
        fails(&notes, &["is no Rust source"]);
        fails(&malformed, &["malformed.rs:1:8"]);
        fails(&clause, &["did you mean `send`?", "clause.rs:6:"]);
    }
    let report = roundel(&["run", &malformed, "-p", "4", "--json"]);
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!((&report["ok"], &report["errors"][0]["line"]), (&Value::Bool(false), &Value::from(1)));
}

#[test]
fn a_wrong_declaration_is_neither_shown_nor_run() {
    let files = Files::new();
    // Wrong within the limits of its check, at another p than the one that is asked for.
    let wrong = files.write("wrong.rs", &direct("Direct", 8, 4));
    for args in [
        &["show", &wrong, "-p", "2"][..],
        &["run", &wrong, "-p", "2"],
        &["plan", &wrong, "-p", "2"],
        &["list", &wrong],
    ] {
        fails(args, 1, &["with p = 4", "wrong.rs:"]);
    }
    let check = text(&roundel(&["check", &wrong]).stderr);
    let show = text(&roundel(&["show", &wrong, "-p", "2"]).stderr);
    assert_eq!(check, show, "the counterexample is that of `check`");
    // Right within the limits, and wrong beyond: the point itself is checked.
    let beyond = files.write("beyond.rs", &direct("Direct", 4, 5));
    assert!(printed(&["show", &beyond, "-p", "4"]).contains("checked"));
    fails(&["show", &beyond, "-p", "5"], 1, &["with p = 5", "beyond.rs:"]);
    fails(&["run", &beyond, "-p", "5"], 1, &["with p = 5"]);
    let report = roundel(&["show", &beyond, "-p", "5", "--json"]);
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!((&report["ok"], report["errors"][0]["line"].is_u64()), (&Value::Bool(false), true));
}

#[test]
fn only_what_is_checked_or_proved_runs() {
    let files = Files::new();
    files.write("Cargo.toml", "");
    let path = files.write("src/lib.rs", &direct("Direct", 4, NEVER));
    assert!(printed(&["run", &path, "-p", "4"]).contains("correct"));
    // It can be shown: this point is checked now.
    assert!(printed(&["show", &path, "-p", "6"]).contains("checked"));
    let command = format!("`roundel prove {path} -p 1..=6`");
    fails(
        &["run", &path, "-p", "6"],
        2,
        &["Direct does not serve this call", "proved for p <= 4", "p = 6", &command],
    );
    printed(&["prove", &path, "--engine", "exhaustive", "-p", "1..=6"]);
    assert!(printed(&["run", &path, "-p", "6"]).contains("correct"));
    fails(&["run", &path, "-p", "7"], 2, &["proved for p <= 6"]);
    assert!(printed(&["list", &path]).contains("p <= 6"));
    // The record is of another declaration now, and has lapsed.
    files.write("src/lib.rs", &direct("Direct", 3, NEVER + 1));
    fails(&["run", &path, "-p", "6"], 2, &["proved for p <= 3"]);
    files.write("src/lib.rs", &direct("Direct", 4, NEVER));
    let record = files.0.path().join("proofs/Direct.json");
    let text = std::fs::read_to_string(&record).unwrap().replacen("\"p\": 6", "\"p\": 60", 1);
    std::fs::write(&record, text).unwrap();
    fails(&["run", &path, "-p", "6"], 2, &["proofs/Direct.json does not count"]);
}

#[test]
fn calls_outside_the_domain() {
    let files = Files::new();
    let even = direct("Direct", 8, NEVER).replace("#[round", "#[requires(p % 2 == 0)]\n#[round");
    let path = files.write("even.rs", &even);
    fails(&["show", &path, "-p", "3"], 2, &["Direct does not serve this call: it requires `p % 2 == 0`", "p = 3"]);
    fails(&["run", &path, "-p", "3"], 2, &["it requires `p % 2 == 0`"]);
    fails(&["run", &path, "-p", "4", "--layout", "rotated"], 2, &["Direct declares no rotated layout"]);
    fails(&["run", &path, "-p", "4", "--set", "radix=2"], 2, &["no parameter `radix`"]);
    fails(&["show", &path, "-p", "0"], 2, &["0 ranks"]);
}

#[test]
fn inner_collectives_of_a_file() {
    let files = Files::new();
    let outer = |default: &str| {
        format!(
            "/// In nodes, then between them.\n#[derive(Collective)]\n#[collective(allgather, inner: allgather)]\n\
             #[check(p <= 6)]\n#[round]\n#[within(all, inner)]\npub struct Outer<I{default}> {{ pub inner: I }}\n"
        )
    };
    let own = files.write("own.rs", &(outer(" = Direct") + &direct("Direct", 8, NEVER)));
    let shown = json(&["show", &format!("{own}:Outer"), "-p", "4"]);
    assert_eq!((&shown["census"]["rounds"], shown.get("stand_ins")), (&Value::from(3), None), "{shown}");
    // The range of the inner collective counts, too.
    let limited = files.write("limited.rs", &(outer(" = Direct") + &direct("Direct", 3, NEVER)));
    assert_eq!(json(&["run", &format!("{limited}:Outer"), "-p", "3"])["correct"], true);
    fails(&["run", &format!("{limited}:Outer"), "-p", "4"], 2, &["proved for p <= 3"]);
    let known = files.write("known.rs", &outer(" = roundel::algorithms::allgather::Bruck"));
    assert_eq!(json(&["show", &known, "-p", "4"])["census"]["rounds"], 2);
    for default in ["", " = Elsewhere", " = Outer", " = Some<Thing>"] {
        let path = files.write("unknown.rs", &outer(default));
        let shown = json(&["show", &path, "-p", "4"]);
        assert_eq!(shown["stand_ins"], serde_json::json!(["inner"]), "{default}");
        assert!(printed(&["show", &path, "-p", "4"]).contains("`inner` may be any"), "{default}");
        assert_eq!(json(&["run", &path, "-p", "4"])["correct"], true, "{default}");
    }
}

/// Numbers of a declaration that do not fit where no check has been.
#[test]
fn what_has_no_value_is_told_at_its_place() {
    let files = Files::new();
    let huge = direct("Direct", 4, NEVER).replace("1..if", "1..if pow(p, 31) > 0 && ");
    let path = files.write("huge.rs", &huge);
    assert!(printed(&["show", &path, "-p", "4"]).contains("checked"));
    fails(&["show", &path, "-p", "5"], 1, &["huge.rs:5:", "with p = 5"]);
}

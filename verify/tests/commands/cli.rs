//! The command line as users see it: text, JSON, exit codes, and error messages.

use crate::common::process::{roundel, stderr, stdout};
use crate::common::{every, everything};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Runs a command that must succeed, and returns its output.
fn text(args: &[&str]) -> String {
    let output = roundel(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

/// Runs a command with `--json` that must end with `code`.
fn json_with(args: &[&str], code: i32) -> Value {
    let output = roundel(&[args, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

/// A command that must be refused: nothing on standard output, or the error as JSON if requested; exit code 2, and all
/// of `words` in the message.
fn refused(args: &[&str], words: &[&str]) {
    let output = roundel(args);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
    if args.contains(&"--json") {
        let error: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let text = error["errors"][0]["message"].as_str().unwrap();
        assert!(error["ok"] == false && message.contains(text), "{args:?}: {error}");
    } else {
        assert_eq!(stdout(&output), "", "{args:?}");
    }
    for word in words {
        assert!(message.contains(word), "{args:?} should speak of {word:?}: {message}");
    }
    assert!(!message.contains("panicked"), "{args:?}: {message}");
}

struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Files(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: &str) -> String {
        std::fs::write(self.path(name), content).unwrap();
        self.name(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().into()
    }
}

/// A ring with these fields of its clauses.
fn ring(rounds: &str, to: &str, recv: &str) -> String {
    format!(
        "use roundel::Collective;\n\n\
         /// A ring.\n\
         #[derive(Collective)]\n\
         #[collective(allgather)]\n\
         #[round(s in {rounds})]\n\
         #[send(to = {to}, blocks = [rank - s])]\n\
         #[recv(from = rank - 1, blocks = [{recv}])]\n\
         pub struct MyRing;\n"
    )
}

// ---- show

/// Figure 3 of the Sparbit paper: what each of 5 processes sends in steps 0, 1 and 2.
#[test]
fn sparbit_with_5_processes_is_figure_3() {
    let message = |from: u64, distance: u64, blocks: &[u64]| json!({ "from": from, "to": (from + distance) % 5, "blocks": blocks, "nonlocal": false });
    let step = |messages: Vec<Value>| json!({ "messages": messages });
    let expected = json!({
        "name": "allgather/sparbit",
        "p": 5,
        "ppn": 5,
        "params": {},
        "rounds": [
            // step 0: r sends its block to r + 4
            step((0..5).map(|r| message(r, 4, &[r])).collect()),
            // step 1: its own block again, to r + 2
            step((0..5).map(|r| message(r, 2, &[r])).collect()),
            // step 2: blocks r and r - 2 to r + 1
            step((0..5).map(|r| message(r, 1, &[r, (r + 3) % 5])).collect()),
        ],
        "census": {
            "rounds": 3,
            "nonlocal_rounds": 0,
            "max_messages_sent": 3,
            "max_blocks_sent": 4,
            "max_nonlocal_messages_sent": 0,
            "max_nonlocal_blocks_sent": 0,
        },
    });
    assert_eq!(json_with(&["show", "sparbit", "-p", "5"], 0), expected);
    assert_eq!(json_with(&["show", "allgather/sparbit", "-p", "5", "--ppn", "9"], 0), expected);
}

#[test]
fn json_keys_come_in_their_documented_order() {
    let text = text(&["show", "allgather/k-bruck", "-p", "4", "--set", "radix=3", "--json"]);
    let keys =
        ["\"name\"", "\"p\"", "\"ppn\"", "\"params\"", "\"radix\"", "\"rounds\"", "\"from\"", "\"to\"", "\"census\""];
    let places: Vec<usize> = keys.iter().map(|key| text.find(key).unwrap()).collect();
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn nonlocal_messages_are_those_between_nodes() {
    let shown = json_with(&["show", "allgather/ring", "-p", "4", "--ppn", "2"], 0);
    for round in shown["rounds"].as_array().unwrap() {
        let nonlocal: Vec<bool> =
            round["messages"].as_array().unwrap().iter().map(|m| m["nonlocal"].as_bool().unwrap()).collect();
        assert_eq!(nonlocal, [false, true, false, true]);
    }
    assert_eq!(shown["ppn"], 2);
    assert_eq!(shown["census"]["max_nonlocal_messages_sent"], 3);
    assert_eq!(shown["census"]["max_nonlocal_blocks_sent"], 3);
}

#[test]
fn messages_are_sorted_and_add_up_to_the_census() {
    for (name, set) in
        [("allgather/ring", None), ("bruck", None), ("sparbit", None), ("allgather/k-bruck", Some("radix=4"))]
    {
        for p in ["1", "2", "7", "12"] {
            let mut args = vec!["show", name, "-p", p];
            args.extend(set.iter().flat_map(|set| ["--set", set]));
            let shown = json_with(&args, 0);
            let rounds = shown["rounds"].as_array().unwrap();
            assert_eq!(shown["census"]["rounds"], rounds.len());
            let p: usize = p.parse().unwrap();
            let mut sent = vec![0; p];
            for round in rounds {
                let messages = round["messages"].as_array().unwrap();
                assert!(!messages.is_empty());
                assert!(messages.iter().map(|m| (m["from"].as_u64(), m["to"].as_u64())).is_sorted());
                for m in messages {
                    sent[m["from"].as_u64().unwrap() as usize] += m["blocks"].as_array().unwrap().len();
                }
            }
            assert_eq!(shown["census"]["max_blocks_sent"], *sent.iter().max().unwrap());
            assert!(sent.iter().all(|&blocks| blocks == p - 1));
        }
    }
}

#[test]
fn one_rank_alone() {
    let all = json_with(&["show", "sparbit", "-p", "5"], 0);
    let one = json_with(&["show", "sparbit", "-p", "5", "--rank", "3"], 0);
    assert_eq!(one["census"], all["census"]);
    let messages = &one["rounds"][0]["messages"];
    let expected = json!([
        { "from": 3, "to": 2, "blocks": [3], "nonlocal": false },
        { "from": 4, "to": 3, "blocks": [4], "nonlocal": false },
    ]);
    assert_eq!(*messages, expected);
    let table = text(&["show", "sparbit", "-p", "5", "--rank", "3"]);
    assert!(table.contains("holds afterwards"), "{table}");
    assert!(table.contains("0 1 2 3 4"), "{table}");
}

#[test]
fn text_is_explicit_and_says_the_pattern() {
    let text = text(&["show", "sparbit", "-p", "5"]);
    assert!(text.contains("every rank r sends block r to r + 4 = r - 1"), "{text}");
    assert!(text.contains("every rank r sends blocks r, r - 2 to r + 1"), "{text}");
    assert!(text.contains("3 → 4: 3 1"), "{text}");
    assert!(!text.contains('\u{1b}'), "no colours outside a terminal");
}

#[test]
fn a_default_parameter_is_said() {
    let text = text(&["show", "allgather/k-bruck", "-p", "6"]);
    assert!(text.contains("radix = 2 (the smallest; change it with --set)"), "{text}");
    assert_eq!(json_with(&["show", "allgather/k-bruck", "-p", "6"], 0)["params"], json!({ "radix": 2 }));
}

#[test]
fn one_rank_needs_no_rounds() {
    assert_eq!(json_with(&["show", "allgather/ring", "-p", "1"], 0)["rounds"], json!([]));
}

#[test]
fn what_cannot_be_shown() {
    refused(&["show", "sparbit", "-p", "0"], &["0 ranks", "1..="]);
    refused(&["show", "sparbit", "-p", "1000000"], &["1000000 ranks", "memory"]);
    refused(&["show", "sparbit", "-p", "1..=4"], &["`1..=4` is a range", "`roundel check`"]);
    refused(&["show", "sparbit", "-p", "five"], &["five"]);
    refused(&["show", "sparbit"], &["-p"]);
    refused(&["show", "sparbit", "-p", "5", "--rank", "5"], &["rank 5", "0..=4"]);
    refused(&["show", "sparbit", "-p", "5", "--ppn", "0"], &["--ppn"]);
    refused(&["show", "quicksort", "-p", "5"], &["quicksort", "`roundel list` shows all"]);
    refused(&["show", "sparbit", "-p", "5", "--set", "radix=3"], &["no parameter `radix`", "leave out"]);
    refused(&["show", "allgather/k-bruck", "-p", "5", "--set", "base=3"], &["no parameter `base`", "radix in 2.."]);
    refused(&["show", "allgather/k-bruck", "-p", "5", "--set", "radix=1"], &["radix", "2..", "1 was given"]);
    refused(&["show", "allgather/k-bruck", "-p", "5", "--set", "radix=2,3"], &["one number", "2 were given"]);
    refused(&["show", "allgather/k-bruck", "-p", "5", "--set", "radix=2", "--set", "radix=3"], &["twice"]);
    refused(&["show", "allgather/k-bruck", "-p", "5", "--set", "radix"], &["no assignment"]);
    refused(&["show", "allgather/k-bruck", "-p", "5", "--set", "radix=three"], &["no assignment"]);
    refused(&["show", "allgather/recursive-doubling", "-p", "6"], &["it requires `p", "p = 6"]);
    refused(&["show", "allgather/recursive-doubling", "-p", "6", "--json"], &["requires"]);
    refused(&["show", "sparbit", "-p", "100", "--svg", "never-written.svg"], &["at most 64"]);
    refused(&["show", "sparbit", "-p", "5", "--svg", "no/such/directory/s.svg"], &["cannot write"]);
}

#[test]
fn extreme_parameters_do_no_harm() {
    let beyond = "radix=9223372036854775807";
    refused(&["show", "allgather/k-bruck", "-p", "7", "--set", beyond], &["`radix`", "up to 2147483647"]);
    for radix in ["2147483647", "1000000007"] {
        let set = format!("radix={radix}");
        let shown = json_with(&["show", "allgather/k-bruck", "-p", "7", "--set", &set], 0);
        assert_eq!(shown["census"]["rounds"], 1);
    }
}

// ---- pictures

#[test]
fn pictures_are_well_formed_and_complete() {
    let files = Files::new();
    for (p, ppn) in [("1", "1"), ("5", "5"), ("12", "4"), ("7", "3")] {
        let path = files.name("picture.svg");
        text(&["show", "sparbit", "-p", p, "--ppn", ppn, "--svg", &path]);
        let svg = std::fs::read_to_string(&path).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        assert!(document.root_element().has_tag_name("svg"));
        let count =
            |words: &str| document.descendants().filter(|n| n.is_element() && n.text() == Some(words)).count();
        let last = p.parse::<usize>().unwrap() - 1;
        let panels = document.descendants().filter(|n| n.has_tag_name("g")).count();
        assert_eq!(count(&format!("P{last}")), panels);
        assert_eq!(count("start"), 1);
        assert_eq!(count("between nodes"), (p != ppn) as usize, "the legend speaks of nodes where there are several");
    }
}

/// The picture of a call.
fn picture(args: &[&str]) -> String {
    let files = Files::new();
    let path = files.name("picture.svg");
    text(&[&["show"], args, &["--svg", &path]].concat());
    let svg = std::fs::read_to_string(&path).unwrap();
    assert!(roxmltree::Document::parse(&svg).is_ok() && !svg.contains("NaN"), "{args:?}");
    svg
}

/// Both files come from one drawing: as many texts, in the same order.
#[test]
fn pictures_are_also_written_as_tikz() {
    let files = Files::new();
    let (svg, tikz) = (files.name("both.svg"), files.name("both.tex"));
    let printed = text(&["show", "sparbit", "-p", "5", "--svg", &svg, "--tikz", &tikz]);
    assert!(printed.contains(&svg) && printed.contains(&tikz), "{printed}");
    let (svg, source) = (std::fs::read_to_string(&svg).unwrap(), std::fs::read_to_string(&tikz).unwrap());
    let document = roxmltree::Document::parse(&svg).unwrap();
    let texts = document.descendants().filter(|n| n.has_tag_name("text")).count();
    assert_eq!(source.matches("\\node[").count(), texts);
    assert!(source.contains("\\useasboundingbox") && source.ends_with("\\end{tikzpicture}\n"));
    text(&["show", "sparbit", "-p", "5", "--tikz", &tikz, "--rounds", "1", "--no-title"]);
    assert!(std::fs::read_to_string(&tikz).unwrap().len() < source.len());
    refused(&["show", "sparbit", "-p", "65", "--tikz", "never-written.tex"], &["at most 64"]);
}

/// README shows what the command draws.
#[test]
fn the_picture_of_the_documentation_is_up_to_date() {
    let shown = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/sparbit.svg");
    assert_eq!(std::fs::read_to_string(shown).unwrap(), picture(&["sparbit", "-p", "5"]));
}

#[test]
fn a_picture_says_who_holds_what_at_the_start() {
    for (args, words) in [
        (&["sparbit", "-p", "5"][..], "every rank holds its own block"),
        (&["broadcast/binomial", "-p", "5", "--set", "root=2"], "P2, the root, holds the data"),
        (&["scatter/binomial", "-p", "5"], "P0, the root, holds all 5 blocks"),
        (&["gather/binomial", "-p", "5"], "every rank holds its own block"),
        (&["allreduce/ring", "-p", "5"], "every rank has its own contribution"),
        (&["alltoall/pairwise", "-p", "5"], "a row for each destination; cells name the sources"),
    ] {
        assert!(picture(args).contains(words), "{args:?}");
    }
}

/// After the exchange between nodes of two, rank 1 has what rank 2 had: as many contributions, but different ones.
#[test]
fn a_picture_tells_which_contributions_a_cell_has() {
    let nap = picture(&["nap", "-p", "8", "--ppn", "2"]);
    for words in [">0–1<", ">2–3<", ">0–3<", ">all<"] {
        assert!(nap.contains(words), "{words}");
    }
}

/// In the round between nodes of this all-to-all, everything that arrives comes from another node.
#[test]
fn arrivals_between_nodes_look_like_it() {
    let drawn = |rounds: &str| {
        let args = ["alltoall/hierarchical", "-p", "8", "--ppn", "4", "--rounds", rounds, "--no-title"];
        let svg = picture(&args);
        // Without the legend, which has every colour once.
        (svg.matches("#9ccaff").count() - 1, svg.matches("#fdc382").count() - 1)
    };
    let ((inside, none), (again, between)) = (drawn("0"), drawn("1"));
    assert!(inside > 0 && none == 0, "{inside} {none}");
    // Blocks that were new in round 0 are held before round 1.
    assert!(again == 0 && between > 0, "{again} {between}");
}

#[test]
fn some_rounds_of_many_ranks() {
    let svg =
        picture(&["allgather/ring", "-p", "64", "--ppn", "16", "--rounds", "3..=4", "--no-title", "--columns", "3"]);
    assert!(svg.contains(">before round 3<") && svg.contains(">round 4<") && !svg.contains(">round 5<"));
    assert!(svg.contains("from (rows) to (columns)") && !svg.contains("font-size=\"19\"") && svg.len() < 100_000);
    refused(
        &["show", "sparbit", "-p", "5", "--svg", "never-written.svg", "--rounds", "9"],
        &["no rounds 9", "3 rounds"],
    );
    refused(&["show", "sparbit", "-p", "5", "--svg", "never-written.svg", "--rounds", "-1"], &["counted from 0"]);
    refused(&["show", "sparbit", "-p", "5", "--svg", "never-written.svg", "--columns", "0"], &["at least 1"]);
    refused(&["show", "sparbit", "-p", "5", "--rounds", "1"], &["--svg"]);
}

// ---- check

#[test]
fn the_whole_catalogue_is_right_and_runs() {
    let up_to: u32 = if everything() { 20 } else { 6 };
    let report = json_with(&["check", "--all", "-p", &format!("1..={up_to}")], 0);
    assert_eq!(report["ok"], true);
    let collectives = report["collectives"].as_array().unwrap();
    assert!(collectives.len() >= 6);
    for one in collectives {
        assert_eq!(one["verdict"], "ok", "{one}");
        assert_eq!(one["runs_correct"], true, "{one}");
        assert!(one["runs"].as_u64().unwrap() > 0, "{one}");
    }
    let of = |name: &str| collectives.iter().find(|one| one["name"] == name).unwrap();
    assert_eq!(
        (&of("allgather/sparbit")["checked"], &of("allgather/sparbit")["refused"]),
        (&json!(up_to), &json!(0))
    );
    let (doubling, powers_of_two) = (of("allgather/recursive-doubling"), up_to.ilog2() + 1);
    let expected = (&json!(powers_of_two), &json!(up_to - powers_of_two));
    assert_eq!((&doubling["checked"], &doubling["refused"]), expected);
    assert!(of("allgather/k-bruck")["checked"].as_u64().unwrap() > u64::from(up_to), "every radix within the limits");
}

#[test]
fn ranges_are_as_in_rust() {
    for (range, points) in [("7", 1), ("1..8", 7), ("1..=8", 8)] {
        let report = json_with(&["check", "sparbit", "-p", range], 0);
        assert_eq!(report["collectives"][0]["checked"], points, "{range}");
    }
    for range in ["0..4", "4..4", "8..=2", "x", "1..", "..", "", "1..=100000"] {
        refused(&["check", "sparbit", "-p", range], &[]);
    }
}

#[test]
fn nothing_checked_is_said() {
    let output = roundel(&["check", "allgather/recursive-doubling", "-p", "3"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("nothing checked"), "{}", stderr(&output));
    let report = json_with(&["check", "allgather/recursive-doubling", "-p", "5..=7"], 1);
    assert_eq!(report["collectives"][0]["verdict"], "nothing-checked");
    assert_eq!(report["collectives"][0]["refused"], 3);
    // With --all the range need not fit every collective.
    let report = json_with(&["check", "--all", "-p", "3"], 0);
    assert!(report["collectives"].as_array().unwrap().iter().any(|one| one["verdict"] == "nothing-checked"));
}

#[test]
fn a_good_file_is_checked_without_compiling_it() {
    let files = Files::new();
    let path = files.write("good.rs", &ring("0..p - 1", "rank + 1", "rank - 1 - s"));
    let report = json_with(&["check", &path], 0);
    let one = &report["collectives"][0];
    assert_eq!((&one["name"], &one["verdict"], &one["origin"]), (&json!("MyRing"), &json!("ok"), &json!(path)));
    assert_eq!(one["runs"], Value::Null);
    assert_eq!(json_with(&["check", &path, "-p", "1..=9"], 0)["collectives"][0]["checked"], 9);
    assert!(text(&["check", &path]).contains("1 collective correct"));
}

/// The violation of a wrong file: its line and column, its code and its smallest p.
fn violation(content: &str) -> (u64, u64, String, u64) {
    let files = Files::new();
    let path = files.write("wrong.rs", content);
    let report = json_with(&["check", &path], 1);
    let one = &report["collectives"][0];
    assert_eq!(one["verdict"], "violation");
    let error = &one["errors"][0];
    assert_eq!(error["file"], path);
    let number = |value: &Value| value.as_u64().unwrap();
    let code = one["violation"]["code"].as_str().unwrap().to_string();
    let shown = stderr(&roundel(&["check", &path]));
    let place = format!("--> {path}:{}:{}", error["line"], error["column"]);
    assert!(shown.contains(&place) && shown.contains('^'), "{place} in {shown}");
    assert!(shown.contains("with p = "), "the smallest counterexample: {shown}");
    (number(&error["line"]), number(&error["column"]), code, number(&one["violation"]["p"]))
}

#[test]
fn wrong_files_are_told_where_and_why() {
    let wrong = violation(&ring("0..p - 1", "rank + 1", "rank - s"));
    assert_eq!(wrong, (8, 34, "different-blocks".into(), 2));
    let wrong = violation(&ring("0..p - 2", "rank + 1", "rank - 1 - s"));
    assert_eq!((wrong.0, wrong.2, wrong.3), (6, "coverage".into(), 2));
    let wrong = violation(&ring("0..p", "rank + 1", "rank - 1 - s"));
    assert_eq!((wrong.2, wrong.3), ("self-message".into(), 1));
    let wrong = violation(&ring("0..p - 1", "rank + 2", "rank - 1 - s"));
    assert_eq!((wrong.2, wrong.3), ("self-message".into(), 2));
    let wrong = violation(&ring("0..p - 1 + 0 / (p - 3)", "rank + 1", "rank - 1 - s"));
    assert_eq!((wrong.0, wrong.2, wrong.3), (6, "domain".into(), 3));
}

#[test]
fn malformed_files_are_exit_2_with_a_place() {
    let files = Files::new();
    let good = ring("0..p - 1", "rank + 1", "rank - 1 - s");
    let cases = [
        ("receive.rs", good.replace("#[recv", "#[receive"), ":8:", "did you mean `recv`?"),
        ("unknown.rs", good.replace("#[recv", "#[takes"), ":8:", "`takes` is not a clause of a collective"),
        ("syntax.rs", good.replace("rank - s]", "rank - s"), ":7:", "not Rust"),
        ("half.rs", good.replace("pub struct MyRing;", "pub struct"), ":9:", "expected"),
        ("name.rs", good.replace("rank + 1", "rnk + 1"), ":7:13", "did you mean `rank`"),
        ("clause.rs", good.replace("#[send", "#[sends"), ":7:3", "did you mean `send`"),
        ("field.rs", good.replace("to = rank", "too = rank"), ":7:8", "has no field `too`; did you mean `to`?"),
        ("index.rs", good.replace("send(to", "send(j in 1..3, to"), ":7:8", "write `for j in …`"),
        ("letter.rs", good.replace("rank + 1", "rank + S"), ":7:20", "did you mean `s`?"),
        ("function.rs", good.replace("0..p - 1", "0..log2(p)"), ":6:17", "did you mean `ceil_log`?"),
    ];
    for (name, content, place, words) in cases {
        let path = files.write(name, &content);
        let output = roundel(&["check", &path]);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{name}: {message}");
        assert!(message.contains(&format!("{path}{place}")) && message.contains(words), "{name}: {message}");
        let report = json_with(&["check", &path], 2);
        assert_eq!(report["collectives"][0]["verdict"], "malformed");
        assert_eq!(report["ok"], false);
    }
    let none = files.write("none.rs", "fn main() {}\n");
    refused(&["check", &none], &["declares no collective"]);
    refused(&["check", &files.name("missing.rs")], &["cannot read", "missing.rs"]);
    let binary = files.path("binary.rs");
    std::fs::write(&binary, [0xff, 0xfe, 0x00]).unwrap();
    refused(&["check", binary.to_str().unwrap()], &["cannot read"]);
}

#[test]
fn a_violation_outweighs_a_malformed_file() {
    let files = Files::new();
    let wrong = files.write("wrong.rs", &ring("0..p - 2", "rank + 1", "rank - 1 - s"));
    let malformed = files.write("malformed.rs", "struct ;");
    let report = json_with(&["check", &malformed, &wrong], 1);
    let verdicts: Vec<&Value> = report["collectives"].as_array().unwrap().iter().map(|one| &one["verdict"]).collect();
    assert_eq!(verdicts, ["malformed", "violation"]);
}

#[test]
fn all_declarations_of_a_file_are_checked() {
    let files = Files::new();
    let one = ring("0..p - 1", "rank + 1", "rank - 1 - s");
    let two = ring("0..p - 2", "rank + 1", "rank - 1 - s").replace("MyRing", "Short");
    let path = files.write("two.rs", &format!("mod one {{ {one} }}\nmod two {{ {two} }}\n"));
    let report = json_with(&["check", &path], 1);
    let names: Vec<(&Value, &Value)> =
        report["collectives"].as_array().unwrap().iter().map(|one| (&one["name"], &one["verdict"])).collect();
    assert_eq!(names, [(&json!("MyRing"), &json!("ok")), (&json!("Short"), &json!("violation"))]);
}

#[test]
fn something_must_be_named() {
    refused(&["check"], &["--all"]);
    refused(&["mutants"], &["--all"]);
    refused(&["check", "--all", "sparbit"], &["--all"]);
    refused(&["check", "quicksort"], &["quicksort"]);
}

/// The files of the derive's own tests.
fn ui(theme: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ui").join(theme);
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect();
    assert!(!files.is_empty(), "{}", folder.display());
    files
}

/// The errors in a compiler's output: message, source line and the carets below it.
fn errors(text: &str) -> Vec<(String, String, String)> {
    let error = |part: &str| {
        let lines: Vec<&str> = part.lines().collect();
        let shown: Vec<&str> = lines.iter().filter_map(|line| line.split_once('|')).map(|(_, shown)| shown).collect();
        let at = shown.iter().position(|line| line.contains('^') && line.trim_matches([' ', '^']).is_empty())?;
        let line = |i: usize| shown[i].trim_end().to_string();
        Some((lines.first()?.to_string(), line(at.checked_sub(1)?), line(at)))
    };
    let text = format!("\n{text}");
    text.split("\nerror: ").skip(1).filter_map(error).collect()
}

#[test]
fn the_command_line_says_what_the_derive_says() {
    for (theme, code) in [("violations", 1), ("misuse", 2)] {
        let messages = std::fs::read_to_string(format!("../tests/ui/{theme}.stderr")).unwrap();
        for path in ui(theme) {
            let output = roundel(&["check", path.to_str().unwrap()]);
            assert_eq!(output.status.code(), Some(code), "{}: {}", path.display(), stderr(&output));
            let found = errors(&stderr(&output));
            let file = format!("--> {theme}/{}\n", path.file_name().unwrap().to_str().unwrap());
            let of_file: String = format!("\n{messages}")
                .split("\nerror: ")
                .filter(|message| message.contains(&file))
                .map(|message| format!("error: {message}\n"))
                .collect();
            let expected = errors(&of_file);
            assert!(!found.is_empty() && !expected.is_empty(), "{}: {}", path.display(), stderr(&output));
            for error in found {
                assert!(expected.contains(&error), "{}: {error:?} is not in {expected:#?}", path.display());
            }
        }
    }
}

#[test]
fn what_the_derive_accepts_is_right_and_its_mutants_are_judged_right() {
    for path in every(4, ui("pass")) {
        let path = path.to_str().unwrap();
        assert_eq!(json_with(&["check", path], 0)["ok"], true, "{path}");
        // The exit code is 1 if the domain begins beyond the range.
        let output = roundel(&["mutants", path, "-p", "1..=14", "--json"]);
        let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
        for one in report["collectives"].as_array().unwrap() {
            assert_eq!((&one["escaped"], &one["false_alarms"]), (&json!(0), &json!(0)), "{path}");
            assert_eq!(one["original"], Value::Null, "{path}");
        }
    }
}

// ---- run

#[test]
fn runs_are_compared_with_the_definition() {
    for (name, extra) in
        [("sparbit", vec![]), ("bruck", vec!["--layout", "in-place"]), ("bruck", vec!["--layout", "rotated"])]
    {
        for p in ["1", "2", "5"] {
            let args = [vec!["run", name, "-p", p, "--bytes", "100", "--repeat", "3"], extra.clone()].concat();
            let report = json_with(&args, 0);
            let p: u64 = p.parse().unwrap();
            assert_eq!(report["correct"], true);
            assert_eq!(report["bytes_moved"], p * (p - 1) * 100);
            assert!(report["median_seconds"].as_f64().unwrap() >= 0.0);
        }
    }
    assert!(text(&["run", "allgather/k-bruck", "-n", "4", "--set", "radix=3", "--bytes", "0"]).contains("correct"));
}

#[test]
fn what_cannot_be_run() {
    refused(&["run", "sparbit", "-n", "0"], &["0 ranks"]);
    refused(&["run", "sparbit", "-n", "100000"], &["thread"]);
    refused(&["run", "sparbit", "-n", "4", "--layout", "rotated"], &["no rotated layout"]);
    refused(&["run", "sparbit", "-n", "4", "--layout", "sideways"], &["sideways"]);
    refused(&["run", "sparbit", "-n", "4", "--repeat", "0"], &["0"]);
    refused(&["run", "sparbit", "-n", "4", "--bytes", "99999999999999"], &["--bytes"]);
    refused(&["run", "allgather/recursive-doubling", "-n", "6"], &["requires"]);
    refused(&["run", "allgather/k-bruck", "-n", "6", "--set", "radix=0"], &["radix"]);
}

// ---- list, expand, mutants

/// The catalogue is proved for all parameters, so whatever is checked can also be run; a file has no code to run.
#[test]
fn what_is_checked_is_also_run() {
    let shift = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/src/algorithms/allreduce/cyclic_shift.rs");
    for ports in every(3, ["ports=3,3", "ports=3", "ports=1..=3"]) {
        let check = |name: &str| {
            let report = json_with(&["check", name, "--set", ports, "-p", "1..=4"], 0);
            let one = report["collectives"][0].clone();
            assert!(one["checked"].as_u64().unwrap() > 0, "{one}");
            one
        };
        let one = check("allreduce/cyclic-shift");
        assert!(one["runs"].as_u64().unwrap() > 0 && one["runs_correct"] == true, "{one}");
        let one = check(shift.to_str().unwrap());
        assert!(one["runs"].is_null() && one["runs_correct"].is_null(), "{one}");
    }
}

#[test]
fn the_list_has_every_fact() {
    let list = json_with(&["list"], 0);
    let of = |name: &str| list.as_array().unwrap().iter().find(|one| one["name"] == name).unwrap().clone();
    assert_eq!(of("allgather/sparbit")["requires"], json!([]));
    assert_eq!(of("allgather/sparbit")["kind"], "allgather");
    assert_eq!(of("allgather/k-bruck")["parameters"], json!([{ "name": "radix", "list": false, "domain": "2.." }]));
    assert_eq!(of("allgather/bruck")["layouts"], json!(["rotated(rank)", "in_place"]));
    assert_eq!(of("allgather/sparbit")["proved_for"], "all p");
    let all = text(&["list"]);
    assert!(all.contains("any p") && all.contains("ceil_log(2, p)") && all.contains("p - 1"), "{all}");
    assert!(all.contains("proved for") && all.contains("all p, all radix"), "{all}");
    for line in all.lines() {
        assert!(line.chars().count() <= 100, "{} columns: {line}", line.chars().count());
    }
    for entry in list.as_array().unwrap() {
        assert!(all.contains(entry["name"].as_str().unwrap()));
    }
    for entry in list.as_array().unwrap() {
        let one = text(&["list", entry["name"].as_str().unwrap()]);
        assert!(one.lines().all(|line| line.chars().count() <= 100), "{one}");
    }
    let one = text(&["list", "bruck"]);
    assert!(one.contains("rotated(rank) (the default), in_place") && one.contains("each blocks_sent"), "{one}");
    assert_eq!(json_with(&["list", "alltoall/"], 0).as_array().unwrap().len(), 6);
}

#[test]
fn generated_code_is_printed() {
    let short = text(&["expand", "sparbit"]);
    let code = syn::parse_file(&short).unwrap();
    assert!(!code.items.is_empty());
    assert!(short.contains("impl Collective for Sparbit") && short.contains("fn rounds"), "{short}");
    assert!(
        !short.contains("fn schedule()")
            || short.lines().all(|l| !l.contains("fn schedule()") || l.starts_with("//"))
    );
    let long = text(&["expand", "sparbit", "--all"]);
    assert!(long.contains("fn schedule()") && long.len() > short.len());
    assert_eq!(json_with(&["expand", "sparbit"], 0)[0]["name"], "Sparbit");
}

#[test]
fn generated_code_of_files() {
    let files = Files::new();
    let one = ring("0..p - 1", "rank + 1", "rank - 1 - s");
    let path = files.write("two.rs", &format!("mod a {{ {one} }} mod b {{ {} }}", one.replace("MyRing", "Other")));
    let all = text(&["expand", &path]);
    assert!(all.contains("Collective for MyRing") && all.contains("Collective for Other"));
    let other = text(&["expand", &path, "--type", "Other"]);
    assert!(!other.contains("MyRing") && other.contains("Other"));
    refused(&["expand", &path, "--type", "Third"], &["Third", "MyRing, Other"]);
    let malformed = files.write("malformed.rs", "struct ;");
    refused(&["expand", &malformed], &["malformed.rs:1:8"]);
}

#[test]
fn collectives_are_written_as_c() {
    let files = Files::new();
    let printed = text(&["emit", "c", "sparbit"]);
    assert!(
        printed.contains("int roundel_allgather_sparbit(") && printed.contains("#[send(to = rank + d"),
        "{printed}"
    );
    assert!(printed.contains("all p; schedule "), "the proof record is in the head");
    let one = ring("0..p - 1", "rank + 1", "rank - 1 - s");
    let path = files.write("two.rs", &format!("mod a {{ {one} }} mod b {{ {} }}", one.replace("MyRing", "Other")));
    refused(&["emit", "c", &path], &["MyRing, Other", &format!("`{path}:MyRing`")]);
    assert!(text(&["emit", "c", &path, "--type", "Other"]).contains("there is no proof record"));
    let wrong = files.write("wrong.rs", &ring("0..p - 1", "rank + 1", "rank - s"));
    refused(&["emit", "c", &wrong], &["MyRing is wrong"]);
    refused(&["emit", "c", "sparbit", "-o", "/nowhere/sparbit.c"], &["/nowhere/sparbit.c", "directory"]);
    refused(&["emit", "c", "sparbit", "--header", "sparbit.h"], &["--output"]);
    refused(&["emit", "c", "sparbit", "--calls", "smoke"], &["mpi, macros"]);
    refused(&["emit", "fortran", "sparbit"], &["fortran"]);
    refused(&["emit", "c", "allgather/nothing"], &["allgather/nothing"]);
    refused(&["emit", "c", "nowhere.rs"], &["nowhere.rs"]);
    refused(&["emit", "c", &files.write("malformed.rs", "struct ;")], &["malformed.rs:1:8"]);
    let output = roundel(&["emit", "c", &files.write("none.rs", "struct Nothing;")]);
    assert!(!output.status.success() && stdout(&output).is_empty(), "a file without a collective");
}

#[test]
fn a_header_and_a_harness_are_files_of_their_own() {
    let files = Files::new();
    let [code, header, harness] = ["sparbit.c", "sparbit.h", "harness.c"].map(|name| files.write(name, ""));
    text(&["emit", "c", "sparbit", "-o", &code, "--header", &header, "--harness", &harness]);
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    assert!(read(&header).contains("int roundel_allgather_sparbit(") && read(&header).contains("extern \"C\""));
    assert!(read(&code).contains("#include \"sparbit.h\"") && !read(&code).contains("assert"));
    assert!(read(&harness).contains("#include \"sparbit.c\"") && read(&harness).contains("int main("));
    for file in [&code, &header, &harness] {
        assert!(read(file).starts_with("/* SPDX-License-Identifier: Apache-2.0 */\n"), "{file}");
    }
    assert!(text(&["emit", "c", "sparbit", "--calls", "macros"]).contains("#error \"define ROUNDEL_SENDRECV"));
}

/// The head of a file names the calls that it does not have.
#[test]
fn calls_that_a_file_has_not_are_in_its_head() {
    for name in ["alltoall/pairwise", "alltoall/spread-out"] {
        assert!(text(&["emit", "c", name]).contains("int roundel_alltoallv_"), "{name}");
    }
    for name in ["alltoall/modified-bruck", "alltoall/leaders", "alltoall/hierarchical"] {
        let code = text(&["emit", "c", name]);
        assert!(!code.contains("int roundel_alltoallv_") && code.contains("no call like MPI_Alltoallv"), "{name}");
    }
}

#[test]
fn no_mutant_escapes() {
    let asked: &[&str] = if everything() { &[] } else { &["--sample", "40"] };
    let report = json_with(&[&["mutants", "--all", "-p", "1..=9"], asked].concat(), 0);
    for one in report["collectives"].as_array().unwrap() {
        assert_eq!((&one["escaped"], &one["false_alarms"]), (&json!(0), &json!(0)), "{}", one["name"]);
        let sum = |key: &str| one[key].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum::<u64>();
        assert_eq!(sum("killed") + sum("survived"), one["mutants"].as_u64().unwrap());
        // Few nodes fit in nine ranks, so details of later rounds make no difference.
        let name = one["name"].as_str().unwrap();
        let looks_at_nodes =
            ["locality-bruck", "hierarchical", "multi-lane", "smp", "nap"].iter().any(|end| name.ends_with(end));
        // A sequence has few clauses; nothing is wrong without its claims about the order, and its stages refuse roots
        // that are no ranks.
        let is_sequence = roundel::algorithms::find(name).is_ok_and(|entry| (entry.schedule)().is_sequence());
        let times = if is_sequence {
            1
        } else if looks_at_nodes {
            3
        } else {
            4
        };
        assert!(sum("killed") > times * sum("survived"), "{name}: {} of {}", sum("killed"), one["mutants"]);
        let described = one["all"].as_array().unwrap();
        assert_eq!(described.len() as u64, one["mutants"].as_u64().unwrap());
    }
    let report = json_with(&["mutants", "allgather/sparbit", "-p", "1..=9"], 0);
    let sparbit = &report["collectives"][0];
    let wanted = "send #0 blocks: `rank - 2 * j * d()` -> `rank + 2 * j * d()`";
    let texts: Vec<&str> =
        sparbit["all"].as_array().unwrap().iter().map(|m| m["description"].as_str().unwrap()).collect();
    assert!(texts.iter().any(|text| text.replace("d()", "d") == wanted.replace("d()", "d")), "{texts:#?}");
}

#[test]
fn no_mutant_escapes_the_harnesses() {
    let report = json_with(&["mutants", "--all", "--engine", "harness", "-p", "1..=8", "--sample", "30"], 0);
    assert_eq!(report["engine"], "harness");
    for one in report["collectives"].as_array().unwrap() {
        assert_eq!((&one["escaped"], &one["false_alarms"]), (&json!(0), &json!(0)), "{}", one["name"]);
        let sum = |key: &str| {
            let counts = one[key].as_object().into_iter().flat_map(|counts| counts.values());
            counts.map(|n| n.as_u64().unwrap()).sum::<u64>()
        };
        let (killed, others) = (sum("killed"), sum("survived") + sum("unclaimed"));
        assert_eq!(killed + others, one["mutants"].as_u64().unwrap(), "{}", one["name"]);
        assert!(killed > others, "{}", one["name"]);
    }
    let cyclic_shift = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/cyclic-shift/src/lib.rs");
    let shown = text(&["mutants", cyclic_shift.to_str().unwrap(), "--engine", "harness", "-p", "1..=4"]);
    assert!(shown.contains("killed: receives_match") && shown.contains("not claimed: holds"), "{shown}");
    // Rounds that cannot be examined one by one: several indices, and placement.
    for path in ui("pass").iter().filter(|path| path.ends_with("nested_indices.rs") || path.ends_with("placement.rs"))
    {
        text(&["mutants", path.to_str().unwrap(), "--engine", "harness", "-p", "1..=5"]);
    }
    let refused = roundel(&["mutants", "allreduce/ring", "--engine", "harness"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("no Kani harnesses"), "{}", stderr(&refused));
}

#[test]
fn mutants_of_files() {
    let files = Files::new();
    let path = files.write("good.rs", &ring("0..p - 1", "rank + 1", "rank - 1 - s"));
    assert!(text(&["mutants", &path, "-p", "1..=8", "--survivors"]).contains("MyRing"));
    let wrong = files.write("wrong.rs", &ring("0..p - 2", "rank + 1", "rank - 1 - s"));
    let output = roundel(&["mutants", &wrong]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("is wrong itself"), "{}", stdout(&output));
    let malformed = files.write("malformed.rs", "struct ;");
    refused(&["mutants", &malformed], &["malformed.rs:1:8"]);
    let output = roundel(&["mutants", "allgather/recursive-doubling", "-p", "3"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("nothing measured"), "{}", stdout(&output));
    let asked: &[&str] = if everything() { &[] } else { &["--sample", "20"] };
    json_with(&[&["mutants", "--all", "-p", "3"], asked].concat(), 0);
}

// ---- the rest

#[test]
fn help_has_examples_everywhere() {
    for command in
        [&[][..], &["list"], &["show"], &["check"], &["run"], &["expand"], &["emit"], &["mutants"], &["new"]]
    {
        let help = text(&[command, &["--help"]].concat());
        assert!(help.contains("Examples:") && help.contains("roundel "), "{help}");
    }
    refused(&[], &["Usage"]);
    refused(&["frobnicate"], &["frobnicate"]);
    assert!(text(&["--version"]).starts_with("roundel "));
}

#[test]
fn shells_complete_and_manuals_are_written() {
    for (shell, words) in [("bash", "_roundel()"), ("zsh", "#compdef roundel"), ("fish", "complete -c roundel")] {
        let script = text(&["completions", shell]);
        assert!(script.contains(words), "{script}");
        // Fish completes commands and options only.
        assert!(shell == "fish" || script.contains("allgather/sparbit"), "{script}");
    }
    refused(&["completions", "basic"], &["basic"]);
    let files = Files::new();
    text(&["man", &files.name("man1")]);
    for (page, words) in [
        ("roundel.1", "check the whole catalogue"),
        ("roundel-check.1", "NAME=RANGE"),
        ("roundel-trace.1", "ROUNDEL_TRACE"),
    ] {
        let page = std::fs::read_to_string(files.path("man1").join(page)).unwrap();
        assert!(page.contains(".TH roundel") && page.contains(words), "{page}");
    }
    let file = files.write("occupied", "");
    refused(&["man", &file], &["cannot write"]);
}

#[test]
fn colours_only_where_wanted() {
    let run = |name: &str, value: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundel"));
        command.args(["show", "allgather/ring", "-p", "3"]).env_remove("NO_COLOR").env(name, value);
        stdout(&command.output().unwrap())
    };
    assert!(run("CLICOLOR_FORCE", "1").contains('\u{1b}'));
    assert!(!run("NO_COLOR", "1").contains('\u{1b}'));
}

#[test]
fn no_file_is_left_behind_by_a_refusal() {
    assert!(!Path::new("never-written.svg").exists());
}

// ---- declarations that would take forever

#[test]
fn a_range_without_end_is_refused_at_once() {
    let files = Files::new();
    for (rounds, recv) in [("0..pow(10, 12)", "rank - 1 - s"), ("0..p - 1", "rank - 1 - s; k in 0..pow(10, 12)")] {
        let file = files.write("mine.rs", &ring(rounds, "rank + 1", recv));
        let output = roundel(&["check", &file]);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains("this is too long to be checked") && message.contains("in 0..pow(10, 12)` takes"));
    }
}

const DIRECT: &str = "#[collective(allgather)]
    #[round(s in 1..p)]
    #[send(to = rank + s, blocks = [rank])]
    #[recv(from = rank - s, blocks = [rank - s])]";

#[test]
fn declarations_are_found_wherever_they_stand() {
    let files = Files::new();
    let source = format!(
        "fn main() {{\n#[derive(roundel::Collective)]\n{DIRECT}\nstruct Local;\nif true {{ #[derive(Clone, Collective)] {DIRECT} \
         struct Deep; }} }}\n\
         #[cfg_attr(all(), derive(Collective), derive(Clone))]\n{DIRECT}\nstruct Conditional;\n\
         #[cfg_attr(all(), derive(Clone))]\nstruct Other;\n\
         impl Other {{ fn f() {{ mod inner {{ #[derive(Collective)]\n{DIRECT}\npub struct r#type; }} }} }}\n"
    );
    let file = files.write("odd.rs", &source);
    let report = json_with(&["check", &file, "-p", "1..=5"], 0);
    let names: Vec<&str> =
        report["collectives"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Local", "Deep", "Conditional", "type"]);
    let code = text(&["expand", &file, "--type", "type"]);
    assert!(code.contains("impl Collective for r#type"), "{code}");
}

#[test]
fn a_path_that_is_no_rust_file_is_said_to_be_one() {
    let files = Files::new();
    let file = files.write("notes", "");
    for path in [file.as_str(), "/no/such/thing", "./ring", "../ring"] {
        refused(&["check", path], &[path, "ends in `.rs`"]);
    }
    refused(&["check", "allgather/rang"], &["did you mean `allgather/ring`?"]);
}

// ---- mistakes

/// Negative numbers are not taken for options.
#[test]
fn negative_numbers_are_refused_in_our_words() {
    for args in [
        &["show", "sparbit", "-p", "-1"][..],
        &["run", "sparbit", "-p", "-1"],
        &["check", "sparbit", "-p", "-1"],
        &["prove", "sparbit", "-p", "-3..=4"],
        &["mutants", "sparbit", "-p", "-1..=4"],
        &["show", "sparbit", "-p", "4", "--rank", "-1"],
        &["show", "sparbit", "-p", "4", "--ppn", "-2"],
        &["run", "sparbit", "-p", "4", "--bytes", "-8"],
        &["mutants", "sparbit", "--sample", "-5"],
        &["mutants", "sparbit", "--only", "-5"],
        &["prove", "sparbit", "--limit", "-1"],
        &["plan", "allreduce/ring", "-p", "-5"],
        &["plan", "allreduce/ring", "-p", "5", "--node", "-1"],
        &["selection", "explain", "allreduce", "-p", "-4"],
        &["explain", "allreduce", "-p", "-4"],
    ] {
        refused(args, &["whole number"]);
        let message = stderr(&roundel(args));
        assert!(!message.contains("tip:") && !message.contains("invalid digit"), "{args:?}: {message}");
    }
    refused(&["run", "sparbit", "-p", "4", "--repeat", "-1"], &["-1 is not in 1..=100000"]);
}

#[test]
fn the_number_of_ranks_is_p_everywhere() {
    for args in
        [&["show", "sparbit", "-p", "4"][..], &["run", "sparbit", "-p", "4"], &["check", "sparbit", "-p", "4"]]
    {
        text(args);
    }
    // The same option as mpirun.
    assert!(text(&["run", "sparbit", "-n", "4", "--json"]).contains("\"p\": 4"));
}

/// The number of names that a message suggests.
fn suggested(message: &str) -> usize {
    message.matches("allgather/").count()
        + message.matches("allreduce/").count()
        + message.matches("alltoall/").count()
        + message.matches("binomial").count()
}

#[test]
fn unknown_names_get_few_suggestions() {
    for (name, meant) in [
        ("sparbt", "did you mean `allgather/sparbit` or `reduce-scatter/sparbit`?"),
        ("allgather/Sparbit", "did you mean `allgather/sparbit`?"),
        ("alltoall/brukc", "`alltoall/k-bruck`"),
        ("recursive_doublin", "`allgather/recursive-doubling` or `allreduce/recursive-doubling`?"),
        ("broadcast", "did you mean `broadcast/binomial`, `broadcast/scatter-allgather` or"),
        ("allgather", "`allgather/ring`, "),
        ("recursive-doubling", "several collectives are called"),
    ] {
        for command in [&["show", name, "-p", "4"][..], &["run", name, "-p", "4"], &["check", name], &["list", name]]
        {
            refused(command, &[meant]);
            let found = suggested(&stderr(&roundel(command)).replace(&format!("`{name}`;"), ""));
            assert!((1..=5).contains(&found), "{command:?} suggests {found}");
        }
    }
    refused(&["check", "allgahter/"], &["did you mean `allgather/`?"]);
    refused(&["plan", "alreduce", "-p", "4"], &["did you mean `allreduce/"]);
    refused(&["selection", "explain", "alreduce", "-p", "4"], &["did you mean `allreduce`?"]);
    refused(&["explain", "alltoal", "-p", "4"], &["did you mean `alltoall`?"]);
    refused(&["check", "sorting/"], &["`roundel list`"]);
    refused(&["show", "zzz", "-p", "4", "--json"], &["there is no collective `zzz`"]);
}

#[test]
fn errors_are_json_where_json_is_asked_for() {
    for args in [
        &["show", "sparbit", "-p", "0", "--json"][..],
        &["--json", "check"],
        &["check", "sparbit", "-p", "x", "--json"],
        &["show", "sparbit", "--json"],
        &["frobnicate", "--json"],
        &["emit", "c", "allgather/nothing", "--json"],
        &["prove", "missing.rs", "--json"],
    ] {
        refused(args, &[]);
    }
    let files = Files::new();
    let malformed = files.write("malformed.rs", "struct ;");
    for command in ["prove", "mutants", "expand"] {
        let report = json_with(&[command, &malformed], 2);
        assert_eq!((&report["ok"], &report["errors"][0]["line"]), (&json!(false), &json!(1)), "{command}");
    }
}

#[test]
fn a_file_of_code_is_not_printed_too() {
    let files = Files::new();
    let path = files.name("sparbit.c");
    let report = json_with(&["emit", "c", "sparbit", "-o", &path], 0);
    assert_eq!(report, json!({ "name": "Sparbit", "file": path }));
    assert!(std::fs::read_to_string(&path).unwrap().contains("int roundel_allgather_sparbit("));
    assert!(json_with(&["emit", "c", "sparbit"], 0)["code"].as_str().unwrap().contains("MPI_Comm"));
}

#[test]
fn no_mutants_are_no_sample() {
    refused(&["mutants", "sparbit", "--sample", "0"], &["`0` is no number", "at least 1"]);
    refused(&["mutants", "sparbit", "--order", "2", "--sample", "0"], &["`0` is no number"]);
}

// ---- ranges of parameters

/// A pipeline: the root's vector in so many segments, down a chain.
const PIPELINE: &str = "#[derive(Collective)]
#[collective(broadcast, segments: 1.., root: 0..)]
#[split(segments)]
#[check(p <= 8, segments <= 3, root <= 7)]
#[round(s in 0..p - 1 + segments - 1)]
#[define(place = (rank - root) % p, k = s - place, got = s - place + 1)]
#[send(when = place < p - 1 && k >= 0 && k < segments, to = rank + 1, blocks = [k])]
#[recv(when = place > 0 && got >= 0 && got < segments, from = rank - 1, blocks = [got])]
struct Pipeline { segments: i64, root: i64 }
";

#[test]
fn parameters_are_checked_over_a_range() {
    let files = Files::new();
    let path = files.write("pipeline.rs", PIPELINE);
    let checked = |args: &[&str]| {
        let report = json_with(&[&["check", &path, "-p", "4"], args].concat(), 0);
        (report["collectives"][0]["checked"].clone(), report["collectives"][0]["range"].clone())
    };
    // Four roots, and every number of segments.
    assert_eq!(checked(&["--set", "root=0..=3"]).0, json!(4 * 3));
    assert_eq!(
        checked(&["--set", "root=0..=3", "--set", "segments=1..=64"]),
        (json!(256), json!("4, root = 0..=3, segments = 1..=64"))
    );
    assert_eq!(checked(&["--set", "root=2", "--set", "segments=9..12"]).0, json!(3));
    assert_eq!(
        json_with(&["check", "allgather/k-bruck", "-p", "9", "--set", "radix=2..=20"], 0)["collectives"][0]["checked"],
        19
    );
    let listed = json_with(&["check", "allreduce/cyclic-shift", "-p", "6", "--set", "ports=1,2"], 0);
    assert_eq!(listed["collectives"][0]["checked"], 1);
    // Of several collectives, those that have it.
    text(&["check", "allgather/", "-p", "4", "--set", "radix=2..=5"]);
    refused(&["check", "allgather/", "-p", "3", "--set", "segments=2"], &["none of the collectives", "segments"]);
    refused(&["check", "allgather/k-bruck", "--set", "radix=1..=5"], &["must lie in 2.."]);
    refused(&["check", "allgather/k-bruck", "--set", "radix=5..=4"], &["it is empty"]);
    refused(&["check", "sparbit", "--set", "radix=2"], &["no parameter `radix`"]);
    refused(&["show", "allgather/k-bruck", "-p", "4", "--set", "radix=2..=4"], &["is a range", "one value"]);
}

#[test]
fn a_proof_states_the_range_of_parameters() {
    let files = Files::new();
    let (path, record) = (files.write("pipeline.rs", PIPELINE), files.name("record.json"));
    let prove = |set: &[&str]| {
        let args = ["prove", &path, "--engine", "exhaustive", "-p", "1..=5", "--record", &record];
        roundel(&[&args[..], set, &["--json"]].concat())
    };
    let output = prove(&["--set", "segments=1..=9"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let range = report["collectives"][0]["proved_for"].as_str().unwrap();
    assert!(range.starts_with("p <= 5, segments <= 9"), "{range}");
    let record: Value = serde_json::from_str(&std::fs::read_to_string(&record).unwrap()).unwrap();
    assert_eq!(record["range"]["numbers"][0], 9);
    // The range leaves out small values, which no record can express.
    let report: Value = serde_json::from_str(&stdout(&prove(&["--set", "segments=4..=9"]))).unwrap();
    assert_eq!(report["collectives"][0]["proved_for"], Value::Null);
    assert!(report["collectives"][0]["note"].as_str().unwrap().contains("leaves out smaller values"), "{report}");
}

#[test]
fn many_parameters_are_checked_in_time() {
    let files = Files::new();
    let fields = "{ a: Vec<i64>, b: Vec<i64>, c: Vec<i64>, d: i64 }";
    let rounds = DIRECT.replace("(allgather)", "(allgather, a: list(1..), b: list(1..), c: list(1..), d: 1..)");
    let file = files.write("many.rs", &format!("#[derive(Collective)]\n{rounds}\nstruct Many {fields}\n"));
    let report = json_with(&["check", &file], 0);
    assert!(report["collectives"][0]["checked"].as_u64().unwrap() < 10_000, "{report}");
    let wide = rounds.replace("#[round", "#[check(d <= 1000000000000)]\n#[round");
    let file = files.write("wide.rs", &format!("#[derive(Collective)]\n{wide}\nstruct Wide {fields}\n"));
    let output = roundel(&["check", &file]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("lower the limits in `check`"), "{}", stderr(&output));
}

#[test]
fn a_range_ends_with_the_domain() {
    let files = Files::new();
    let rounds = DIRECT.replace("(allgather)", "(allgather, step: 1..=3, ports: list(1..=1))");
    let file = files
        .write("some.rs", &format!("#[derive(Collective)]\n{rounds}\nstruct S {{ step: i64, ports: Vec<i64> }}\n"));
    let code = text(&["expand", &file, "--all"]);
    assert!(code.contains("p <= 40, step <= 3, len(ports) <= 3 with elements up to 1"), "{code}");
}

#[test]
fn a_placement_that_is_not_checked_is_not_proved() {
    let files = Files::new();
    let rounds = DIRECT.replace("to = rank + s", "to = rank + s + 0 * node");
    let file = files.write("placed.rs", &format!("#[derive(Collective)]\n{rounds}\nstruct Placed;\n"));
    let report = json_with(&["check", &file, "-p", "1..=6"], 0);
    // Every way to divide p ranks into nodes that follow each other.
    assert_eq!(report["collectives"][0]["checked"], 1 + 2 + 4 + 8 + 16 + 32);
    let (record, code) = (files.name("placed.json"), text(&["expand", &file, "--all"]));
    assert!(code.contains("at.is_regular()") && code.contains("nodes of equal size"), "{code}");
    text(&["prove", &file, "-p", "1..=6", "--engine", "exhaustive", "--record", &record]);
    let record: Value = serde_json::from_str(&std::fs::read_to_string(record).unwrap()).unwrap();
    assert_eq!(record["range"]["placements"]["regular"]["all_up_to"], 6);
}

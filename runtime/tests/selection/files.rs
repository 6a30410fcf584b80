//! Malformed files, one by one, with their lines.

use roundel::selection::{Error, Selection};

pub(crate) const GOOD: &str = r#"format = "roundel-selection"
version = 1

[[rule]]
collective = "allreduce"
p = "2..=64"
ppn = ">=2"
placement = "regular"
bytes = "..4KiB"
order = "rank-order"
algorithm = "allreduce/nap"

[[rule]]
collective = "alltoall"
bytes = "<1KiB"
algorithm = "k-bruck"
parameters = { radix = 4 }

[[rule]]
collective = "allreduce"
nodes = 8
ports = "8(-1 1 1 1)"

[[rule]]
collective = "broadcast"
algorithm = "library"
"#;

/// The error after a change of the good file, which must contain the replaced text.
fn changed(from: &str, to: &str) -> Error {
    assert!(GOOD.contains(from), "{from}");
    Selection::parse(&GOOD.replacen(from, to, 1)).expect_err(to)
}

fn says(from: &str, to: &str, line: usize, words: &str) {
    let error = changed(from, to);
    let text = error.to_string();
    assert_eq!(error.line(), line, "{to}: {text}");
    assert!(text.starts_with(&format!("line {line}")) && text.contains(words), "{to}: {text}");
}

#[test]
fn the_good_one_is_read() {
    let selection = Selection::parse(GOOD).expect("is good");
    let said: Vec<String> = selection.rules().iter().map(|rule| format!("{}: {rule}", rule.line)).collect();
    let expected = [
        "4: allreduce p=2..=64 ppn=2.. bytes=0..=4095 placement=regular order=rank-order -> allreduce/nap",
        "13: alltoall bytes=0..=1023 -> alltoall/k-bruck with radix = 4",
        "19: allreduce nodes=8 order=any -> 8(-1 1 1 1)",
        "24: broadcast -> library",
    ];
    assert_eq!(said, expected);
    let empty = Selection::parse("format = \"roundel-selection\"\nversion = 1\n").expect("has no rules");
    assert!(empty.rules().is_empty());
}

#[test]
fn the_example_of_the_documentation_is_read() {
    let text = include_str!("../../../docs/selection.md");
    let example = text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("has one");
    let selection = Selection::parse(example).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(selection.rules().len(), 4);
}

#[test]
fn what_is_no_selection() {
    says("roundel-selection", "roundel-profile", 1, "begin it with `format = \"roundel-selection\"`");
    says("format = \"roundel-selection\"\n", "", 1, "this is no selection");
    says("version = 1\n", "", 1, "`version` is missing");
    says("version = 1", "version = 2", 2, "version `2`, and this program reads version 1");
    says("version = 1", "version = \"1\"", 2, "this selection has version");
    says("p = \"2..=64\"", "p == 4", 6, "column 4");
    says("p = \"2..=64\"", "p = \"2..=64\"\np = 4", 7, "duplicate key");
    says("[[rule]]", "[rule]", 13, "correct the line");
    assert!(matches!(Selection::parse(""), Err(Error::NotASelection { line: 1 })));
    assert!(matches!(Selection::parse("{\"version\": 1}"), Err(Error::Malformed { line: 1, .. })));
    let table = "format = \"roundel-selection\"\nversion = 1\n[rule]\ncollective = \"gather\"\n";
    assert_eq!(Selection::parse(table).expect_err("one table").line(), 3);
    let number = "format = \"roundel-selection\"\nversion = 1\nrule = [1]\n";
    assert!(Selection::parse(number).expect_err("no table").to_string().contains("line 3: `rule` is `1`"));
}

#[test]
fn keys_that_are_missing_or_strange() {
    says("[[rule]]", "rules = 3\n[[rule]]", 4, "the selection has no `rules`");
    says("ppn = ", "ppm = ", 7, "a rule has no `ppm`: remove it, or write one of `collective`, `p`, `nodes`, `ppn`");
    says("collective = \"allreduce\"\n", "", 4, "`collective` is missing in this rule");
    says("algorithm = \"allreduce/nap\"\n", "", 4, "`algorithm` is missing in this rule");
    says("algorithm = \"library\"\n", "", 24, "`algorithm` is missing in this rule");
    says("ports = ", "algorithm = \"nap\"\nports = ", 23, "this one has both: remove one");
}

#[test]
fn values_that_make_no_sense() {
    for wrong in
        ["\"64..2\"", "\"0..4\"", "0", "-3", "1.5", "\"many\"", "\"2..=9999999999\"", "[2, 64]", "\"4KiB\"", "true"]
    {
        says("\"2..=64\"", wrong, 6, &format!("`p` is `{wrong}`: write a range of whole numbers from 1"));
    }
    says("\">=2\"", "\"=>2\"", 7, "`ppn` is `\"=>2\"`");
    says("nodes = 8", "nodes = \"eight\"", 21, "`nodes` is `\"eight\"`");
    says("\"regular\"", "\"round-robin\"", 8, "write \"any\", \"regular\"");
    for wrong in ["\"..4TiB\"", "\"..0\"", "-1", "\"4KiB..1KiB\"", "\"99999999999GiB\""] {
        says("\"..4KiB\"", wrong, 9, "`bytes` is");
    }
    says("\"rank-order\"", "\"ranks\"", 10, "write \"any\", \"same-tree\" or \"rank-order\"");
    says("\"allreduce/nap\"", "7", 11, "the name of an algorithm in quotes");
    says("\"allreduce\"", "[]", 5, "the name of a collective in quotes");
    says("{ radix = 4 }", "4", 17, "names and values, such as { radix = 4 }");
    says("{ radix = 4 }", "{ radix = \"4\" }", 17, "a whole number, or a list of them");
    says("{ radix = 4 }", "{ radix = [2, true] }", 17, "a whole number, or a list of them");
    says("\"8(-1 1 1 1)\"", "8", 22, "factors and ports in quotes");
}

/// A file that is cut anywhere, or has any byte changed, is read, or refused with one of its lines.
#[test]
fn no_text_is_too_strange() {
    // Rules for few ranks, which are checked quickly.
    let small = GOOD.replace("..=64", "..=4").replace("bytes = \"<1KiB\"", "p = \"..=4\"");
    let lines = small.lines().count();
    for end in 0..small.len() {
        if let Err(error) = Selection::parse(&small[..end]) {
            assert!((1..=lines).contains(&error.line()), "{error}");
        }
        for strange in ["\"", "\n", "\u{e9}"] {
            let text = format!("{}{strange}{}", &small[..end], &small[end + 1..]);
            if let Err(error) = Selection::parse(&text) {
                assert!((1..=lines + 1).contains(&error.line()), "{error}");
            }
        }
    }
}

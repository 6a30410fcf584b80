//! docs/mistakes.md: every declaration on the page is refused, with the words that the page has; and every repair that
//! is suggested is one.

use roundel_spec::check::{self, Points};
use roundel_spec::{Schedule, repair};
use roundel_verify::attack::mutants::mutants;
use roundel_verify::source::Source;
use std::process::Command;

/// The declarations of the page, each with what is said about it.
fn examples() -> Vec<(String, String)> {
    let page = include_str!("../../../docs/mistakes.md");
    let fenced = |text: &str, mark: &str| {
        let from = text.find(mark).unwrap() + mark.len();
        text[from..from + text[from..].find("```").unwrap()].to_string()
    };
    page.split("\n## ")
        .skip(1)
        .map(|part| (fenced(part, "```rust,compile_fail\n"), fenced(part, "```text\n")))
        .collect()
}

#[test]
fn the_page_says_what_is_printed() {
    let all = examples();
    assert!(all.len() >= 12);
    for (declaration, words) in all {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine.rs"), &declaration).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundel"));
        let output =
            command.args(["check", "mine.rs"]).env("NO_COLOR", "1").current_dir(folder.path()).output().unwrap();
        assert_ne!(output.status.code(), Some(0), "{declaration}");
        let printed = String::from_utf8(output.stderr).unwrap();
        let printed: Vec<&str> = printed.trim().lines().map(str::trim_end).collect();
        assert_eq!(printed, words.trim().lines().collect::<Vec<_>>(), "{declaration}");
    }
}

/// All but the first, which cannot be read, have a repair.
#[test]
fn every_mistake_of_the_page_has_a_repair() {
    for (declaration, words) in examples().into_iter().skip(1) {
        assert!(words.contains("then every check up to p = "), "{declaration}{words}");
    }
}

/// What is suggested for the mutants of some algorithms passes all checks, also after it was written and read back, and
/// mostly something is suggested: each of them is one edit away from a right declaration.
#[test]
fn repairs_of_mutants_are_right() {
    for name in ["allgather/ring", "allgather/bruck", "allgather/sparbit"] {
        let original = (roundel::algorithms::find(name).unwrap().schedule)();
        let (mut wrong, mut repaired) = (0, 0);
        for mutant in mutants(&original) {
            let points = Points::new(&mutant.schedule, 1..=16);
            let Err(violation) = check::over(&mutant.schedule, &points) else { continue };
            wrong += 1;
            if let Some(found) = repair::suggest(&mutant.schedule, &violation, &points) {
                repaired += 1;
                let text = found.schedule.declaration();
                for schedule in [&found.schedule, &read(&text)] {
                    check::over(schedule, &points)
                        .unwrap_or_else(|wrong| panic!("{}: {}: {wrong}", mutant.description, found.order));
                }
            }
        }
        assert!(wrong > 20 && repaired * 2 > wrong, "{name}: {repaired} of {wrong}");
    }
}

/// The only declaration in a text.
fn read(text: &str) -> Schedule {
    let declared = Source::of_text("text", text).declarations().unwrap_or_else(|reason| panic!("{reason:?}: {text}"));
    let only = declared.into_iter().next().unwrap().result;
    only.unwrap_or_else(|reason| panic!("{reason:?}: {text}")).schedule
}

/// Of too few rounds, the end is wrong and not the beginning.
#[test]
fn rounds_are_not_made_to_begin_at_minus_one() {
    for (rounds, repair) in [("ceil_log(2, p) - 1", "0..ceil_log(2, p)"), ("floor_log(2, p)", "0..ceil_log(2, p)")] {
        let text = format!(
            "#[derive(Collective)]
            #[collective(allgather)]
            #[round(s in 0..{rounds})]
            #[state(D = 1, next = 2 * D)]
            #[send(to = rank - D, blocks = [rank + k; k in 0..min(D, p - D)])]
            #[recv(from = rank + D, blocks = [rank + D + k; k in 0..min(D, p - D)])]
            struct Early;"
        );
        let schedule = read(&text);
        let points = Points::new(&schedule, 1..=16);
        let violation = check::over(&schedule, &points).unwrap_err();
        let found = repair::suggest(&schedule, &violation, &points).unwrap();
        assert!(found.order.contains(&format!("write `s in {repair}`")), "{}", found.order);
    }
}

/// A declaration that cannot be repaired by one edit gets no suggestion.
#[test]
fn no_repair_is_made_up() {
    let text = "#[derive(Collective)]\n#[collective(allgather)]\n#[round(s in 0..3)]\n\
                #[send(to = 2 * rank + 5, blocks = [0])]\n\
                #[recv(from = rank * rank, blocks = [rank * s])]\nstruct Some;";
    let schedule = read(text);
    let points = Points::within_limits(&schedule);
    let violation = check::over(&schedule, &points).unwrap_err();
    assert!(repair::suggest(&schedule, &violation, &points).is_none());
}

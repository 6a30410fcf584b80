//! Proof records: what follows from them, and which are refused or kept.
//!
//! Tests that need z3 say so and pass where it is not installed; with `ROUNDEL_REQUIRE` set they fail there.

use crate::common::z3;
use roundel::Collective;
use roundel::algorithms::{self, Ring, Sparbit};
use roundel_spec::check::{self, Points};
use roundel_spec::proof::{Answered, Exhaustive, Gap, Induction, ProvedRange, Record, RecordError};
use roundel_spec::{Schedule, syntax};
use roundel_verify::proving::prove::{InductionResult as Proof, Obstacle, outdated};
use roundel_verify::proving::smt::{self, Portfolio};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

fn schedule(clauses: &str) -> Schedule {
    let text = format!("#[derive(Collective)]\n{clauses}\nstruct One;");
    syntax::parse(&syn::parse_str(&text).unwrap()).unwrap().schedule
}

fn stored(schedule: &Schedule) -> String {
    std::fs::read_to_string(Record::path(Path::new(algorithms::CRATE_ROOT), schedule)).unwrap()
}

/// A question with this verdict.
fn shown(name: &str, verdict: &str) -> Answered {
    Answered { name: name.into(), query: "0".repeat(32), verdict: verdict.into(), solver: "z3 4.8.12".into() }
}

/// Evidence as if everything had been proved.
fn everything() -> Induction {
    let names = ["000-sends-held-a", "001-peer-inverse-a", "002-coverage-a", "003-machine-width-a", "004-bounds-a"];
    Induction {
        found: Vec::new(),
        obligations: names.map(|name| shown(name, "proved")).into(),
        gaps: vec![],
        lemmas: vec![shown("wrap-32", "proved")],
    }
}

fn checked(schedule: &Schedule, p: usize) -> Option<Exhaustive> {
    Exhaustive::new(schedule, &Points::new(schedule, 1..=p).thorough().checked(schedule, p))
}

#[test]
fn the_range_follows_from_the_evidence() {
    let ring = Ring::schedule();
    let range = |exhaustive, induction| Record::new(&ring, exhaustive, induction).map(|record| record.range.p);
    assert_eq!(range(None, None), None);
    assert_eq!(range(checked(&ring, 8), None), Some(Some(8)));
    assert_eq!(range(None, Some(everything())), Some(None));
    assert_eq!(range(checked(&ring, 8), Some(everything())), Some(None));
    for verdict in ["open", "refuted", "vacuous", ""] {
        for i in 0..4 {
            let mut part = everything();
            part.obligations[i].verdict = verdict.into();
            assert_eq!(range(checked(&ring, 8), Some(part)), Some(Some(8)), "{i} {verdict}");
        }
    }
    let mut gap = everything();
    gap.gaps.push(Gap { property: "invariant".into(), reason: "not encoded".into() });
    assert_eq!(range(None, Some(gap)), None);
    let few = Induction { obligations: everything().obligations[1..].to_vec(), ..everything() };
    assert_eq!(range(None, Some(few)), None);
}

#[test]
fn a_bound_that_is_not_proved_does_not_lower_the_range() {
    let ring = Ring::schedule();
    let mut part = everything();
    part.obligations[4].verdict = "open".into();
    let record = Record::new(&ring, checked(&ring, 8), Some(part)).unwrap();
    assert_eq!((record.range.p, record.bounds.as_ref().unwrap().p), (None, Some(8)));
    assert_eq!((record.granted().all.p, record.text(&ring).as_str()), (None, "all p; bounds for p <= 8"));
    let mut gap = everything();
    gap.gaps.push(Gap { property: "rounds".into(), reason: "not encoded".into() });
    let record = Record::new(&ring, None, Some(gap)).unwrap();
    assert_eq!((record.range.p, record.bounds.unwrap().p), (None, Some(0)));
}

/// An order that is claimed but not proved refuses those calls alone that rely on it.
#[test]
fn an_order_that_is_not_proved_is_not_granted() {
    let doubling = (algorithms::find("allreduce/recursive-doubling").unwrap().schedule)();
    let mut part = everything();
    part.obligations[4] = shown("004-same-tree-a", "open");
    let record = Record::new(&doubling, checked(&doubling, 8), Some(part)).unwrap();
    let granted = record.granted();
    assert_eq!((granted.all.p, granted.ordered.p), (None, Some(8)));
    assert_eq!(record.text(&doubling), "all p; order for p <= 8");
}

/// The selection relies on the orders that are declared in the catalogue.
#[test]
fn the_orders_of_the_catalogue_are_proved_wherever_it_serves() {
    for entry in algorithms::catalogue() {
        let schedule = (entry.schedule)();
        let record = Record::in_crate(Path::new(algorithms::CRATE_ROOT), &schedule).unwrap().unwrap();
        let granted = record.granted();
        assert_eq!(granted.all, granted.ordered, "{}", entry.name);
    }
}

#[test]
fn a_record_lapses_when_the_declaration_changes() {
    let mut schedule = Sparbit::schedule();
    let text = stored(&schedule);
    assert!(Record::read(&text, &schedule).is_ok());
    assert_eq!(Record::read(&text, &Ring::schedule()), Err(RecordError::Declaration));
    schedule.loops[0].transfers.swap(0, 1);
    assert_eq!(Record::read(&text, &schedule), Err(RecordError::Declaration));
}

#[test]
fn a_record_of_an_earlier_version_lapses() {
    let schedule = Sparbit::schedule();
    let text = format!(
        "{{\"collective\": \"Sparbit\", \"schedule\": \"{}\", \"prover\": \"4\", \"range\": {{\"p\": null, \
         \"numbers\": [], \
         \"lists\": []}}, \"evidence\": []}}",
        schedule.fingerprint()
    );
    assert_eq!(Record::read(&text, &schedule), Err(RecordError::Older));
    assert!(
        RecordError::Older.has_lapsed()
            && RecordError::Declaration.has_lapsed()
            && !RecordError::Changed.has_lapsed()
    );
}

/// A record that was changed by hand does not count.
#[test]
fn a_record_that_was_edited_is_refused() {
    let schedule = (algorithms::find("allreduce/cyclic-shift").unwrap().schedule)();
    // A record of the exact check alone, so that there is a range to edit.
    let whole = Record::read(&stored(&schedule), &schedule).unwrap();
    let record = Record::new(&schedule, whole.exhaustive, None).unwrap();
    assert!(record.range.p.is_some());
    let text = record.to_json().unwrap();
    let edits: [&dyn Fn(&mut Value); 8] = [
        &|r| r["range"]["p"] = Value::Null,
        &|r| r["range"]["p"] = 4096.into(),
        &|r| {
            r["range"]["p"] = Value::Null;
            r["exhaustive"]["range"]["p"] = Value::Null;
        },
        &|r| {
            r["range"]["p"] = 4096.into();
            r["exhaustive"]["range"]["p"] = 4096.into();
            r["bounds"]["p"] = 4096.into();
            r["order"]["p"] = 4096.into();
        },
        &|r| r["exhaustive"] = Value::Null,
        &|r| r["exhaustive"]["cases"] = 0.into(),
        &|r| r["exhaustive"]["properties"] = Value::Array(vec![]),
        &|r| {
            r["range"] = serde_json::to_value(ProvedRange::all(&Ring::schedule())).unwrap();
            r["induction"] = serde_json::to_value(everything()).unwrap();
        },
    ];
    for (i, edit) in edits.iter().enumerate() {
        let mut value: Value = serde_json::from_str(&text).unwrap();
        edit(&mut value);
        let found = Record::read(&value.to_string(), &schedule);
        assert!(
            matches!(found, Err(RecordError::Parts(_) | RecordError::Changed | RecordError::Malformed(_))),
            "{i}: {found:?}"
        );
    }
    for length in (0..text.len() - 1).step_by(7) {
        let Some(cut) = text.get(..length) else { continue };
        let cut = Record::read(cut, &schedule);
        assert!(matches!(cut, Err(RecordError::Malformed(_))), "{length}: {cut:?}");
    }
    for other in ["null", "[]", "{}", "{\"collective\": 7}"] {
        assert!(matches!(Record::read(other, &schedule), Err(RecordError::Malformed(_))), "{other}");
    }
}

/// Evidence that was changed together with the digest is detected by generating the questions again.
#[test]
fn other_questions_than_those_of_today_are_found() {
    let schedule = Sparbit::schedule();
    let record = Record::read(&stored(&schedule), &schedule).unwrap();
    assert_eq!(outdated(&schedule, &record), Vec::<String>::new());
    let forged = |change: &dyn Fn(&mut Induction)| {
        let mut part = record.induction.clone().unwrap();
        change(&mut part);
        let forged = Record::new(&schedule, record.exhaustive.clone(), Some(part)).unwrap();
        assert_eq!(forged.fits(&schedule), Ok(()));
        outdated(&schedule, &forged).join("\n")
    };
    let more = format!("{:03}-bounds-more", record.induction.as_ref().unwrap().obligations.len());
    assert!(forged(&|part| part.obligations[3].query = "0".repeat(32)).contains("is another question now"));
    assert!(forged(&|part| drop(part.obligations.pop())).contains("is missing"));
    assert!(forged(&|part| part.obligations.push(shown(&more, "proved"))).contains("is not asked"));
    assert!(forged(&|part| part.lemmas.truncate(1)).contains("lemma"));
    let gap = Gap { property: "bounds".into(), reason: "too long".into() };
    assert!(forged(&|part| part.gaps.push(gap.clone())).contains("not encoded"));
}

#[test]
fn a_range_covers_another_or_not() {
    let ring = Ring::schedule();
    let upto = |p: usize| Points::new(&ring, 1..=p).range(&ring).unwrap();
    assert!(ProvedRange::all(&ring).covers(&upto(64)) && !upto(64).covers(&ProvedRange::all(&ring)));
    assert!(upto(64).covers(&upto(64)) && upto(64).covers(&upto(63)) && !upto(63).covers(&upto(64)));
    let lane = (algorithms::find("allgather/multi-lane").unwrap().schedule)();
    let (few, many) = (Points::new(&lane, 1..=16), Points::new(&lane, 1..=16).thorough());
    let (few, many) = (few.range(&lane).unwrap(), many.range(&lane).unwrap());
    assert!(many.covers(&few) && !few.covers(&many));
    let all = ProvedRange::all(&lane);
    assert!(all.covers(&many) && !many.covers(&all));
}

// ---- the command line

/// A crate with a ring in `src/lib.rs`.
struct Crate(TempDir);

impl Crate {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("Cargo.toml"), "[package]\nname = \"some\"\n").unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        let text = "use roundel::Collective;\n\n#[derive(Collective)]\n#[collective(allgather)]\n\
                    #[round(s in 0..p - 1)]\n#[send(to = rank + 1, blocks = [rank - s])]\n\
                    #[recv(from = rank - 1, blocks = [rank - 1 - s])]\n#[holds(blocks = [rank - o; o in 0..=s])]\n\
                    pub struct MyRing;\n";
        std::fs::write(folder.path().join("src/lib.rs"), text).unwrap();
        Crate(folder)
    }

    fn record(&self) -> PathBuf {
        self.0.path().join("proofs/MyRing.json")
    }

    fn range(&self) -> Value {
        let record: Value = serde_json::from_str(&std::fs::read_to_string(self.record()).unwrap()).unwrap();
        record["range"]["p"].clone()
    }

    /// Runs `roundel prove` on it; returns the exit code and everything that was printed.
    fn prove(&self, more: &[&str]) -> (Option<i32>, String) {
        let file = self.0.path().join("src/lib.rs");
        let output = Command::new(env!("CARGO_BIN_EXE_roundel")).arg("prove").arg(file).args(more).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    }
}

#[test]
fn a_weaker_result_does_not_replace_a_stronger_one() {
    let Some(_) = z3() else { return };
    let one = Crate::new();
    assert_eq!(one.prove(&["-p", "1..=12"]).0, Some(0));
    assert_eq!(one.range(), Value::Null);
    let (_, said) = one.prove(&["--engine", "exhaustive", "-p", "1..=12"]);
    assert!(said.contains("says more, all p, and stays"), "{said}");
    assert_eq!(one.range(), Value::Null);
    let (_, said) = one.prove(&["--engine", "exhaustive", "-p", "1..=12", "--replace"]);
    assert!(!said.contains("stays"), "{said}");
    assert_eq!(one.range(), 12);
    // A record that covers more replaces it; any record replaces one that does not count.
    one.prove(&["--engine", "exhaustive", "-p", "1..=14"]);
    assert_eq!(one.range(), 14);
    let text = std::fs::read_to_string(one.record()).unwrap();
    std::fs::write(one.record(), text.replace("14", "40")).unwrap();
    one.prove(&["--engine", "exhaustive", "-p", "1..=12"]);
    assert_eq!(one.range(), 12);
}

/// A solver that proves everything but the laws: what relies on them is not recorded.
#[cfg(unix)]
#[test]
fn without_its_lemmas_nothing_is_recorded_for_all_p() {
    use std::os::unix::fs::PermissionsExt;
    let Some(z3) = z3() else { return };
    let one = Crate::new();
    let solver = one.0.path().join("solver");
    let script = format!(
        "#!/bin/sh\nquestion=$(cat)\ncase \"$question\" in\n*hypotheses*) echo \"$question\" | {} \"$@\";;\n\
         *) echo unknown;; esac\n",
        z3.display()
    );
    std::fs::write(&solver, script).unwrap();
    std::fs::set_permissions(&solver, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (code, said) = one.prove(&["-p", "1..=12", "--solver", solver.to_str().unwrap()]);
    assert!(code == Some(1) && said.contains("is not proved"), "{said}");
    assert_eq!(one.range(), 12, "{said}");
}

#[test]
fn records_are_verified() {
    let Some(_) = z3() else { return };
    let one = Crate::new();
    let (code, said) = one.prove(&["--verify-records"]);
    assert!(code == Some(0) && said.contains("there is no record"), "{said}");
    assert_eq!(one.prove(&["-p", "1..=12"]).0, Some(0));
    let (code, said) = one.prove(&["--verify-records"]);
    assert!(code == Some(0) && said.contains("all p"), "{said}");
    let (code, said) = one.prove(&["--verify-records", "--again", "-p", "1..=12"]);
    assert!(code == Some(0) && said.contains("as the record says"), "{said}");
    // Points that were not checked, with everything else in order.
    let text = std::fs::read_to_string(one.record()).unwrap();
    let source = std::fs::read_to_string(one.0.path().join("src/lib.rs")).unwrap();
    let clauses = source.split_once("#[derive(Collective)]").unwrap().1.replace("pub struct MyRing;", "");
    let ring = Schedule { name: "MyRing".into(), ..schedule(&clauses) };
    let mut record = Record::read(&text, &ring).unwrap();
    record.exhaustive.as_mut().unwrap().cases = 7;
    let forged = Record::new(&ring, record.exhaustive, record.induction).unwrap();
    std::fs::write(one.record(), forged.to_json().unwrap()).unwrap();
    let (code, said) = one.prove(&["--verify-records"]);
    assert!(code == Some(1) && said.contains("12 points lie in what was checked, and it says 7"), "{said}");
    // A range that does not follow.
    std::fs::write(one.record(), text.replacen("\"p\": null", "\"p\": 4096", 1)).unwrap();
    let (code, said) = one.prove(&["--verify-records"]);
    assert!(code == Some(1) && said.contains("`range` is not what follows from the evidence"), "{said}");
}

/// The records of the catalogue and of the example are up to date.
#[test]
fn the_catalogue_has_the_records_of_today() {
    let example = Path::new(algorithms::CRATE_ROOT).join("../examples/cyclic-shift/src/lib.rs");
    for targets in [vec!["--all"], vec![example.to_str().unwrap()]] {
        let output = Command::new(env!("CARGO_BIN_EXE_roundel"))
            .args(["prove", "--verify-records"])
            .args(targets)
            .output()
            .unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(output.status.success(), "{said}");
        assert!(!said.contains("there is no record"), "{said}");
    }
}

// ---- requirements of both engines

/// Four ranks. The contents of `part` are lost when another line is combined into it; the result is right nevertheless.
const LOSES: &str = "#[collective(allreduce)]\n#[lines(acc, part)]\n#[requires(p == 4)]\n\
    #[round]\n#[send(to = rank + 2)]\n#[recv(from = rank + 2, into = part)]\n\
    #[holds(acc = [rank], part = [rank + 2])]\n\
    #[round]\n#[send(to = rank - 1)]\n#[recv(from = rank + 1, into = part, combine = right, operand = acc)]\n\
    #[holds(acc = [rank], part = [rank, rank + 1])]\n\
    #[round]\n#[send(to = rank + 2, line = part)]\n\
    #[recv(from = rank + 2, into = acc, combine = right, operand = part)]\n\
    #[holds(acc = [rank, rank + 1, rank + 2, rank + 3], part = [rank, rank + 1])]";

#[test]
fn what_is_combined_into_another_line_loses_nothing() {
    let loses = schedule(LOSES);
    let violation = check::over(&loses, &Points::new(&loses, 1..=4)).unwrap_err();
    assert!(violation.to_string().contains("round 1 replaces line `part` by less"), "{violation}");
    let fresh = LOSES
        .replace("lines(acc, part)", "lines(acc, part, both)")
        .replace("into = part, combine", "into = both, combine")
        .replace("line = part", "line = both")
        .replace("operand = part", "operand = both")
        .replace("part = [rank, rank + 1]", "part = [rank + 2], both = [rank, rank + 1]")
        .replacen("part = [rank + 2])", "part = [rank + 2], both = [rank + k; k in 0..0])", 1);
    let fresh = schedule(&fresh);
    assert_eq!(check::over(&fresh, &Points::new(&fresh, 1..=4)), Ok(1));
    let Some(_) = z3() else { return };
    let open = |schedule: &Schedule| {
        let proof = Proof::over("One", schedule, &Portfolio::installed(), &|| {});
        proof.by_property().into_values().flat_map(|one| one.open).collect::<Vec<_>>()
    };
    let is_lost = |open: &[Obstacle]| open.iter().any(|obstacle| obstacle.reason.contains("is not lost"));
    let (lost, kept) = (open(&loses), open(&fresh));
    assert!(is_lost(&lost) && !is_lost(&kept), "{lost:#?} {kept:#?}");
}

/// The exact check has a limit on the number of blocks; a proof for all p has the same limit.
#[test]
fn both_engines_know_how_many_blocks_there_may_be() {
    let clauses = "#[collective(allreduce)]\n#[split(N)]\n#[requires(p == pow(2, floor_log(2, p)))]\n\
                   #[round(s in 0..floor_log(2, p))]\n#[state(D = 1, next = 2 * D)]\n\
                   #[exchange(with = rank ^ D, combine = by_rank)]\n\
                   #[holds(D == pow(2, s), acc = [rank / D * D + k; k in 0..D])]";
    let with = |blocks: &str| schedule(&clauses.replace("split(N)", &format!("split({blocks})")));
    let many = with("if p > 64 { 1000000 } else { 1 }");
    assert!(check::over(&many, &Points::new(&many, 1..=64)).is_ok());
    let violation = check::over(&many, &Points::new(&many, 128..=128)).unwrap_err();
    assert!(violation.to_string().contains("too long"), "{violation}");
    let name = |one: &smt::Obligation| one.name.contains("not-too-many-blocks");
    let Some(_) = z3() else { return };
    // Trivial claims, such as `16 * p <= 16 * p`, are not asked.
    let proved = |blocks: &str| {
        let limit = smt::obligations(&with(blocks)).all.into_iter().find(name);
        let verdict = limit.map(|limit| smt::put("Split", &limit, &Portfolio::installed()));
        matches!(verdict, None | Some(smt::Verdict::Proved { .. }))
    };
    assert!(!proved("if p > 64 { 1000000 } else { 1 }") && !proved("p * p") && !proved("17 * p"));
    assert!(proved("1") && proved("p") && proved("16 * p") && proved("4096"));
}

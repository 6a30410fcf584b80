//! Invariants that are found: the declarations of the catalogue without their `holds` and `hint` are proved for all p,
//! wrong declarations without theirs are not, and where nothing fits the message says what was seen.
//!
//! Declarations are taken from the sources of the catalogue, so that these tests follow every change of them.
//!
//! Tests that need z3 say so and pass where it is not installed; with `ROUNDEL_REQUIRE` set they fail there.

use crate::common::{every, z3};
use roundel::algorithms::{catalogue, find};
use roundel_spec::Schedule;
use roundel_spec::check::{self, Points};
use roundel_spec::proof::{Answered, FoundClause, Record, RecordError};
use roundel_verify::proving::invariants;
use roundel_verify::proving::prove::{self, Base, InductionResult};
use roundel_verify::proving::smt::{Portfolio, Verdict};
use roundel_verify::recorded::of_entry;
use roundel_verify::source::Source;
use std::process::Command;

/// Entries that are proved without a word about what ranks hold, bounds included.
const FOUND: &[&str] = &[
    "allgather/ring",
    "allgather/bruck",
    "allgather/circulant",
    "allgather/k-bruck",
    "allgather/sparbit",
    "allgather/recursive-doubling",
    "allgather/neighbor-exchange",
    "reduce-scatter/pairwise",
    "allreduce/recursive-doubling",
    "allreduce/reduce-broadcast",
    "allreduce/ring",
    "reduce-scatter/circulant",
    "reduce-scatter/cyclic-shift",
    "reduce-scatter/ring",
    "reduce-scatter/neighbor-exchange",
    "reduce-scatter/bruck",
    "reduce-scatter/k-bruck",
    "reduce-scatter/sparbit",
    "reduce/binomial",
    "broadcast/binomial",
    "gather/binomial",
    "scatter/binomial",
    "reduce/binomial-ordered",
    "alltoall/spread-out",
    "alltoall/pairwise",
    "alltoall/k-bruck",
    "alltoall/modified-bruck",
];

/// A text without the attributes that begin like this.
fn without(text: &str, beginnings: &[&str]) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = beginnings.iter().filter_map(|begin| rest.find(begin)).min() {
        kept += &rest[..at];
        let mut depth = 0;
        let end = rest[at..].find(|c: char| {
            depth += i32::from(c == '[') - i32::from(c == ']');
            c == ']' && depth == 0
        });
        rest = rest[at + end.unwrap() + 1..].trim_start();
    }
    kept + rest
}

/// A text without `holds` and `hint`.
fn stripped(text: &str) -> String {
    without(text, &["#[holds(", "#[hint("])
}

fn schedule_of(text: &str) -> Schedule {
    let source = Source::of_text("some.rs", text);
    let declared = source.declarations().unwrap().into_iter().next().unwrap();
    declared.result.unwrap().schedule
}

fn stripped_entry(name: &str) -> Schedule {
    let schedule = schedule_of(&stripped(find(name).unwrap().source));
    assert!(schedule.loops.iter().all(|l| l.holds.is_empty() && l.hints.is_empty()), "{name}");
    schedule
}

/// What a command prints; it must end with this code.
fn roundel(code: i32, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_roundel")).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn proved(name: &str, schedule: &Schedule) -> InductionResult {
    InductionResult::searching(name, schedule, &Portfolio::installed(), &|| {})
}

/// Proves entries of some kinds without a word about what ranks hold.
fn all_are_found(kinds: &[&str]) {
    if z3().is_none() {
        return;
    }
    let of_kinds = |name: &&&str| kinds.iter().any(|kind| name.split('/').next() == Some(kind));
    let names = every(6, FOUND.iter().filter(of_kinds));
    assert!(!names.is_empty(), "{kinds:?}");
    for name in names {
        let result = proved(name, &stripped_entry(name));
        assert!(result.complete(), "{name}: {:?} {:?}", result.findings, result.by_property());
        assert!(!result.findings.clauses.is_empty());
    }
}

/// What was found counts like what is written, and is checked like it.
#[test]
fn flat_entries_leave_out_what_is_found_and_their_records_keep_it() {
    let states = |schedule: &Schedule| schedule.loops.iter().any(|l| !l.holds.is_empty() || !l.hints.is_empty());
    for entry in catalogue() {
        let (schedule, claimed) = ((entry.schedule)(), of_entry(entry));
        if schedule.uses_placement() || schedule.within().next().is_some() {
            continue;
        }
        assert_eq!(states(&schedule), !FOUND.contains(&entry.name), "{}", entry.name);
        assert!(states(&claimed), "{}", entry.name);
        check::over(&claimed, &Points::new(&claimed, 1..=9))
            .unwrap_or_else(|wrong| panic!("{}: {wrong}", entry.name));
    }
}

#[test]
fn clauses_of_a_record_are_proved_again_and_wrong_ones_are_dropped() {
    if z3().is_none() {
        return;
    }
    let ring = stripped_entry("allgather/ring");
    let again = |clause: &str| {
        let recorded = [FoundClause { round: 0, clause: clause.into() }];
        InductionResult::again(&recorded, "ring", &ring, &Portfolio::installed(), &|| {})
    };
    let right = again("holds(blocks = [rank - k; k in 0..s + 1])").unwrap();
    assert_eq!(right.findings.clauses.len(), 1);
    for wrong in
        ["holds(blocks = [rank - k; k in 0..s + 2])", "holds(blocks = [rank - k; k in 0..s])", "holds(p < 9)"]
    {
        assert!(again(wrong).is_none(), "{wrong}");
    }
    assert!(InductionResult::again(&[], "ring", &ring, &Portfolio::installed(), &|| {}).is_none());
}

#[test]
fn allgathers_without_holds_are_proved_for_all_p() {
    all_are_found(&["allgather"]);
}

#[test]
fn reductions_without_holds_are_proved_for_all_p() {
    all_are_found(&["allreduce", "reduce-scatter"]);
}

#[test]
fn collectives_with_a_root_without_holds_are_proved_for_all_p() {
    all_are_found(&["broadcast", "gather", "scatter", "reduce"]);
}

#[test]
fn alltoalls_without_holds_are_proved_for_all_p() {
    all_are_found(&["alltoall"]);
}

/// Declarations that are not in the catalogue, without a word about what ranks hold.
const OTHERS: [(&str, &str); 2] = [
    (
        "distances that grow by three",
        "#[derive(Collective)]
        #[collective(allgather)]
        #[round(s in 0..ceil_log(3, p))]
        #[state(D = 1, next = 3 * D)]
        #[send(for j in 1..3, to = rank - j * D, blocks = [rank + k; k in 0..min(D, p - j * D)])]
        #[recv(for j in 1..3, from = rank + j * D, blocks = [rank + j * D + k; k in 0..min(D, p - j * D)])]
        struct Threes;",
    ),
    (
        "a chain",
        "#[derive(Collective)]
        #[collective(broadcast, root: 0..)]
        #[define(v = (rank - root) % p)]
        #[round(s in 0..p - 1)]
        #[send(when = v == s && v < p - 1, to = rank + 1)]
        #[recv(when = v == s + 1, from = rank - 1)]
        struct Chain { root: i64 }",
    ),
];

#[test]
fn others_without_holds_are_proved_for_all_p() {
    if z3().is_none() {
        return;
    }
    for (what, text) in OTHERS {
        let result = proved(what, &schedule_of(text));
        assert!(result.complete(), "{what}: {:?} {:?}", result.findings, result.by_property());
    }
}

#[test]
fn what_is_found_at_small_p_needs_no_solver() {
    let none = Portfolio { solvers: Vec::new(), ..Portfolio::installed() };
    let clauses = |name: &str| -> Vec<String> {
        invariants::find(&stripped_entry(name), &none).clauses.iter().map(ToString::to_string).collect()
    };
    let ring = clauses("allgather/ring");
    assert!(ring.contains(&"round 0: holds(blocks = [rank - k; k in 0..s + 1])".to_string()), "{ring:?}");
    let bruck = clauses("allgather/bruck");
    assert!(bruck.contains(&"round 0: holds(D == pow(2, s))".to_string()), "{bruck:?}");
    assert!(bruck.contains(&"round 0: holds(blocks_sent = min(p, D) - 1)".to_string()), "{bruck:?}");
}

/// Declarations that are right up to p = 41 and wrong beyond. With their `holds` they are among those of
/// `wrong_beyond.rs`; here the search has to find something, and whatever it finds must not prove them.
const WRONG: &[(&str, &str)] = &[
    (
        "a peer",
        "#[collective(allgather)]
         #[round(s in 1..p)]
         #[send(to = if p > 41 && s > 40 { rank - s } else { rank + s }, blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]",
    ),
    (
        "a block",
        "#[collective(allgather)]
         #[round(s in 1..p)]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = rank - s, blocks = [if s > 41 { rank - s - 1 } else { rank - s }])]",
    ),
    (
        "a round that is missing",
        "#[collective(allgather)]
         #[round(s in 1..min(p, 42))]
         #[send(to = rank + s, blocks = [rank])]
         #[recv(from = rank - s, blocks = [rank - s])]",
    ),
    (
        "a state that is limited",
        "#[collective(allgather)]
         #[round(s in 0..ceil_log(2, p))]
         #[state(D = 1, next = min(64, 2 * D))]
         #[define(n = min(D, p - D))]
         #[send(to = rank - D, blocks = [rank + k; k in 0..n])]
         #[recv(from = rank + D, blocks = [rank + D + k; k in 0..n])]",
    ),
    (
        "blocks that are missing",
        "#[collective(allgather)]
         #[round(s in 0..ceil_log(2, p))]
         #[state(D = 1, next = 2 * D)]
         #[define(n = min(D, p - D) - if p > 41 { 1 } else { 0 })]
         #[send(to = rank - D, blocks = [rank + k; k in 0..n])]
         #[recv(from = rank + D, blocks = [rank + D + k; k in 0..n])]",
    ),
    (
        "a bound",
        "#[collective(allgather)]
         #[round(s in 0..p - 1)]
         #[send(to = rank + 1, blocks = [rank - s])]
         #[recv(from = rank - 1, blocks = [rank - 1 - s])]
         #[bound(each blocks_sent <= min(p, 41))]",
    ),
];

#[test]
fn wrong_declarations_are_not_proved_by_what_is_found() {
    if z3().is_none() {
        return;
    }
    for (what, clauses) in WRONG {
        let schedule = schedule_of(&format!("#[derive(Collective)]\n{clauses}\nstruct Wrong;"));
        let result = proved(what, &schedule);
        let open = |verdict: &Verdict| !matches!(verdict, Verdict::Proved { .. });
        let failed = result.verdicts.iter().any(|discharged| open(&discharged.verdict));
        assert!(!result.complete() && (failed || !result.obligations.gaps.is_empty()), "{what}");
    }
}

/// Declarations that are right up to p = 64 and wrong beyond, one for each shape of reductions, broadcasts and
/// all-to-alls.
const WRONG_BEYOND_64: &[(&str, &str)] = &[
    (
        "contributors that differ from block to block",
        "#[collective(reduce_scatter)]
         #[round(s in 1..min(p, 64))]
         #[send(to = rank + s, blocks = [rank + s])]
         #[recv(from = rank - s, blocks = [rank], combine = left)]",
    ),
    (
        "the one block of a broadcast",
        "#[collective(broadcast, root: 0..)]
         #[check(p <= 9, root <= 1)]
         #[define(v = (rank - root) % p)]
         #[round(s in 0..min(6, ceil_log(2, p)))]
         #[state(D = 1, next = 2 * D)]
         #[send(when = v < D && v + D < p, to = rank + D)]
         #[recv(when = D <= v && v < 2 * D, from = rank - D)]",
    ),
    (
        "contributors between two ranks",
        "#[collective(reduce, root: 0..)]
         #[order(rank_order)]
         #[check(p <= 9, root <= 1)]
         #[round(s in 0..min(6, ceil_log(2, p)))]
         #[state(D = 1, next = 2 * D)]
         #[send(when = rank % (2 * D) == D, to = rank - D)]
         #[recv(when = rank % (2 * D) == 0 && rank + D < p, from = rank + D, combine = right)]
         #[round]
         #[send(when = rank == 0 && root != 0, to = root)]
         #[recv(when = rank == root && root != 0, from = 0, replaces = acc)]",
    ),
    (
        "a digit that is moved value by value",
        "#[collective(alltoall, radix: 2..)]
         #[round(x in 0..ceil_log(radix, p) - if p > 64 { 1 } else { 0 }, z in 1..radix)]
         #[state(X = 1, next = radix * X)]
         #[send(to = rank + z * X, blocks = [rank - j % X -> rank - j % X + j; j in 0..p, digit(j, radix, x) == z])]
         #[recv(from = rank - z * X,
             blocks = [rank - j % (radix * X) -> rank - j % (radix * X) + j; j in 0..p, digit(j, radix, x) == z])]",
    ),
];

/// What makes them wrong, and what is right instead.
const REPAIRS: [(&str, &str); 3] =
    [("min(p, 64)", "p"), ("min(6, ceil_log(2, p))", "ceil_log(2, p)"), (" - if p > 64 { 1 } else { 0 }", "")];

#[test]
fn no_shape_proves_what_is_wrong_beyond_64() {
    if z3().is_none() {
        return;
    }
    for (what, clauses) in every(3, WRONG_BEYOND_64) {
        let parameters = ["root", "radix"].into_iter().find(|name| clauses.contains(&format!("{name}:")));
        let fields = parameters.map_or_else(|| ";".into(), |name| format!("{{ {name}: i64 }}"));
        let declared =
            |clauses: &str| schedule_of(&format!("#[derive(Collective)]\n{clauses}\nstruct Case {fields}"));
        let wrong = declared(clauses);
        check::over(&wrong, &Points::new(&wrong, 1..=9)).unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
        assert!(check::over(&wrong, &Points::new(&wrong, 65..=65)).is_err(), "{what}");
        assert!(!proved(what, &wrong).complete(), "{what}");
        // Without the fault, the same shape proves it.
        let right = declared(&REPAIRS.iter().fold(clauses.to_string(), |text, (old, new)| text.replace(old, new)));
        let result = proved(what, &right);
        assert!(result.complete(), "{what}: {:?} {:?}", result.findings, result.by_property());
    }
}

/// Distances are powers of 3, which is a primitive root of these p: what a rank holds has no simple shape.
const NO_SHAPE: &str = "#[derive(Collective)]
    #[collective(allgather)]
    #[requires(p == 5 || p == 7 || p == 17)]
    #[round(s in 0..p - 1)]
    #[state(g = 1, next = 3 * g % p)]
    #[send(to = rank + g, blocks = [rank])]
    #[recv(from = rank - g, blocks = [rank - g])]
    struct Strange;";

#[test]
fn where_nothing_fits_the_message_says_what_was_seen() {
    if z3().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("strange.rs");
    std::fs::write(&file, NO_SHAPE).unwrap();
    // A state without a fact may be too large for the machine.
    let text = roundel(1, &["prove", file.to_str().unwrap(), "-p", "1..=20"]);
    let words = [
        "no invariant was found for the round",
        "With p = 5 this was seen:",
        "rank 0       rank 1       rank 2       rank 3       rank 4\n",
        "before the round with s = 1, g = 3  {0,4}        {0,1}        {1,2}        {2,3}        {3,4}\n",
        "at the end, with s = 4, g = 1       {0,1,2,3,4}  {0,1,2,3,4}",
        "note: write `#[holds(blocks = [rank + k; k in 0..n])]`, with the blocks that a rank holds before a round\n",
        "proved for p <= 20, and not for all p because no invariant was found",
    ];
    words.iter().for_each(|word| assert!(text.contains(word), "{word}: {text}"));
    // What to write is said once, also for several collectives, and what is missing not again.
    std::fs::write(&file, NO_SHAPE.to_string() + &NO_SHAPE.replace("Strange", "Again")).unwrap();
    let text = roundel(1, &["prove", file.to_str().unwrap(), "-p", "1..=20"]);
    assert_eq!(text.matches("write `#[holds(").count(), 1, "{text}");
    assert!(!text.contains("has no `holds"), "{text}");
}

/// Where every p of the domain is larger than what is shown of all ranks, some ranks of the smallest are shown.
#[test]
fn of_many_ranks_a_few_are_shown() {
    if z3().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("strange.rs");
    std::fs::write(&file, NO_SHAPE.replace("p == 5 || p == 7", "p == 7")).unwrap();
    let text = roundel(1, &["prove", file.to_str().unwrap(), "-p", "1..=20"]);
    let words = [
        "With p = 7 this was seen of the first 3 ranks:",
        "before the round with s = 1, g = 3  {0,6}            {0,1}            {1,2}\n",
    ];
    words.iter().for_each(|word| assert!(text.contains(word), "{word}: {text}"));
}

#[test]
fn what_was_found_is_printed_and_written_into_the_source() {
    if z3().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ring.rs");
    let path = file.to_str().unwrap();
    std::fs::write(&file, stripped(find("allgather/ring").unwrap().source)).unwrap();
    let text = roundel(0, &["prove", path, "--engine", "smt", "--write-holds", "--require-all-p"]);
    assert!(text.contains("found: #[holds(blocks = [rank - k; k in 0..s + 1]"), "{text}");
    assert!(text.contains("written into"), "{text}");
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.contains("\n#[holds(blocks = [rank - k; k in 0..s + 1], messages_sent = s"), "{written}");
    assert!(roundel(0, &["check", path]).contains("Ring"));
    // Nothing is left to be found.
    let again = roundel(0, &["prove", path, "--engine", "smt", "--no-record", "--require-all-p"]);
    assert!(!again.contains("found") && again.contains("proved for all p"), "{again}");
}

#[test]
fn a_record_keeps_what_was_found_and_can_be_verified() {
    if z3().is_none() {
        return;
    }
    let schedule = stripped_entry("allgather/ring");
    let result = proved("Ring", &schedule);
    let answered = |name: &str| Answered {
        name: name.into(),
        query: "0".into(),
        verdict: Answered::PROVED.into(),
        solver: "z3".into(),
    };
    let record = prove::record(&schedule, None, Some(&result), &Base(vec![answered("lemma")])).unwrap();
    assert_eq!(record.range.p, None);
    let text = record.to_json().unwrap();
    assert!(text.contains("round 0: holds(blocks = [rank - k; k in 0..s + 1])"), "{text}");
    let read = Record::read(&text, &schedule).unwrap();
    let about = |found: &[String]| found.iter().filter(|line| line.starts_with("obligation")).count();
    assert_eq!(about(&prove::outdated(&schedule, &read)), 0);
    // Another invariant is another proof, and one that cannot be read is none.
    let mut other = read.clone();
    let found = &mut other.induction.as_mut().unwrap().found;
    found.iter_mut().for_each(|one| one.clause = one.clause.replace("s + 1", "s + 2"));
    assert!(about(&prove::outdated(&schedule, &other)) > 0);
    let unreadable = text.replace("round 0: holds(blocks", "round 0: requires(blocks");
    assert!(matches!(Record::read(&unreadable, &schedule), Err(RecordError::Parts(_))));
    let changed = text.replace("k in 0..s + 1", "k in 0..s + 2");
    assert!(matches!(Record::read(&changed, &schedule), Err(RecordError::Changed)));
}

#[test]
fn only_holds_and_hints_can_be_added() {
    let schedule = schedule_of(NO_SHAPE);
    let found = |round, clause: &str| schedule.claiming(&[FoundClause { round, clause: clause.into() }]);
    assert!(found(0, "holds(blocks = [rank - k; k in 0..s])").is_ok());
    assert!(found(0, "hint(g >= 1)").is_ok());
    for (round, clause) in [(0, "requires(p == 1)"), (0, "send(to = rank, blocks = [rank])"), (1, "holds(p >= 1)")] {
        assert!(found(round, clause).is_err(), "{clause}");
    }
    assert!(found(0, "holds(blocks = [rank], nothing)").is_err());
    assert!(found(0, "holds(p >= 1)] #[bound(rounds = 1)").is_err());
}

#[test]
fn a_found_clause_is_read_back_from_its_line() {
    let found = FoundClause { round: 3, clause: "holds(D == pow(2, s))".into() };
    assert_eq!(FoundClause::try_from(found.to_string()), Ok(found));
    assert!(FoundClause::try_from("holds(p >= 1)".to_string()).is_err());
    assert!(FoundClause::try_from("round x: holds(p >= 1)".to_string()).is_err());
}

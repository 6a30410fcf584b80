//! Tests of the parser: the meaning of a text, and the number and positions of its errors.

use super::{Declaration, declarations, parse, parse_text};
use crate::check;
use crate::check::violation::{Case, Problem, Violation};
use crate::meaning::eval::Env;
use crate::meaning::place::Place;
use crate::schedule::arguments::Arguments;
use crate::schedule::expr::Expr;
use crate::schedule::{BoundScope, Hold, Layout, Metric, Schedule, SchedulePart};
use syn::DeriveInput;

fn read(text: &str) -> syn::Result<Declaration> {
    parse(&syn::parse_str::<DeriveInput>(text)?)
}

fn schedule(text: &str) -> Schedule {
    read(text).unwrap_or_else(|error| panic!("{:?}: {text}", listed(error))).schedule
}

/// A ring with more clauses below its round.
fn ring(clauses: &str) -> String {
    format!(
        "#[collective(allgather, radix: 2.., ports: list(1..))]
#[define(twice(a) = 2 * a)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
{clauses}
struct Ring {{ radix: i64, ports: Vec<i64> }}"
    )
}

/// An expression of a round.
fn expr(text: &str) -> (Schedule, Expr) {
    let schedule = schedule(&ring(&format!("#[define(value = {text})]")));
    let body = schedule.functions[1].body.clone();
    (schedule, body)
}

/// The value of an expression on rank 2 of 10, with radix 3 and ports 4, 5.
fn value(text: &str) -> i64 {
    let (schedule, e) = expr(text);
    let args = Arguments { numbers: vec![3], lists: vec![vec![4, 5]], inner: vec![] };
    Env::new(&schedule, &args, &Place::flat(2, 10)).eval(&e).unwrap_or_else(|fault| panic!("{fault}: {text}"))
}

/// Errors as (line, column, message), lines from 1, columns from 0.
fn listed(error: syn::Error) -> Vec<(usize, usize, String)> {
    let place = |e: syn::Error| (e.span().start().line, e.span().start().column, e.to_string());
    error.into_iter().map(place).collect()
}

fn errors(text: &str) -> Vec<(usize, usize, String)> {
    match read(text) {
        Ok(_) => Vec::new(),
        Err(error) => listed(error),
    }
}

#[test]
fn operators_bind_as_in_rust() {
    let cases = [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("2 - 3 - 4", -5),
        ("100 / 10 / 5", 2),
        ("1 << 2 + 1", 8),
        ("64 >> 2 & 24", 16),
        ("1 | 6 ^ 3 & 5", 7),
        ("6 & 3 ^ 1", 3),
        ("-3 * -2", 6),
        ("--3", 3),
        ("10 - if p > 1 { 1 } else { 2 } * 3", 7),
        ("if p & 2 == 2 && !(p < 5) || false { 1 } else { 0 }", 1),
        ("if p == 1 { 1 } else if p == 10 { 2 } else { 3 }", 2),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn division_is_euclidean() {
    assert_eq!([value("-7 / 2"), value("-7 % 3"), value("7 / -2"), value("7 % -3")], [-4, 2, -3, 1]);
    assert_eq!(value("(rank - 3) % p"), 9);
}

#[test]
fn functions_lists_and_definitions() {
    assert_eq!(value("min(rank, p) + max(rank, p)"), 12);
    assert_eq!(value("pow(radix, 2) + ceil_log(2, p) + floor_log(2, p) + ceil_div(p, radix)"), 9 + 4 + 3 + 4);
    assert_eq!(value("gcd(p, 4) * 10 + digit(p, 3, 2)"), 21);
    assert_eq!(value("ports[1] + len(ports) + product(ports, 2) + product(ports, 0)"), 5 + 2 + 20 + 1);
    assert_eq!(value("twice(twice(rank) + 1)"), 10);
}

#[test]
fn numbers_in_any_notation() {
    assert_eq!(value("0x10 + 1_000 + 0b11"), 16 + 1000 + 3);
}

#[test]
fn ranges_with_and_without_their_end() {
    let text = "#[collective(allgather)]
        #[round(a in 0..p, b in 1..=3, c in a..=p - b)]
        #[send(to = rank + 1, blocks = [rank])]
        struct X;";
    let indices = schedule(text).loops[0].indices.clone();
    let printed: Vec<String> = indices.iter().map(ToString::to_string).collect();
    assert_eq!(printed, ["a in 0..p", "b in 1..4", "c in a..p - b + 1"]);
}

#[test]
fn forms_of_block_sets() {
    let cases = [
        ("[rank]", "[rank]"),
        ("[rank, rank + 1,]", "[rank] + [rank + 1]"),
        ("[k; k in 0..3]", "[k; k in 0..3]"),
        ("[rank; p > 1]", "[rank; p > 1]"),
        ("[k + j; k in 0..p, j in 0..=k]", "[k + j; k in 0..p, j in 0..k + 1]"),
        ("[k; k in 0..p, k != rank, k % 2 == 0]", "[k; k in 0..p, k != rank && k % 2 == 0]"),
        ("[k; k in 0..2] + [rank] + [k; k in 0..1]", "[k; k in 0..2] + [rank] + [k; k in 0..1]"),
    ];
    for (text, expected) in cases {
        let schedule = schedule(&ring(&format!("#[holds(blocks = {text})]")));
        let Hold::Blocks(set) = &schedule.loops[0].holds[0] else { panic!("these are blocks") };
        assert_eq!(set.to_string(), expected);
    }
}

#[test]
fn an_index_belongs_to_its_brackets() {
    let found = errors(&ring("#[holds(blocks = [k; k in 0..1] + [k])]"));
    assert_eq!(found.len(), 1);
    assert!(found[0].2.starts_with("`k` is not a variable"), "{found:?}");
}

#[test]
fn names_belong_to_their_round() {
    let two = |second: &str| {
        format!(
            "#[collective(allgather)]
            #[define(half = p / 2)]
            #[round(s in 0..half)]
            #[state(D = 1, next = 2 * D)]
            #[define(d = D)]
            #[send(to = rank + d, blocks = [rank])]
            #[round(t in 0..half)]
            #[send(to = rank + {second}, blocks = [rank])]
            struct X;"
        )
    };
    assert!(errors(&two("t + half")).is_empty());
    for gone in ["s", "D", "d"] {
        let found = errors(&two(gone));
        assert_eq!(found.len(), 1);
        assert!(found[0].2.starts_with(&format!("`{gone}` is not a variable of an allgather")), "{found:?}");
    }
}

#[test]
fn a_name_may_return_in_the_next_round() {
    let text = "#[collective(allgather)]
        #[round(s in 0..p)]
        #[state(D = 1, next = D)]
        #[send(to = rank + D, blocks = [rank])]
        #[round(s in 0..p)]
        #[state(D = 2, next = D)]
        #[send(to = rank + D, blocks = [rank])]
        struct X;";
    let schedule = schedule(text);
    let [first, second] = [0, 1].map(|n: usize| schedule.loops[n].states[0].var.slot);
    assert_ne!(first, second);
    assert!(schedule.loops[1].transfers[0].peer.mentions(second));
}

#[test]
fn every_clause_leaves_its_mark() {
    let text = "
        /// First line.
        /// Second line.
        #[derive(Collective)]
        #[collective(allgather, radix: 2..=9, base: -1..4, ports: list(1..))]
        #[check(p <= 7, radix <= 3, ports <= 5, len(ports) <= 2)]
        #[requires(p > 1, p < 100)]
        #[layout(rotated(rank), in_place)]
        #[round(x in 0..2, z in 1..radix)]
        #[state(W = 1, next = radix * W)]
        #[state(V = 1, next = V + 1, each = z)]
        #[requires(final W > 1)]
        #[exchange(for j in 0..2, when = j > 0, with = rank ^ 1, send = [rank], recv = [rank ^ 1])]
        #[holds(blocks = [rank], messages_sent = x, W >= 1)]
        #[bound(rounds = 3, each blocks_sent <= rank, per_round messages_received <= z)]
        struct X { radix: i64, base: i64, ports: Vec<i64> }";
    let declaration = read(text).unwrap_or_else(|error| panic!("{:?}", listed(error)));
    assert_eq!(declaration.docs, ["First line.", "Second line."]);
    let Schedule { name, numbers, lists, requires, loops, bounds, layouts, limits, .. } = declaration.schedule;
    assert_eq!(name, "X");
    let domains: Vec<String> = numbers.iter().map(|n| n.domain.to_string()).collect();
    assert_eq!((domains, lists[0].domain.to_string()), (vec!["2..=9".into(), "-1..=3".into()], "1..".into()));
    assert_eq!((limits.p, limits.numbers, limits.lists), (7, vec![3, 3], vec![(2, 5)]));
    assert_eq!(requires.len(), 2);
    assert!(matches!(layouts.as_slice(), [Layout::Rotated(_), Layout::InPlace]));
    let [only] = loops.as_slice() else { panic!("there is one loop") };
    assert_eq!(only.states.iter().map(|state| state.each).collect::<Vec<_>>(), [0, 1]);
    assert_eq!((only.transfers.len(), only.transfers[1].each.len(), only.ends_with.len()), (2, 1, 1));
    assert!(matches!(
        only.holds.as_slice(),
        [Hold::Blocks(_), Hold::Counter(Metric::MessagesSent, _), Hold::Fact(_)]
    ));
    let scopes: Vec<BoundScope> = bounds.iter().map(|bound| bound.scope).collect();
    assert_eq!(scopes, [BoundScope::Max, BoundScope::Each, BoundScope::PerRound(0)]);
    assert_eq!(bounds.iter().map(|bound| bound.exact).collect::<Vec<_>>(), [true, false, false]);
}

#[test]
fn attributes_of_others_are_left_alone() {
    let text = ring("#[serde(rename = \"x\")] #[must_use] #[some::tool] #[quux(1)]");
    assert!(errors(&text).is_empty());
}

#[test]
fn all_errors_are_reported_each_at_its_place() {
    let text = "#[collective(allgather)]
#[requires(p)]
#[round(s in 0..p - 1)]
#[send(to = rank + x, blocks = [rank - y])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[bound(rounds = q)]
struct Ring { extra: i64 }";
    let found = errors(text);
    let places: Vec<(usize, usize)> = found.iter().map(|(line, column, _)| (*line, *column)).collect();
    assert_eq!(places, [(2, 11), (4, 19), (4, 39), (6, 17), (7, 14)], "{found:?}");
    assert!(found.iter().all(|(_, _, message)| message.starts_with('`') || message.starts_with(char::is_lowercase)));
    assert!(!found.iter().any(|(_, _, message)| message.ends_with('.')));
}

#[test]
fn a_mistake_is_one_error() {
    let once = [
        ring("#[define(d = 1 / 0)] #[holds(d > 0, d < 5)]"),
        ring("#[state(D = bad, next = D)] #[holds(D > 0)]"),
        ring("#[define(at = 1)] #[holds(at > 0)]"),
        ring("").replace("0..p - 1", "0..bad"),
        ring("").replace("0..p - 1", "0.."),
        ring("").replace("radix: 2..", "radix: 2..2"),
        ring("").replace("#[round", "#[rounds"),
        ring("").replace("to = rank + 1", "to = "),
        ring("#[bound(rounds = )]"),
        ring("#[requires(final)]"),
    ];
    for text in once {
        assert_eq!(errors(&text).len(), 1, "{:?} {text}", errors(&text));
    }
}

/// Rustc would show an error without a position at the derive, which does not help the user.
#[test]
fn every_error_has_a_place() {
    let texts = [
        "#[collective] struct X;",
        "#[collective(allgather, radix)] struct X;",
        "#[collective(allgather)] #[round()] #[send] #[recv()] struct X;",
        "#[collective(allgather)] #[round] #[send(to, blocks)] struct X;",
        "#[collective(allgather)] #[round] #[send(to =, blocks =)] struct X;",
        "#[collective(allgather)] #[round] #[send(for, to = 1, blocks = [1])] struct X;",
        "#[collective(allgather)] #[round] #[send(for j, to = 1, blocks = [1])] struct X;",
        "#[collective(allgather)] #[round] #[send(for j in, to = 1, blocks = [])] struct X;",
        "#[collective(allgather)] #[round] #[send(to = 1, blocks = [1;])] struct X;",
        "#[collective(allgather)] #[round] #[send(to = 1, blocks = [1; k])] struct X;",
        "#[collective(allgather)] #[round] #[send(to = 1, blocks = [1; k in])] struct X;",
        "#[collective(allgather)] #[round(s)] #[state(D)] #[send(to = min(, ), blocks = [1] +)] struct X;",
        "#[collective(allgather)] #[round(s in 0..1)] #[state(D = )] #[define(d() =)] struct X;",
        "#[collective(allgather)] #[round(s in 0..1)] #[bound(= 3)] #[check(<= 3)] #[layout(rotated())] struct X;",
    ];
    for text in texts {
        // An error without a position of its own appears in the first line.
        let found = match syn::parse_str::<DeriveInput>(&format!("\n{text}")).map(|input| parse(&input)) {
            Ok(Ok(_)) => panic!("this is no declaration: {text}"),
            Ok(Err(error)) => listed(error),
            Err(error) => panic!("{error}: {text}"),
        };
        assert!(found.iter().all(|(line, ..)| *line == 2), "{found:?} {text}");
    }
}

/// A violation is reported at the clause at fault, down to its field.
#[test]
fn violations_find_their_clause() {
    let text = "#[collective(allgather)]
#[define(d = p / (p - 1))]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank + s])]
#[recv(from = rank - 1, blocks = [rank - 1 + s])]
#[bound(rounds = 3, blocks_sent = d)]
struct Ring;";
    let declaration = read(text).unwrap_or_else(|error| panic!("{:?}", listed(error)));
    let place = |spot: SchedulePart| {
        let problem = Problem::NothingChecked { up_to: 0 };
        let violation = Violation { spot, other: None, case: Case::default(), round: None, problem };
        let error = declaration.error(&violation, &check::Points::within_limits(&declaration.schedule));
        (error.span().start().line, error.span().start().column)
    };
    assert_eq!(place(SchedulePart::Define(0)), (2, 9));
    assert_eq!(place(SchedulePart::Round(0)), (3, 2));
    assert_eq!(place(SchedulePart::Bound(0)), (6, 8));
    assert_eq!(place(SchedulePart::Bound(1)), (6, 20));
    assert_eq!(place(SchedulePart::Layout), (7, 7), "what has no place of its own stands at the name");

    let violation = check::at_compile_time(&declaration.schedule).expect_err("it is wrong");
    assert_eq!(violation.code(), "bound", "{violation}");
    assert_eq!(place(violation.spot), (6, 8));
}

#[test]
fn declarations_of_a_file() {
    let file = syn::parse_str(
        "use roundel::Collective;
        #[derive(Clone)] struct NotThis;
        #[derive(Clone, Collective)] struct First;
        struct NorThis;
        mod inner {
            #[derive(roundel::Collective)] #[collective(allgather)] pub struct Second;
            pub mod deeper { #[derive(Debug)] #[derive(Collective)] pub struct Third { radix: i64 } }
            mod elsewhere;
        }
        #[derive(Collective)] enum Fourth { A }
        fn function() { #[derive(Collective)] struct Local; }",
    );
    let found = declarations(&file.expect("this is a file"));
    let names: Vec<String> = found.iter().map(|input| input.ident.to_string()).collect();
    assert_eq!(names, ["First", "Second", "Third", "Fourth", "Local"]);
}

// ---- declarations that would take forever

/// The message of the check at compile time.
fn violation(clauses: &str) -> (SchedulePart, String) {
    let schedule = schedule(&format!("#[collective(allgather)]\n{clauses}\nstruct Some;"));
    let violation = check::at_compile_time(&schedule).expect_err(clauses);
    (violation.spot, violation.to_string())
}

#[test]
fn what_takes_too_long_is_named() {
    let pair = "#[send(to = rank + 1, blocks = [rank])]\n#[recv(from = rank - 1, blocks = [rank - 1])]";
    let says = |clauses: &str, spot: SchedulePart, what: &str| {
        let (found, message) = violation(clauses);
        assert_eq!(found, spot, "{message}");
        let start = "this is too long to be checked: with p = ";
        assert!(message.starts_with(start) && message.contains(&format!("`{what}` takes more than")), "{message}");
    };
    says(&format!("#[round(s in 0..pow(10, 12))]\n{pair}"), SchedulePart::Round(0), "s in 0..pow(10, 12)");
    says(
        &format!("#[round(s in 0 - pow(2, 62)..pow(2, 62))]\n{pair}"),
        SchedulePart::Round(0),
        "s in 0 - pow(2, 62)..pow(2, 62)",
    );
    says(&format!("#[round(s in 0..2000, z in 0..2000)]\n{pair}"), SchedulePart::Round(0), "z in 0..2000");
    let blocks = |set: &str| {
        format!("#[round]\n#[send(to = rank + 1, blocks = {set})]\n#[recv(from = rank - 1, blocks = [0])]")
    };
    let at_blocks = SchedulePart::Transfer(crate::Site::plain(0), crate::schedule::Field::Blocks);
    says(&blocks("[k; k in 0..pow(10, 12)]"), at_blocks, "k in 0..pow(10, 12)");
    says(&blocks("[i; i in 0..p + 1499, k in 0..1500]"), at_blocks, "k in 0..1500");
    let each = "#[round]\n#[send(for j in 0..pow(10, 9), to = rank + 1, blocks = [rank])]\n\
                #[recv(from = rank - 1, blocks = [0])]";
    says(each, SchedulePart::Transfer(crate::Site::plain(0), crate::schedule::Field::Each), "j in 0..pow(10, 9)");
    let holds = format!(
        "#[requires(p == 1)]\n#[round(s in 0..0)]\n{pair}\n#[holds(blocks = [rank + k; k in 0..pow(10, 12)])]"
    );
    says(&holds, SchedulePart::Hold(0, 0), "k in 0..pow(10, 12)");
    let ends = format!("#[round(s in 0..pow(10, 12))]\n#[state(D = 1, next = D)]\n{pair}\n#[requires(final D == 1)]");
    says(&ends, SchedulePart::Round(0), "s in 0..pow(10, 12)");
    // Definitions that each use the one before twice: 2^40 calls.
    let doubling: String = (1..40).map(|i| format!("#[define(d{i} = d{} + d{})]\n", i - 1, i - 1)).collect();
    let (_, message) = violation(&format!("#[define(d0 = 0)]\n{doubling}#[round(s in 0..d39)]\n{pair}"));
    assert!(message.starts_with("this is too long to be checked"), "{message}");
}

#[test]
fn a_round_without_a_name_is_one_error() {
    let text = "#[collective(allgather)]\n#[round(0..p - 1)]\n#[state(D = 1, next = 2 * D)]\n\
                #[send(to = rank + 1, blocks = [rank - s])]\n\
                #[recv(from = rank - 1, blocks = [rank - 1 - s])]\nstruct R;";
    assert_eq!(errors(text), [(2, 8, "the index of the rounds needs a name: write `s in 0..n`".to_string())]);
    // A later round with a name is read as usual.
    let text = text.replace(
        "struct",
        "#[round(s in 0..1)]\n#[send(to = rank + 1, blocks = [x])]\n#[recv(from = rank - 1, blocks = [s])]\nstruct",
    );
    assert_eq!(errors(&text).len(), 2);
}

/// Three rounds, with these additional clauses in the first, the second and the third.
fn three_rounds(first: &str, second: &str, third: &str) -> Schedule {
    schedule(&format!(
        "#[collective(allgather)]
#[requires(p >= 5)]
#[round]
{first}
#[send(to = rank + 1, blocks = [rank])]
#[recv(from = rank - 1, blocks = [rank - 1])]
#[round]
{second}
#[send(for j in 2..c, to = rank + j, blocks = [rank])]
#[recv(for j in 2..c, from = rank - j, blocks = [rank - j])]
#[holds(blocks = [rank - m; m in 0..c])]
#[round]
{third}
#[send(to = rank - 1, blocks = [rank])]
#[recv(from = rank + 1, blocks = [rank + 1])]
struct Moved;"
    ))
}

#[test]
fn a_definition_in_another_round_is_another_schedule() {
    let (few, all) = ("#[define(c = min(p - 1, 50))]", "#[define(c = p - 1)]");
    let (right, wrong) = (three_rounds(few, all, ""), three_rounds("", few, all));
    // Both have the same text: definitions are listed first, and calls have names only.
    assert_eq!(right.to_string(), wrong.to_string());
    assert_ne!(right.canonical(), wrong.canonical());
    assert_ne!(right.fingerprint(), wrong.fingerprint());
    assert_eq!(right.fingerprint(), three_rounds(few, all, "").fingerprint());
}

#[test]
fn an_index_of_another_round_is_another_schedule() {
    let text = |first: &str, second: &str| {
        format!(
            "#[collective(allgather)]\n#[round(s in 0..p)]\n{first}\n#[send(to = rank + 1, blocks = [rank])]\n\
             #[round(s in 0..2)]\n{second}\n#[recv(from = rank - 1, blocks = [rank - 1])]\nstruct Moved;"
        )
    };
    let define = "#[define(c = s)]";
    let (one, two) = (schedule(&text(define, "")), schedule(&text("", define)));
    assert_eq!(one.to_string(), two.to_string());
    assert_ne!(one.fingerprint(), two.fingerprint());
}

#[test]
fn limits_are_not_part_of_the_fingerprint() {
    let (one, two) = (schedule(&ring("")), schedule(&ring("#[check(p <= 20)]")));
    assert_ne!(one, two);
    assert_eq!(one.fingerprint(), two.fingerprint());
}

#[test]
fn blocks_are_held_once() {
    let once = "#[holds(blocks = [rank - k; k in 0..s + 1])]";
    assert_eq!(errors(&ring(once)), []);
    let twice = format!("{once}\n#[holds(s >= 0, blocks = [rank])]");
    assert_eq!(errors(&ring(&twice)), [(7, 16, "`blocks` is said twice; remove one".to_string())]);
}

#[test]
fn the_earlier_name_of_a_clause_is_read() {
    let bounds = |clause: &str| schedule(&ring(&format!("#[{clause}(rounds = p - 1)]"))).bounds;
    assert_eq!(bounds("checked"), bounds("unproved_bound"));
    assert!(bounds("checked")[0].checked && !bounds("bound")[0].checked);
}

#[test]
fn an_attribute_that_nobody_knows_is_an_error_in_a_text() {
    let alone = |text: &str| parse_text(&syn::parse_str::<DeriveInput>(text).expect("Rust")).map_err(listed).err();
    let with = |attributes: &str| format!("{attributes}\n#[derive(Clone)]\n{}", ring(""));
    let [(line, column, message)] = &alone(&with("#[quux(1)]")).expect("an error")[..] else { panic!("one error") };
    assert_eq!((*line, *column), (1, 2));
    assert!(message.starts_with("`quux` is not a clause of a collective; expected one of collective"), "{message}");
    // Attributes that may belong to another macro are accepted.
    for others in ["#[allow(dead_code)]", "#[derive(Serialize)] #[quux(1)]", "#[other::macro_of(1)]", "/// Text."] {
        assert_eq!(alone(&with(others)), None, "{others}");
    }
    // The compiler reports it itself.
    assert_eq!(errors(&with("#[quux(1)]")), []);
    let renamed = ring("").replace("#[recv", "#[receive");
    assert_eq!(errors(&renamed)[0].2, "`receive` is not a clause of a collective; did you mean `recv`?");
}

#[test]
fn arguments_hide_what_is_outside() {
    let schedule = schedule(&ring("#[define(f(rank, s) = twice(rank) + s, g(p, p_) = p + p_)]"));
    let names = |i: usize| schedule.functions[i].args.iter().map(|arg| arg.name.clone()).collect::<Vec<_>>();
    assert_eq!((names(1), names(2)), (vec!["rank_".into(), "s_".into()], vec!["p__".into(), "p_".to_string()]));
    let twice = errors(&ring("#[define(f(a, a) = a)]"));
    assert_eq!(twice.len(), 1, "{twice:?}");
    assert!(twice[0].2.contains("`a` is already in use here"), "{twice:?}");
}

#[test]
fn a_loop_may_have_a_label() {
    let plain = schedule(&ring(""));
    let labelled = schedule(&ring("").replace("#[round(s", "#[round(\"around\", s"));
    assert_eq!(plain, labelled);
}

#[test]
fn a_method_gets_a_function_that_exists() {
    let suggestion = |text: &str| errors(&ring(&format!("#[define(value = {text})]"))).remove(0).2;
    let pairs = [
        ("p.ilog2()", "floor_log(2, p)"),
        ("(p + 1).div_ceil(2)", "ceil_div(p + 1, 2)"),
        ("p.min(s)", "min(p, s)"),
        ("rank.twice()", "twice(rank)"),
    ];
    for (method, function) in pairs {
        assert_eq!(suggestion(method), format!("there are no methods; write `{function}`"));
    }
    assert!(
        suggestion("p.abs()").starts_with("there are no methods; there is no function `abs`; expected one of min")
    );
}

#[test]
fn an_unknown_kind_is_one_error() {
    let text = "#[collective(sum, root: 0.., radix: 2..)]
#[order(same_tree)]
#[round]
#[exchange(with = rank ^ 1, combine = by_rank)]
struct Tree { root: i64 }";
    let all = errors(text);
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(all[0].2.starts_with("`sum` is not a collective; expected allgather"), "{all:?}");
}

/// The line and column of a declaration's violation.
fn place_of_violation(text: &str) -> (usize, usize) {
    let declaration = read(text).expect("a declaration");
    let violation = check::at_compile_time(&declaration.schedule).expect_err("a violation");
    let points = check::Points::within_limits(&declaration.schedule);
    let (line, column, _) = listed(declaration.error(&violation, &points)).remove(0);
    (line, column)
}

#[test]
fn each_claim_about_the_order_has_its_own_place() {
    let leaning = "#[collective(allreduce)]
#[requires(p == 3)]
#[order(same_tree, rank_order)]
#[round]
#[send(for j in 1..3, to = rank + j)]
#[recv(for j in 1..3, from = if rank == 0 { j } else { rank - j }, combine = by_rank)]
struct Leaning;";
    assert_eq!(place_of_violation(leaning), (3, 8));
}

#[test]
fn a_receive_without_blocks_is_blamed_itself() {
    let bruck = "#[collective(allgather)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D, blocks = [rank + k; k in 0..min(D, p - D)])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 1..min(D, p - D)])]
struct Bruck;";
    assert_eq!(place_of_violation(bruck), (5, 33));
}

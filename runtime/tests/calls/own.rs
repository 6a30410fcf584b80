//! Collectives of other crates among the algorithms that settings name.

#![cfg(feature = "profile")]

use roundel::algorithms::{NameError, own, register};
use roundel::selection::{Algorithm, Force, Question, RuleError, Selection, Settings, SettingsError};
use roundel::{Collective, Unproved};
use roundel_spec::Kind;
use std::ffi::OsString;

/// An allgather without a proof record: only the check at compile time grants its calls.
#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 12)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
struct Mine;

/// A broadcast with a parameter beside its root.
#[derive(Collective)]
#[collective(broadcast, root: 0.., step: 1..)]
#[requires(root < p, step == 1)]
#[check(p <= 10, root <= 9, step <= 1)]
#[define(place = (rank - root) % p)]
#[round(s in 0..p - 1)]
#[send(when = place == s, to = rank + step, blocks = [0])]
#[recv(when = place == s + 1, from = rank - step, blocks = [0])]
struct Chain {
    root: i64,
    step: i64,
}

/// An allgather with a list of ports, also without a record.
#[derive(Collective)]
#[collective(allgather, ports: list(1..))]
#[check(p <= 16, len(ports) <= 3, ports <= 2)]
#[round(i in 0..len(ports))]
#[state(D = 1, next = min(p, D * (ports[i] + 1)))]
#[requires(final D == p)]
#[define(n(j) = max(0, min(D, p - j * D)))]
#[send(for j in 1..=ports[i], to = rank - j * D, blocks = [rank + k; k in 0..n(j)])]
#[recv(for j in 1..=ports[i], from = rank + j * D, blocks = [rank + j * D + k; k in 0..n(j)])]
struct Shift {
    ports: Vec<i64>,
}

// As a library does it.
roundel::collectives!["mine" => Mine, "chain" => Chain, "shift" => Shift];

fn settings(variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
    Settings::from_variables(|name| {
        variables.iter().find(|(other, _)| *other == name).map(|(_, value)| OsString::from(value))
    })
}

#[test]
fn registered_before_the_program_begins() {
    let names: Vec<&str> = own().iter().map(|entry| entry.name).collect();
    assert!(names.starts_with(&["allgather/mine", "broadcast/chain", "allgather/shift"]), "{names:?}");
    assert_eq!(own()[0].origin(), Some("calls"));
}

#[test]
fn forced_where_it_serves_and_explained() {
    let forced = settings(&[("ROUNDEL_FORCE", "allgather:mine;broadcast:chain:step=1")]).unwrap();
    let chosen = forced.choose(&Question::new(Kind::Allgather, 12, 4, 8));
    assert_eq!(
        chosen.explain(),
        "allgather p=12 nodes=3 ppn=4 bytes=8: allgather/mine, forced by ROUNDEL_FORCE; checked for p <= 12 by the \
         compiler (no proofs/Mine.json of calls: `roundel prove` writes it)"
    );
    let beyond = forced.choose(&Question::new(Kind::Allgather, 13, 13, 8));
    assert_ne!(beyond.implementation.algorithm(), Some("allgather/mine"));
    let why = "not allgather/mine, forced by ROUNDEL_FORCE, because it is proved for p <= 12";
    assert!(beyond.explain().contains(why), "{}", beyond.explain());
    let chain = forced.choose(&Question::new(Kind::Broadcast, 10, 10, 8));
    assert!(chain.explain().contains("broadcast/chain with step = 1, forced"), "{}", chain.explain());
    assert_ne!(forced.fingerprint(), settings(&[]).unwrap().fingerprint());
}

#[test]
fn never_chosen_by_default() {
    for p in 1..=16 {
        let question = Question::new(Kind::Allgather, p, p, 8);
        let all = Selection::default().preferring_the_catalogue().answers(&question);
        assert!(all.iter().all(|answer| answer.implementation.algorithm() != Some("allgather/mine")));
    }
}

#[test]
fn rules_are_checked_against_what_is_proved() {
    let named = |p: &str, algorithm: &str| {
        Selection::parse(&format!(
            "format = \"roundel-selection\"\nversion = 1\n[[rule]]\ncollective = \"allgather\"\np = \"{p}\"\n\
             algorithm = {algorithm}\n"
        ))
    };
    let rule = |p: &str| named(p, "\"allgather/mine\"");
    let chosen = rule("2..=12").unwrap().choose(&Question::new(Kind::Allgather, 5, 5, 8));
    assert_eq!(chosen.implementation.algorithm(), Some("allgather/mine"));
    let refused = rule("2..=13").unwrap_err().to_string();
    assert!(refused.contains("allgather/mine") && refused.contains("p <= 12"), "{refused}");
    // Of lists, the length and the elements count.
    let shift = |p: &str, ports: &str| named(p, &format!("\"allgather/shift\"\nparameters = {{ ports = {ports} }}"));
    let refused = |p: &str, ports: &str| shift(p, ports).unwrap_err().to_string();
    assert!(shift("10..=16", "[2, 2, 2]").is_ok());
    assert!(refused("10..=20", "[2, 2, 2]").contains("such as p = 17"));
    assert!(refused("4", "[3]").contains("elements up to 2, and this rule has calls outside"));
    assert!(refused("16", "[1, 1, 1, 1]").contains("len(ports) <= 3"));
}

#[test]
fn names_that_cannot_be() {
    let kind = Kind::Allgather;
    for name in ["ring", "mine", "library", "shared-memory", "kernel-copy"] {
        assert_eq!(register::<Mine>(name), Err(NameError::Taken { kind, name }));
    }
    for name in ["", "Mine", "my own", "a:b", "a(1)", "-a", "allgather/x", "ümlaut"] {
        assert_eq!(register::<Mine>(name), Err(NameError::Malformed { name }));
    }
    // Names of other kinds are free.
    assert_eq!(register::<Mine>("nap"), Ok(()));
    assert!(Force::read("allgather:nap").is_ok() && Force::read("allreduce:nap").is_ok());
}

/// `Unproved` would serve every call.
#[test]
fn nothing_is_served_without_its_proof() {
    register::<Unproved<Mine>>("reckless").unwrap();
    let refused = Algorithm::named(Kind::Allgather, "reckless", &[]).unwrap_err();
    assert!(matches!(refused, RuleError::SkipsProof { .. }), "{refused}");
    assert!(refused.to_string().contains("register the declared type"), "{refused}");
}

#[test]
fn wrong_parameters_and_kinds() {
    let refused = |text: &str| Force::read(text).unwrap_err().to_string();
    assert!(refused("allreduce:allgather/mine").contains("`allgather/mine` is no allreduce"));
    assert!(refused("broadcast:chain").contains("needs a number `step`"));
    assert!(refused("broadcast:chain:root=1,step=1").contains("the root of broadcast/chain is that of the call"));
    assert!(refused("allgather:mien").contains("did you mean `allgather/mine`?"));
}

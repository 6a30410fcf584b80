//! Every algorithm of the catalogue can be selected.

use super::oracle::fault;
use super::rules::file;
use roundel::algorithms::catalogue;
use roundel::selection::{Force, Question, Reason, Selection};
use roundel_spec::{Kind, Placement};

/// Values for all parameters that serve four ranks.
fn parameters(name: &str) -> &'static str {
    match name {
        "allgather/k-bruck" | "reduce-scatter/k-bruck" | "alltoall/k-bruck" | "alltoall/modified-bruck" => {
            "radix = 3"
        }
        "allreduce/cyclic-shift" | "reduce-scatter/cyclic-shift" => "ports = [1, 1]",
        _ => "",
    }
}

#[test]
fn by_full_and_by_short_names() {
    for entry in catalogue() {
        let (kind, short) = entry.name.split_once('/').expect("has a kind");
        for name in [entry.name, short] {
            let given = match parameters(entry.name) {
                "" => String::new(),
                given => format!("; parameters = {{ {given} }}"),
            };
            let rule = format!("collective = '{kind}'; p = 4; nodes = 2; ppn = 2; algorithm = '{name}'{given}");
            let selection = file(&[&rule]).unwrap_or_else(|error| panic!("{rule}: {error}"));
            let call = Question::new(kind.replace('-', "_").parse().expect("is a kind"), 4, 2, 64);
            let chosen = selection.choose(&call);
            assert_eq!(
                (chosen.implementation.algorithm(), &chosen.reason),
                (Some(entry.name), &Reason::Rule { line: 4 }),
                "{rule}"
            );
            assert_eq!(fault(&chosen, &call, &Placement::consecutive(4, 2)), None, "{rule}");
            let proof = chosen.proof();
            assert!(
                proof.contains(" p") && proof.ends_with(&format!("(proofs/{}.json)", entry.type_name)),
                "{proof}"
            );
        }
    }
}

#[test]
fn and_forced() {
    for entry in catalogue() {
        let (kind, short) = entry.name.split_once('/').expect("has a kind");
        let given = parameters(entry.name).replace(" = [1, 1]", "=1+1").replace(" = ", "=");
        let text = format!("{kind}:{short}:{given}");
        let forced = Force::read(text.trim_end_matches(':')).unwrap_or_else(|error| panic!("{error}"));
        let call = Question::new(forced[0].kind, 4, 2, 64);
        let chosen = Selection::default().forcing(forced).choose(&call);
        assert_eq!(
            (chosen.implementation.algorithm(), &chosen.reason),
            (Some(entry.name), &Reason::Forced),
            "{text}"
        );
        assert!(chosen.explain().contains("forced by ROUNDEL_FORCE; proved for"), "{}", chosen.explain());
    }
}

#[test]
fn the_proof_is_that_of_the_record() {
    let proof = |kind: &str, name: &str| {
        let rule = format!("collective = '{kind}'; p = 4; algorithm = '{name}'");
        let kind: Kind = kind.parse().expect("is a kind");
        file(&[&rule]).expect("serves").choose(&Question::new(kind, 4, 4, 8)).proof()
    };
    assert_eq!(proof("allgather", "ring"), "proved for all p (proofs/Ring.json)");
    assert_eq!(proof("gather", "binomial"), "proved for all p, all root (proofs/BinomialGather.json)");
    let nap = "proved for all p, every placement";
    assert_eq!(proof("allreduce", "nap"), format!("{nap} (proofs/NapAllreduce.json)"));
}

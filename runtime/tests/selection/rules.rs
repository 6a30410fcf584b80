//! Impossible rules, and rules that contradict each other.

use roundel::selection::{Error, RuleError, Selection};

/// A file with rules, each written on one line with `;` between its keys. Rule n, from 0, begins at line 3 + n.
pub(crate) fn file(rules: &[&str]) -> Result<Selection, Error> {
    let head = "format = \"roundel-selection\"\nversion = 1\n";
    let inline = rules.iter().map(|rule| format!("  {{ {} }},\n", rule.replace(';', ",")));
    let text = format!("{head}rule = [\n{}]\n", inline.collect::<String>());
    Selection::parse(&text)
}

/// The line of the first rule.
const FIRST: usize = 4;

fn refused(rule: &str, words: &str) -> RuleError {
    match file(&[rule]) {
        Err(Error::Rule { line: FIRST, error }) if error.to_string().contains(words) => *error,
        other => panic!("{rule}: {other:?}, not {words}"),
    }
}

fn fine(rule: &str) {
    let read = file(&[rule]);
    assert!(read.is_ok(), "{rule}: {read:?}");
}

#[test]
fn names_that_are_not_there() {
    refused("collective = 'allmend'; algorithm = 'ring'", "there is no collective `allmend`: write one of allgather");
    refused(
        "collective = 'allgather'; algorithm = 'quicksort'",
        "there is no algorithm `quicksort` for allgather: write",
    );
    refused(
        "collective = 'allgather'; algorithm = 'sparbt'",
        "did you mean `allgather/sparbit`? Otherwise write one of",
    );
    refused(
        "collective = 'allgather'; algorithm = 'quicksort'",
        "allgather/k-bruck, … (`roundel list` has all), or `library`",
    );
    refused(
        "collective = 'allgather'; algorithm = 'nap'",
        "`allreduce/nap` is no allgather: write one of allgather/ring",
    );
    refused("collective = 'allgather'; algorithm = 'allreduce/ring'", "`allreduce/ring` is no allgather");
    fine("collective = 'allgather'; algorithm = 'ring'");
    fine("collective = 'reduce-scatter'; algorithm = 'pairwise'");
    fine("collective = 'reduce_scatter'; algorithm = 'reduce-scatter/pairwise'");
}

#[test]
fn parameters_that_do_not_fit() {
    let bruck = |rest: &str| format!("collective = 'alltoall'; algorithm = 'radix-bruck'{rest}");
    refused(&bruck(""), "needs a number `radix` in 2.., and there is none: write `parameters = { radix = 2 }`");
    refused(&bruck("; parameters = { radix = 1 }"), "must lie in 2.., but is 1");
    refused(&bruck("; parameters = { radix = [2] }"), "and there is a list");
    refused(&bruck("; parameters = { radix = 2; base = 2 }"), "has no parameter `base`: write radix");
    refused(
        &bruck("; parameters = { radix = 2147483648 }"),
        "index arithmetic is proved for values up to 2147483647",
    );
    fine(&bruck("; parameters = { radix = 2147483647 }"));
    let shift = |rest: &str| format!("collective = 'allreduce'; p = 4; algorithm = 'cyclic-shift'{rest}");
    refused(&shift(""), "needs a list of numbers `ports` in 1..");
    refused(&shift("; parameters = { ports = 3 }"), "and there is a number");
    refused(&shift("; parameters = { ports = [0] }"), "must lie in 1.., but is 0");
    refused(&shift("; parameters = { ports = [2] }"), "with p = 4, it requires");
    fine(&shift("; parameters = { ports = [3] }"));
    fine(&shift("; parameters = { ports = [1; 1] }"));
    refused(
        "collective = 'gather'; p = '..=64'; algorithm = 'binomial'; parameters = { root = 0 }",
        "leave out `root`",
    );
    refused("collective = 'allgather'; algorithm = 'ring'; parameters = { radix = 2 }", "it has none, leave out");
    refused("collective = 'allgather'; algorithm = 'library'; parameters = { radix = 2 }", "has no parameters");
    refused("collective = 'allgather'; nodes = 2; ports = '2(1)'; parameters = { x = 2 }", "has no parameters");
}

#[test]
fn ranges_beyond_the_domain() {
    let at = |p: &str, name: &str| format!("collective = 'allgather'; p = {p}; algorithm = '{name}'");
    let error = refused(&at("'2..=8'", "recursive-doubling"), "with p = 3, it requires");
    assert!(matches!(error, RuleError::Outside { .. }));
    refused(&at("'>=2'", "neighbor-exchange"), "with p = 3");
    refused("collective = 'allgather'; algorithm = 'neighbor-exchange'", "with p = 1");
    fine(&at("8", "recursive-doubling"));
    // Nodes and ranks per node leave one number of ranks.
    fine("collective = 'allgather'; nodes = 4; ppn = 4; algorithm = 'recursive-doubling'");
    fine("collective = 'allgather'; ppn = '2..=3'; nodes = 1; p = 2; algorithm = 'neighbor-exchange'");
    // With nodes of two, all numbers of ranks are even; but not all of them are checked.
    let pairs = "collective = 'allgather'; ppn = 2; placement = 'even'; algorithm = 'neighbor-exchange'";
    let error = refused(pairs, "can be checked for 1024 numbers of ranks only: narrow `p`");
    assert!(matches!(error, RuleError::TooFar { .. }));
    fine(&format!("{pairs}; p = '..=1000'"));
}

#[test]
fn ranges_beyond_the_proof() {
    // As the records in runtime/proofs say.
    for on_nodes in ["allreduce/nap", "allreduce/smp", "allgather/locality-bruck", "alltoall/hierarchical"] {
        let (kind, _) = on_nodes.split_once('/').expect("a kind");
        let rule = |rest: &str| format!("collective = '{kind}'; algorithm = '{on_nodes}'{rest}");
        for rest in ["", "; placement = 'even'", "; placement = 'regular'; ppn = '>=2'", "; p = '2..=2147483646'"] {
            fine(&rule(rest));
        }
    }
    fine("collective = 'alltoall'; nodes = 2; ppn = '>=100'; placement = 'even'; algorithm = 'leaders'");
    for kind in ["broadcast", "reduce", "gather", "scatter"] {
        fine(&format!("collective = '{kind}'; algorithm = 'binomial'"));
        fine(&format!("collective = '{kind}'; p = '1000000000..=2000000000'; algorithm = 'binomial'"));
    }
    fine("collective = 'reduce_scatter'; algorithm = 'circulant'");
    let shifts = |kind: &str, p: &str, ports: &str| {
        format!("collective = '{kind}'; p = '{p}'; algorithm = 'cyclic-shift'; parameters = {{ ports = {ports} }}")
    };
    fine(&shifts("reduce_scatter", "..=64", "[1, 1, 1, 1, 1, 1]"));
    fine(&shifts("reduce_scatter", "1000..=1024", "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"));
    fine(&shifts("allreduce", "200..300", "[2, 2, 2, 2, 2, 2]"));
    fine(&shifts("allreduce", "1000..=1024", "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"));
}

#[test]
fn rules_without_a_call() {
    refused("collective = 'allgather'; p = 7; ppn = 2; algorithm = 'ring'", "no call can match this rule");
    refused("collective = 'allgather'; p = 4; nodes = 8; algorithm = 'library'", "no call can match this rule");
    refused(
        "collective = 'allgather'; p = 7; nodes = 2; placement = 'even'; algorithm = 'library'",
        "spread as `even`",
    );
    refused("collective = 'allgather'; p = 7; nodes = 2; ppn = '..=3'; algorithm = 'ring'", "no call can match");
    fine("collective = 'allgather'; p = 7; nodes = 2; algorithm = 'library'");
}

#[test]
fn orders_that_are_not_kept() {
    let ring = |order: &str| format!("collective = 'allreduce'; order = '{order}'; algorithm = 'ring'");
    refused(&ring("rank-order"), "allreduce/ring does not promise `rank-order`");
    fine(&ring("same-tree"));
    fine(&ring("any"));
    let prefix = |order: &str| format!("collective = 'allreduce'; order = '{order}'; algorithm = 'prefix'");
    refused(&prefix("same-tree"), "allreduce/prefix does not promise `same-tree`: write `order = \"any\"`");
    refused(&prefix("rank-order"), "does not promise `rank-order`");
    fine(&prefix("any"));
    refused("collective = 'allreduce'; order = 'same-tree'; algorithm = 'library'", "library does not promise");
    fine("collective = 'allreduce'; order = 'rank-order'; algorithm = 'library'");
    refused("collective = 'allgather'; order = 'rank-order'; algorithm = 'ring'", "allgather reduces nothing");
    fine("collective = 'allgather'; order = 'any'; algorithm = 'ring'");
    refused("collective = 'reduce'; p = 8; order = 'rank-order'; algorithm = 'binomial'", "reduce/binomial does not");
    fine("collective = 'reduce'; p = 8; order = 'rank-order'; algorithm = 'binomial-ordered'");
    refused(
        "collective = 'allreduce'; nodes = 4; order = 'rank-order'; ports = '4(1 1)'",
        "does not promise `rank-order`",
    );
}

#[test]
fn ports_that_do_not_fit() {
    let ports = |kind: &str, nodes: &str, ports: &str| format!("collective = '{kind}'; {nodes}; ports = '{ports}'");
    fine(&ports("allreduce", "nodes = 8", "8(-1 1 1 1)"));
    fine(&ports("allreduce", "p = '16..=17'; ppn = 2; nodes = '1..=8'", "8(-1 1 1 1)"));
    fine(&ports("allgather", "nodes = 8", "8(1 1 1)"));
    fine(&ports("reduce_scatter", "nodes = 8", "8(-1 -1 -1)"));
    refused(
        &ports("allreduce", "p = 8", "8(-1 1 1 1)"),
        "is for 8 nodes, and this rule is for 1..=8: write `nodes = 8`",
    );
    refused(&ports("allreduce", "nodes = 9", "8(-1 1 1 1)"), "is for 8 nodes, and this rule is for 9");
    refused(&ports("allreduce", "nodes = 8", "8(1 1)"), "reaches only 4 nodes");
    refused(&ports("allreduce", "nodes = 8", "8(-1 1"), "is no group");
    refused(&ports("allreduce", "nodes = 8", ""), "there is no group");
    refused(&ports("broadcast", "nodes = 8", "8(1 1 1)"), "ports and factors make no broadcast");
}

#[test]
fn rules_that_never_match() {
    let ring = "collective = 'allgather'; algorithm = 'ring'";
    let bruck = "collective = 'allgather'; algorithm = 'bruck'";
    assert_eq!(file(&[ring, ring]), Err(Error::Repeated { line: 5, by: 4 }));
    let other = "allgather/ring".into();
    assert_eq!(file(&[ring, bruck]), Err(Error::Contradiction { line: 5, by: 4, other }));
    let with = |rule: &str, rest: &str| format!("{rule}; {rest}");
    let few = with(bruck, "p = '..=8'");
    assert_eq!(file(&[ring, &few]), Err(Error::Covered { line: 5, by: vec![4] }));
    assert!(file(&[&few, ring]).is_ok());
    // Two rules together: short and long, and nothing is left.
    let (short, long) = (with(bruck, "bytes = '..4KiB'"), with(ring, "bytes = '>=4096'"));
    let text = file(&[&short, &long, "collective = 'allgather'; algorithm = 'library'"]);
    assert_eq!(text, Err(Error::Covered { line: 6, by: vec![4, 5] }));
    assert!(
        text.expect_err("covered")
            .to_string()
            .contains("those at lines 4, 5 stand before it: move it up, or remove it")
    );
    // Persistent requests and other calls have their own rules.
    let ports = "collective = 'allgather'; nodes = 4; ports = '4(1 1)'";
    assert!(
        file(&[ring, ports]).is_ok()
            && file(&[ports, "collective = 'allgather'; nodes = 4; algorithm = 'ring'"]).is_ok()
    );
    assert_eq!(file(&[ports, ring, ports]), Err(Error::Repeated { line: 6, by: 4 }));
    // One byte is left.
    let long = with(ring, "bytes = '>4096'");
    assert!(file(&[&short, &long, "collective = 'allgather'; algorithm = 'library'"]).is_ok());
    // Nodes of few and of many ranks leave those that have both, unless all have equally many.
    let (few, many) = (with(bruck, "ppn = '..4'"), with(ring, "ppn = '>=4'"));
    assert!(file(&[&few, &many, "collective = 'allgather'; algorithm = 'library'"]).is_ok());
    let even = "collective = 'allgather'; placement = 'even'; algorithm = 'library'";
    assert_eq!(file(&[&few, &many, even]).map_err(|error| error.line()), Err(6));
    // Another collective, another order.
    assert!(file(&[ring, "collective = 'allreduce'; algorithm = 'ring'"]).is_ok());
    let rank_order = "collective = 'allreduce'; algorithm = 'recursive-doubling'";
    assert!(file(&["collective = 'allreduce'; algorithm = 'ring'", rank_order]).is_ok());
    assert!(file(&[rank_order, "collective = 'allreduce'; algorithm = 'ring'"]).is_err());
    // The same calls, described differently.
    let (said, again) = ("nodes = 4; ppn = 2", "p = 8; nodes = 4; ppn = 2");
    assert!(matches!(
        file(&[&with(ring, said), &with(bruck, again)]),
        Err(Error::Contradiction { line: 5, by: 4, .. })
    ));
}

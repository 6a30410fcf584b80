//! Reductions, from text to the exact check.
#![cfg(feature = "syntax")]

use roundel_spec::check::{self, Points};
use roundel_spec::syntax;

/// The result of checking a declaration up to a number of ranks.
fn checked(p: usize, text: &str) -> Result<usize, String> {
    let input = syn::parse_str(text).expect("a struct");
    let declaration = syntax::parse(&input).map_err(|error| error.to_string())?;
    let schedule = &declaration.schedule;
    check::over(schedule, &Points::new(schedule, 1..=p)).map_err(|violation| violation.to_string())
}

const RECURSIVE_DOUBLING: &str = "
#[collective(allreduce)]
#[order(same_tree, rank_order)]
#[define(t = pow(2, floor_log(2, p)), rem = p - t, folded = rank < 2 * rem, idle = folded && rank % 2 == 0)]
#[define(v = if folded { rank / 2 } else { rank - rem }, real(u) = if u < rem { 2 * u + 1 } else { u + rem })]
#[round]
#[send(when = idle, to = rank + 1)]
#[recv(when = folded && rank % 2 == 1, from = rank - 1, combine = left)]
#[round(s in 0..floor_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[exchange(when = !idle, with = real(v ^ D), combine = by_rank)]
#[define(lo = v / D * D)]
#[holds(acc = [rank; idle] + [2 * u; u in lo..lo + D, !idle && u < rem] + [real(u); u in lo..lo + D, !idle])]
#[round]
#[send(when = folded && rank % 2 == 1, to = rank - 1)]
#[recv(when = idle, from = rank + 1, replaces = acc)]
#[bound(rounds <= floor_log(2, p) + 2)]
struct RecursiveDoubling;";

const RING: &str = "
#[collective(allreduce)]
#[split(p)]
#[order(same_tree)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s], combine = left)]
#[holds(acc(b) = [rank - k; k in 0..if (rank - b) % p <= s { (rank - b) % p + 1 } else { 1 }])]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank + 1 - s])]
#[recv(from = rank - 1, blocks = [rank - s], replaces = acc)]
#[bound(rounds = 2 * (p - 1), each blocks_sent = 2 * (p - 1))]
struct Ring;";

#[test]
fn textbook_reductions_are_correct() {
    assert_eq!(checked(40, RECURSIVE_DOUBLING), Ok(40));
    assert_eq!(checked(24, RING), Ok(24));
}

#[test]
fn wrong_reductions_are_refused() {
    let cases = [
        (RECURSIVE_DOUBLING.replace("combine = left", "combine = right"), "the order of reduction"),
        (RECURSIVE_DOUBLING.replace("with = real(v ^ D)", "with = real(v ^ 1)"), "counts a contribution twice"),
        (RECURSIVE_DOUBLING.replace("replaces = acc", "combine = left"), "counts a contribution twice"),
        (RECURSIVE_DOUBLING.replace("replaces = acc", "into = acc"), "writes line `acc` where it is in use"),
        (RECURSIVE_DOUBLING.replace("in 0..floor_log(2, p)", "in 1..floor_log(2, p)"), "a contribution is missing"),
        (RECURSIVE_DOUBLING.replace("+ [2 * u; u", "+ [2 * u + 1; u"), "names block"),
        (
            RING.replace(
                "#[round(s in 0..p - 1)]\n#[send(to = rank + 1, blocks = [rank + 1 - s])]",
                "#[round(s in 0..p - 1)]\n#[send(to = rank + 1, blocks = [rank + 1 - s, rank - s])]",
            )
            .replace("[rank - s], replaces", "[rank - s, rank - 1 - s], replaces"),
            "while it is in use",
        ),
        (RING.replace("same_tree", "rank_order"), "the order of reduction"),
        (RING.replace("[rank + 1 - s]", "[rank - s]"), "sends other blocks"),
    ];
    for (text, expected) in cases {
        let found = checked(12, &text).expect_err(expected);
        assert!(found.contains(expected), "{found}\nnot: {expected}");
    }
}

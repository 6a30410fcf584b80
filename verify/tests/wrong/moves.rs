//! All-to-alls with a fault: none of them may be proved for all p.
//!
//! Each is the text of a catalogue entry in which something is replaced, or a separate declaration: a digit, a state, a
//! range, copies instead of moves, a peer, an order, a filter, a bound; some are wrong only for one radix, only in the
//! last digit, or only with more than 41 ranks, which no check at compile time sees. The exact check first confirms
//! that it is wrong. The tests also prove the correct entries, which shows that the fault is what prevents the proof.
//!
//! Tests that need z3 say so and pass where it is not installed; with `ROUNDEL_REQUIRE` set they fail there.

use crate::common::every;
use crate::common::wrong::{catalogue_text, solvers};
use roundel_spec::check::{self, Points};
use roundel_spec::schedule::Hold;
use roundel_spec::{Schedule, Violation, syntax};
use roundel_verify::attack::mutants::induction;
use roundel_verify::proving::prove::InductionResult;
use roundel_verify::proving::smt::{Portfolio, obligations};
use roundel_verify::proving::sweep::parallel;

const RADIX: &str = "alltoall/modified-bruck";
const K_BRUCK: &str = "alltoall/k-bruck";
const SPREAD_OUT: &str = "alltoall/spread-out";
const PAIRWISE: &str = "alltoall/pairwise";

/// An entry, and the replacements, which apply to every occurrence.
type Wrong = (&'static str, &'static [(&'static str, &'static str)]);

const WRONG: &[Wrong] = &[
    // Digits.
    (RADIX, &[("digit(j, radix, x) == z", "digit(j, radix, x) == z - 1")]),
    (RADIX, &[("digit(j, radix, x) == z", "digit(j, radix, x) >= z")]),
    (RADIX, &[("digit(j, radix, x) == z", "digit(j, radix, x + 1) == z")]),
    (RADIX, &[("digit(j, radix, x) == z", "digit(j, 2, x) == z")]),
    (RADIX, &[("digit(j, radix, x) == z", "j / X == z")]),
    (RADIX, &[("digit(j, radix, x) == z", "digit(j, radix, x) == z && j < 42")]),
    (RADIX, &[("digit(j, radix, x) == z", "digit(j, radix, x) == z && j != radix")]),
    (RADIX, &[("0..p, digit(j, radix, x) == z", "0..p")]),
    (RADIX, &[("j in 0..p, digit", "j in 0..p - 1, digit")]),
    (RADIX, &[("j in 0..p, digit", "j in 2..p, digit")]),
    (RADIX, &[("j in 0..p, digit", "j in 0..min(p, 42), digit")]),
    // One side only.
    (RADIX, &[("z])]\n#[recv", "z && j < 42])]\n#[recv")]),
    (RADIX, &[("z])]\n#[recv", "z && j > 0 && j % 7 != 6])]\n#[recv")]),
    (RADIX, &[("z])]\n#[define(numD", "z - 1])]\n#[define(numD")]),
    (RADIX, &[("[rank - j % X -> rank - j % X + j; j", "[rank - j % X -> rank - j % X + j + 1; j")]),
    (RADIX, &[("[rank - j % X -> rank - j % X + j; j", "[rank - j % X - 1 -> rank - j % X - 1 + j; j")]),
    (RADIX, &[("[rank - j % (radix * X) -> rank - j % (radix * X) + j", "[rank - j % X -> rank - j % X + j")]),
    (
        RADIX,
        &[(
            "[rank - j % (radix * X) -> rank - j % (radix * X) + j",
            "[rank - j % (radix + X) -> rank - j % (radix + X) + j",
        )],
    ),
    // Offsets that are not the index.
    (
        RADIX,
        &[
            ("rank - j % X + j;", "rank - j % X + 2 * j;"),
            ("rank - j % (radix * X) + j;", "rank - j % (radix * X) + 2 * j;"),
        ],
    ),
    (
        RADIX,
        &[("rank - j % X + j;", "rank - j % X - j;"), ("rank - j % (radix * X) + j;", "rank - j % (radix * X) - j;")],
    ),
    // States and ranges.
    (RADIX, &[("next = radix * X", "next = (radix + 1) * X")]),
    (RADIX, &[("next = radix * X", "next = radix + X")]),
    (RADIX, &[("next = radix * X", "next = 2 * X")]),
    (RADIX, &[("next = radix * X", "next = if x > 4 { 2 * radix * X } else { radix * X }")]),
    (RADIX, &[("X = 1,", "X = radix,")]),
    (RADIX, &[("next = radix * X", "next = radix * X, each = z")]),
    (RADIX, &[("z in 1..radix", "z in 1..radix - 1")]),
    (RADIX, &[("z in 1..radix", "z in 0..radix")]),
    (RADIX, &[("z in 1..radix", "z in 2..radix")]),
    (RADIX, &[("z in 1..radix", "z in 1..if x == w - 1 && w > 2 { radix - 1 } else { radix }")]),
    (RADIX, &[("x in 0..ceil_log(radix, p)", "x in 0..floor_log(radix, p)")]),
    (RADIX, &[("x in 0..ceil_log(radix, p)", "x in 1..ceil_log(radix, p)")]),
    (RADIX, &[("x in 0..ceil_log(radix, p)", "x in 0..if p > 41 { w - 1 } else { w }")]),
    (RADIX, &[("x in 0..ceil_log(radix, p)", "x in 0..min(w, 5)")]),
    // Peers.
    (RADIX, &[("to = rank + z * X", "to = rank + z * X + 1")]),
    (RADIX, &[("to = rank + z * X", "to = rank - z * X")]),
    (RADIX, &[("from = rank - z * X", "from = rank - X")]),
    (RADIX, &[("from = rank - z * X", "from = rank + z * X")]),
    (RADIX, &[("to = rank + z * X", "to = rank + if p > 41 { z } else { z * X }")]),
    (RADIX, &[("to = rank + z * X", "to = rank + z * X + if radix == 3 { 1 } else { 0 }")]),
    (RADIX, &[("to = rank + z * X", "to = rank + z * X + if x == w - 1 && w > 1 { 1 } else { 0 }")]),
    (RADIX, &[("to = rank + z * X", "when = rank < 42, to = rank + z * X")]),
    (
        RADIX,
        &[
            ("to = rank + z * X", "when = z * X < 42, to = rank + z * X"),
            ("from = rank", "when = z * X < 42, from = rank"),
        ],
    ),
    // What is held.
    (RADIX, &[("digit(j, radix, x) < z", "digit(j, radix, x) <= z")]),
    (RADIX, &[("digit(j, radix, x) < z", "digit(j, radix, x) < z - 1")]),
    (RADIX, &[("digit(j, radix, x) < z", "digit(j, radix, x) < z + if p > 41 { 1 } else { 0 }")]),
    (RADIX, &[("else { j % X }", "else { 0 }")]),
    (
        RADIX,
        &[("else { j % X } + j; j in 0..p])]", "else { j % X } + j; j in 0..p] + [rank -> rank + j; j in 1..p])]")],
    ),
    (RADIX, &[("else { j % X } + j; j in 0..p])]", "else { j % X } + j; j in 0..p, j % X == 0])]")]),
    (RADIX, &[("else { j % X } + j; j in 0..p])]", "else { j % X } + j; j in 1..p])]")]),
    (RADIX, &[("else { j % X } + j; j in 0..p])]", "else { j % X } + j; j in 0..min(p, 41)])]")]),
    // Facts that are false, or contradict each other.
    (RADIX, &[("holds(X == pow(radix, x)", "holds(X == pow(radix, x), X < 0")]),
    (RADIX, &[("holds(X == pow(radix, x)", "holds(X == pow(radix, x), x < 0")]),
    (RADIX, &[("holds(X == pow(radix, x)", "holds(X == pow(radix, x), X == 1")]),
    (RADIX, &[("holds(X == pow(radix, x)", "holds(X == pow(radix, x), p <= 41")]),
    (RADIX, &[("holds(X == pow(radix, x)", "holds(X == pow(radix, x), rank < 41")]),
    (RADIX, &[("#[holds(X", "#[hint(z * X < 42)]\n#[holds(X")]),
    (RADIX, &[("#[holds(X", "#[hint(z * X < p)]\n#[holds(X")]),
    (RADIX, &[("#[holds(X", "#[hint(z == 1)]\n#[holds(X")]),
    // Bounds, in either direction.
    (RADIX, &[("numD, per_round", "numD + 1, per_round")]),
    (RADIX, &[("numD, per_round", "numD - 1, per_round")]),
    (RADIX, &[("blocks_sent = numD, per_round", "blocks_sent <= numD - 1, per_round")]),
    (RADIX, &[("min(X, max(0, p % (radix * X) - z * X))", "max(0, p % (radix * X) - z * X)")]),
    (RADIX, &[("min(X, max(0, p % (radix * X) - z * X))", "min(X, max(0, p % (radix * X) - (z - 1) * X))")]),
    (RADIX, &[("numD, per_round", "numD + if p > 41 { 1 } else { 0 }, per_round")]),
    (RADIX, &[("messages_sent = 1", "messages_sent = 2")]),
    (RADIX, &[("messages_sent = 1", "messages_sent = 0")]),
    (RADIX, &[("messages_sent = 1", "messages_sent = if p > 41 { 0 } else { 1 }")]),
    (RADIX, &[("rounds = substeps, scr", "rounds = substeps + 1, scr")]),
    (RADIX, &[("rounds = substeps, scr", "rounds <= substeps - 1, scr")]),
    (RADIX, &[("rounds = substeps, scr", "rounds = w * (radix - 1), scr")]),
    (
        RADIX,
        &[(
            "rounds = if x < ceil_log(radix, p) { x * (radix - 1) + min(z - 1, ceil_div(p, X) - 1) } \
             else { substeps }",
            "rounds = x * (radix - 1) + z - 1",
        )],
    ),
    (RADIX, &[("else { substeps })]", "else { substeps + if p > 41 { 1 } else { 0 } })]")]),
    (RADIX, &[("p - 1 - substeps", "p - 2 - substeps")]),
    (RADIX, &[("scratch <= p - 1 - substeps", "scratch <= 0")]),
    (RADIX, &[("scratch <= p - 1 - substeps", "scratch = 0")]),
    (RADIX, &[("scratch <= p - 1 - substeps", "scratch <= if p > 41 { 5 } else { p }")]),
    (RADIX, &[("scratch <= p - 1 - substeps", "scratch <= (p - 1 - substeps) / 2")]),
    (RADIX, &[("scratch <= p - 1 - substeps", "scratch <= p - 3")]),
    // All values of a digit at the same time.
    (K_BRUCK, &[("ceil_div(p, X)), stay", "p / X), stay")]),
    (K_BRUCK, &[("ceil_div(p, X)), stay", "ceil_div(p, X) - if p > 41 { 1 } else { 0 }), stay")]),
    (K_BRUCK, &[("for z in 1..values", "for z in 0..values")]),
    (K_BRUCK, &[("for z in 1..values", "for z in 2..values")]),
    (K_BRUCK, &[("send(for z in 1..values", "send(for z in 1..values - 1")]),
    (K_BRUCK, &[("digit(j, radix, x) == z", "digit(j, radix, x) >= z")]),
    (K_BRUCK, &[("digit(j, radix, x) == z", "digit(j, radix, x) == 1")]),
    (
        K_BRUCK,
        &[
            ("to = rank + z * X", "to = rank + (values - z) * X"),
            ("from = rank - z * X", "from = rank - (values - z) * X"),
        ],
    ),
    (K_BRUCK, &[("to = rank + z * X", "to = rank + X")]),
    (K_BRUCK, &[("p - stay", "p - stay + 1")]),
    (K_BRUCK, &[("p - stay", "p - stay - if p > 41 { 1 } else { 0 }")]),
    (K_BRUCK, &[("messages_sent <= radix - 1", "messages_sent <= radix - 2")]),
    (K_BRUCK, &[("messages_sent <= radix - 1", "messages_sent = radix - 1")]),
    (K_BRUCK, &[("rounds = w,", "rounds = w - 1,")]),
    (K_BRUCK, &[("rounds = w,", "rounds <= floor_log(radix, p),")]),
    (K_BRUCK, &[("each messages_sent = substeps", "each messages_sent = substeps - 1")]),
    (
        K_BRUCK,
        &[(
            "messages_sent = if x < ceil_log(radix, p) { radix * x - x } else { substeps }",
            "messages_sent = x * (radix - 1)",
        )],
    ),
    (K_BRUCK, &[("p - 1 - substeps", "p - 2 - substeps")]),
    (
        K_BRUCK,
        &[(
            "blocks = [rank - j % X -> rank - j % X + j; j in 0..p])]",
            "blocks = [rank - j % X -> rank - j % X + j; j in 0..p - 1])]",
        )],
    ),
    // Straight to the destination.
    (SPREAD_OUT, &[("for s in 1..p", "for s in 0..p")]),
    (SPREAD_OUT, &[("for s in 1..p", "for s in 1..p - 1")]),
    (SPREAD_OUT, &[("send(for s in 1..p", "send(for s in 1..min(p, 42)")]),
    (SPREAD_OUT, &[("for s in 1..p", "for s in 1..min(p, 42)")]),
    (SPREAD_OUT, &[("to = rank + s", "to = rank - s")]),
    (SPREAD_OUT, &[("to = rank + s", "to = rank + 1")]),
    (SPREAD_OUT, &[("[rank -> rank + s]", "[rank -> rank + s + 1]")]),
    (SPREAD_OUT, &[("[rank -> rank + s]", "[rank + 1 -> rank + s]")]),
    (
        SPREAD_OUT,
        &[("[rank -> rank + s]", "[rank -> rank - s]"), ("[rank - s -> rank]", "[rank - s -> rank - 2 * s]")],
    ),
    (SPREAD_OUT, &[("[rank - s -> rank]", "[rank - s -> rank + if p > 41 { 1 } else { 0 }]")]),
    (SPREAD_OUT, &[("j in 0..p])]", "j in 1..p])]")]),
    (
        SPREAD_OUT,
        &[("[rank - j -> rank; j in 0..p])]", "[rank - j -> rank; j in 0..p] + [rank -> rank + j; j in 1..p])]")],
    ),
    (SPREAD_OUT, &[("min(1, p - 1)", "1")]),
    (SPREAD_OUT, &[("each messages_sent = p - 1", "each messages_sent = p")]),
    (SPREAD_OUT, &[("each blocks_sent = p - 1", "each blocks_sent = if p > 41 { p } else { p - 1 }")]),
    // Twice, by two clauses.
    (
        SPREAD_OUT,
        &[(
            "#[recv(for s",
            "#[send(for s in 1..min(p, 2), to = rank + s, blocks = [rank -> rank + s])]\n#[recv(for s in 1..min(p, 2), from = rank - s, blocks = [rank - s -> rank])]\n#[recv(for s",
        )],
    ),
    // Round by round.
    (PAIRWISE, &[("s in 1..p)", "s in 0..p)")]),
    (PAIRWISE, &[("s in 1..p)", "s in 2..p)")]),
    (PAIRWISE, &[("s in 1..p)", "s in 1..min(p, 42))")]),
    (
        PAIRWISE,
        &[("to = rank + s", "when = s != 42, to = rank + s"), ("from = rank - s", "when = s != 42, from = rank - s")],
    ),
    (PAIRWISE, &[("j in s..p", "j in s + 1..p")]),
    (PAIRWISE, &[("j in 0..s]", "j in 0..s + 1]")]),
    (PAIRWISE, &[("[rank -> rank + j; j in s..p]", "[rank -> rank + j; j in 1..p]")]),
    (PAIRWISE, &[("blocks_sent = s - 1", "blocks_sent = s")]),
    (PAIRWISE, &[("rounds = p - 1", "rounds = p")]),
    (PAIRWISE, &[("rounds = p - 1", "rounds <= p - 2")]),
    (PAIRWISE, &[("per_round messages_sent = 1", "per_round messages_sent = 1, per_round blocks_sent = 2")]),
    (PAIRWISE, &[("scratch = 0", "scratch <= p - 3")]),
    // Copies: a block goes twice.
    (
        PAIRWISE,
        &[
            ("[rank -> rank + s]", "[rank -> rank + s] + [rank -> rank + 1; s > 1]"),
            ("[rank - s -> rank]", "[rank - s -> rank] + [rank - s -> rank - s + 1; s > 1]"),
        ],
    ),
    // The set of blocks depends on p: an induction over p must not confuse this p with the number that grows.
    (
        PAIRWISE,
        &[
            ("[rank -> rank + s]", "[rank -> rank + j; j in 0..p, j == p - s]"),
            ("[rank - s -> rank]", "[rank + s -> rank + s + j; j in 0..p, j == p - s]"),
            ("rank + s,", "rank - s,"),
            ("rank - s,", "rank + s,"),
            ("messages_sent = 1", "messages_sent = 1, per_round blocks_sent = 0"),
        ],
    ),
];

/// Separate declarations.
const ALONE: &[(&str, &str)] = &[
    (
        "an order: the halves of a message are swapped on arrival",
        "#[collective(alltoall)]
         #[requires(p >= 4)]
         #[round]
         #[send(to = rank + 1, blocks = [rank -> rank + 1] + [rank -> rank + 2])]
         #[recv(from = rank - 1, blocks = [rank - 1 -> rank + 1] + [rank - 1 -> rank])]
         #[holds(blocks = [rank -> rank + j; j in 0..p, j != 1 && j != 2] + [rank - 1 -> rank] + [rank - 1 -> rank + 1])]
         #[round(s in 2..p)]
         #[send(to = if s == 2 { rank + 1 } else { rank + s }, blocks = [if s == 2 { rank - 1 } else { rank } -> if s == 2 { rank + 1 } else { rank + s }])]
         #[recv(from = if s == 2 { rank - 1 } else { rank - s }, blocks = [if s == 2 { rank - 2 } else { rank - s } -> rank])]
         #[holds(blocks = [rank -> rank + j; j in s..p, j > 2] + [rank - j -> rank; j in 0..s] + [rank - 1 -> rank + 1; s == 2])]",
    ),
    (
        "nothing is sent, and `holds` says that it was",
        "#[collective(alltoall)]
         #[round(s in 1..p)]
         #[send(to = rank + s, blocks = [rank -> rank + s; false])]
         #[recv(from = rank - s, blocks = [rank - s -> rank; false])]
         #[holds(blocks = [rank -> rank + j; j in s..p] + [rank - j -> rank; j in 0..s])]",
    ),
    (
        "a count that a filter by rank makes wrong",
        "#[collective(alltoall)]
         #[round(s in 1..p)]
         #[send(to = rank + s, blocks = [rank -> rank + j; j in 0..p, j == s && rank >= 0])]
         #[recv(from = rank - s, blocks = [rank - s -> rank - s + j; j in 0..p, j == s && rank >= 0])]
         #[holds(blocks = [rank -> rank + j; j in s..p] + [rank - j -> rank; j in 0..s])]
         #[bound(per_round blocks_sent = if p > 41 { 2 } else { 1 })]",
    ),
    (
        "a definition that hides p",
        "#[collective(alltoall)]
         #[define(all = p)]
         #[round(s in 1..p)]
         #[send(to = rank - s, blocks = [rank -> rank + j; j in 0..p, j == all - s])]
         #[recv(from = rank + s, blocks = [rank + s -> rank + s + j; j in 0..p, j == all - s])]
         #[holds(blocks = [rank -> rank + j; j in 0..p - s + 1] + [rank - j -> rank; j in p - s + 1..p])]
         #[bound(per_round blocks_sent = 0)]",
    ),
    (
        "a definition with an argument called like another's index",
        "#[collective(alltoall)]
         #[define(next(j) = j + if p > 41 { 1 } else { 0 })]
         #[round(s in 1..p)]
         #[send(to = rank + s, blocks = [rank -> rank + j; j in 0..p, next(j) == s])]
         #[recv(from = rank - s, blocks = [rank - s -> rank - s + j; j in 0..p, j == s])]
         #[holds(blocks = [rank -> rank + j; j in s..p] + [rank - j -> rank; j in 0..s])]",
    ),
    (
        "an inner range without rounds",
        "#[collective(alltoall)]
         #[round(s in 1..p, t in 0..if s == 42 { 0 } else { 1 })]
         #[send(to = rank + s, blocks = [rank -> rank + s])]
         #[recv(from = rank - s, blocks = [rank - s -> rank])]
         #[holds(blocks = [rank -> rank + j; j in s..p] + [rank - j -> rank; j in 0..s])]",
    ),
    (
        "an inner state that is not reset",
        "#[collective(alltoall)]
         #[round(s in 1..p, t in 0..1)]
         #[state(D = 1, next = D + 2, each = t)]
         #[send(to = rank + D, blocks = [rank -> rank + D])]
         #[recv(from = rank - D, blocks = [rank - D -> rank])]
         #[holds(D == s, blocks = [rank -> rank + j; j in s..p] + [rank - j -> rank; j in 0..s])]",
    ),
    (
        "a second loop that begins elsewhere",
        "#[collective(alltoall)]
         #[define(h = p / 2)]
         #[round(s in 1..h)]
         #[send(to = rank + s, blocks = [rank -> rank + s])]
         #[recv(from = rank - s, blocks = [rank - s -> rank])]
         #[holds(blocks = [rank -> rank + j; j in s..p] + [rank - j -> rank; j in 0..s])]
         #[round(s in if p > 41 { h + 1 } else { max(1, h) }..p)]
         #[send(to = rank + s, blocks = [rank -> rank + s])]
         #[recv(from = rank - s, blocks = [rank - s -> rank])]
         #[holds(blocks = [rank -> rank + j; j in s..p] + [rank - j -> rank; j in 0..s])]",
    ),
    (
        "rounds of which one is silent",
        "#[collective(alltoall)]
         #[round(s in 1..p + 1)]
         #[send(to = rank + s, blocks = [rank -> rank + s; s < p])]
         #[recv(from = rank - s, blocks = [rank - s -> rank; s < p])]
         #[holds(blocks = [rank -> rank + j; j in s..p] + [rank - j -> rank; j in 0..min(s, p)])]
         #[bound(rounds = p)]",
    ),
    (
        "messages without blocks that are counted",
        "#[collective(alltoall)]
         #[round]
         #[send(for s in 1..p + 1, to = rank + s, blocks = [rank -> rank + s; s < p])]
         #[recv(for s in 1..p + 1, from = rank - s, blocks = [rank - s -> rank; s < p])]
         #[holds(blocks = [rank - j -> rank; j in 0..p])]
         #[bound(each messages_sent = p)]",
    ),
    (
        "scratch that is not seen between rounds",
        "#[collective(alltoall)]
         #[requires(p >= 3)]
         #[round]
         #[send(to = rank + 1, blocks = [rank -> rank + 2])]
         #[recv(from = rank - 1, blocks = [rank - 1 -> rank + 1])]
         #[holds(blocks = [rank -> rank + j; j in 0..p, j != 2] + [rank - 1 -> rank + 1])]
         #[round]
         #[send(to = rank + 1, blocks = [rank - 1 -> rank + 1])]
         #[recv(from = rank - 1, blocks = [rank - 2 -> rank])]
         #[holds(blocks = [rank -> rank + j; j in 0..p, j != 2] + [rank - 2 -> rank])]
         #[round]
         #[send(for s in 1..p, when = s != 2, to = rank + s, blocks = [rank -> rank + s])]
         #[recv(for s in 1..p, when = s != 2, from = rank - s, blocks = [rank - s -> rank])]
         #[holds(blocks = [rank - j -> rank; j in 0..p])]
         #[bound(scratch = 0)]",
    ),
    (
        "a number that does not fit the machine",
        "#[collective(alltoall, radix: 2..)]
         #[round(s in 1..p)]
         #[state(D = 1, next = radix * D)]
         #[send(to = rank + s, blocks = [rank -> rank + s])]
         #[recv(from = rank - s, blocks = [rank - s -> rank])]
         #[holds(D == pow(radix, s - 1), blocks = [rank -> rank + j; j in s..p] + [rank - j -> rank; j in 0..s])]",
    ),
];

/// Shapes that have no encoding: each leaves a gap.
const NOT_ENCODED: &[(&str, &[(&str, &str)])] = &[
    (SPREAD_OUT, &[("[rank - j -> rank; j in 0..p])]", "[rank - j - k -> rank; j in 0..p, k in 0..1])]")]),
    (SPREAD_OUT, &[("#[holds(blocks = [rank - j -> rank; j in 0..p])]\n", "")]),
    (PAIRWISE, &[("scratch = 0", "scratch = p - p")]),
    (PAIRWISE, &[(", blocks_sent = s - 1", "")]),
    (K_BRUCK, &[("digit(j, radix, x) == z", "2 * digit(j, radix, x) == 2 * z")]),
    (RADIX, &[("j in 0..p, digit", "j in 1..p, digit")]),
    (
        RADIX,
        &[(
            "#[holds(rounds = if x < ceil_log(radix, p) { x * (radix - 1) + min(z - 1, ceil_div(p, X) - 1) } \
             else { substeps })]\n",
            "",
        )],
    ),
];

fn parsed(text: &str) -> Result<Schedule, String> {
    let input = syn::parse_str(text).map_err(|error| format!("{error}: {text}"))?;
    Ok(syntax::parse(&input).map_err(|error| format!("{error}: {text}"))?.schedule)
}

/// A declaration as text, with some things replaced.
fn replaced(name: &str, all: &[(&str, &str)]) -> Result<Schedule, String> {
    let mut text = catalogue_text(name);
    // All at once, so that inserted text is not replaced again.
    for (i, (old, _)) in all.iter().enumerate() {
        assert!(text.contains(old), "{name} has no `{old}`");
        text = text.replace(old, &format!("@{i}@"));
    }
    for (i, (_, new)) in all.iter().enumerate() {
        text = text.replace(&format!("@{i}@"), new);
    }
    parsed(&text)
}

fn alone(text: &str) -> Result<Schedule, String> {
    let fields = if text.contains("radix:") { "{ pub radix: i64 }" } else { ";" };
    parsed(&format!("{text} pub struct Case {fields}"))
}

/// The first fault, with few ranks or with more than 41.
fn fault(schedule: &Schedule) -> Option<Violation> {
    let few = Points::new(schedule, 1..=10);
    let many = Points::new(schedule, 42..=44);
    let large = Points::new(schedule, 64..=66);
    let mut all = few.iter().chain(many.iter().take(24)).chain(large.iter().take(3));
    all.find_map(|point| check::at_point(schedule, &point).err())
}

#[test]
fn all_to_alls_are_proved() {
    let Some(portfolio) = solvers(20) else { return };
    for name in every(2, [SPREAD_OUT, PAIRWISE, RADIX, K_BRUCK]) {
        let induction = InductionResult::over(name, &replaced(name, &[]).unwrap(), &portfolio, &|| {});
        assert!(induction.complete(), "{name}: {:#?}", induction.by_property());
    }
}

/// The schedule without counters and bounds, so that constructs that are not encoded there do not hide a fault in the
/// moves.
fn uncounted(schedule: &Schedule) -> Schedule {
    let mut schedule = schedule.clone();
    schedule.bounds.clear();
    schedule.loops.iter_mut().for_each(|l| l.holds.retain(|hold| !matches!(hold, Hold::Counter(..))));
    schedule
}

/// A complaint about this test, or about the prover.
fn complaint(what: &str, schedule: Result<Schedule, String>, portfolio: &Portfolio) -> Option<String> {
    let schedule = match schedule {
        Ok(schedule) => schedule,
        Err(error) => return Some(format!("{what} is no declaration: {error}")),
    };
    let moving = uncounted(&schedule);
    let found = fault(&moving).map(|violation| (moving, violation));
    let found = found.or_else(|| fault(&schedule).map(|violation| (schedule, violation)));
    let Some((schedule, violation)) = found else { return Some(format!("{what} is not wrong")) };
    let kept = induction::kept_by(&schedule, &violation, portfolio);
    println!("{what}: {} -> {kept:?}", violation.code());
    kept.is_none().then(|| format!("{what} is proved, but {violation}"))
}

#[test]
fn no_fault_of_an_all_to_all_is_proved() {
    let Some(portfolio) = solvers(2) else { return };
    let mut wrong = Vec::new();
    for (name, all) in WRONG {
        let what = all.iter().map(|(old, new)| format!("{old} -> {new}")).collect::<Vec<_>>().join("; ");
        wrong.push((format!("{name}: {what}"), replaced(name, all)));
    }
    wrong.extend(ALONE.iter().map(|(name, text)| (name.to_string(), alone(text))));
    let wrong = every(28, wrong);
    let complaints = parallel(wrong.len(), |n| complaint(&wrong[n].0, wrong[n].1.clone(), &portfolio));
    let complaints: Vec<String> = complaints.into_iter().flatten().collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn what_is_not_understood_is_not_proved() {
    let mut encoded = Vec::new();
    for (name, all) in NOT_ENCODED {
        match replaced(name, all).map(|schedule| obligations(&schedule).gaps) {
            Ok(gaps) if !gaps.is_empty() => println!("{name}, {all:?}: {gaps:?}"),
            other => encoded.push((name, all, other)),
        }
    }
    assert!(encoded.is_empty(), "{encoded:#?}");
}

//! Collectives that look at nodes, with a fault: none of them may be proved for all node counts.
//!
//! Each is an entry of the catalogue, as text, in which one thing is replaced: a peer, a clip that is left out, what a
//! member brings, a round too few; some only with more than 41 ranks, which no check at compile time sees, some only on
//! nodes of different sizes, some only on nodes of more than 6 ranks. The exact check says first that it is wrong. That
//! the entries themselves are proved is a test here, too: what keeps the others from being proved is the fault.
//!
//! Tests that need z3 say so and pass where it is not installed; with `ROUNDEL_REQUIRE` set they fail there.

use crate::common::every;
use crate::common::wrong::{Replacement, none_is_proved, replaced, solvers};
use roundel_spec::check::{self, Points};
use roundel_spec::{Schedule, Violation};
use roundel_verify::proving::prove::InductionResult;

const LOCALITY_BRUCK: &str = "allgather/locality-bruck";
const HIERARCHICAL: &str = "allgather/hierarchical";
const MULTI_LANE: &str = "allgather/multi-lane";
const SMP: &str = "allreduce/smp";
const NAP: &str = "allreduce/nap";
const LEADERS: &str = "alltoall/leaders";
const LANES: &str = "alltoall/hierarchical";

const WRONG: &[Replacement] = &[
    // Without the clip, blocks are written twice in the last round.
    (LOCALITY_BRUCK, "max(0, min(H, nodes - l * H))", "if l * H < nodes { H } else { 0 }"),
    (LOCALITY_BRUCK, "max(0, min(H, nodes - l * H))", "max(0, min(H, nodes - l * H - if p > 41 { 1 } else { 0 }))"),
    (LOCALITY_BRUCK, "to = at(node - local * H, local)", "to = at(node - local * H - 1, local)"),
    (LOCALITY_BRUCK, "to = at(node - local * H, local)", "to = at(node - local, local)"),
    (LOCALITY_BRUCK, "to = at(node - local * H, local)", "to = at(node - local * H, 0)"),
    (LOCALITY_BRUCK, "from = at(node + local * H, local)", "from = at(node + local * H, local - 1)"),
    (
        LOCALITY_BRUCK,
        "from = at(node + local * H, local)",
        "from = at(node + if p > 41 { 1 } else { local * H }, local)",
    ),
    (LOCALITY_BRUCK, "next = min(lanes * H, nodes)", "next = min(2 * H, nodes)"),
    (LOCALITY_BRUCK, "next = min(lanes * H, nodes)", "next = min((lanes + 1) * H, nodes)"),
    (LOCALITY_BRUCK, "0 < l && l < lanes", "0 < l && l < lanes - 1"),
    (LOCALITY_BRUCK, "0 < l && l < lanes", "0 <= l && l < lanes"),
    (
        LOCALITY_BRUCK,
        "brings = [region(node + local * H + k); k in 0..get(local)]",
        "brings = [region(node + k); k in 0..get(local)]",
    ),
    (LOCALITY_BRUCK, "k in 0..get(local)])]\n// For", "k in 0..get(local) - if p > 41 { 1 } else { 0 }])]\n// For"),
    (LOCALITY_BRUCK, "#[within(node, inner, when = !flat)]\n", ""),
    (LOCALITY_BRUCK, "when = !flat)]", "when = !flat && local > 0)]"),
    (LOCALITY_BRUCK, "when = !flat)]", "when = !flat && p <= 41)]"),
    (LOCALITY_BRUCK, "(all, inner, when = flat)", "(all, inner, when = lanes <= 2)"),
    (LOCALITY_BRUCK, "i in 0..w", "i in 0..if flat { 0 } else { floor_log(lanes, nodes) }"),
    (
        LOCALITY_BRUCK,
        "nonlocal_messages_sent <= if flat { p - 1 } else { w }",
        "nonlocal_messages_sent <= if flat { p - 1 } else { floor_log(lanes, nodes) }",
    ),
    (HIERARCHICAL, "to = at(node - D, 0)", "to = at(node - D, 1)"),
    (HIERARCHICAL, "to = at(node - D, 0)", "to = at(node + D, 0)"),
    (HIERARCHICAL, "n = if local == 0", "n = if local <= 1"),
    (HIERARCHICAL, "min(D, nodes - D)", "D"),
    (HIERARCHICAL, "min(D, nodes - D)", "min(D, nodes - D - if p > 41 { 1 } else { 0 })"),
    (HIERARCHICAL, "k in 1..if local == 0", "k in 0..if local == 0"),
    (HIERARCHICAL, "k in 1..if local == 0 { nodes }", "k in 1..if local == 0 { nodes - 1 }"),
    (HIERARCHICAL, "k in 1..if local == 0 { nodes } else { 1 }", "k in 1..if local <= 1 { nodes } else { 1 }"),
    (
        HIERARCHICAL,
        "each nonlocal_messages_sent = if local == 0 { ceil_log(2, nodes) } else { 0 }",
        "each nonlocal_messages_sent = if local == 0 { ceil_log(2, nodes) } else { 1 }",
    ),
    (HIERARCHICAL, "nonlocal_rounds <= ceil_log(2, nodes)", "nonlocal_rounds <= floor_log(2, nodes)"),
    (
        LOCALITY_BRUCK,
        "nonlocal_rounds <= if flat { p - 1 } else { w }",
        "nonlocal_rounds <= if flat { p - 1 } else { w - 1 }",
    ),
    (MULTI_LANE, "to = at(node - D, local)", "to = at(node - D, if p > 41 { 0 } else { local })"),
    (MULTI_LANE, "from = at(node + D, local)", "from = at(node + D + 1, local)"),
    (MULTI_LANE, "n = min(D, nodes - D)", "n = D"),
    (MULTI_LANE, "[at(node + D + k, local + j * lanes)", "[at(node + D + k, j * lanes)"),
    (MULTI_LANE, "s in 0..ceil_log(2, nodes)", "s in 0..floor_log(2, nodes)"),
    (
        MULTI_LANE,
        "s in 0..ceil_log(2, nodes)",
        "s in 0..if p > 41 { floor_log(2, nodes) } else { ceil_log(2, nodes) }",
    ),
    (MULTI_LANE, "else { 0 }..nodes, j", "else { 0 }..nodes - 1, j"),
    (MULTI_LANE, "(nonlocal_messages_sent = ceil_log(2, nodes)", "(nonlocal_messages_sent = floor_log(2, nodes)"),
    // Right on nodes of equal size.
    (LOCALITY_BRUCK, "0 < l && l < lanes", "0 < l && l < ppn"),
    (LOCALITY_BRUCK, "(all, inner, when = flat)", "(all, inner, when = flat && ppn == 1)"),
    (HIERARCHICAL, "n = if local == 0", "n = if local == 0 && (lanes * nodes == p || node > 0)"),
    (MULTI_LANE, "ceil_div(node_size(g) - local, lanes)", "ceil_div(ppn - local, lanes)"),
    (MULTI_LANE, "#[within(node, inner, when = uneven)]", "#[within(node, inner, when = uneven && p <= 41)]"),
    (SMP, "s in 0..ceil_log(2, p)", "s in 0..ceil_log(2, lanes)"),
    (SMP, "local + D < ppn)]\n#[send", "local + D < lanes)]\n#[send"),
    (LEADERS, "for l in 1..node_size(node)", "for l in 1..lanes"),
    (LEADERS, "[region(node) -> region(node + g)]", "[region(node) -> at(node + g, l); l in 0..lanes]"),
    (LANES, "ceil_div(node_size(g) - l, lanes)", "1"),
    (LANES, "m >= lanes &&", "m > lanes &&"),
    (LANES, "when = uneven,", "when = uneven && p <= 41,"),
    // Right on nodes of up to 6 ranks.
    (HIERARCHICAL, "k in 1..if local == 0 { nodes }", "k in 1..if local == 0 && ppn <= 6 { nodes }"),
    (SMP, "local % (2 * D) == 0 && local + D < ppn", "local % (2 * D) == 0 && local + D < min(ppn, 6)"),
    (SMP, "D <= local && local < 2 * D", "D <= local && local < min(2 * D, 6)"),
    (LEADERS, "when = local > 0, from", "when = local > 0 && local <= 6, from"),
    (HIERARCHICAL, "to = at(node - D, 0)", "to = at(node - D, if node_size(node - D) > 6 { 1 } else { 0 })"),
    (
        SMP,
        "when = leads && takes, to = at(node - 1, 0)",
        "when = leads && takes, to = at(node - 1, if ppn > 6 { 1 } else { 0 })",
    ),
    (NAP, "members = q", "members = if ppn > 6 { q - 1 } else { q }"),
    (NAP, "from = at(node, local % q)", "from = at(node, if ppn > 6 { 0 } else { local % q })"),
    (
        LEADERS,
        "[region(node) -> region(node + g)]",
        "[region(node) -> at(node + g, l); l in 0..min(node_size(node + g), 6)]",
    ),
    (LANES, "{ ceil_div(node_size(g) - l, lanes) }", "{ min(ceil_div(node_size(g) - l, lanes), 2) }"),
    // Right on nodes of one rank each, if there are at most 41 of them.
    (LOCALITY_BRUCK, "(all, inner, when = flat)", "(all, inner, when = flat && nodes <= 41)"),
    (SMP, "rem = nodes - pow(2, w)", "rem = nodes - pow(2, w) - if nodes > 41 { 1 } else { 0 }"),
    (NAP, "(all, inner, when = lanes == 1)", "(all, inner, when = lanes == 1 && nodes <= 41)"),
    (LEADERS, "when = local == 0, to = at(node + g, 0)", "when = local == 0 && nodes <= 41, to = at(node + g, 0)"),
    (LANES, "{ carries(m, local) }", "{ carries(m, local) - if nodes > 41 { 1 } else { 0 } }"),
    // Right on nodes of equal size, or of three nodes.
    (NAP, "when = phase == 1, members = q", "when = phase == 1 && lanes * nodes == p, members = q"),
    (LEADERS, "nodes - 1 + node_size(node) - 1", "nodes - 1 + lanes - 1"),
    (LANES, "uneven = lanes * nodes < p", "uneven = lanes * nodes < p && nodes <= 3"),
    // Reductions.
    (SMP, "combine = right", "combine = left"),
    (NAP, "local == m && m >= larger && k < larger", "local == m && m >= larger && k < larger && p <= 41"),
    (NAP, "last lo = 0", "last lo = if p > 41 { 1 } else { 0 }"),
    (SMP, "combine = by_rank", "combine = left"),
    (SMP, "local & -local", "1"),
    (SMP, "2 * u + 1", "2 * u"),
    (SMP, "s in 0..w)", "s in 0..if p > 41 { w - 1 } else { w })"),
    (SMP, "when = leads && gives, to", "when = leads && gives && p <= 41, to"),
    (SMP, "at(real(v ^ D), 0)", "at(real(v ^ D), if p > 41 { 1 } else { 0 })"),
    (SMP, "when = leads && !gives", "when = local <= 1 && !gives"),
    (SMP, "[region(g); g in 0..if done { nodes }", "[region(g); g in 0..if done && p <= 41 { nodes }"),
    (SMP, "rounds = w + if rem > 0 { 2 }", "rounds = w + if rem > 0 { 1 }"),
    (SMP, "sent <= w + if rem > 0 { 1 } else { 0 })]\n#[bound(each", "sent <= w)]\n#[bound(each"),
    // The counterpart of a node in a part that is one smaller; the rule of parts by integer division.
    (NAP, "k < part_size(g, q, local)", "k <= part_size(g, q, local)"),
    (NAP, "ceil_div(g, pow(lanes, lev))", "max(1, g / pow(lanes, lev))"),
    (NAP, "m >= larger && k < larger", "m > larger && k < larger"),
    (NAP, "overwrites = acc)]\n#[recv", "combine = by_rank)]\n#[recv"),
    (NAP, "ceil_log(lanes, nodes) } else { 0 }, phase", "floor_log(lanes, nodes) } else { 0 }, phase"),
    (NAP, "local + j * q < ppn", "local + j * q < lanes"),
    (NAP, "from = at(node, local % q)", "from = at(node, 0)"),
    (NAP, "when = phase == 1, members = q", "when = phase == 1 && node > 0, members = q"),
    (NAP, "members = q", "members = q - if p > 41 { 1 } else { 0 }"),
    (NAP, "(all, inner, when = lanes == 1)", "(all, inner, when = lanes == 1 && ppn == 1)"),
    (NAP, "(node, inner, when = lanes > 1)", "(node, inner, when = lanes > 1 && ppn <= 6)"),
    (NAP, "local < q && local != m", "local < q && local != m && p <= 41"),
    (NAP, "last g = nodes", "last g = nodes - if p > 41 { 1 } else { 0 }"),
    (NAP, "messages_received <= 1", "messages_received <= 0"),
    // All-to-alls.
    (LEADERS, "to = at(node + g, 0)", "to = at(node - g, 0)"),
    (LEADERS, "for g in 1..nodes", "for g in 1..if p > 41 { nodes - 1 } else { nodes }"),
    (LEADERS, "[region(node - g) -> region(node)]", "[region(node) -> region(node - g)]"),
    (LEADERS, "[rank - j -> rank; j in 0..p]", "[rank - j -> rank; j in 1..p]"),
    (LEADERS, "from = at(node, 0)", "from = at(node, local - 1)"),
    (LEADERS, "nodes - 1 + node_size(node) - 1", "nodes + node_size(node) - 1"),
    (LEADERS, "= min(1, nodes - 1)", "= 1"),
    (LANES, "g in 1..nodes, k in", "g in 1..nodes - 1, k in"),
    (LANES, "g in 1..nodes, k in", "g in 1..if p > 41 { nodes - 1 } else { nodes }, k in"),
    (LANES, "at(m, local + k * lanes)", "at(m, local + (k + 1) * lanes)"),
    (LANES, "[region(node) -> at(m", "[rank -> at(m"),
];

/// The first fault, with few ranks or with more than 41.
fn fault(schedule: &Schedule) -> Option<Violation> {
    let points = [1..=12, 42..=44].map(|p| Points::new(schedule, p));
    points.iter().flat_map(Points::iter).find_map(|point| check::at_point(schedule, &point).err())
}

#[test]
fn entries_that_look_at_nodes_are_proved() {
    let Some(portfolio) = solvers(20) else { return };
    for name in every(7, &[LOCALITY_BRUCK, HIERARCHICAL, MULTI_LANE, SMP, NAP, LEADERS, LANES]) {
        let induction = InductionResult::over(name, &replaced(name, "collective", "collective"), &portfolio, &|| {});
        assert!(induction.complete(), "{name}: {:#?}", induction.by_property());
    }
}

#[test]
fn no_fault_on_nodes_is_proved() {
    none_is_proved(56, WRONG, |&(name, old, new)| replaced(name, old, new), |_, schedule| fault(schedule));
}

#[test]
fn what_is_not_understood_is_not_proved() {
    let unencoded = [
        // With nodes, a rank has no number.
        (LOCALITY_BRUCK, "to = at(node - local * H, local)", "to = rank - local * H * ppn"),
        // Other groups are not encoded.
        (HIERARCHICAL, "#[within(node, inner)]", "#[within(ranks(0, p), inner)]"),
        (HIERARCHICAL, "#[within(node, inner)]", "#[within(node, inner, members = ppn)]"),
        // A block does not tell which rank of a node carries it.
        (LANES, "m % lanes == local", "m % lanes == 0"),
        (LANES, "m % lanes == local", "m % lanes == local % 6"),
        (LANES, "[rank -> at(node, m)]", "[rank -> at(node, min(m, 6))]"),
        (LANES, "[region(node + g) -> at(node, m)", "[region(node + g) -> at(node, local)"),
        // A set must have one form on both sides of a message.
        (LEADERS, "[rank -> rank + j; j in 1..p]", "[rank -> rank + j; j in 0..p]"),
        (LEADERS, "[at(node, l) - j -> at(node, l); j in 1..p]", "[at(node, l) -> at(node, l) - j; j in 1..p]"),
        // Groups of nodes are the same on all ranks of a node.
        (NAP, "node - lo))))]", "node - lo)) - if p > 41 && local > 0 { 1 } else { 0 }))]"),
        // What an inner collective costs is not part of its contract.
        (HIERARCHICAL, "#[check(p <= 24)]", "#[bound(messages_sent <= 100 * p)]\n#[check(p <= 24)]"),
        (HIERARCHICAL, "#[check(p <= 24)]", "#[bound(rounds <= 100 * p)]\n#[check(p <= 24)]"),
        (LOCALITY_BRUCK, "#[bound(nonlocal", "#[bound(per_round messages_sent <= 1)]\n#[bound(nonlocal"),
        (LOCALITY_BRUCK, "#[holds(H ==", "#[holds(blocks_sent = ppn * (H - 1))]\n#[holds(H =="),
    ];
    for (name, old, new) in unencoded {
        let schedule = replaced(name, old, new);
        let obligations = roundel_verify::proving::smt::obligations(&schedule);
        let never = obligations.all.iter().any(|one| one.claim.contains("is never true"));
        assert!(!obligations.gaps.is_empty() || never, "{name} with `{new}`");
    }
}

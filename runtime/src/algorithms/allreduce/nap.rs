use crate::Collective;
use crate::algorithms::allreduce::RecursiveDoublingAllreduce;

/// Node-aware parallel allreduce: every rank of a node communicates with another node, so few rounds leave the node.
///
/// First the ranks of a node reduce among themselves. Then groups of nodes grow by a factor of up to `lanes` in every
/// round. A group of `g` nodes at level `lev` consists of `q` subgroups; if `g` is not a multiple of `q`, the first
/// ones have one more node. Each of the first `q` local ranks stands for a subgroup and gets its result, except the
/// rank that stands for the node's own subgroup `m`. Then the ranks of the node reduce these results, and the rank of
/// the own subgroup contributes the node's previous result: so every node reduces the same tree, in the order of nodes.
/// A node that has no counterpart in a smaller subgroup is served by an otherwise idle rank of another node. Finally
/// the other ranks of the node get the result (`phase` 2).
///
/// Domain: any p, any placement; with one lane the inner allreduce runs over all ranks. Cost: ceil(log_lanes nodes)
/// rounds with messages between nodes; a rank sends and receives at most one of them in each.
///
/// Bienz, Olson, Gropp: Node-Aware Improvements to Allreduce, ExaMPI 2019. The paper leaves the general case open; this
/// rule is for any number of nodes.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allreduce, inner: allreduce)]
#[order(same_tree, rank_order)]
#[define(parts(lev, g) = ceil_div(g, pow(lanes, lev)), part(lev, g, x) = part_of(g, parts(lev, g), x))]
#[round("inside of nodes")]
#[within(all, inner, when = lanes == 1)]
#[within(node, inner, when = lanes > 1)]
#[holds(acc = [region(if lanes == 1 { 0 } else { node } + j); j in 0..if lanes == 1 { nodes } else { 1 }])]
#[round(i in 0..if lanes > 1 { ceil_log(lanes, nodes) } else { 0 }, phase in 0..3)]
#[state(last lo = 0, last g = nodes,
    previous = (lo + part_begin(g, parts(i, g), part(i, g, node - lo)),
                part_size(g, parts(i, g), part(i, g, node - lo))))]
#[define(
    q = parts(i, g), m = part(i, g, node - lo), k = node - lo - part_begin(g, q, m),
    least = g / q, larger = g % q, other = local < q && local != m, meets = other && k < part_size(g, q, local)
)]
#[exchange(when = phase == 0 && meets, with = at(lo + part_begin(g, q, local) + k, m), overwrites = acc)]
#[recv(when = phase == 0 && other && !meets, from = at(lo + part_begin(g, q, local) + m, local), overwrites = acc)]
#[send(when = phase == 0 && local == m && m >= larger && k < larger, to = at(lo + part_begin(g, q, k) + least, m))]
#[within(node, inner, when = phase == 1, members = q)]
#[send(for j in 1..ceil_div(ppn, q), when = phase == 2 && local < q && q > 1 && local + j * q < ppn,
    to = at(node, local + j * q))]
#[recv(when = phase == 2 && q > 1 && local >= q, from = at(node, local % q), replaces = acc)]
// For the checks and the prover:
#[holds(0 <= lo && lo <= node && node < lo + g && lo + g <= nodes)]
#[holds(lanes == 1 || g <= pow(lanes, i + 1))]
#[holds(lanes == 1 || 1 <= q && q <= lanes, lanes == 1 || i == 0 || (q - 1) * q < g)]
#[holds(lanes == 1 || i > 0 || q == g, lanes == 1 || larger <= least && 1 <= least)]
#[holds(0 <= m && m < q && 0 <= k && k < part_size(g, q, m))]
#[define(stands = if phase == 1 && local < q { local } else { m }, done = phase == 2 && local < q)]
#[holds(acc = [region(if lanes == 1 { 0 } else if done { lo } else { lo + part_begin(g, q, stands) } + j);
    j in 0..if lanes == 1 { nodes } else if done { g } else { part_size(g, q, stands) }])]
#[bound(per_round nonlocal_messages_sent <= 1, per_round nonlocal_messages_received <= 1)]
#[bound(nonlocal_rounds <= if lanes > 1 { ceil_log(lanes, nodes) } else { 2 * p })]
#[bound(nonlocal_messages_sent <= if lanes > 1 { ceil_log(lanes, nodes) } else { 2 * p })]
#[unproved_bound(node nonlocal_messages_sent <= if lanes > 1 { lanes * ceil_log(lanes, nodes) } else { 2 * p * ppn })]
#[check(p <= 24)]
pub struct NapAllreduce<I = RecursiveDoublingAllreduce> {
    /// The allreduce within nodes.
    pub inner: I,
}

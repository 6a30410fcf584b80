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
/// the other ranks of the node get the result (`phase` 1).
///
/// Domain: any p, any placement; with one lane the inner allreduce runs over all ranks. Cost: ceil(log_lanes nodes)
/// rounds with messages between nodes; a rank sends and receives at most one of them in each.
///
/// Bienz, Olson, Gropp: Node-Aware Improvements to Allreduce, ExaMPI 2019. The paper leaves the general case open; this
/// rule is for any number of nodes.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allreduce, inner: allreduce)]
#[order(same_tree, rank_order)]
#[define(
    parts(lev, g) = ceil_div(g, pow(lanes, lev)),
    size(lev, g, s) = g / parts(lev, g) + if s < g % parts(lev, g) { 1 } else { 0 },
    begin(lev, g, s) = s * (g / parts(lev, g)) + min(s, g % parts(lev, g)),
    large(lev, g) = g % parts(lev, g) * (g / parts(lev, g) + 1),
    part(lev, g, x) = if x < large(lev, g) { x / (g / parts(lev, g) + 1) }
                      else { g % parts(lev, g) + (x - large(lev, g)) / (g / parts(lev, g)) }
)]
#[round("inside of nodes")]
#[within(all, inner, when = lanes == 1)]
#[within(node, inner, when = lanes > 1)]
#[round(i in 0..if lanes > 1 { ceil_log(lanes, nodes) } else { 0 }, phase in 0..2)]
#[state(last lo = 0, last g = nodes,
    previous = (lo + begin(i, g, part(i, g, node - lo)), size(i, g, part(i, g, node - lo))))]
#[define(
    q = parts(i, g), L = g % q, m = part(i, g, node - lo), k = node - lo - begin(i, g, m),
    other = phase == 0 && local < q && local != m, meets = other && k < size(i, g, local),
    done = phase == 1 && local < q
)]
#[exchange(when = meets, with = at(lo + begin(i, g, local) + k, m), overwrites = acc)]
#[recv(when = other && !meets, from = at(lo + begin(i, g, local) + m, local), overwrites = acc)]
#[send(when = phase == 0 && local == m && m >= L && k < L, to = at(lo + begin(i, g, k) + g / q, m))]
#[within(node, inner, when = phase == 0, members = q)]
#[send(for j in 1..ceil_div(ppn, q), when = done && q > 1 && local + j * q < ppn, to = at(node, local + j * q))]
#[recv(when = phase == 1 && q > 1 && local >= q, from = at(node, local % q), replaces = acc)]
// For the checks and the prover:
#[holds(acc = [region(if done { lo } else { lo + begin(i, g, m) } + j);
    j in 0..if lanes == 1 { nodes } else if done { g } else { size(i, g, m) }])]
#[bound(per_round nonlocal_messages_sent <= 1, per_round nonlocal_messages_received <= 1)]
#[bound(nonlocal_rounds <= if lanes > 1 { ceil_log(lanes, nodes) } else { 2 * p })]
#[bound(nonlocal_messages_sent <= if lanes > 1 { ceil_log(lanes, nodes) } else { 2 * p })]
#[checked(node nonlocal_messages_sent <= if lanes > 1 { lanes * ceil_log(lanes, nodes) } else { 2 * p * ppn })]
#[check(p <= 24)]
pub struct NapAllreduce<I = RecursiveDoublingAllreduce> {
    /// The allreduce within nodes.
    pub inner: I,
}

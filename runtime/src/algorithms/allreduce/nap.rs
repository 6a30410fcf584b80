use crate::Collective;
use crate::algorithms::allreduce::RecursiveDoublingAllreduce;

/// Node-aware parallel allreduce: every rank of a node speaks with another node, so that few rounds leave the node.
///
/// First the ranks of a node reduce among themselves. Then groups of nodes grow by a factor of up to `lanes` in every
/// round. A group of `g` nodes at level `lev` consists of `q` subgroups, the first ones one node larger where `g` is no
/// multiple of `q`. Each of the first `q` local ranks, but the one that stands for its own subgroup `m`, gets the
/// result of another subgroup; then the ranks of the node reduce what they have, the one of its own subgroup bringing
/// what its node had before: so every node reduces the same tree, in the order of nodes. A node that has no counterpart
/// in a smaller subgroup is served by the idle rank of one that has no other task. At last further ranks of the node
/// are told (`phase` 2).
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
    parts(lev, g) = ceil_div(g, pow(lanes, lev)), least(lev, g) = g / parts(lev, g), larger(lev, g) = g % parts(lev, g),
    size(lev, g, s) = least(lev, g) + if s < larger(lev, g) { 1 } else { 0 },
    large(lev, g) = larger(lev, g) * (least(lev, g) + 1),
    begin(lev, g, s) = if s < larger(lev, g) { s * (least(lev, g) + 1) }
                       else { large(lev, g) + (s - larger(lev, g)) * least(lev, g) },
    part(lev, g, x) = if x < large(lev, g) { x / (least(lev, g) + 1) }
                      else { larger(lev, g) + (x - large(lev, g)) / least(lev, g) }
)]
#[round("inside of nodes")]
#[within(all, inner, when = lanes == 1)]
#[within(node, inner, when = lanes > 1)]
#[holds(acc = [region(if lanes == 1 { 0 } else { node } + j); j in 0..if lanes == 1 { nodes } else { 1 }])]
#[round(i in 0..if lanes > 1 { ceil_log(lanes, nodes) } else { 0 }, phase in 0..3)]
#[state(last lo = 0, last g = nodes,
    previous = (lo + begin(i, g, part(i, g, node - lo)), size(i, g, part(i, g, node - lo))))]
#[define(
    q = parts(i, g), m = part(i, g, node - lo), k = node - lo - begin(i, g, m),
    other = local < q && local != m, meets = other && k < size(i, g, local)
)]
#[exchange(when = phase == 0 && meets, with = at(lo + begin(i, g, local) + k, m), overwrites = acc)]
#[recv(when = phase == 0 && other && !meets, from = at(lo + begin(i, g, local) + m, local), overwrites = acc)]
#[send(when = phase == 0 && local == m && m >= larger(i, g) && k < larger(i, g),
    to = at(lo + begin(i, g, k) + least(i, g), m))]
#[within(node, inner, when = phase == 1, members = q)]
#[send(for j in 1..ceil_div(ppn, q), when = phase == 2 && local < q && q > 1 && local + j * q < ppn,
    to = at(node, local + j * q))]
#[recv(when = phase == 2 && q > 1 && local >= q, from = at(node, local % q), replaces = acc)]
// For the checks and the prover:
#[holds(0 <= lo && lo <= node && node < lo + g && lo + g <= nodes)]
#[holds(lanes == 1 || g <= pow(lanes, i + 1))]
#[holds(lanes == 1 || 1 <= q && q <= lanes && larger(i, g) <= least(i, g) && 1 <= least(i, g))]
#[holds(0 <= m && m < q && 0 <= k && k < size(i, g, m))]
#[define(stands = if phase == 1 && local < q { local } else { m }, done = phase == 2 && local < q)]
#[holds(acc = [region(if lanes == 1 { 0 } else if done { lo } else { lo + begin(i, g, stands) } + j);
    j in 0..if lanes == 1 { nodes } else if done { g } else { size(i, g, stands) }])]
#[bound(per_round nonlocal_messages_sent <= 1, per_round nonlocal_messages_received <= 1)]
#[bound(nonlocal_rounds <= if lanes > 1 { ceil_log(lanes, nodes) } else { 2 * p })]
#[bound(nonlocal_messages_sent <= if lanes > 1 { ceil_log(lanes, nodes) } else { 2 * p })]
#[checked(node nonlocal_messages_sent <= if lanes > 1 { lanes * ceil_log(lanes, nodes) } else { 2 * p * ppn })]
#[check(p <= 24)]
pub struct NapAllreduce<I = RecursiveDoublingAllreduce> {
    /// The allreduce inside of nodes.
    pub inner: I,
}

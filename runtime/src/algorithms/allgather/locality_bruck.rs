use crate::Collective;
use crate::algorithms::allgather::Bruck;

/// Locality-aware Bruck: few messages leave a node, each to another node.
///
/// First the ranks of a node gather their blocks. Then, in every round, each local rank but the first fetches blocks of
/// other nodes from a rank with the same local index, each from a different node: if a node has the blocks of `H`
/// nodes, its local rank `l` gets those of the nodes from `node + l H` on. The fetched blocks are gathered within the
/// node, which then has the blocks of `lanes H` nodes. The last round fetches only the missing blocks.
///
/// Nodes may have any number of ranks, in any order: `lanes` is the smallest number of ranks on a node, and further
/// ranks take part only within their node. With one lane there is nothing to divide, and the inner allgather runs over
/// all ranks. The inner allgather may itself be locality-aware: nodes, then sockets.
///
/// Domain: any p, any placement. Cost: a rank sends ceil(log_lanes nodes) messages to other nodes, where Bruck's
/// allgather sends ceil(log2 p).
///
/// Bienz, Gautam, Kharel: A Locality-Aware Bruck Allgather, EuroMPI/USA 2022.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allgather, inner: allgather)]
#[define(
    flat = lanes == 1, w = if flat { 0 } else { ceil_log(lanes, nodes) }, largest = p - lanes * (nodes - 1),
    top = if w > 0 { pow(lanes, w - 1) } else { 0 }
)]
#[round("inside of nodes")]
#[within(all, inner, when = flat)]
#[within(node, inner, when = !flat)]
#[round(i in 0..w)]
#[state(H = 1, next = min(lanes * H, nodes))]
#[define(get(l) = if 0 < l && l < lanes { max(0, min(H, nodes - l * H)) } else { 0 })]
#[send(to = at(node - local * H, local), blocks = [region(node + k); k in 0..get(local)])]
#[recv(from = at(node + local * H, local), blocks = [region(node + local * H + k); k in 0..get(local)])]
#[within(node, inner, brings = [region(node + local * H + k); k in 0..get(local)])]
// For the checks and the prover:
#[holds(H == min(pow(lanes, i), nodes))]
#[holds(blocks = [region(node + k); k in 0..if flat { nodes } else { H }])]
#[unproved_bound(per_round nonlocal_messages_sent <= 1, per_round nonlocal_messages_received <= 1)]
#[bound(nonlocal_rounds <= if flat { p - 1 } else { w })]
#[bound(nonlocal_messages_sent <= if flat { p - 1 } else { w })]
#[unproved_bound(nonlocal_blocks_sent <= if flat { p - 1 } else if w == 0 { 0 }
    else { largest * ((top - 1) / (lanes - 1) + min(top, nodes - top)) })]
#[unproved_bound(node nonlocal_messages_sent <= if flat { (p - 1) * ppn } else { w * (lanes - 1) })]
#[unproved_bound(node nonlocal_blocks_sent <= if flat { (p - 1) * ppn } else { (nodes - 1) * largest })]
#[check(p <= 24)]
pub struct LocalityBruck<I = Bruck> {
    /// The allgather within nodes.
    pub inner: I,
}

use crate::Collective;
use crate::algorithms::allgather::Bruck;

/// Locality-aware Bruck: few messages leave a node, each to another node.
///
/// First the ranks of a node gather their blocks. Then, in every round, each local rank but the first fetches the blocks of
/// other nodes from a rank with the same local index, all of them from different nodes: with `H` nodes' blocks at hand, local
/// rank `l` gets those of the nodes from `node + l H` on. What they fetched is gathered inside the node, and `lanes H` nodes'
/// blocks are at hand. The last round fetches only what is missing.
///
/// Nodes may have any number of ranks and ranks may sit anywhere: `lanes` is the smallest number of ranks on a node, further
/// ranks take part inside of their node. With one lane there is nothing to divide, and the inner allgather runs over all
/// ranks. The inner allgather may be locality-aware itself: nodes, then sockets.
///
/// Domain: any p, any placement. Cost: ceil(log_lanes nodes) messages of a rank leave its node, where Bruck's allgather sends
/// ceil(log2 p).
///
/// Bienz, Gautam, Kharel: A Locality-Aware Bruck Allgather, EuroMPI/USA 2022.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allgather, inner: allgather)]
#[round("inside of nodes")]
#[within(all, inner, when = lanes == 1)]
#[within(node, inner, when = lanes > 1)]
#[round(i in 0..if lanes > 1 { ceil_log(lanes, nodes) } else { 0 })]
#[state(H = 1, next = min(lanes * H, nodes))]
#[define(get(l) = if 0 < l && l < lanes { max(0, min(H, nodes - l * H)) } else { 0 })]
#[send(to = at(node - local * H, local), blocks = [region(node + k); k in 0..get(local)])]
#[recv(from = at(node + local * H, local), blocks = [region(node + local * H + k); k in 0..get(local)])]
#[within(node, inner, brings = [region(node + local * H + k); k in 0..get(local)])]
#[holds(H == min(pow(lanes, i), nodes))]
#[holds(blocks = [region(node + k); k in 0..if lanes > 1 { H } else { nodes }])]
#[bound(nonlocal_messages_sent <= if lanes > 1 { ceil_log(lanes, nodes) } else { p - 1 })]
#[check(p <= 24)]
pub struct LocalityBruck<I = Bruck> {
    /// The allgather inside of nodes.
    pub inner: I,
}

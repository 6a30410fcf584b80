use crate::Collective;
use crate::algorithms::alltoall::SpreadOut;

/// Node-aware all-to-all: inside of nodes, then between nodes, lane by lane.
///
/// A lane has the ranks with one local index. Inside of its node a rank gives every other one the blocks for it and for
/// the other nodes' ranks of its lane. Then the ranks of a lane exchange what their nodes have for each other: between
/// two nodes there is one message for each lane, with the blocks of all ranks of the node. Where nodes have different
/// numbers of ranks there are as many lanes as the smallest node has ranks; lane `l` also carries blocks for local
/// ranks `l + lanes`, `l + 2 lanes` and so on, and passes them on at last.
///
/// Domain: any p, any placement, if the collectives inside and between serve the nodes. Cost: that of theirs; with
/// `spread-out` between nodes, one round and `nodes - 1` messages of a lane's rank leave its node.
///
/// Träff, Hunold: Decomposing MPI Collectives for Exploiting Multi-lane Communication, IEEE CLUSTER 2020.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(alltoall, inside: alltoall, between: alltoall)]
#[define(uneven = lanes * nodes < p, carries(g, l) = if l < lanes { ceil_div(node_size(g) - l, lanes) } else { 0 })]
#[round("inside of nodes")]
#[within(node, inside, to = m, brings = [rank -> at(node, m)]
    + [rank -> at(node + g, m + k * lanes); g in 1..nodes, k in 0..carries(node + g, m)])]
#[round("between nodes")]
#[within(lane, between, to = m,
    brings = [region(node) -> at(m, local + k * lanes); k in 0..if m == node { 0 } else { carries(m, local) }])]
#[round("inside of uneven nodes")]
#[within(node, inside, when = uneven, to = m, brings = [region(node + g) -> at(node, m); g in 1..nodes,
    local < lanes && m >= lanes && m % lanes == local])]
#[check(p <= 16)]
pub struct HierarchicalAlltoall<I = SpreadOut, B = SpreadOut> {
    /// The all-to-all inside of nodes.
    pub inside: I,
    /// The all-to-all of the lanes, between nodes.
    pub between: B,
}

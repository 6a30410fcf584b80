use crate::Collective;
use crate::algorithms::alltoall::SpreadOut;

/// Node-aware all-to-all: within nodes, then between nodes, lane by lane.
///
/// A lane has the ranks with one local index. Within its node a rank gives every other rank the blocks for it and for
/// the other nodes' ranks of its lane. Then the ranks of a lane exchange the blocks that their nodes have for each
/// other: between two nodes there is one message for each lane, with the blocks of all ranks of the node. If nodes have
/// different numbers of ranks, there are as many lanes as the smallest node has ranks; lane `l` also carries blocks for
/// local ranks `l + lanes`, `l + 2 lanes` and so on, and passes them on at the end.
///
/// Domain: any p, any placement, if the collectives within and between nodes serve them. Cost: that of these
/// collectives; with `spread-out` between nodes, one round between nodes, and a lane's rank sends `nodes - 1` messages.
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
    /// The all-to-all within nodes.
    pub inside: I,
    /// The all-to-all of the lanes, between nodes.
    pub between: B,
}

use crate::Collective;
use crate::algorithms::allgather::Circulant;
use crate::algorithms::allreduce::RecursiveDoublingAllreduce;
use crate::algorithms::reduce_scatter::CirculantReduceScatter;

/// Multi-lane allreduce: reduce_scatter inside each node, allreduce along each lane, allgather inside each node.
///
/// The vector has a block for each lane. Of each block, one rank of a node has the sum of its node, and the ranks of a
/// lane, one of each node, add up these sums, all lanes at the same time. If nodes have different numbers of ranks,
/// there are as many lanes as the smallest node has ranks, and other ranks have no block.
///
/// Domain: any p, any placement that all three serve. Cost: that of the three; each lane carries its share of the data
/// that leaves a node.
///
/// Träff, Hunold: Decomposing MPI Collectives for Exploiting Multi-lane Communication, IEEE CLUSTER 2020.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allreduce, scatter: reduce_scatter, across: allreduce, gather: allgather)]
#[split(lanes)]
#[order(same_tree, rank_order)]
#[check(p <= 24)]
#[round("reduce_scatter inside of nodes")]
#[within(node, scatter, blocks = [local; local < lanes])]
#[round("allreduce along lanes")]
#[within(lane, across, blocks = [local])]
#[round("allgather inside of nodes")]
#[within(node, gather, blocks = [local; local < lanes])]
pub struct MultiLaneAllreduce<S = CirculantReduceScatter, A = RecursiveDoublingAllreduce, G = Circulant> {
    /// The reduce_scatter inside of nodes.
    pub scatter: S,
    /// The allreduce along lanes, which must not divide its vector.
    pub across: A,
    /// The allgather inside of nodes.
    pub gather: G,
}

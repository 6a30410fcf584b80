use crate::Collective;
use crate::algorithms::allgather::Circulant;
use crate::algorithms::reduce_scatter::CirculantReduceScatter;

/// A reduce_scatter and then an allgather, of any two algorithms.
///
/// After the reduce_scatter rank b has the result of block b, and the allgather takes it to all ranks. So all of them
/// have the tree of one rank, whatever the reduce_scatter does, and operands are in the order of ranks if the
/// reduce_scatter keeps it. With the circulant algorithms, which are each other's reverse, both halves take the fewest
/// rounds and send the fewest blocks that are possible.
///
/// Domain: any p that both serve. Cost: that of both; by default 2 ceil(log2 p) rounds, and 2 (p - 1) blocks of p sent
/// by each rank.
///
/// Träff: Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, arXiv 2410.14234, 2024.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allreduce, scatter: reduce_scatter, gather: allgather)]
#[split(p)]
#[order(same_tree, rank_order)]
#[check(p <= 24)]
#[round("reduce_scatter")]
#[within(all, scatter)]
#[round("allgather")]
#[within(all, gather, line = acc)]
pub struct ReduceScatterAllgather<S = CirculantReduceScatter, G = Circulant> {
    /// The reduce_scatter.
    pub scatter: S,
    /// The allgather.
    pub gather: G,
}

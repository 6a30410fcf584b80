use crate::Collective;
use crate::algorithms::allgather::Bruck;

/// Hierarchical allgather: one leader per node communicates with the leaders of other nodes.
///
/// The ranks of a node gather their blocks. The leaders, which have local index 0, run Bruck's allgather on the blocks
/// of whole nodes. Then each leader distributes the blocks of the other nodes within its node, by an allgather to which
/// only the leader contributes.
///
/// Domain: any p, any placement. Cost: a leader sends ceil(log2 nodes) messages to other nodes, other ranks send none.
///
/// Träff: Efficient Allgather for Regular SMP-Clusters, EuroPVM/MPI 2006.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allgather, inner: allgather)]
#[round("inside of nodes")]
#[within(node, inner)]
#[round(s in 0..ceil_log(2, nodes))]
#[state(D = 1, next = 2 * D)]
#[define(n = if local == 0 { min(D, nodes - D) } else { 0 })]
#[send(to = at(node - D, 0), blocks = [region(node + k); k in 0..n])]
#[recv(from = at(node + D, 0), blocks = [region(node + D + k); k in 0..n])]
#[holds(D == pow(2, s), nonlocal_messages_sent = if local == 0 { s } else { 0 })]
#[holds(blocks = [region(node + k); k in 0..if local == 0 { min(D, nodes) } else { 1 }])]
#[round("inside of nodes, once more")]
#[within(node, inner, brings = [region(node + k); k in 1..if local == 0 { nodes } else { 1 }])]
// For the checks and the prover:
#[bound(nonlocal_rounds <= ceil_log(2, nodes))]
#[bound(each nonlocal_messages_sent = if local == 0 { ceil_log(2, nodes) } else { 0 })]
#[unproved_bound(node nonlocal_messages_sent = ceil_log(2, nodes))]
#[unproved_bound(node nonlocal_blocks_sent <= (nodes - 1) * (p - lanes * (nodes - 1)))]
#[check(p <= 24)]
pub struct Hierarchical<I = Bruck> {
    /// The allgather within nodes.
    pub inner: I,
}

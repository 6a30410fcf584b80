use crate::Collective;
use crate::algorithms::allgather::Bruck;

/// Multi-lane allgather: every rank of a node communicates with the ranks of other nodes that have its local index.
///
/// Each lane, the ranks with one local index, runs Bruck's allgather; then the ranks of a node gather the blocks from
/// their lanes. If nodes have different numbers of ranks, there are as many lanes as the smallest node has ranks, lane
/// `l` also carries the blocks of local ranks `l + lanes`, `l + 2 lanes` and so on, and the ranks of a node gather
/// their blocks first.
///
/// Domain: any p, any placement. Cost: a lane's rank sends ceil(log2 nodes) messages to other nodes; the data that
/// leaves a node is divided among its lanes.
///
/// Träff, Hunold: Decomposing MPI Collectives for Exploiting Multi-lane Communication, IEEE CLUSTER 2020.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allgather, inner: allgather)]
#[define(
    uneven = lanes * nodes < p, largest = p - lanes * (nodes - 1),
    carries(g) = if local < lanes { ceil_div(node_size(g) - local, lanes) } else { 0 }
)]
#[round("inside of uneven nodes")]
#[within(node, inner, when = uneven)]
#[round(s in 0..ceil_log(2, nodes))]
#[state(D = 1, next = 2 * D)]
#[define(n = min(D, nodes - D))]
#[send(to = at(node - D, local), blocks = [at(node + k, local + j * lanes); k in 0..n, j in 0..carries(node + k)])]
#[recv(from = at(node + D, local),
       blocks = [at(node + D + k, local + j * lanes); k in 0..n, j in 0..carries(node + D + k)])]
#[holds(D == pow(2, s), nonlocal_messages_sent = if local < lanes { s } else { 0 })]
#[holds(blocks = [region(node); uneven]
    + [at(node + k, local + j * lanes); k in if uneven { 1 } else { 0 }..min(D, nodes), j in 0..carries(node + k)])]
#[round("inside of nodes")]
#[within(node, inner, brings =
    [at(node + k, local + j * lanes); k in if uneven { 1 } else { 0 }..nodes, j in 0..carries(node + k)])]
// For the checks and the prover:
#[bound(nonlocal_rounds <= ceil_log(2, nodes))]
#[bound(nonlocal_messages_sent = ceil_log(2, nodes))]
#[unproved_bound(nonlocal_blocks_sent <= (nodes - 1) * ceil_div(largest, lanes))]
#[unproved_bound(node nonlocal_messages_sent = lanes * ceil_log(2, nodes))]
#[unproved_bound(node nonlocal_blocks_sent <= (nodes - 1) * largest)]
#[check(p <= 24)]
pub struct MultiLane<I = Bruck> {
    /// The allgather within nodes.
    pub inner: I,
}

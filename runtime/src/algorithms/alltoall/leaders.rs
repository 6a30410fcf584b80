use crate::Collective;

/// All-to-all through leaders: one rank of each node sends and receives for all of them.
///
/// The leader is the first rank of its node. Between two nodes there is one message, with the blocks of all ranks of
/// the one for all ranks of the other; blocks within a node go through its leader too. So there are few messages, but
/// the leaders carry all data, which suits short blocks.
///
/// Domain: any p, any placement. Cost: three rounds, of which one is between nodes; a node sends `nodes - 1` messages
/// to others; ranks other than leaders send one message.
///
/// Träff, Rougier: MPI Collectives and Datatypes for Hierarchical All-to-all Communication, EuroMPI/ASIA 2014.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(alltoall)]
#[define(largest = p - lanes * (nodes - 1))]
#[round("to the leader")]
#[send(when = local > 0, to = at(node, 0), blocks = [rank -> rank + j; j in 1..p])]
#[recv(for l in 1..node_size(node), when = local == 0, from = at(node, l),
    blocks = [at(node, l) -> at(node, l) + j; j in 1..p])]
#[round("between leaders")]
#[send(for g in 1..nodes, when = local == 0, to = at(node + g, 0), blocks = [region(node) -> region(node + g)])]
#[recv(for g in 1..nodes, when = local == 0, from = at(node - g, 0), blocks = [region(node - g) -> region(node)])]
#[round("from the leader")]
#[send(for l in 1..node_size(node), when = local == 0, to = at(node, l),
       blocks = [at(node, l) - j -> at(node, l); j in 1..p])]
#[recv(when = local > 0, from = at(node, 0), blocks = [rank - j -> rank; j in 1..p])]
// For the checks and the prover:
#[holds(blocks = [rank - j -> rank; j in 0..p])]
#[bound(rounds <= 3, nonlocal_rounds = min(1, nodes - 1))]
#[bound(each nonlocal_messages_sent = if local == 0 { nodes - 1 } else { 0 })]
#[bound(each messages_sent = if local > 0 { 1 } else { nodes - 1 + node_size(node) - 1 })]
#[unproved_bound(each nonlocal_blocks_sent = if local > 0 { 0 } else { node_size(node) * (p - node_size(node)) })]
#[unproved_bound(node nonlocal_messages_sent = nodes - 1)]
#[unproved_bound(scratch <= max(0, largest - 1) * (p - 2))]
#[check(p <= 20)]
pub struct Leaders;

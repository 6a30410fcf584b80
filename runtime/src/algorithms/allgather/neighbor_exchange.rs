use crate::Collective;

/// Neighbor exchange allgather: half the rounds of the ring, two blocks at a time.
///
/// Ranks `2q` and `2q + 1` are pair `q`. First the two exchange their blocks. From then on an even rank exchanges with
/// its left and right neighbour in turn, an odd rank the other way round, and both pass on the pair of blocks that they
/// got in the previous round. `pair(i)` is the pair of blocks that arrives in round `i`; a rank's own is `pair(0)`.
///
/// Domain: p even. Cost: p / 2 rounds, p - 1 blocks sent by each rank.
///
/// Chen, Yuan, et al.: Performance Evaluation of Allgather Algorithms on Terascale Linux Cluster with Fast Ethernet,
/// HPC Asia 2005.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allgather)]
#[requires(p % 2 == 0)]
#[define(mirror = if rank % 2 == 0 { 1 } else { -1 })]
#[define(pair(i) = rank / 2 + mirror * if i % 2 == 0 { i / 2 } else { -((i + 1) / 2) })]
#[define(neighbor(i) = rank + mirror * if i % 2 == 0 { 1 } else { -1 })]
#[round]
#[exchange(with = neighbor(0), send = [rank], recv = [neighbor(0)])]
#[round(i in 1..p / 2)]
#[exchange(with = neighbor(i), send = [2 * pair(i - 1) + k; k in 0..2], recv = [2 * pair(i) + k; k in 0..2])]
#[bound(rounds = p / 2, each messages_sent = p / 2, each blocks_sent = p - 1)]
pub struct NeighborExchange;

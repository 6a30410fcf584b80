use crate::Collective;

/// Neighbor exchange, run backwards: a reduce_scatter with half the rounds of the ring, two blocks at a time.
///
/// Ranks `2q` and `2q + 1` are pair `q`. `pair(i)` is the pair of blocks that arrives in round `i` of the allgather, so
/// here it leaves in that round; rounds run down to the first, in which the two ranks of a pair exchange single blocks.
///
/// Domain: p even. Cost: p / 2 rounds, p - 1 blocks sent by each rank.
///
/// Chen, Yuan, et al.: Performance Evaluation of Allgather Algorithms on Terascale Linux Cluster with Fast Ethernet,
/// HPC Asia 2005.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(reduce_scatter)]
#[reverse_of(allgather)]
#[requires(p % 2 == 0)]
#[define(mirror = if rank % 2 == 0 { 1 } else { -1 })]
#[define(pair(i) = rank / 2 + mirror * if i % 2 == 0 { i / 2 } else { -((i + 1) / 2) })]
#[define(neighbor(i) = rank + mirror * if i % 2 == 0 { 1 } else { -1 })]
#[round]
#[exchange(with = neighbor(0), send = [rank], recv = [neighbor(0)])]
#[round(i in 1..p / 2)]
#[exchange(with = neighbor(i), send = [2 * pair(i - 1) + k; k in 0..2], recv = [2 * pair(i) + k; k in 0..2])]
#[bound(rounds = p / 2, each messages_received = p / 2, each blocks_received = p - 1)]
pub struct NeighborExchangeReduceScatter;

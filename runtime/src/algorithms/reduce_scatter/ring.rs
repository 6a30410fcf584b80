use crate::Collective;

/// Ring reduce_scatter: what has been reduced of a block goes once around the ring, and ends at the rank it is for.
///
/// It is the ring allgather, run backwards. Linear in p, but every message goes to a neighbour, which suits large
/// blocks.
///
/// Domain: any p. Cost: p - 1 rounds, p - 1 blocks sent by each rank.
///
/// Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH, IJHPCA 19(1), 2005.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(reduce_scatter)]
#[reverse_of(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[bound(rounds = p - 1, each messages_received = p - 1, each blocks_received = p - 1, per_round blocks_received = 1)]
pub struct RingReduceScatter;

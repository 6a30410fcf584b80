use crate::Collective;

/// Pairwise all-to-all: in round s every rank sends to the rank s further on, and receives from the rank s before it.
///
/// Domain: any p. Cost: p - 1 rounds of one message, each block moves once, no rank stores blocks for others.
///
/// Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH, IJHPCA 19(1), 2005.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(alltoall)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank -> rank + s])]
#[recv(from = rank - s, blocks = [rank - s -> rank])]
#[bound(rounds = p - 1, each blocks_sent = p - 1, per_round messages_sent = 1, scratch = 0)]
pub struct PairwiseAlltoall;

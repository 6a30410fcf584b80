use crate::Collective;

/// Spread-out all-to-all: every rank sends every block straight to its destination, all at the same time.
///
/// Rank r sends to r + 1, r + 2 and so on, so that not all ranks send to the same one first.
///
/// Domain: any p. Cost: one round of p - 1 messages, each block moves once, no rank stores blocks for others.
///
/// Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH, IJHPCA 19(1), 2005.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(alltoall)]
#[round]
#[send(for s in 1..p, to = rank + s, blocks = [rank -> rank + s])]
#[recv(for s in 1..p, from = rank - s, blocks = [rank - s -> rank])]
#[bound(rounds = min(1, p - 1), each messages_sent = p - 1, each blocks_sent = p - 1, scratch = 0)]
pub struct SpreadOut;

use crate::Collective;

/// Ring allgather: every block travels once around the ring.
///
/// In round `s` a rank passes the block that it got in the previous round to its right neighbour, beginning with its
/// own. Linear in p, but every message goes to a neighbour, which suits large blocks.
///
/// Domain: any p. Cost: p - 1 rounds, p - 1 blocks sent by each rank.
///
/// Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH, IJHPCA 19(1), 2005.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[bound(rounds = p - 1, each messages_sent = p - 1, each blocks_sent = p - 1, per_round blocks_sent = 1)]
pub struct Ring;

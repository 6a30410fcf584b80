use crate::Collective;

/// Pairwise exchange: every rank sends every other rank its contribution to that rank's block.
///
/// Domain: any p. Cost: p - 1 rounds, p - 1 blocks sent by each rank.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(reduce_scatter)]
#[check(p <= 24)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank + s])]
#[recv(from = rank - s, blocks = [rank], combine = left)]
#[bound(rounds = p - 1, each blocks_sent = p - 1)]
pub struct PairwiseReduceScatter;

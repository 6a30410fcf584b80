use crate::Collective;

/// Recursive halving: at distances that halve, half of what is left is handed over.
///
/// Before the round with `D` blocks left, a rank is responsible for the blocks of its aligned group of D ranks, and has the
/// contributions of the ranks with its remainder modulo D.
///
/// Domain: p a power of two. Cost: log2 p rounds, p - 1 blocks sent by each rank.
///
/// Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH, IJHPCA 19(1), 2005.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(reduce_scatter)]
#[requires(p == pow(2, floor_log(2, p)))]
#[round(s in 0..floor_log(2, p))]
#[state(D = p, next = D / 2)]
#[define(H = D / 2, peer = rank ^ H)]
#[exchange(with = peer, send = [peer / H * H + k; k in 0..H], recv = [rank / H * H + k; k in 0..H], combine = by_rank)]
#[define(S(b) = if b / D == rank / D { D } else { 2 * pow(2, floor_log(2, b ^ rank)) })]
#[holds(D == p / pow(2, s), acc(b) = [rank % S(b) + k * S(b); k in 0..p / S(b)], blocks_sent = p - D)]
#[bound(rounds = floor_log(2, p), each blocks_sent = p - 1)]
pub struct RecursiveHalvingReduceScatter;

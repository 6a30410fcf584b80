use crate::Collective;

/// Recursive halving: at distances that halve, a rank sends half of its remaining blocks.
///
/// Before the round with `D` blocks left, a rank is responsible for the blocks of its aligned group of D ranks, and has
/// the contributions of the ranks that are equal to it modulo D.
///
/// Domain: p a power of two. Cost: log2 p rounds, p - 1 blocks sent by each rank.
///
/// Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH, IJHPCA 19(1), 2005.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(reduce_scatter)]
#[define(w = floor_log(2, p))]
#[requires(p == pow(2, w))]
#[round(s in 0..w)]
#[define(H = pow(2, w - s - 1), peer = rank ^ H)]
#[state(D = p, next = H)]
#[hint(H == pow(2, w - s - 1), peer / D == rank / D, peer % H == rank % H, peer % D != rank % D)]
#[exchange(with = peer, send = [peer / H * H + k; k in 0..H], recv = [rank / H * H + k; k in 0..H], combine = by_rank)]
// No search finds the filter over ranks in its `holds`, so it is written. For the checks and the prover:
#[define(S(b) = pow(2, floor_log(2, b ^ rank) + 1))]
#[define(from(x, b) = if b / D == rank / D { x % D == rank % D } else { x % S(b) == rank % S(b) })]
#[holds(D == pow(2, w - s), acc(b) = [x; x in 0..p, from(x, b)], blocks_sent = p - D)]
#[bound(rounds = w, each blocks_sent = p - 1)]
pub struct RecursiveHalvingReduceScatter;

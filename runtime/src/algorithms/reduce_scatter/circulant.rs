use crate::Collective;

/// Circulant reduce_scatter: logarithmic for any p, without folding, and with the least possible data sent.
///
/// With `S` blocks left, those of the ranks from its own upwards, a rank keeps the lower half, of `h` blocks, and sends
/// the rest to the rank `h` above, for which they are the first.
///
/// Domain: any p. Cost: ceil(log2 p) rounds, p - 1 blocks sent by each rank.
///
/// Träff: Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, arXiv 2410.14234, 2024.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(reduce_scatter)]
#[round(s in 0..ceil_log(2, p))]
#[state(S = p, next = ceil_div(S, 2))]
#[define(h = ceil_div(S, 2))]
#[send(to = rank + h, blocks = [rank + h + i; i in 0..S - h])]
#[recv(from = rank - h, blocks = [rank + i; i in 0..S - h], combine = left)]
// For the checks and the prover:
#[holds(blocks_sent = p - S)]
#[bound(rounds = ceil_log(2, p), each blocks_sent = p - 1)]
pub struct CirculantReduceScatter;

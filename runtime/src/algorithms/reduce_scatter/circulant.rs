use crate::Collective;

/// Circulant reduce_scatter: logarithmic for any p, without folding, and with the least possible data sent.
///
/// It is the circulant allgather, run backwards: with the `n` blocks left of the ranks from the own one upwards, those
/// beyond `h`, half of them rounded up, go to the rank that is `h` away, whose first ones they are.
///
/// Domain: any p. Cost: ceil(log2 p) rounds, p - 1 blocks sent by each rank.
///
/// Träff: Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, arXiv 2410.14234, 2024.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(reduce_scatter)]
#[reverse_of(allgather)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = pow(2, ceil_log(2, p)), next = D / 2)]
#[define(d = D / 2, h = ceil_div(p, D), n = ceil_div(p, d))]
#[send(to = rank - h, blocks = [rank + k; k in 0..n - h])]
#[recv(from = rank + h, blocks = [rank + h + k; k in 0..n - h])]
#[bound(rounds = ceil_log(2, p), each messages_sent = ceil_log(2, p))]
#[bound(each blocks_sent = p - 1, each blocks_received = p - 1)]
pub struct CirculantReduceScatter;

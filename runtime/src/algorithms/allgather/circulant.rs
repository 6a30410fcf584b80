use crate::Collective;

/// Circulant allgather: logarithmic for any p, with distances that are those of halving p.
///
/// Before a round a rank holds the blocks from its own upwards, as many as p divided by a power of two and rounded up,
/// `h`. It gets the next ones, up to `n`, the same for half that power, from the rank `h` away. Where Bruck's last
/// round sends what is left over, here the rounds are as equal as they can be.
///
/// Domain: any p. Cost: ceil(log2 p) rounds, p - 1 blocks sent by each rank.
///
/// Träff: Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, arXiv 2410.14234, 2024.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allgather)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = pow(2, ceil_log(2, p)), next = D / 2)]
#[define(d = D / 2, h = ceil_div(p, D), n = ceil_div(p, d))]
#[send(to = rank - h, blocks = [rank + k; k in 0..n - h])]
#[recv(from = rank + h, blocks = [rank + h + k; k in 0..n - h])]
#[bound(rounds = ceil_log(2, p), each messages_sent = ceil_log(2, p))]
#[bound(each blocks_sent = p - 1, each blocks_received = p - 1)]
pub struct Circulant;

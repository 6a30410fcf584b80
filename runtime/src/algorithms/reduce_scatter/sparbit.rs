use crate::Collective;

/// Sparbit, run backwards: a logarithmic reduce_scatter for any p, whose largest messages travel the shortest distance.
///
/// The contributions to every block come together along the binomial tree on which Sparbit spreads it, at distances
/// that double from round to round.
///
/// Domain: any p. Cost: ceil(log2 p) rounds, p - 1 blocks sent by each rank.
///
/// Loch, Koslovski: Sparbit: a new logarithmic-cost and data locality-aware MPI Allgather algorithm, SBAC-PAD 2021.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(reduce_scatter)]
#[reverse_of(allgather)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = pow(2, ceil_log(2, p)), next = D / 2)]
#[define(d = D / 2, n = ceil_div(p, d) - ceil_div(p, D))]
#[send(to = rank + d, blocks = [rank - 2 * j * d; j in 0..n])]
#[recv(from = rank - d, blocks = [rank - (2 * j + 1) * d; j in 0..n])]
#[bound(rounds = ceil_log(2, p), each messages_received = ceil_log(2, p), each blocks_received = p - 1)]
pub struct SparbitReduceScatter;

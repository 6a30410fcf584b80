use crate::Collective;

/// Sparbit allgather: logarithmic for any p, and the largest messages travel the shortest distance.
///
/// Every block travels down its own binomial tree, all trees at once, at distances that halve from round to round.
/// Before the round with distance `d` a rank holds every `2 d`-th block downwards from its own. It sends those that
/// the receiver lacks: all of them, or all but the last if the tree is not full (the paper's *ignore*). The difference
/// of the two quotients distinguishes these cases.
///
/// Domain: any p. Cost: ceil(log2 p) rounds, p - 1 blocks sent by each rank.
///
/// Loch, Koslovski: Sparbit: a new logarithmic-cost and data locality-aware MPI Allgather algorithm, SBAC-PAD 2021.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allgather)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = pow(2, ceil_log(2, p)), next = D / 2)]
#[define(d = D / 2, n = ceil_div(p, d) - ceil_div(p, D))]
#[send(to = rank + d, blocks = [rank - 2 * j * d; j in 0..n])]
#[recv(from = rank - d, blocks = [rank - (2 * j + 1) * d; j in 0..n])]
#[bound(rounds = ceil_log(2, p), each messages_sent = ceil_log(2, p), each blocks_sent = p - 1)]
pub struct Sparbit;

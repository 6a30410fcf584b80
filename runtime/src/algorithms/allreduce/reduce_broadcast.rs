use crate::Collective;

/// Reduce to rank 0 along a binomial tree, then broadcast along the same tree.
///
/// On the way up, the rank with bit D set sends its vector to the one without it; on the way down, the result returns.
/// A vector that arrives is the right operand, so operands stay in the order of ranks.
///
/// Domain: any p. Cost: 2 ceil(log2 p) rounds.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allreduce)]
#[order(same_tree, rank_order)]
#[define(w = ceil_log(2, p))]
#[round(s in 0..w)]
#[state(D = 1, next = 2 * D)]
#[send(when = rank % (2 * D) == D, to = rank - D)]
#[recv(when = rank % (2 * D) == 0 && rank + D < p, from = rank + D, combine = right)]
#[round(s in 0..w)]
#[state(D = pow(2, w), next = D / 2)]
#[define(d = D / 2)]
#[send(when = rank % D == 0 && rank + d < p, to = rank + d)]
#[recv(when = rank % D == d, from = rank - d, replaces = acc)]
#[bound(rounds = 2 * w)]
pub struct ReduceBroadcastAllreduce;

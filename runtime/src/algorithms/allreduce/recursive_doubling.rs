use crate::Collective;

/// Recursive doubling for any p: logarithmic, the whole vector in every message.
///
/// The first `2 * rem` ranks fold in pairs, so that a power of two is left: the even rank of a pair sends its vector to
/// the odd one and waits. The others are numbered `v`, and exchange with `v ^ D` at distances that double. A vector
/// from lower ranks becomes the left operand, so operands stay in the order of ranks. In the end the odd rank of each
/// pair returns the result.
///
/// Domain: any p. Cost: floor(log2 p) rounds, and two more if p is not a power of two.
///
/// Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH, IJHPCA 19(1), 2005.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allreduce)]
#[order(same_tree, rank_order)]
#[define(w = floor_log(2, p), rem = p - pow(2, w), folded = rank < 2 * rem, idle = folded && rank % 2 == 0)]
#[define(v = if folded { rank / 2 } else { rank - rem }, real(u) = if u < rem { 2 * u + 1 } else { u + rem })]
#[round("fold")]
#[send(when = idle, to = rank + 1)]
#[recv(when = folded && !idle, from = rank - 1, combine = left)]
#[round(s in 0..w)]
#[state(D = 1, next = 2 * D)]
#[exchange(when = !idle, with = real(v ^ D), combine = by_rank)]
#[round("unfold")]
#[send(when = folded && !idle, to = rank - 1)]
#[recv(when = idle, from = rank + 1, replaces = acc)]
#[bound(rounds = w + if rem > 0 { 2 } else { 0 }, messages_sent <= w + 1)]
pub struct RecursiveDoublingAllreduce;

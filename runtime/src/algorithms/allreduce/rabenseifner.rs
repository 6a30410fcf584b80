use crate::Collective;

/// Rabenseifner's algorithm for any p: logarithmic, and nobody sends much more than twice the vector.
///
/// Recursive halving, then recursive doubling. Ranks fold in pairs until a power of two, `t`, is left, as in recursive doubling. The vector is split into t blocks.
/// At distances that halve, a rank hands over the half of its blocks on which its partner goes on, and combines the other
/// half; with one block left, the way goes back.
///
/// Domain: any p. Cost: 2 floor(log2 p) rounds, and two more where p is no power of two.
///
/// Rabenseifner: Optimization of Collective Reduction Operations, ICCS 2004.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allreduce)]
#[define(w = floor_log(2, p), t = pow(2, w), rem = p - t, folded = rank < 2 * rem, idle = folded && rank % 2 == 0)]
#[define(v = if folded { rank / 2 } else { rank - rem }, real(u) = if u < rem { 2 * u + 1 } else { u + rem })]
#[split(t)]
#[order(same_tree)]
#[round("fold")]
#[send(when = idle, to = rank + 1)]
#[recv(when = folded && !idle, from = rank - 1, combine = left)]
#[round(s in 0..w)]
#[state(D = t, next = D / 2)]
#[define(H = D / 2, u = v ^ H)]
#[exchange(when = !idle, with = real(u), send = [u / H * H + k; k in 0..H], recv = [v / H * H + k; k in 0..H], combine = by_rank)]
#[holds(D == pow(2, w - s))]
#[round(s in 0..w)]
#[state(D = 1, next = 2 * D)]
#[define(u = v ^ D)]
#[exchange(when = !idle, with = real(u), send = [v / D * D + k; k in 0..D], recv = [u / D * D + k; k in 0..D], replaces = acc)]
#[holds(D == pow(2, s))]
#[round("unfold")]
#[send(when = folded && !idle, to = rank - 1)]
#[recv(when = idle, from = rank + 1, replaces = acc)]
#[bound(rounds = 2 * w + if rem > 0 { 2 } else { 0 }, blocks_sent <= 4 * t - 2)]
pub struct RabenseifnerAllreduce;

use crate::Collective;

/// Rabenseifner's algorithm for any p: logarithmic, and no rank sends much more than twice the vector.
///
/// Recursive halving, then recursive doubling. Ranks fold in pairs until a power of two, `t`, is left, as in recursive
/// doubling. The vector is split into t blocks. At distances that halve, a rank sends its partner the half of its
/// blocks with which the partner continues, and combines the other half. With one block left, the exchanges run in
/// reverse.
///
/// Domain: any p. Cost: 2 floor(log2 p) rounds, and two more if p is not a power of two.
///
/// Rabenseifner: Optimization of Collective Reduction Operations, ICCS 2004.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allreduce)]
#[define(w = floor_log(2, p), t = pow(2, w), rem = p - pow(2, floor_log(2, p)))]
#[define(folded = rank < 2 * rem, idle = rank < 2 * rem && rank % 2 == 0)]
#[define(place(x) = if x < 2 * rem { x / 2 } else { x - rem }, v = if rank < 2 * rem { rank / 2 } else { rank - rem })]
#[define(real(u) = if u < rem { 2 * u + 1 } else { u + rem })]
#[split(t)]
#[order(same_tree)]
#[check(p <= 16)]
#[round("fold")]
#[send(when = idle, to = rank + 1)]
#[recv(when = folded && !idle, from = rank - 1, combine = left)]
#[holds(acc = [k; k in if folded && !idle { rank - 1 } else { rank }..rank + 1])]
#[round(s in 0..w)]
#[define(H = pow(2, w - s - 1), u = v ^ H)]
#[state(D = t, next = H)]
#[hint(H == pow(2, w - s - 1), 0 <= u && u < t, place(real(u)) == u, u / D == v / D, u % H == v % H, u % D != v % D)]
#[exchange(when = !idle, with = real(u), send = [u / H * H + k; k in 0..H], recv = [v / H * H + k; k in 0..H],
    combine = by_rank)]
#[define(S(b) = pow(2, floor_log(2, b ^ v) + 1))]
#[define(from(x, b) =
    if idle { x == rank } else if b / D == v / D { place(x) % D == v % D } else { place(x) % S(b) == v % S(b) })]
#[holds(D == pow(2, w - s), acc(b) = [x; x in 0..p, from(x, b)], blocks_sent = if idle { t } else { t - D })]
#[round(s in 0..w)]
#[state(D = 1, next = 2 * D)]
#[define(u = v ^ D)]
#[exchange(when = !idle, with = real(u), send = [v / D * D + k; k in 0..D], recv = [u / D * D + k; k in 0..D],
    replaces = acc)]
#[define(S(b) = pow(2, floor_log(2, b ^ v) + 1))]
#[define(from(x, b) = if idle { x == rank } else { b / D == v / D || place(x) % S(b) == v % S(b) })]
#[holds(D == pow(2, s), acc(b) = [x; x in 0..p, from(x, b)], blocks_sent = if idle { t } else { t - 2 + D })]
#[round("unfold")]
#[send(when = folded && !idle, to = rank - 1)]
#[recv(when = idle, from = rank + 1, replaces = acc)]
// No search finds the filters over ranks in its `holds`, so they are written. For the checks and the prover:
#[holds(acc = [k; k in 0..p])]
#[bound(rounds = 2 * w + if rem > 0 { 2 } else { 0 }, blocks_sent <= 4 * t - 2)]
pub struct RabenseifnerAllreduce;

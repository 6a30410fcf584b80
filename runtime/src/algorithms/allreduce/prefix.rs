use crate::Collective;

/// Cyclic shift with prefixes: logarithmic for any p without folding, with the fewest possible rounds.
///
/// Line k of a rank is the reduction over k ranks, from its own upwards. Line D + k combines line D with line k of the
/// rank D above. Two lines are enough for any p: D doubles, and `part` covers `e` ranks, the part of p below D, and is
/// line p in the end. As long as e is D they are one line.
///
/// Every rank begins with its own contribution, so ranks reduce different trees: floating-point results may differ in
/// their last bits from rank to rank, and the operation must commute.
///
/// Domain: any p. Cost: ceil(log2 p) rounds. With w of them, each rank sends
/// (w - 1) + (bits set in p - 1) - min(ones at its end, w - 1) vectors: at least w, less than 2 w.
///
/// Jocksch, Ohana, Lanti, Koutsaniti, Karakasis, Villard: An optimisation of allreduce communication in message-passing
/// systems, Parallel Computing 107, 2021, section 2.1.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allreduce)]
#[lines(part, whole)]
#[define(w = ceil_log(2, p), n = p - 1, ones = floor_log(2, n ^ p))]
#[round(s in 0..w)]
#[state(D = 1, next = 2 * D)]
#[define(e = n % D + 1, one = e == D, odd = n / D % 2 == 1)]
#[send(when = one || odd, to = rank - D, line = part)]
#[send(when = !one && 2 * D < p, to = rank - D, line = whole)]
#[recv(when = one && odd, from = rank + D, into = part, combine = right)]
#[recv(when = one && !odd, from = rank + D, into = whole, combine = right, operand = part)]
#[recv(when = !one && odd, from = rank + D, into = part, combine = right, operand = whole)]
#[recv(when = !one && 2 * D < p, from = rank + D, into = whole, combine = right)]
// No search finds how many digits of p its bound counts, so `holds` is written. For the checks and the prover:
#[define(held = if one { 0 } else if D < p { D } else { D / 2 })]
#[hint(p / (2 * D) == n / (2 * D) + if one && odd { 1 } else { 0 })]
#[holds(D == pow(2, s), part = [rank + k; k in 0..e], whole = [rank + k; k in 0..held])]
#[holds(p / D == n / D + if one { 1 } else { 0 })]
#[holds(blocks_sent = digit_sum(n % D, 2) + if one { 0 } else { min(s, w - 1) - ones })]
#[bound(rounds = w, each blocks_sent = w - 1 + digit_sum(n, 2) - min(ones, w - 1))]
pub struct PrefixAllreduce;

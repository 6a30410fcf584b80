use crate::Collective;

/// Cyclic shift with prefixes and `ports[i]` partners in round `i`, for machines with several ports.
///
/// It takes fewer rounds than [`PrefixAllreduce`](super::PrefixAllreduce). Line k of a rank is the reduction over k
/// ranks, from its own upwards. A round with m ports extends `whole` from D ranks to (m + 1) D: the partners at the
/// distances D, 2 D, … contribute theirs, one after the other. When t D ranks are combined, where t is the digit of
/// p - 1 that belongs to the round, they and the partner's `part`, of e ranks, form the next `part`. So two lines are
/// enough for all prefixes that line p needs; as long as e is D they are one line.
///
/// Ranks reduce different trees: floating-point results may differ in their last bits from rank to rank, and the
/// operation must commute.
///
/// Domain: p at most the product of all `ports[i] + 1`. Cost: at most `len(ports)` rounds; the last round sends t
/// vectors, any other at most `ports[i] + 1`.
///
/// Jocksch, Ohana, Lanti, Koutsaniti, Karakasis, Villard: An optimisation of allreduce communication in message-passing
/// systems, Parallel Computing 107, 2021, section 2.1.
#[derive(Collective, Clone, Debug, PartialEq, Eq)]
#[collective(allreduce, ports: list(1..))]
#[lines(part, whole)]
#[check(p <= 16, len(ports) <= 6, ports <= 2)]
#[define(n = p - 1)]
#[round(i in 0..len(ports))]
#[state(D = 1, next = min(p, D * (ports[i] + 1)))]
#[requires(final D == p)]
#[define(m = min(ports[i], n / D), more = D * (ports[i] + 1) < p)]
#[define(t = n / D % (ports[i] + 1), e = n % D + 1, one = e == D)]
#[send(for j in 1..=t, when = one, to = rank - j * D, line = part)]
#[recv(for j in 1..=t, when = one, from = rank + j * D, into = part, combine = right)]
#[send(when = one && more && t < m, to = rank - (t + 1) * D, line = part)]
#[recv(when = one && more && t < m, from = rank + (t + 1) * D, into = whole, combine = right, operand = part)]
#[send(for j in t + 2..=m, when = one && more, to = rank - j * D, line = part)]
#[recv(for j in t + 2..=m, when = one && more, from = rank + j * D, into = whole, combine = right)]
#[send(for j in 1..t, when = !one, to = rank - j * D, line = whole)]
#[recv(for j in 1..t, when = !one, from = rank + j * D, into = whole, combine = right)]
#[send(when = !one && t > 0, to = rank - t * D, line = part)]
#[recv(when = !one && t > 0, from = rank + t * D, into = part, combine = right, operand = whole)]
#[send(for j in max(1, t)..=m, when = !one && more, to = rank - j * D, line = whole)]
#[recv(for j in max(1, t)..=m, when = !one && more, from = rank + j * D, into = whole, combine = right)]
// No search finds what `whole` covers, so it is written. For the checks and the prover: W ranks.
#[define(longer = if one && t == m { 0 } else { D * (ports[i] + 1) })]
#[state(W = 0, next = if more { longer } else if one { W } else { t * D })]
#[hint(t * D + n % D == n % (D * (ports[i] + 1)))]
#[holds(1 <= D, D <= p, 0 <= W, W <= p, D == p || W == if one { 0 } else { D })]
#[holds(part = [rank + k; k in 0..e], whole = [rank + k; k in 0..W])]
#[define(sent = if more { m + if !one && t > 0 { 1 } else { 0 } } else { t })]
#[bound(rounds <= len(ports), per_round blocks_sent = sent)]
pub struct CyclicShiftAllreduce {
    /// The number of ranks that a rank sends to in each round.
    pub ports: Vec<i64>,
}

use crate::Collective;

/// Reduce_scatter by cyclic shift, with `ports[i]` messages in round `i`: the allgather by cyclic shift, run backwards.
///
/// Forwards, a rank holds the `D` blocks from its own upwards before a round. The ranks that are `D`, `2 * D`, … above
/// send theirs, of which the last may be incomplete; then it holds `q + 1` times as many. Backwards, the first round
/// has the largest distances and the incomplete messages, so the last port is the first one of the allgather.
///
/// Domain: p at most the product of all `ports[i] + 1`. Cost: `len(ports)` rounds, p - 1 blocks sent by each rank.
///
/// Jocksch, Ohana, Lanti, Koutsaniti, Karakasis, Villard: An optimisation of allreduce communication in message-passing
/// systems, Parallel Computing 107, 2021, section 2.2.2.
#[derive(Collective, Clone, Debug, PartialEq, Eq)]
#[collective(reduce_scatter, ports: list(1..))]
#[reverse_of(allgather)]
#[check(p <= 16, len(ports) <= 6, ports <= 2)]
#[round(i in 0..len(ports))]
#[define(q = ports[len(ports) - 1 - i])]
#[state(D = 1, next = min(p, D * (q + 1)))]
#[requires(final D == p)]
#[define(n(j) = max(0, min(D, p - j * D)))]
#[send(for j in 1..=q, to = rank - j * D, blocks = [rank + k; k in 0..n(j)])]
#[recv(for j in 1..=q, from = rank + j * D, blocks = [rank + j * D + k; k in 0..n(j)])]
#[bound(rounds <= len(ports), each blocks_sent = p - 1, per_round messages_sent <= q)]
pub struct CyclicShiftReduceScatter {
    /// The number of messages that a rank sends in each round.
    pub ports: Vec<i64>,
}

use crate::Collective;

/// Reduce_scatter by cyclic shift, with `ports[i]` messages in round `i`: the allgather by cyclic shift, reversed.
///
/// Before a round a rank is responsible for `S` blocks, those of the ranks from its own upwards. It keeps the first `D`
/// of them, and sends the j-th `D` after them to the rank that is `j * D` above, for which they are the first. The
/// distances are those of the allgather (products of `ports[i] + 1`), the largest first; so the first round, the last
/// of the allgather, has the incomplete messages.
///
/// Domain: p at most the product of all `ports[i] + 1`. Cost: `len(ports)` rounds, p - 1 blocks sent by each rank.
///
/// Jocksch, Ohana, Lanti, Koutsaniti, Karakasis, Villard: An optimisation of allreduce communication in message-passing
/// systems, Parallel Computing 107, 2021, section 2.2.2.
#[derive(Collective, Clone, Debug, PartialEq, Eq)]
#[collective(reduce_scatter, ports: list(1..))]
#[requires(product(ports + 1, len(ports)) >= p)]
#[check(p <= 16, len(ports) <= 6, ports <= 2)]
#[round(i in 0..len(ports))]
#[state(S = product(ports + 1, len(ports)), next = S / (ports[i] + 1))]
#[define(D = S / (ports[i] + 1), n(j) = max(0, min(D, p - j * D)))]
#[send(for j in 1..=ports[i], to = rank + j * D, blocks = [rank + j * D + k; k in 0..n(j)])]
#[recv(for j in 1..=ports[i], from = rank - j * D, blocks = [rank + k; k in 0..n(j)], combine = left)]
// For the checks and the prover:
#[holds(S * product(ports + 1, i) == product(ports + 1, len(ports)), blocks_sent = p - min(p, S))]
#[bound(rounds <= len(ports), each blocks_sent = p - 1, per_round messages_sent <= ports[i])]
pub struct CyclicShiftReduceScatter {
    /// The number of messages that a rank sends in each round.
    pub ports: Vec<i64>,
}

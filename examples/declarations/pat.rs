use roundel::Collective;

/// PAT, parallel aggregated trees: every block travels down its own binomial tree, the farthest ranks first.
///
/// In the first rounds, at distances that halve, messages grow up to `N` blocks, as in Sparbit: they reach one rank in
/// each `span`. From then on they stay so large, and the trees within a span run one edge after the other. With
/// `span = 1` all rounds are of the first kind, with `span = p` every message is one block.
///
/// Jeaugey: PAT: a new algorithm for all-gather and reduce-scatter operations at scale, arXiv 2506.20252, 2025.
#[derive(Collective)]
#[collective(allgather, span: 1..)]
#[requires(span <= p)]
#[check(p <= 24, span <= 24)]
#[define(N = ceil_div(p, span), w = ceil_log(2, N), rest = p - (N - 1) * span)]
#[round("logarithmic", s in 0..w)]
#[state(D = pow(2, w), next = D / 2)]
#[define(d = D / 2, n = ceil_div(N, d) - ceil_div(N, D))]
#[send(to = rank + d * span, blocks = [rank - 2 * j * d * span; j in 0..n])]
#[recv(from = rank - d * span, blocks = [rank - (2 * j + 1) * d * span; j in 0..n])]
#[hint(D == 2 * d, d == pow(2, w - s - 1))]
#[holds(D == pow(2, w - s), blocks = [rank - k * D * span; k in 0..ceil_div(N, D)], blocks_sent = ceil_div(N, D) - 1)]
#[round("linear", k in 1..span)]
#[define(low = k & -k, m = if k < rest { N } else { N - 1 })]
#[send(to = rank + low, blocks = [rank - j * span - (k - low); j in 0..m])]
#[recv(from = rank - low, blocks = [rank - j * span - k; j in 0..m])]
#[holds(blocks = [rank - j * span - o; j in 0..N - 1, o in 0..k] + [rank - (N - 1) * span - o; o in 0..min(k, rest)])]
#[holds(blocks_sent = k * (N - 1) + min(k, rest) - 1)]
#[bound(rounds = w + span - 1, each blocks_sent = p - 1)]
pub struct Pat {
    pub span: i64,
}

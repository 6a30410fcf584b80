use roundel::Collective;

/// A scatter along a binomial tree: at distances that halve, a rank sends the upper half of its blocks.
///
/// Ranks are counted from the root: `v`. Before the round with group size `D`, a rank whose `v` is a multiple of D has
/// the blocks of up to D ranks, from its own upwards.
///
/// Domain: any p, any root. Cost: ceil(log2 p) rounds; p - 1 blocks leave the root.
#[derive(Collective, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[collective(scatter, root: 0..)]
// The compiler checks it exactly for these calls, and `roundel prove` for all.
#[check(p <= 16, root <= 63)]
#[define(w = ceil_log(2, p), v = (rank - root) % p)]
// State changes from round to round; it is easier to prove than `pow(2, w - s)`.
#[round(s in 0..w)]
#[state(D = pow(2, w), next = D / 2)]
#[define(d = D / 2)]
// The same message twice: as its sender sees it, and as its receiver does. A message without blocks does not exist.
#[send(when = v % D == 0, to = rank + d, blocks = [rank + d + k; k in 0..min(d, p - v - d)])]
#[recv(when = v % D == d, from = rank - d, blocks = [rank + k; k in 0..min(d, p - v)])]
// What it costs.
#[bound(rounds = w, blocks_sent = p - 1)]
pub struct MyCollective {
    /// The rank whose blocks are distributed.
    pub root: i64,
}

use roundel::Collective;

/// A gather along a binomial tree: at distances that double, a rank sends all that it has, and is done.
///
/// Ranks are counted from the root: `v`. Before the round with distance `D`, a rank whose `v` is a multiple of D has
/// the blocks of up to D ranks, from its own upwards.
///
/// Domain: any p, any root. Cost: ceil(log2 p) rounds; p - 1 blocks reach the root.
#[derive(Collective, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[collective(gather, root: 0..)]
// The compiler checks it exactly for these calls, and `roundel prove` for all.
#[check(p <= 16, root <= 63)]
#[define(w = ceil_log(2, p), v = (rank - root) % p)]
// State changes from round to round; it is easier to prove than `pow(2, s)`.
#[round(s in 0..w)]
#[state(D = 1, next = 2 * D)]
// The same message twice: as its sender sees it, and as its receiver does. A message without blocks does not exist.
#[send(when = v % (2 * D) == D, to = rank - D, blocks = [rank + k; k in 0..min(D, p - v)])]
#[recv(when = v % (2 * D) == 0, from = rank + D, blocks = [rank + D + k; k in 0..min(D, p - v - D)])]
// What it costs.
#[bound(rounds = w, blocks_received = p - 1)]
pub struct MyCollective {
    /// The rank that gets all blocks.
    pub root: i64,
}

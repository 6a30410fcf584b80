use crate::Collective;

/// Gather along a binomial tree: at distances that double, a rank sends all that it has, and is done.
///
/// Ranks are counted from the root: `v`. Before the round with distance `D`, a rank whose `v` is a multiple of D has
/// the blocks of up to D ranks, from its own upwards.
///
/// Domain: any p, any root. Cost: ceil(log2 p) rounds; p - 1 blocks reach the root.
#[derive(Collective, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[collective(gather, root: 0..)]
#[check(p <= 16, root <= 63)]
#[define(w = ceil_log(2, p), v = (rank - root) % p)]
#[round(s in 0..w)]
#[state(D = 1, next = 2 * D)]
#[send(when = v % (2 * D) == D, to = rank - D, blocks = [rank + k; k in 0..min(D, p - v)])]
#[recv(when = v % (2 * D) == 0, from = rank + D, blocks = [rank + D + k; k in 0..min(D, p - v - D)])]
#[bound(rounds = w, blocks_received = p - 1)]
pub struct BinomialGather {
    /// The rank that gets all blocks.
    pub root: i64,
}

use roundel::Collective;

/// A reduce along a binomial tree, for operations that commute.
///
/// Ranks are counted from the root: `v`. At distances that double, a rank sends what it has reduced, and is done.
///
/// Domain: any p, any root. Cost: ceil(log2 p) rounds.
#[derive(Collective, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[collective(reduce, root: 0..)]
// The compiler checks it exactly for these calls, and `roundel prove` for all.
#[check(p <= 16, root <= 255)]
#[define(w = ceil_log(2, p), v = (rank - root) % p)]
// State changes from round to round; it is easier to prove than `pow(2, s)`.
#[round(s in 0..w)]
#[state(D = 1, next = 2 * D)]
// The same message twice: as its sender sees it, and as its receiver does, who combines it as the right operand.
#[send(when = v % (2 * D) == D, to = rank - D)]
#[recv(when = v % (2 * D) == 0 && v + D < p, from = rank + D, combine = right)]
// What it costs.
#[bound(rounds = w, messages_sent <= 1)]
pub struct MyCollective {
    /// The rank that gets the result.
    pub root: i64,
}

use roundel::Collective;

/// A broadcast along a binomial tree: in every round each rank that has the data sends it to one that does not.
///
/// Ranks are counted from the root: `v`. Before the round with distance `D` the first D of them have the data.
///
/// Domain: any p, any root. Cost: ceil(log2 p) rounds, and as many messages sent by the root.
#[derive(Collective, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[collective(broadcast, root: 0..)]
// The compiler checks it exactly for these calls, and `roundel prove` for all.
#[check(p <= 16, root <= 255)]
#[define(w = ceil_log(2, p), v = (rank - root) % p)]
// State changes from round to round; it is easier to prove than `pow(2, s)`.
#[round(s in 0..w)]
#[state(D = 1, next = 2 * D)]
// The same message twice: as its sender sees it, and as its receiver does.
#[send(when = v < D && v + D < p, to = rank + D)]
#[recv(when = D <= v && v < 2 * D, from = rank - D)]
// What it costs.
#[bound(rounds = w, messages_sent = w)]
pub struct MyCollective {
    /// The rank whose data all ranks get.
    pub root: i64,
}

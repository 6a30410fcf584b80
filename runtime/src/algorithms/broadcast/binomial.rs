use crate::Collective;

/// Broadcast along a binomial tree: in every round each rank that has the data sends it to one that does not.
///
/// Ranks are counted from the root: `v`. Before the round with distance `D` the first D of them have the data.
///
/// Domain: any p, any root. Cost: ceil(log2 p) rounds, and as many messages sent by the root.
#[derive(Collective, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[collective(broadcast, root: 0..)]
#[check(p <= 16, root <= 255)]
#[define(w = ceil_log(2, p), v = (rank - root) % p)]
#[round(s in 0..w)]
#[state(D = 1, next = 2 * D)]
#[send(when = v < D && v + D < p, to = rank + D)]
#[recv(when = D <= v && v < 2 * D, from = rank - D)]
#[bound(rounds = w, messages_sent = w)]
pub struct BinomialBroadcast {
    /// The rank whose data all ranks get.
    pub root: i64,
}

use crate::Collective;

/// Reduce along a binomial tree, for operations that commute.
///
/// Ranks are counted from the root: `v`. At distances that double, a rank sends what it has reduced, and is done.
/// Operands stay in the order of ranks from the root upwards, which is the order of ranks if the root is 0.
///
/// Domain: any p, any root. Cost: ceil(log2 p) rounds.
#[derive(Collective, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[collective(reduce, root: 0..)]
#[check(p <= 16, root <= 255)]
#[define(w = ceil_log(2, p), v = (rank - root) % p)]
#[round(s in 0..w)]
#[state(D = 1, next = 2 * D)]
#[send(when = v % (2 * D) == D, to = rank - D)]
#[recv(when = v % (2 * D) == 0 && v + D < p, from = rank + D, combine = right)]
#[bound(rounds = w, messages_sent <= 1)]
pub struct BinomialReduce {
    /// The rank that gets the result.
    pub root: i64,
}

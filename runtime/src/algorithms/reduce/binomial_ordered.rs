use crate::Collective;

/// Reduce along a binomial tree to rank 0, and from there to the root: also for operations that do not commute.
///
/// The tree does not depend on the root, so neither does the result: floating-point results have the same last bits for
/// every root.
///
/// Domain: any p, any root. Cost: ceil(log2 p) rounds, and one more if the root is not 0.
#[derive(Collective, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[collective(reduce, root: 0..)]
#[order(rank_order)]
#[check(p <= 16, root <= 255)]
#[define(w = ceil_log(2, p))]
#[round(s in 0..w)]
#[state(D = 1, next = 2 * D)]
#[send(when = rank % (2 * D) == D, to = rank - D)]
#[recv(when = rank % (2 * D) == 0 && rank + D < p, from = rank + D, combine = right)]
#[round("to the root")]
#[send(when = rank == 0 && root != 0, to = root)]
#[recv(when = rank == root && root != 0, from = 0, replaces = acc)]
#[bound(rounds = w + if root == 0 { 0 } else { 1 }, messages_sent <= 1)]
pub struct OrderedBinomialReduce {
    /// The rank that gets the result.
    pub root: i64,
}

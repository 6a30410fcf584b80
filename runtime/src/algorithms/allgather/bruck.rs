use crate::Collective;

/// Bruck's allgather: logarithmic for any p.
///
/// Before the round with distance `D` a rank holds the `D` blocks from its own upwards. It sends them to `rank - D`
/// and receives the next ones from `rank + D`; the last round sends only the `p - D` blocks that are still missing.
/// In the classical form blocks are stored in the order in which they arrive, so that every message is contiguous, and
/// are rotated into place at the end. With `in_place` every block goes to its final position at once, and a message
/// that wraps around the end is in two pieces.
///
/// Domain: any p. Cost: ceil(log2 p) rounds, p - 1 blocks sent by each rank.
///
/// Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient Algorithms for All-to-All Communications in Multiport
/// Message-Passing Systems, IEEE TPDS 8(11), 1997.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allgather)]
#[layout(rotated(rank), in_place)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[define(n = min(D, p - D))]
#[send(to = rank - D, blocks = [rank + k; k in 0..n])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..n])]
#[bound(rounds = ceil_log(2, p), each messages_sent = ceil_log(2, p), each blocks_sent = p - 1)]
pub struct Bruck;

use crate::Collective;

/// Bruck's allgather: logarithmic for any p.
///
/// Before the round with distance `D` a rank holds the `D` blocks from its own upwards. It sends them to `rank - D`
/// and receives the next ones from `rank + D`; the last round sends only what is still missing, `p - D` blocks.
/// In the classical form the blocks lie in the order in which they come, so that every message is contiguous, and are
/// rotated into place at the end; `in_place` puts every block where it belongs at once, and a message that wraps
/// around the end is in two pieces.
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
// For the checks and the prover:
#[holds(D == pow(2, s), blocks = [rank + k; k in 0..min(D, p)], messages_sent = s, blocks_sent = min(D, p) - 1)]
#[bound(rounds = ceil_log(2, p), each messages_sent = ceil_log(2, p), each blocks_sent = p - 1)]
pub struct Bruck;

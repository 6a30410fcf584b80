use crate::Collective;

/// Bruck's allgather with any radix, run backwards: `radix - 1` exchanges in each round.
///
/// Exchange `j` of the round with distance `D` returns the blocks from `j * D` on to `rank + j * D`. A larger radix
/// means more messages in a round and fewer rounds.
///
/// Domain: any p, radix at least 2. Cost: ceil(log_radix p) rounds, at most radix - 1 messages in each, p - 1 blocks
/// sent by each rank.
///
/// Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient Algorithms for All-to-All Communications in Multiport
/// Message-Passing Systems, IEEE TPDS 8(11), 1997.
#[derive(Collective, Clone, Copy, Debug)]
#[collective(reduce_scatter, radix: 2..)]
#[reverse_of(allgather)]
#[round(s in 0..ceil_log(radix, p))]
#[state(D = 1, next = min(p, radix * D))]
#[define(n(j) = min(D, p - j * D), ports = min(radix, ceil_div(p, D)) - 1)]
#[send(for j in 1..=ports, to = rank - j * D, blocks = [rank + k; k in 0..n(j)])]
#[recv(for j in 1..=ports, from = rank + j * D, blocks = [rank + j * D + k; k in 0..n(j)])]
#[bound(rounds = ceil_log(radix, p), each blocks_received = p - 1, per_round messages_received <= radix - 1)]
pub struct KBruckReduceScatter {
    /// The factor by which the number of blocks shrinks in a round.
    pub radix: i64,
}

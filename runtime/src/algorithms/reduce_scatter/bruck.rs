use crate::Collective;

/// Bruck's allgather, run backwards: a logarithmic reduce_scatter for any p.
///
/// The first round returns the `p - D` blocks that Bruck's last round brings; in each of the others, at distances `D`
/// that halve, a rank returns the upper half of the blocks that it still has.
///
/// Domain: any p. Cost: ceil(log2 p) rounds, p - 1 blocks sent by each rank.
///
/// Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient Algorithms for All-to-All Communications in Multiport
/// Message-Passing Systems, IEEE TPDS 8(11), 1997.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(reduce_scatter)]
#[reverse_of(allgather)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[define(n = min(D, p - D))]
#[send(to = rank - D, blocks = [rank + k; k in 0..n])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..n])]
#[bound(rounds = ceil_log(2, p), each messages_received = ceil_log(2, p), each blocks_received = p - 1)]
pub struct BruckReduceScatter;

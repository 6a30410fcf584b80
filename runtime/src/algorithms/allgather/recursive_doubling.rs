use crate::Collective;

/// Recursive doubling allgather: partners exchange all they have, at twice the distance each round.
///
/// Before the round with distance `D` a rank holds the `D` blocks of its aligned group of `D` ranks; its partner
/// `rank ^ D` holds those of the other half of the group of `2 D`.
///
/// Domain: p a power of two. Cost: log2(p) rounds, p - 1 blocks sent by each rank.
///
/// Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH, IJHPCA 19(1), 2005.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allgather)]
#[requires(p == pow(2, floor_log(2, p)))]
#[round(s in 0..floor_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[define(group(r) = r - r % D)]
#[exchange(with = rank ^ D, send = [group(rank) + k; k in 0..D], recv = [group(rank ^ D) + k; k in 0..D])]
#[bound(rounds = floor_log(2, p), each messages_sent = floor_log(2, p), each blocks_sent = p - 1)]
pub struct RecursiveDoubling;

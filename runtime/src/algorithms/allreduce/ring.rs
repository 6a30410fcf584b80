use crate::Collective;

/// The ring: a reduce_scatter and an allgather around it; linear, and no rank sends more than twice the vector.
///
/// The vector is split into p blocks. Block b starts at rank b and goes once around, gathering contributions; then the
/// finished blocks go around once more.
///
/// Domain: any p. Cost: 2 (p - 1) rounds, 2 (p - 1) blocks of a p-th of the vector sent by each rank.
///
/// Patarasuk, Yuan: Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations, JPDC 69(2), 2009.
#[derive(Collective, Clone, Copy, Debug, Default)]
#[collective(allreduce)]
#[split(p)]
#[order(same_tree)]
#[check(p <= 24)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s], combine = left)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank + 1 - s])]
#[recv(from = rank - 1, blocks = [rank - s], replaces = acc)]
#[bound(rounds = 2 * (p - 1), each blocks_sent = 2 * (p - 1))]
pub struct RingAllreduce;

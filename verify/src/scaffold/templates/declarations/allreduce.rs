use roundel::Collective;

/// An allreduce around a ring: the blocks of the vector go around once to be reduced, and once more with the result.
///
/// The vector is split into p blocks. Block b starts at rank b and collects a contribution from every rank.
///
/// Domain: any p. Cost: 2 (p - 1) rounds, 2 (p - 1) blocks of a p-th of the vector sent by each rank.
#[derive(Collective, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[collective(allreduce)]
#[split(p)]
// All ranks reduce in the same order, so all of them get the same bits.
#[order(same_tree)]
// The compiler checks it exactly for these p, and `roundel prove` for all.
#[check(p <= 24)]
// Once around: what arrives is combined, as the left operand.
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s], combine = left)]
// Once more: what arrives replaces what is there.
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank + 1 - s])]
#[recv(from = rank - 1, blocks = [rank - s], replaces = acc)]
// What it costs.
#[bound(rounds = 2 * (p - 1), each blocks_sent = 2 * (p - 1))]
pub struct MyCollective;

use roundel::Collective;

/// A reduce_scatter by pairwise exchange: every rank sends every other rank its contribution to that rank's block.
///
/// Domain: any p. Cost: p - 1 rounds, p - 1 blocks sent by each rank.
#[derive(Collective, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[collective(reduce_scatter)]
// The compiler checks it exactly for these p, and `roundel prove` for all.
#[check(p <= 24)]
// Rounds are counted by `s`. Ranks and blocks wrap around p, so `rank + s` needs no remainder.
#[round(s in 1..p)]
// The same message twice: as its sender sees it, and as its receiver does, who combines it as the left operand.
#[send(to = rank + s, blocks = [rank + s])]
#[recv(from = rank - s, blocks = [rank], combine = left)]
// What it costs.
#[bound(rounds = p - 1, each blocks_sent = p - 1)]
pub struct MyCollective;

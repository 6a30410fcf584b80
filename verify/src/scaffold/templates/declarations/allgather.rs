use roundel::Collective;

/// An allgather around a ring: every block visits every rank.
///
/// Before round `s` a rank holds the `s + 1` blocks that lie behind it, its own included. It passes the one that came
/// last to its right neighbour.
///
/// Domain: any p. Cost: p - 1 rounds, p - 1 blocks sent by each rank.
#[derive(Collective, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[collective(allgather)]
// Rounds are counted by `s`. Ranks and blocks wrap around p, so `rank + 1` needs no remainder.
#[round(s in 0..p - 1)]
// The same message twice: as its sender sees it, and as its receiver does.
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
// What it costs.
#[bound(rounds = p - 1, each messages_sent = p - 1, each blocks_sent = p - 1, per_round blocks_sent = 1)]
pub struct MyCollective;

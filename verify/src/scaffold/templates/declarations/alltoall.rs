use roundel::Collective;

/// An all-to-all in one round: every rank sends every block straight to its destination.
///
/// Rank r sends to r + 1, r + 2 and so on, so that not all ranks send to the same one first.
///
/// Domain: any p. Cost: one round of p - 1 messages, each block moves once, no rank stores blocks for others.
#[derive(Collective, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[collective(alltoall)]
#[round]
// The same messages twice: as the sender sees them, and as the receiver does. `a -> b` is what rank a has for rank b.
#[send(for s in 1..p, to = rank + s, blocks = [rank -> rank + s])]
#[recv(for s in 1..p, from = rank - s, blocks = [rank - s -> rank])]
// What it costs.
#[bound(rounds = min(1, p - 1), each messages_sent = p - 1, each blocks_sent = p - 1, scratch = 0)]
pub struct MyCollective;

use roundel::Collective;

// The ring sends one block in each round.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[bound(rounds = p - 1, per_round blocks_sent = s + 1)]
struct Ring;

fn main() {}

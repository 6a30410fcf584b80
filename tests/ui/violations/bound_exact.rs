use roundel::Collective;

// The ring sends p - 1 blocks.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[bound(rounds = p - 1, blocks_sent = p)]
struct Ring;

fn main() {}

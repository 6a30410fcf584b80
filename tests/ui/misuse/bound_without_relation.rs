use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[bound(rounds, blocks_sent >= 3, every blocks_sent = 2)]
struct Ring;

fn main() {}

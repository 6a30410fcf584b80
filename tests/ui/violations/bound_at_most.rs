use roundel::Collective;

// Half as many rounds would be neighbor exchange.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[bound(rounds <= p / 2)]
struct Ring;

fn main() {}

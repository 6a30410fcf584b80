use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[define(next = s + 1)]
#[requires(final next == p)]
struct Ring;

fn main() {}

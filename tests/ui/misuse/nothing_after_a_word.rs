use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(for, to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[requires(final)]
#[define(a = )]
#[bound(rounds = )]
#[check(p <= )]
struct Ring;

fn main() {}

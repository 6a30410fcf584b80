use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[define(d = 1, p = 2, d = 3)]
#[round(rank in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - k; k in 0..1, k in 0..1])]
#[recv(for d in 0..1, from = rank - 1, blocks = [rank - 1])]
struct Ring;

fn main() {}

use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[requires(p)]
#[round(s in 0..p - 1)]
#[send(when = s, to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[holds(!s)]
struct Ring;

fn main() {}

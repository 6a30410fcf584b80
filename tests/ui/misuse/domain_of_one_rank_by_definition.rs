use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[define(mine = rank % 2 == 0)]
#[requires(mine)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
struct Ring;

fn main() {}

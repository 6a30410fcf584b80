use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[holds(blocks = [rank - k; k in 0..s + 1])]
#[holds(blocks = [rank])]
struct Ring;

fn main() {}

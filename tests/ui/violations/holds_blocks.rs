use roundel::Collective;

// Before round s a rank has s + 1 blocks.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[holds(blocks = [rank - o; o in 0..s])]
struct Ring;

fn main() {}

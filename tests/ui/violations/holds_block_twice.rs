use roundel::Collective;

// After the last round the claim goes once around.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[holds(blocks = [rank - o; o in 0..=s + 1])]
struct Ring;

fn main() {}

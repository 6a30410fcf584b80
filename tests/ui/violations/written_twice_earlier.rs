use roundel::Collective;

// No rank forwards what it received.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank])]
#[recv(from = rank - 1, blocks = [rank - 1])]
struct Ring;

fn main() {}

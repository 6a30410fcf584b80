use roundel::Collective;

// One round too many: the own block comes back.
#[derive(Collective)]
#[collective(allgather)]
#[requires(p >= 2)]
#[round(s in 0..p)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
struct Ring;

fn main() {}

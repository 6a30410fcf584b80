use roundel::Collective;

// A rank's own block needs no message, so j should begin at 1.
#[derive(Collective)]
#[collective(allgather)]
#[round]
#[send(for j in 0..p, to = rank + j, blocks = [rank])]
#[recv(for j in 0..p, from = rank - j, blocks = [rank - j])]
struct Direct;

fn main() {}

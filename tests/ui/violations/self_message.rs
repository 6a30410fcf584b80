use roundel::Collective;

// The own block needs no message: j begins at 1.
#[derive(Collective)]
#[collective(allgather)]
#[round]
#[send(for j in 0..p, to = rank + j, blocks = [rank])]
#[recv(for j in 0..p, from = rank - j, blocks = [rank - j])]
struct Direct;

fn main() {}

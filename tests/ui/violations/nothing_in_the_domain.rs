use roundel::Collective;

// The check goes up to p = 40 and finds nothing to check.
#[derive(Collective)]
#[collective(allgather)]
#[requires(p > 40, p % 2 == 0)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
struct Ring;

fn main() {}

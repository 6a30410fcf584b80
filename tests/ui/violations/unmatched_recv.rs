use roundel::Collective;

// A ring that is open between the last rank and the first.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(when = rank < p - 1, to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
struct OpenRing;

fn main() {}

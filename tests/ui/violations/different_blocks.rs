use roundel::Collective;

// What arrives is seen from the receiver: rank - 1 - s.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - s])]
struct Ring;

fn main() {}

use roundel::Collective;

// An unused state that does not fit 64 bits after four rounds.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[state(D = 1, next = D * 1000003)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
struct Ring;

fn main() {}

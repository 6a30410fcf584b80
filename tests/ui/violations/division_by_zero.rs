use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s % (p - 2)])]
#[recv(from = rank - 1, blocks = [rank - 1 - s % (p - 2)])]
struct Ring;

fn main() {}

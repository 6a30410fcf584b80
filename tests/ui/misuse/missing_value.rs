use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = , blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[holds(blocks = )]
struct Ring;

fn main() {}

use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[layout(in_place, rotated(rank), rotated(rank + 1))]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
struct Ring;

fn main() {}

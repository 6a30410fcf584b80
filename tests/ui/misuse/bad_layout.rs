use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[layout(rotate(rank), in_place(1), rotated)]
struct Ring;

fn main() {}

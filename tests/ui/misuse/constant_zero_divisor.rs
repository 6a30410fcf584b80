use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..ceil_div(p, 0))]
#[send(to = rank + 1 / 0, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
struct Ring;

fn main() {}

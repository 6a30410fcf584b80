use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[define(half(a) = a / 2)]
#[round(s in 0..ceil_log(p))]
#[send(to = rank + half(1, 2), blocks = [rank - half])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
struct Ring;

fn main() {}

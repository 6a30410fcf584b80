use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[define(sink = 1, Some = 2)]
#[round(at in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - at])]
#[recv(from = rank - 1, blocks = [rank - 1 - at])]
struct Ring;

fn main() {}

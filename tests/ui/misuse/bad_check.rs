use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[check(p = 10, p <= 0, q <= 3, p <= n)]
struct Ring;

fn main() {}

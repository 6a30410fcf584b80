use roundel::Collective;

#[derive(Collective)]
#[collective(allgather, radix: 2..)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
struct Ring(i64);

fn main() {}

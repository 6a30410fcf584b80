use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[requires(p >= 2)]
#[round]
#[send(for j in 0..2, to = rank + 1, blocks = [rank])]
#[recv(for j in 0..2, from = rank - 1, blocks = [rank - 1])]
struct Twice;

fn main() {}

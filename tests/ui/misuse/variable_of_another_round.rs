use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[requires(p % 2 == 0)]
#[round(s in 0..1)]
#[exchange(with = rank ^ 1, send = [rank], recv = [rank ^ 1])]
#[round(i in 1..p / 2)]
#[send(to = rank + 2, blocks = [rank - s])]
#[recv(from = rank - 2, blocks = [rank - 2 - i])]
struct Pairs;

fn main() {}

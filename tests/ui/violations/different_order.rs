use roundel::Collective;

// The same blocks, but not in the same order.
#[derive(Collective)]
#[collective(allgather)]
#[requires(p == 4)]
#[round]
#[exchange(with = rank ^ 1, send = [rank], recv = [rank ^ 1])]
#[round]
#[exchange(with = rank ^ 2, send = [rank, rank ^ 1], recv = [rank ^ 3, rank ^ 2])]
struct Twisted;

fn main() {}

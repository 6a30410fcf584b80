use roundel::Collective;

// Without `requires(p % 2 == 0)`.
#[derive(Collective)]
#[collective(allgather)]
#[define(mirror = if rank % 2 == 0 { 1 } else { -1 })]
#[define(pair(i) = rank / 2 + mirror * if i % 2 == 0 { i / 2 } else { -((i + 1) / 2) })]
#[define(neighbor(i) = rank + mirror * if i % 2 == 0 { 1 } else { -1 })]
#[round]
#[exchange(when = p > 1, with = neighbor(0), send = [rank], recv = [neighbor(0)])]
#[round(i in 1..ceil_div(p, 2))]
#[exchange(with = neighbor(i), send = [2 * pair(i - 1) + k; k in 0..2], recv = [2 * pair(i) + k; k in 0..2])]
struct NeighborExchange;

fn main() {}

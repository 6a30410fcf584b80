use roundel::Collective;

// With four ranks both neighbours at distance 2 are the same rank, and its two messages arrive in their order.
#[derive(Collective)]
#[collective(allgather)]
#[requires(p == 4)]
#[round]
#[send(to = rank + 1, blocks = [rank])]
#[recv(from = rank - 1, blocks = [rank - 1])]
#[round]
#[send(to = rank + 2, blocks = [rank])]
#[send(to = rank - 2, blocks = [rank - 1])]
#[recv(from = rank + 2, blocks = [rank + 1])]
#[recv(from = rank - 2, blocks = [rank - 2])]
struct BothWays;

fn main() {}

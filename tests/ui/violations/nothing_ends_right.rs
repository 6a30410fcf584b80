use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[requires(final D == 0)]
#[define(n = min(D, p - D))]
#[send(to = rank - D, blocks = [rank + k; k in 0..n])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..n])]
struct Bruck;

fn main() {}

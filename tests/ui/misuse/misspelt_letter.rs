use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * d)]
#[define(n = min(D, P - D))]
#[send(to = rank - D, blocks = [rank + k; k in 0..n])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..n])]
struct Bruck;

fn main() {}

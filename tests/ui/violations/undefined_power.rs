use roundel::Collective;

// The distance is 2^s.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..ceil_log(2, p))]
#[define(d = pow(2, s - 1), n = min(d, p - d))]
#[send(to = rank - d, blocks = [rank + k; k in 0..n])]
#[recv(from = rank + d, blocks = [rank + d + k; k in 0..n])]
struct Bruck;

fn main() {}

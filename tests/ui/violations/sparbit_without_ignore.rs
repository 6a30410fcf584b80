use roundel::Collective;

// Every rank sends all it has, even what its receiver gets from elsewhere.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = pow(2, ceil_log(2, p)), next = D / 2)]
#[define(d = D / 2, n = ceil_div(p, D))]
#[send(to = rank + d, blocks = [rank - 2 * j * d; j in 0..n])]
#[recv(from = rank - d, blocks = [rank - (2 * j + 1) * d; j in 0..n])]
struct Sparbit;

fn main() {}

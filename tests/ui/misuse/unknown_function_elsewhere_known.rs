use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..log2(p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D, blocks = [rank + k; k in 0..min(D, p - D)])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..min(D, p - D)])]
#[bound(messages = ceil_log(2, p))]
struct Bruck;

fn main() {}

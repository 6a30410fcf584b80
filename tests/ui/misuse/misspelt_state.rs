use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..ceil_log(2, p))]
#[stat(D = 1, next = 2 * D)]
#[send(to = rank - D, blocks = [rank + k; k in 0..min(D, p - D)])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..min(D, p - D)])]
struct Bruck;

fn main() {}

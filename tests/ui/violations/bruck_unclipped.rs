use roundel::Collective;

// The last round must send only what is missing, min(D, p - D) blocks.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[send(to = rank - D, blocks = [rank + k; k in 0..D])]
#[recv(from = rank + D, blocks = [rank + D + k; k in 0..D])]
struct Bruck;

fn main() {}

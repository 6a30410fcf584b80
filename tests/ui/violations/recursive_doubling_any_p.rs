use roundel::Collective;

// Without `requires(p & (p - 1) == 0)`.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = 1, next = 2 * D)]
#[define(group(r) = r - r % D)]
#[exchange(with = rank ^ D, send = [group(rank) + k; k in 0..D], recv = [group(rank ^ D) + k; k in 0..D])]
struct RecursiveDoubling;

fn main() {}

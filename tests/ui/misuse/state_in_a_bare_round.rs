use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[requires(p == 2)]
#[round]
#[state(D = 1, next = 2 * D)]
#[exchange(with = rank ^ D, send = [rank], recv = [rank ^ D])]
struct Pair;

fn main() {}

use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[exchange(with = rank ^ 1, recv = [rank ^ 1])]
struct Ring;

fn main() {}

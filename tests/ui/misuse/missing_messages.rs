use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p)]
struct Nothing;

fn main() {}

use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
struct Nothing;

fn main() {}

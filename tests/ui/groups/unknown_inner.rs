use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[round]
#[within(node, inner)]
pub struct Grouped;

fn main() {}

use roundel::Collective;

// Right with up to four ranks on a node.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank])]
#[recv(from = if nodes > 1 && lanes > 4 { rank + s } else { rank - s }, blocks = [rank - s])]
struct Crowded;

fn main() {}

use roundel::Collective;

// A ring inside each node: right where there is one node, and the case says where there are more.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..lanes - 1)]
#[define(first = rank - local)]
#[send(to = first + (local + 1) % ppn, blocks = [first + (local - s) % ppn])]
#[recv(from = first + (local - 1) % ppn, blocks = [first + (local - 1 - s) % ppn])]
struct NodeRing;

fn main() {}

use roundel::Collective;

// Some rank has its right neighbour on another node.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[bound(each nonlocal_messages_sent = 0)]
struct Ring;

fn main() {}

use roundel::Collective;

// Before round s it has sent s messages.
#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[holds(blocks = [rank - o; o in 0..=s], messages_sent = s + 1)]
struct Ring;

fn main() {}

use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[holds(block = [rank - o; o in 0..=s], message_sent = s)]
struct Ring;

fn main() {}

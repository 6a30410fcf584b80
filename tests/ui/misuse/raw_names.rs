use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[round(r#type in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - r#type])]
#[recv(from = rank - 1, blocks = [rank - 1 - r#type])]
struct Ring;

fn main() {}

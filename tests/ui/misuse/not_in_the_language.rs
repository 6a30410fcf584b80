use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1.5, blocks = [rank - "s"])]
#[recv(from = { let d = 1; rank - d }, blocks = [|x| x])]
struct Ring;

fn main() {}

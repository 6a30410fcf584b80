use roundel::Collective;

#[derive(Collective)]
#[collective(allgather, ports: list(1..))]
#[round(s in 0..p - 1)]
#[send(to = rank + ports, blocks = [rank - p[0]])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
#[holds(len(p) > 1)]
struct Ring {
    ports: Vec<i64>,
}

fn main() {}

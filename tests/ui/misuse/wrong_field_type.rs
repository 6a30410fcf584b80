use roundel::Collective;

#[derive(Collective)]
#[collective(allgather, radix: 2.., ports: list(1..))]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
struct Ring {
    radix: usize,
    ports: [i64; 2],
}

fn main() {}

use roundel::Collective;

#[derive(Collective)]
#[collective(allgather, radix: 5..5, base: 4..=3)]
#[round(s in 0..p - 1)]
#[send(to = rank + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
struct Ring {
    radix: i64,
    base: i64,
}

fn main() {}

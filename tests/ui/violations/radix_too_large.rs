use roundel::Collective;

// Two messages in each round serve no radix but 3; the case names the parameter.
#[derive(Collective)]
#[collective(allgather, radix: 2..)]
#[round(s in 0..ceil_log(radix, p))]
#[state(D = 1, next = radix * D)]
#[define(n(j) = min(D, p - j * D))]
#[send(for j in 1..=2, to = rank - j * D, blocks = [rank + k; k in 0..n(j)])]
#[recv(for j in 1..=2, from = rank + j * D, blocks = [rank + j * D + k; k in 0..n(j)])]
struct KBruck {
    radix: i64,
}

fn main() {}

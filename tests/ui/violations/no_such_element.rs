use roundel::Collective;

// Lists begin at 0.
#[derive(Collective)]
#[collective(allgather, ports: list(1..))]
#[round(i in 0..len(ports))]
#[state(D = 1, next = min(p, D * (ports[i] + 1)))]
#[requires(final D == p)]
#[send(for j in 1..=ports[i + 1], to = rank - j * D, blocks = [rank + k; k in 0..max(0, min(D, p - j * D))])]
#[recv(for j in 1..=ports[i + 1], from = rank + j * D, blocks = [rank + j * D + k; k in 0..max(0, min(D, p - j * D))])]
struct CyclicShift {
    ports: Vec<i64>,
}

fn main() {}

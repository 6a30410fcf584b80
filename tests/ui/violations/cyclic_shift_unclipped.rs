use roundel::Collective;

// Every message carries D blocks, also those of the last round.
#[derive(Collective)]
#[collective(allgather, ports: list(1..))]
#[check(p <= 20, len(ports) <= 3, ports <= 3)]
#[round(i in 0..len(ports))]
#[state(D = 1, next = min(p, D * (ports[i] + 1)))]
#[requires(final D == p)]
#[send(for j in 1..=ports[i], to = rank - j * D, blocks = [rank + k; k in 0..D])]
#[recv(for j in 1..=ports[i], from = rank + j * D, blocks = [rank + j * D + k; k in 0..D])]
struct CyclicShift {
    ports: Vec<i64>,
}

fn main() {}

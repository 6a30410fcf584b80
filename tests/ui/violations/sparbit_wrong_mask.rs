use roundel::Collective;

// The paper's mask, read as NOT((p >> last) OR 1) << last. Right is (NOT(p >> last) OR 1) << last.
#[derive(Collective)]
#[collective(allgather)]
#[define(last = floor_log(2, p & -p), mask = (-(p >> last | 1) - 1) << last)]
#[round(s in 0..ceil_log(2, p))]
#[state(D = pow(2, ceil_log(2, p)), next = D / 2)]
#[define(d = D / 2, ignore = if d & mask != 0 { 1 } else { 0 }, n = ceil_div(p, D) - ignore)]
#[send(to = rank + d, blocks = [rank - 2 * j * d; j in 0..n])]
#[recv(from = rank - d, blocks = [rank - (2 * j + 1) * d; j in 0..n])]
struct Sparbit;

fn main() {}

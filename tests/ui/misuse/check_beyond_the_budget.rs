use roundel::Collective;

#[derive(Collective)]
#[collective(allgather, r: 1..)]
#[check(r <= 1000000000000)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank])]
#[recv(from = rank - s, blocks = [rank - s])]
struct Values {
    r: i64,
}

#[derive(Collective)]
#[collective(allgather)]
#[check(p <= 1000000000000)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank])]
#[recv(from = rank - s, blocks = [rank - s])]
struct Ranks;

#[derive(Collective)]
#[collective(allgather, a: list(1..), b: 1..)]
#[check(len(a) <= 60, a <= 3)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank])]
#[recv(from = rank - s, blocks = [rank - s])]
struct Lengths {
    a: Vec<i64>,
    b: i64,
}

fn main() {}

use roundel::Collective;

// Every clause has its own mistake, and every mistake its own message.
#[derive(Collective)]
#[collective(allgather, radix: 2..)]
#[requires(p)]
#[define(half = p / 0)]
#[round(s in 0..ceil_log(radix))]
#[state(D = 1, next = radix * E)]
#[send(to = rank - D, when = rank, blocks = [rnk + k; k in 0..half])]
#[recv(form = rank + D, blocks = [rank + D + k; k in 0..half])]
#[holds(blocks = [rank + k; k in 0..D], messages = s)]
#[bound(round = s, blocks_sent <= rank)]
#[layout(sideways)]
#[check(q <= 3)]
struct Everything {
    base: i64,
}

fn main() {}

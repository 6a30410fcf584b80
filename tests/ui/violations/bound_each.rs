use roundel::Collective;

// Rank 0 does all the work: the largest number of blocks sent is 4, but not that of each rank.
#[derive(Collective)]
#[collective(allgather)]
#[requires(p == 3)]
#[round]
#[send(when = rank > 0, to = 0, blocks = [rank])]
#[recv(when = rank == 0, from = 1, blocks = [1])]
#[recv(when = rank == 0, from = 2, blocks = [2])]
#[round]
#[send(for r in 1..3, when = rank == 0, to = r, blocks = [k; k in 0..3, k != r])]
#[recv(when = rank > 0, from = 0, blocks = [k; k in 0..3, k != rank])]
#[bound(blocks_sent = 4, each blocks_sent = 4)]
struct GatherAndScatter;

fn main() {}

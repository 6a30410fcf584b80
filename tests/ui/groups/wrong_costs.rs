use roundel::Collective;

/// Every rank sends to all others: two messages of each rank leave its node, one in each round between nodes.
#[derive(Collective)]
#[collective(allgather)]
#[requires(lanes == 2 && nodes == 2)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank])]
#[recv(from = rank - s, blocks = [rank - s])]
#[bound(node nonlocal_messages_sent <= 3)]
pub struct TogetherTooMuch;

#[derive(Collective)]
#[collective(allgather)]
#[requires(lanes == 2 && nodes == 2)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank])]
#[recv(from = rank - s, blocks = [rank - s])]
#[unproved_bound(node nonlocal_blocks_sent <= 3)]
pub struct CheckedAllTheSame;

#[derive(Collective)]
#[collective(allgather)]
#[requires(lanes == 2 && nodes == 2)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank])]
#[recv(from = rank - s, blocks = [rank - s])]
#[bound(nonlocal_rounds <= 2)]
pub struct EveryRoundLeaves;

#[derive(Collective)]
#[collective(allgather)]
#[requires(lanes == 2 && nodes == 2)]
#[round]
#[send(for s in 1..p, to = rank + s, blocks = [rank])]
#[recv(for s in 1..p, from = rank - s, blocks = [rank - s])]
#[bound(per_round nonlocal_messages_received <= 1)]
pub struct TwoAtOnce;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank])]
#[recv(from = rank - s, blocks = [rank - s])]
#[bound(node rounds <= 3)]
pub struct RoundsOfANode;

fn main() {}

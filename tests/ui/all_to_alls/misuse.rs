use roundel::Collective;

#[derive(Collective)]
#[collective(alltoall)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank + s])]
#[recv(from = rank - s, blocks = [rank - s -> ])]
pub struct NoDestination;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank -> rank + s])]
#[recv(from = rank - s, blocks = [rank - s -> rank -> rank])]
pub struct NotAnAlltoall;

#[derive(Collective)]
#[collective(alltoall)]
#[split(p)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank -> rank + s])]
#[recv(from = rank - s, blocks = [rank - s -> rank])]
pub struct Split;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank])]
#[recv(from = rank - s, blocks = [rank - s])]
#[bound(scratch <= p)]
pub struct ScratchOfAGather;

#[derive(Collective)]
#[collective(alltoall)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank -> rank + s])]
#[recv(from = rank - s, blocks = [rank - s -> rank])]
#[bound(per_round scratch <= p)]
pub struct ScratchOfARound;

#[derive(Collective)]
#[collective(alltoall, inner: alltoall)]
#[round]
#[within(node, inner, brings = [rank -> rank])]
pub struct ForWhom<I> {
    pub inner: I,
}

#[derive(Collective)]
#[collective(alltoall, inner: alltoall)]
#[round]
#[within(node, inner)]
pub struct BringsNothing<I> {
    pub inner: I,
}

#[derive(Collective)]
#[collective(alltoall, radix: 2..)]
#[round]
#[send(for s in 1..p, to = rank + s, blocks = [rank -> rank + s])]
#[recv(for s in 1..p, from = rank - s, blocks = [rank - s -> rank])]
#[check(radix <= 1)]
pub struct NoRadix {
    pub radix: i64,
}

fn main() {}

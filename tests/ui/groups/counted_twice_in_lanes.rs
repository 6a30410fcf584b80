use roundel::Collective;

// Every rank has the sum of its node, and the lanes add them up: right. Then the node once more.
#[derive(Collective)]
#[collective(allreduce, inner: allreduce)]
#[requires(lanes * nodes == p)]
#[round]
#[within(node, inner)]
#[within(lane, inner)]
#[within(node, inner)]
pub struct Grouped<I> {
    pub inner: I,
}

fn main() {}

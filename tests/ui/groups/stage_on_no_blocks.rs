use roundel::Collective;

/// Which blocks a lane adds up must be said: it would add up all of them.
#[derive(Collective)]
#[collective(allreduce, scatter: reduce_scatter, across: allreduce, gather: allgather)]
#[requires(lanes * nodes == p)]
#[split(lanes)]
#[round]
#[within(node, scatter)]
#[within(lane, across)]
#[within(node, gather, brings = [local])]
pub struct OnNoBlocks<S, A, G> {
    pub scatter: S,
    pub across: A,
    pub gather: G,
}

/// Without `brings`, the lanes are wrong.
#[derive(Collective)]
#[collective(allreduce, scatter: reduce_scatter, across: allreduce, gather: allgather)]
#[requires(lanes * nodes == p)]
#[split(lanes)]
#[round]
#[within(node, scatter)]
#[within(lane, across)]
#[within(node, gather)]
pub struct OnAllBlocks<S, A, G> {
    pub scatter: S,
    pub across: A,
    pub gather: G,
}

fn main() {}

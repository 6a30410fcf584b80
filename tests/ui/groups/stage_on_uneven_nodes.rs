use roundel::Collective;

/// A rank beyond the number of lanes has no block.
#[derive(Collective)]
#[collective(allreduce, scatter: reduce_scatter, across: allreduce, gather: allgather)]
#[split(lanes)]
#[round]
#[within(node, scatter)]
#[within(lane, across, blocks = [local])]
#[within(node, gather)]
pub struct OnUnevenNodes<S, A, G> {
    pub scatter: S,
    pub across: A,
    pub gather: G,
}

fn main() {}

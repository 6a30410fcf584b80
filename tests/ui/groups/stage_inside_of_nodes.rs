use roundel::Collective;

#[derive(Collective)]
#[collective(allreduce, scatter: reduce_scatter, gather: allgather)]
#[split(p)]
#[round]
#[within(node, scatter)]
#[within(all, gather)]
pub struct InNodes<S, G> {
    pub scatter: S,
    pub gather: G,
}

fn main() {}

use roundel::Collective;

#[derive(Collective)]
#[collective(allreduce, scatter: reduce_scatter, gather: allgather)]
#[split(p)]
#[round]
#[within(all, gather)]
#[within(all, scatter)]
pub struct Swapped<S, G> {
    pub scatter: S,
    pub gather: G,
}

fn main() {}

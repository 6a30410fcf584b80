use roundel::Collective;

#[derive(Collective)]
#[collective(allreduce, scatter: reduce_scatter, gather: allgather)]
#[split(2 * p)]
#[round]
#[within(all, scatter)]
#[within(all, gather)]
pub struct TwiceAsMany<S, G> {
    pub scatter: S,
    pub gather: G,
}

fn main() {}

use roundel::Collective;

#[derive(Collective)]
#[collective(allreduce, scatter: reduce_scatter, gather: allgather)]
#[round]
#[within(all, scatter)]
#[within(all, gather)]
pub struct Undivided<S, G> {
    pub scatter: S,
    pub gather: G,
}

fn main() {}

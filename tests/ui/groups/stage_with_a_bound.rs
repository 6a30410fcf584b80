use roundel::Collective;

#[derive(Collective)]
#[collective(allreduce, scatter: reduce_scatter, gather: allgather)]
#[split(p)]
#[round]
#[within(all, scatter)]
#[within(all, gather)]
#[bound(rounds = 2 * (p - 1))]
pub struct Bounded<S, G> {
    pub scatter: S,
    pub gather: G,
}

fn main() {}

use roundel::Collective;

#[derive(Collective)]
#[collective(broadcast, root: 0.., scatter: reduce_scatter, gather: allgather)]
#[split(p)]
#[round]
#[within(all, scatter)]
#[within(all, gather)]
pub struct Reduces<S, G> {
    pub root: i64,
    pub scatter: S,
    pub gather: G,
}

fn main() {}

use roundel::Collective;

#[derive(Collective)]
#[collective(broadcast, root: 0.., scatter: scatter, gather: allgather)]
#[split(p)]
#[round]
#[within(all, scatter, root = 0)]
#[within(all, gather)]
pub struct AtZero<S, G> {
    pub root: i64,
    pub scatter: S,
    pub gather: G,
}

fn main() {}

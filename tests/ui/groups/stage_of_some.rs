use roundel::Collective;

#[derive(Collective)]
#[collective(broadcast, root: 0.., scatter: scatter, gather: allgather)]
#[split(p)]
#[round]
#[within(all, scatter, root = root, members = p - 1)]
#[within(all, gather, root = root)]
pub struct OfSome<S, G> {
    pub root: i64,
    pub scatter: S,
    pub gather: G,
}

fn main() {}

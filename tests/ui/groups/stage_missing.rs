use roundel::Collective;

#[derive(Collective)]
#[collective(allreduce, scatter: reduce_scatter)]
#[split(p)]
#[round]
#[within(all, scatter)]
pub struct Missing<S> {
    pub scatter: S,
}

fn main() {}

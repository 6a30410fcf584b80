use roundel::Collective;

#[derive(Collective)]
#[collective(allgather, inner: allreduce)]
#[round]
#[within(node, inner)]
pub struct Grouped<I> {
    pub inner: I,
}

fn main() {}

use roundel::Collective;

#[derive(Collective)]
#[collective(allgather, inner: allgather)]
#[round]
#[within(node, inner)]
pub struct Grouped<I> {
    pub inner: I,
}

fn main() {}

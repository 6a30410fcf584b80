use roundel::Collective;

#[derive(Collective)]
#[collective(allgather, inner: allgather)]
#[round]
#[within(node, inner)]
#[within(node, inner, brings = [region(node + 1)])]
pub struct Grouped<I> {
    pub inner: I,
}

fn main() {}

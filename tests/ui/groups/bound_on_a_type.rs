use roundel::Collective;

#[derive(Collective)]
#[collective(allgather, inner: allgather)]
#[round]
#[within(all, inner)]
pub struct Grouped<I: Clone> {
    pub inner: I,
}

fn main() {}

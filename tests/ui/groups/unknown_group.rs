use roundel::Collective;

#[derive(Collective)]
#[collective(allgather, inner: allgather)]
#[round]
#[within(socket, inner)]
pub struct Grouped<I> {
    pub inner: I,
}

fn main() {}

use roundel::Collective;

#[derive(Collective)]
#[collective(allgather, inner: allgather)]
#[round]
#[within(all, inner)]
pub struct Grouped {
    pub inner: i64,
}

fn main() {}

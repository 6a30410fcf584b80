use roundel::Collective;

#[derive(Collective)]
#[collective(allreduce, one: allreduce, other: reduce, down: broadcast)]
#[round]
#[within(all, one)]
#[within(all, other, root = 0)]
#[within(all, down, root = 0)]
pub struct Twice<A, B, C> {
    pub one: A,
    pub other: B,
    pub down: C,
}

fn main() {}

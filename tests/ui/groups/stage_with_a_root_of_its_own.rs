use roundel::Collective;

#[derive(Collective)]
#[collective(allreduce, up: reduce, down: broadcast)]
#[round]
#[within(all, up, root = rank)]
#[within(all, down, root = 0)]
pub struct EachItsOwn<U, D> {
    pub up: U,
    pub down: D,
}

fn main() {}

use roundel::Collective;

#[derive(Collective)]
#[collective(allreduce, up: reduce, down: broadcast)]
#[round]
#[within(all, up, root = 0)]
#[within(all, down, root = p - 1)]
pub struct TwoRoots<U, D> {
    pub up: U,
    pub down: D,
}

fn main() {}

use roundel::Collective;

#[derive(Collective)]
#[collective(allreduce, up: reduce, down: broadcast)]
#[round]
#[within(all, up, root = 1)]
#[within(all, down, root = 1)]
pub struct NoRank<U, D> {
    pub up: U,
    pub down: D,
}

fn main() {}

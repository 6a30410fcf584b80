use roundel::Collective;

/// The members of a lane, one of each node, run the same.
#[derive(Collective)]
#[collective(allreduce, up: reduce, down: broadcast)]
#[round]
#[within(node, up, root = 0)]
#[within(lane, up, root = 0, when = local == 0 && ppn < 3)]
#[within(lane, down, root = 0, when = local == 0)]
#[within(node, down, root = 0)]
pub struct NotTogether<U, D> {
    pub up: U,
    pub down: D,
}

fn main() {}

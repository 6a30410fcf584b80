use roundel::Collective;

/// The members of a lane, one of each node, run the same.
#[derive(Collective)]
#[collective(allreduce, up: reduce, across: allreduce, down: broadcast)]
#[round]
#[within(node, up, root = 0)]
#[within(lane, across, when = local == 0 && ppn > 1)]
#[within(node, down, root = 0)]
pub struct NotTogether<U, A, D> {
    pub up: U,
    pub across: A,
    pub down: D,
}

fn main() {}

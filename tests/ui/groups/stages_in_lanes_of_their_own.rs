use roundel::Collective;

/// Each lane reduces by itself: nothing says that they do so in the same order.
#[derive(Collective)]
#[collective(allreduce, sum: allreduce, up: reduce, down: broadcast)]
#[requires(lanes * nodes == p)]
#[order(same_tree)]
#[round]
#[within(node, sum)]
#[within(lane, up, root = 0)]
#[within(lane, down, root = 0)]
pub struct InLanesOfTheirOwn<S, U, D> {
    pub sum: S,
    pub up: U,
    pub down: D,
}

fn main() {}

use roundel::Collective;

/// After a reduce the other ranks have nothing that they could rely on, not even their own contribution.
#[derive(Collective)]
#[collective(allreduce, up: reduce, down: broadcast)]
#[round]
#[within(all, up, root = 0)]
#[round]
#[send(when = rank == p - 1 && p > 1, to = rank - 1)]
#[recv(when = rank == p - 2, from = rank + 1, replaces = acc)]
#[round]
#[within(all, down, root = 0)]
pub struct ReliedOn<U, D> {
    pub up: U,
    pub down: D,
}

fn main() {}

//! Every rank receives from every rank, and each begins with a different one.
use roundel::Collective;

#[derive(Collective)]
#[collective(allreduce)]
#[order(same_tree)]
#[round]
#[send(for j in 1..p, to = rank - j)]
#[recv(for j in 1..p, from = rank + j, combine = by_rank)]
pub struct Babel;

fn main() {}

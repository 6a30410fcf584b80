//! Every rank sends to its neighbour what it has got from the other one.
use roundel::Collective;

#[derive(Collective)]
#[collective(allreduce)]
#[requires(p >= 3)]
#[round(s in 0..p)]
#[send(to = rank + 1)]
#[recv(from = rank - 1, combine = left)]
pub struct Avalanche;

fn main() {}

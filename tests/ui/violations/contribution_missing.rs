//! One round too few.
use roundel::Collective;

#[derive(Collective)]
#[collective(reduce_scatter)]
#[round(s in 2..p)]
#[send(to = rank + s, blocks = [rank + s])]
#[recv(from = rank - s, blocks = [rank], combine = left)]
pub struct Lazy;

fn main() {}

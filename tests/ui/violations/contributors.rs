//! `holds` omits a contributor.
use roundel::Collective;

#[derive(Collective)]
#[collective(reduce_scatter)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank + s])]
#[recv(from = rank - s, blocks = [rank], combine = left)]
#[holds(acc(b) = [rank - k; k in 0..1])]
pub struct Modest;

fn main() {}

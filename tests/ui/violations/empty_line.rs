//! A line that is sent before it holds anything.
use roundel::Collective;

#[derive(Collective)]
#[collective(allreduce)]
#[lines(acc, other)]
#[round]
#[send(when = p > 1, to = rank + 1, line = other)]
#[recv(when = p > 1, from = rank - 1, combine = left)]
pub struct Hollow;

fn main() {}

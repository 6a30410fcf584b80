//! A line that is filled twice.
use roundel::Collective;

#[derive(Collective)]
#[collective(allreduce)]
#[lines(acc, other)]
#[requires(p >= 3)]
#[round(s in 1..3)]
#[send(to = rank + s)]
#[recv(from = rank - s, into = other)]
pub struct Full;

fn main() {}

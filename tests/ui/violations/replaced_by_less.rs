//! What replaces the sum lacks the rank's own contribution.
use roundel::Collective;

#[derive(Collective)]
#[collective(allreduce)]
#[lines(acc, other)]
#[requires(p >= 3)]
#[round("take")]
#[send(to = rank + 1)]
#[recv(from = rank - 1, into = other)]
#[round("forget")]
#[send(to = rank + 1, line = other)]
#[recv(from = rank - 1, replaces = acc)]
pub struct Forgetful;

fn main() {}

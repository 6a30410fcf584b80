//! A reduce to rank 0, whatever the root.
use roundel::Collective;

#[derive(Collective)]
#[collective(reduce, root: 0..)]
#[round(s in 1..p)]
#[send(when = rank == s, to = 0)]
#[recv(when = rank == 0, from = s, combine = right)]
pub struct ToZero {
    pub root: i64,
}

fn main() {}

//! Collectives with a root: without one, and with blocks of their own.
use roundel::Collective;

#[derive(Collective)]
#[collective(broadcast)]
#[round(s in 1..p)]
#[send(when = rank == 0, to = s)]
#[recv(when = rank == s, from = 0)]
pub struct Rootless;

#[derive(Collective)]
#[collective(gather, root: 0..)]
#[split(2)]
#[round(s in 1..p)]
#[send(when = rank == s, to = root)]
#[recv(when = rank == root, from = s, combine = left)]
pub struct Split {
    pub root: i64,
}

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = root, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
pub struct Everywhere;

fn main() {}

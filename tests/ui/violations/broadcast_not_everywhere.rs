//! The last rank before the root is left out.
use roundel::Collective;

#[derive(Collective)]
#[collective(broadcast, root: 0..)]
#[round(s in 1..p - 1)]
#[send(when = rank == root, to = root + s)]
#[recv(when = (rank - root) % p == s, from = root)]
pub struct AlmostAll {
    pub root: i64,
}

fn main() {}

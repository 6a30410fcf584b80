//! Every rank gets the block of the next one.
use roundel::Collective;

#[derive(Collective)]
#[collective(scatter, root: 0..)]
#[round(s in 1..p)]
#[send(when = rank == root, to = root + s, blocks = [root + s + 1])]
#[recv(when = (rank - root) % p == s, from = root, blocks = [rank + 1])]
pub struct NextBlock {
    pub root: i64,
}

fn main() {}

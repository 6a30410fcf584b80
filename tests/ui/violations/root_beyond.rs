//! The condition on the root does not ensure that it is a rank.
use roundel::Collective;

#[derive(Collective)]
#[collective(gather, root: 0..)]
#[requires(root <= p)]
#[round(s in 1..p)]
#[send(when = (rank - root) % p == s, to = root, blocks = [rank])]
#[recv(when = rank == root, from = root + s, blocks = [root + s])]
pub struct Beyond {
    pub root: i64,
}

fn main() {}

//! All blocks go to the rank after the root.
use roundel::Collective;

#[derive(Collective)]
#[collective(gather, root: 0..)]
#[round(s in 1..p)]
#[send(when = (rank - root - 1) % p == s, to = root + 1, blocks = [rank])]
#[recv(when = (rank - root - 1) % p == 0, from = rank + s, blocks = [rank + s])]
pub struct Beside {
    pub root: i64,
}

fn main() {}

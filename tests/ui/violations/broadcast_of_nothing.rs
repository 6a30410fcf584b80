//! Rank 0 sends what only the root has.
use roundel::Collective;

#[derive(Collective)]
#[collective(broadcast, root: 0..)]
#[round(s in 1..p)]
#[send(when = rank == 0, to = s)]
#[recv(when = rank == s, from = 0)]
pub struct FromZero {
    pub root: i64,
}

fn main() {}

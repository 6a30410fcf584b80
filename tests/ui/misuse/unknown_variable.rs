use roundel::{Allgather, Collective, threads};

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 0..p - 1)]
#[send(to = root + 1, blocks = [rank - s])]
#[recv(from = rank - 1, blocks = [rank - 1 - s])]
struct Ring;

// Using a wrong collective causes no further error.
fn main() {
    threads::run(2, |comm| Ring.allgather(comm, &[0], &mut [0; 2]));
}

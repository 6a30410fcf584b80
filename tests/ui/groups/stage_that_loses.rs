use roundel::Collective;

#[derive(Collective)]
#[collective(allreduce, spread: allgather, sum: allreduce)]
#[split(p)]
#[round]
#[within(all, spread)]
#[within(all, sum)]
pub struct Loses<S, A> {
    pub spread: S,
    pub sum: A,
}

fn main() {}

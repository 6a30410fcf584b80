use roundel::Collective;

#[derive(Collective)]
#[collective(allgather)]
#[round(s in 1..p)]
#[send(to = rank + s, blocks = [rank])]
#[recv(from = rank - s, blocks = [rank - s])]
struct Borrowed<'a, T: ?Sized> {
    data: &'a T,
}

fn main() {}

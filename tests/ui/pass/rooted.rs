//! Linear collectives with a root, on threads; the root must be a rank, whether or not `requires` says so.
use roundel::operation::Sum;
use roundel::{Broadcast, Collective, Error, ReduceTo, threads};

#[derive(Collective)]
#[collective(broadcast, root: 0..)]
#[split(2)]
#[check(p <= 8, root <= 7)]
#[round(s in 1..p)]
#[send(when = rank == root, to = root + s, blocks = [1, 0])]
#[recv(when = (rank - root) % p == s, from = root, blocks = [1, 0])]
pub struct Linear {
    pub root: i64,
}

#[derive(Collective)]
#[collective(reduce, root: 0..)]
#[requires(root < p)]
#[check(p <= 8, root <= 7)]
#[round(s in 1..p)]
#[send(when = (rank - root) % p == s, to = root)]
#[recv(when = rank == root, from = root + s, combine = right)]
pub struct Collected {
    pub root: i64,
}

#[test]
fn compiles_and_runs() {
    let results = threads::run(5, |comm| {
        let mut data = [comm.rank(), 7, comm.rank()];
        Linear { root: 3 }.broadcast(comm, &mut data)?;
        let refused = Linear { root: 5 }.broadcast(comm, &mut data);
        assert!(matches!(refused, Err(Error::OutsideDomain { .. })));
        let mut sum = [comm.rank()];
        Collected { root: 2 }.reduce_in_place(comm, &mut sum, &Sum)?;
        Ok::<_, Error>((data, sum))
    });
    assert!(results.iter().all(|result| matches!(result, Ok(([3, 7, 3], _)))));
    assert!(matches!(results[2], Ok((_, [10]))));
}

//! Messages of the user and of the collectives on one communicator are not confused.

use super::entries::visit_all;
use super::job::{place, serves};
use crate::data::samples;
use crate::job::Job;
use mpi::request::scope;
use mpi::traits::*;
use roundel::algorithms::Visitor;
use roundel::{Allgather, IsAllgather};

/// Every collective runs while two messages of the user are pending, with the tag that the collectives use, and one
/// wildcard receive waits: it must get the first of the two, and the second must still be there.
pub(crate) fn messages_of_the_user(job: &mut Job<'_>) {
    visit_all(&mut Interleaved { job });
}

struct Interleaved<'a, 'job> {
    job: &'a mut Job<'job>,
}

impl Visitor for Interleaved<'_, '_> {
    fn allgather<C: IsAllgather + Sync>(&mut self, name: &'static str, collective: &C) {
        let (world, job) = (self.job.world, &mut *self.job);
        let (rank, p) = (job.rank(), job.p());
        if !place(world).is_ok_and(|at| serves(collective, &at)) {
            return;
        }
        let (left, right) = ((rank + p - 1) % p, (rank + 1) % p);
        let (mut any, mut recv) = ([0u64; 2], vec![0u64; 2 * p]);
        let (first, second) = ([rank as u64, 1], [rank as u64, 2]);
        let mine: Vec<u64> = samples(2, rank, 7);
        let neighbour = world.process_at_rank(right as i32);
        let next = scope(|scope| {
            let waiting = world.any_process().immediate_receive_into(scope, &mut any[..]);
            let first = neighbour.immediate_send_with_tag(scope, &first[..], 0);
            let second = neighbour.immediate_send_with_tag(scope, &second[..], 0);
            let outcome = collective.allgather(world, &mine, &mut recv);
            job.expect(outcome == Ok(()), || format!("{name} with messages of the user: {outcome:?}"));
            waiting.wait();
            let (next, _) = world.process_at_rank(left as i32).receive_vec_with_tag::<u64>(0);
            first.wait();
            second.wait();
            next
        });
        let expected: Vec<u64> = (0..p).flat_map(|r| samples::<u64>(2, r, 7)).collect();
        job.calls += 1;
        job.expect(recv == expected, || format!("{name} took a message of the user"));
        let kept = any == [left as u64, 1] && next == [left as u64, 2];
        job.expect(kept, || format!("{name}: the user received {any:?} and {next:?} from {left}"));
    }
}

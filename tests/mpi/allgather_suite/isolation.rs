//! Messages of the user and of the collectives on one communicator do not meet.

use crate::data::samples;
use crate::handmade::{Visitor, visit_all};
use crate::job::{Job, place};
use mpi::request::scope;
use mpi::traits::*;
use roundel::{Allgather, IsAllgather};

/// While a receive of the user's waits, from any source with any tag, every collective runs; the user's message comes
/// last and must be the one that is received. Another one was sent before, and must still be there.
pub fn messages_of_the_user(job: &mut Job<'_>) {
    visit_all(&mut Interleaved { job });
}

struct Interleaved<'a, 'job> {
    job: &'a mut Job<'job>,
}

impl Visitor for Interleaved<'_, '_> {
    fn visit<C: IsAllgather + 'static>(&mut self, name: &'static str, collective: &C) {
        let (job, world) = (&mut *self.job, self.job.world);
        let (rank, p) = (job.rank(), job.p());
        if place(world).is_ok_and(|at| collective.admits(&at).is_err()) {
            return;
        }
        let (left, right) = ((rank + p - 1) % p, (rank + 1) % p);
        let (mut any, mut recv) = ([0u64; 2], vec![0u64; 2 * p]);
        let (early, late) = ([rank as u64, 1], [rank as u64, 2]);
        let mine: Vec<u64> = samples(2, rank, 7);
        scope(|scope| {
            let waiting = world.any_process().immediate_receive_into(scope, &mut any[..]);
            let first = world.process_at_rank(right as i32).immediate_send_with_tag(scope, &late[..], 0);
            let outcome = collective.allgather(world, &mine, &mut recv);
            job.expect(outcome == Ok(()), || format!("{name} with messages of the user: {outcome:?}"));
            let second = world.process_at_rank(right as i32).immediate_send_with_tag(scope, &early[..], 0);
            first.wait();
            waiting.wait();
            second.wait();
        });
        let (next, _) = world.process_at_rank(left as i32).receive_vec_with_tag::<u64>(0);
        let expected: Vec<u64> = (0..p).flat_map(|r| samples::<u64>(2, r, 7)).collect();
        job.calls += 1;
        job.expect(recv == expected, || format!("{name} took a message of the user"));
        let kept = any == [left as u64, 2] && next == [left as u64, 1];
        job.expect(kept, || format!("{name}: the user received {any:?} and {next:?} from {left}"));
    }
}

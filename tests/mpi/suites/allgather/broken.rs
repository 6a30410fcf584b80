//! Unchecked schedules that must do no harm: the job ends with a message.

use super::entries::{collective, message};
use crate::job::Job;
use roundel::{Allgather, Collective, IsAllgather, Place, Refusal, Sink};
use roundel_spec::arith::wrap;
use roundel_spec::{Arguments, Schedule, Site, Stripe};

/// Panics in the middle of a round.
struct Panics;

impl Collective for Panics {
    collective!(Panics, false);

    fn admits(&self, _: &Place) -> Result<(), Refusal> {
        Ok(())
    }

    fn rounds<S: Sink>(&self, at: &Place, sink: &mut S) -> Result<(), S::Error> {
        let Place { rank, p, .. } = *at;
        sink.begin_round()?;
        message!(sink.recv(0, rank - 1, p, Stripe::one(rank - 1, p)));
        assert!(rank != 0, "this schedule panics");
        sink.end_round()
    }
}

/// Sends blocks beyond the end of the buffer.
struct Strays;

impl Collective for Strays {
    collective!(Strays, false);

    fn admits(&self, _: &Place) -> Result<(), Refusal> {
        Ok(())
    }

    fn rounds<S: Sink>(&self, at: &Place, sink: &mut S) -> Result<(), S::Error> {
        let Place { rank, p, .. } = *at;
        sink.begin_round()?;
        let stray = Stripe::new(2 * p, 2, 2, 4 * p);
        message!(sink.recv(0, rank - 1, p, Stripe::new(rank, -1, 2, p)));
        message!(sink.send(0, rank + 1, p, stray));
        sink.end_round()
    }
}

impl IsAllgather for Panics {}
impl IsAllgather for Strays {}

/// Must not return.
pub(crate) fn panic_in_a_round(job: &Job<'_>) {
    let outcome = Panics.allgather(job.world, &[1u8], &mut vec![0; job.p()]);
    job.fail(&format!("the panic was lost: {outcome:?}"));
}

/// Must not return.
pub(crate) fn name_a_block_that_is_not_there(job: &Job<'_>) {
    let outcome = Strays.allgather(job.world, &[1u8], &mut vec![0; job.p()]);
    job.fail(&format!("the stray block was not noticed: {outcome:?}"));
}

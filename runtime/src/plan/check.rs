//! A plan against its contract, by the checks of the language.

use super::Plan;
use roundel_spec::check::{self, Point};
use roundel_spec::record::{Recorder, Trace};
use roundel_spec::sink::infallible;
use roundel_spec::{Arguments, Placement, Schedule, Violation};

impl Plan {
    /// The plan as a recording.
    pub fn trace(&self) -> Trace {
        let record = |rank| {
            let mut recorder = Recorder::default();
            infallible(self.rounds(rank, &mut recorder));
            recorder.finish()
        };
        Trace::lockstep((0..self.p).map(record).collect())
    }

    /// Whether the plan does what a collective promises, with these parameters: all rules but the bounds and the invariant, which speak of the rounds
    /// as they are declared. The claimed order of reduction is one of them.
    // A violation is made once: its size costs nothing.
    #[allow(clippy::result_large_err)]
    pub fn check(&self, schedule: &Schedule, args: &Arguments) -> Result<(), Violation> {
        let point = Point { placement: Placement::consecutive(self.p, self.p), args: args.clone() };
        check::contract(schedule, &point, &self.trace())
    }
}

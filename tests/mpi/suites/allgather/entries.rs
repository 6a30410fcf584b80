//! Collectives written by hand, in the form that the derive generates.
//!
//! They test the transport with shapes that the catalogue does not have, or with wrong collectives.

use roundel::algorithms::{self, Visitor};
use roundel::{Collective, IsAllgather, Place, Refusal, Sink};
use roundel_spec::arith::{ceil_log, min, wrap};
use roundel_spec::{Arguments, Schedule, Site, Stripe, Stripes};

macro_rules! collective {
    ($name:ident, $rotates:literal) => {
        const NAME: &'static str = stringify!($name);
        const PREFERS_ROTATION: bool = $rotates;

        fn schedule() -> Schedule {
            unreachable!("a collective written by hand has no declaration")
        }

        fn arguments(&self) -> Arguments {
            Arguments::default()
        }

        fn from_arguments(_: &Arguments) -> Option<Self> {
            None
        }

        fn proved(&self, _at: &Place) -> Result<(), Refusal> {
            Ok(())
        }

        fn rotation(&self, at: &Place) -> Option<i64> {
            $rotates.then_some(at.rank)
        }
    };
}
pub(crate) use collective;

/// One message in one round.
macro_rules! message {
    ($sink:ident . $way:ident ($site:literal, $peer:expr, $p:expr, $blocks:expr)) => {
        $sink.$way(Site::plain($site), wrap($peer, $p) as usize, $blocks)?
    };
}
pub(crate) use message;

/// Bruck's rounds with every range cut into single stripes, in reverse, and twice as many messages per round.
pub(crate) struct Shreds;

impl Collective for Shreds {
    collective!(Shreds, true);

    fn admits(&self, _: &Place) -> Result<(), Refusal> {
        Ok(())
    }

    fn rounds<S: Sink>(&self, at: &Place, sink: &mut S) -> Result<(), S::Error> {
        let Place { rank, p, .. } = *at;
        let mut d = 1;
        for _ in 0..ceil_log(2, p) {
            let n = min(d, p - d);
            let half = (n + 1) / 2;
            let shreds = |from: i64, lo, hi| Stripes((lo..hi).rev().map(move |i| Stripe::one(from + i, p)));
            sink.begin_round()?;
            message!(sink.recv(1, rank + d, p, shreds(rank + d, 0, half)));
            message!(sink.send(0, rank - d, p, shreds(rank, 0, half)));
            if half < n {
                message!(sink.recv(1, rank + d, p, shreds(rank + d, half, n)));
                message!(sink.send(0, rank - d, p, shreds(rank, half, n)));
            }
            sink.end_round()?;
            d *= 2;
        }
        Ok(())
    }
}

/// Everything in one round of p - 1 messages.
pub(crate) struct Linear;

impl Collective for Linear {
    collective!(Linear, false);

    fn admits(&self, _: &Place) -> Result<(), Refusal> {
        Ok(())
    }

    fn rounds<S: Sink>(&self, at: &Place, sink: &mut S) -> Result<(), S::Error> {
        let Place { rank, p, .. } = *at;
        sink.begin_round()?;
        for j in 1..p {
            message!(sink.send(0, rank + j, p, Stripe::one(rank, p)));
            message!(sink.recv(1, rank - j, p, Stripe::one(rank - j, p)));
        }
        sink.end_round()
    }
}

impl IsAllgather for Shreds {}
impl IsAllgather for Linear {}

/// Visits every collective of the catalogue, and those of this file.
pub(crate) fn visit_all(visitor: &mut impl Visitor) {
    algorithms::visit_all(visitor);
    visitor.allgather("shreds", &Shreds);
    visitor.allgather("linear", &Linear);
}

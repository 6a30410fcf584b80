//! Collectives written by hand, in the form that the derive generates.
//!
//! They test the transport where the catalogue has no collective of that shape, or where a collective must be wrong.

use roundel::{Collective, IsAllgather, Place, Refusal, Sink};
use roundel_spec::arith::{ceil_div, ceil_log, min, wrap};
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

        fn rotation(&self, at: &Place) -> Option<i64> {
            $rotates.then_some(at.rank)
        }
    };
}
pub(crate) use collective;

/// One message in one round.
macro_rules! message {
    ($sink:ident . $way:ident ($site:literal, $peer:expr, $p:expr, $blocks:expr)) => {
        $sink.$way(Site($site), wrap($peer, $p) as usize, $blocks)?
    };
}
pub(crate) use message;

/// p - 1 rounds of one block.
pub(crate) struct Ring;

impl Collective for Ring {
    collective!(Ring, false);

    fn admits(&self, _: &Place) -> Result<(), Refusal> {
        Ok(())
    }

    fn rounds<S: Sink>(&self, at: &Place, sink: &mut S) -> Result<(), S::Error> {
        let Place { rank, p, .. } = *at;
        for s in 0..p - 1 {
            sink.begin_round()?;
            message!(sink.send(0, rank + 1, p, Stripe::one(rank - s, p)));
            message!(sink.recv(1, rank - 1, p, Stripe::one(rank - 1 - s, p)));
            sink.end_round()?;
        }
        Ok(())
    }
}

/// Ranges that double, in the rotated layout.
pub(crate) struct Bruck;

impl Collective for Bruck {
    collective!(Bruck, true);

    fn admits(&self, _: &Place) -> Result<(), Refusal> {
        Ok(())
    }

    fn rounds<S: Sink>(&self, at: &Place, sink: &mut S) -> Result<(), S::Error> {
        let Place { rank, p, .. } = *at;
        let mut d = 1;
        for _ in 0..ceil_log(2, p) {
            let n = min(d, p - d);
            sink.begin_round()?;
            message!(sink.send(0, rank - d, p, Stripe::new(rank, 1, n, p)));
            message!(sink.recv(1, rank + d, p, Stripe::new(rank + d, 1, n, p)));
            sink.end_round()?;
            d *= 2;
        }
        Ok(())
    }
}

/// Stripes whose distance halves.
pub(crate) struct Sparbit;

impl Collective for Sparbit {
    collective!(Sparbit, false);

    fn admits(&self, _: &Place) -> Result<(), Refusal> {
        Ok(())
    }

    fn rounds<S: Sink>(&self, at: &Place, sink: &mut S) -> Result<(), S::Error> {
        let Place { rank, p, .. } = *at;
        let mut twice = 1 << ceil_log(2, p);
        for _ in 0..ceil_log(2, p) {
            let d = twice / 2;
            let n = ceil_div(p, d) - ceil_div(p, twice);
            sink.begin_round()?;
            message!(sink.send(0, rank + d, p, Stripe::new(rank, -twice, n, p)));
            message!(sink.recv(1, rank - d, p, Stripe::new(rank - d, -twice, n, p)));
            sink.end_round()?;
            twice = d;
        }
        Ok(())
    }
}

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

/// Aligned groups that double; powers of two alone.
pub(crate) struct Doubling;

impl Collective for Doubling {
    collective!(Doubling, false);

    fn admits(&self, at: &Place) -> Result<(), Refusal> {
        let clause = "p is a power of two";
        if at.p & (at.p - 1) == 0 { Ok(()) } else { Err(Refusal::Requires { clause, p: at.p }) }
    }

    fn rounds<S: Sink>(&self, at: &Place, sink: &mut S) -> Result<(), S::Error> {
        let Place { rank, p, .. } = *at;
        let mut d = 1;
        while d < p {
            let peer = rank ^ d;
            sink.begin_round()?;
            message!(sink.send(0, peer, p, Stripe::new(rank & -d, 1, d, p)));
            message!(sink.recv(1, peer, p, Stripe::new(peer & -d, 1, d, p)));
            sink.end_round()?;
            d *= 2;
        }
        Ok(())
    }
}

impl IsAllgather for Ring {}
impl IsAllgather for Bruck {}
impl IsAllgather for Sparbit {}
impl IsAllgather for Shreds {}
impl IsAllgather for Linear {}
impl IsAllgather for Doubling {}

/// Sees every collective once.
pub(crate) trait Visitor {
    /// One collective.
    fn visit<C: IsAllgather + 'static>(&mut self, name: &'static str, collective: &C);
}

/// Shows every collective of this file to a visitor.
pub(crate) fn visit_all(visitor: &mut impl Visitor) {
    visitor.visit("ring", &Ring);
    visitor.visit("bruck", &Bruck);
    visitor.visit("sparbit", &Sparbit);
    visitor.visit("shreds", &Shreds);
    visitor.visit("linear", &Linear);
    visitor.visit("doubling", &Doubling);
}

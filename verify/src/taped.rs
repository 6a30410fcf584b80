//! What the ranks do at one point, run again on threads: real messages, real buffers, and the plain definition.
//!
//! A wrong schedule has no generated code, so its recorded rounds are handed to the transport instead. Every rank starts
//! with its own block; what it ends with is compared with the definition, and a rank that waits for ever is found by the
//! transport itself.

use roundel::geometry::Uniform;
use roundel::{Collective, Error, Gather, Options, Refusal, Transport, threads};
use roundel_spec::record::Direction;
use roundel_spec::schedule::Limits;
use roundel_spec::{Arguments, Kind, Place, Placement, Schedule, Sink, Stripe, Stripes, Trace};
use std::sync::Arc;

/// How a run on threads ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every rank has what the definition says.
    Right,
    /// All ranks ended, and one of them with something else.
    WrongData(String),
    /// The transport found that ranks wait for ever, or that a message does not fit.
    Failed(String),
}

/// Runs recorded rounds on threads.
pub fn run(kind: Kind, trace: &Trace, placement: &Placement) -> Ended {
    let (p, taped) = (trace.p(), Arc::new(trace.clone()));
    let results = threads::run_placed(placement, |comm| {
        let mut slots: Vec<Option<usize>> = vec![None; p];
        let geometry = Uniform { count: 1 };
        let own = [Some(comm.rank())];
        let call = Gather { send: &own, recv: &mut slots, geometry, options: Options::default() };
        comm.gather(&Taped { trace: Arc::clone(&taped) }, call).map(|()| slots)
    });
    // The rank that knows best says why: the others only hear that it failed.
    let failures = || results.iter().filter_map(|result| result.as_ref().err());
    let own = |error: &&Error| !matches!(error, Error::PeerFailed { .. });
    if let Some(error) = failures().find(own).or_else(|| failures().next()) {
        return Ended::Failed(error.to_string());
    }
    for (rank, slots) in results.iter().flatten().enumerate() {
        for (block, found) in slots.iter().enumerate() {
            if kind.must_hold(rank, block) && *found != Some(block) {
                let found = found.map_or("nothing".into(), |other| format!("block {other}"));
                return Ended::WrongData(format!("rank {rank} ends with {found} in slot {block}"));
            }
        }
    }
    Ended::Right
}

/// Recorded rounds, as a collective for the threads, which ask for the rounds in every call. (A transport that remembers
/// rounds by type and arguments would take two recordings for one.)
struct Taped {
    trace: Arc<Trace>,
}

impl Collective for Taped {
    const NAME: &'static str = "the replayed collective";
    const PREFERS_ROTATION: bool = false;

    /// Transports ask for the rounds alone; there is no declaration that belongs to this type.
    fn schedule() -> Schedule {
        Schedule {
            name: Self::NAME.into(),
            kind: Kind::Allgather,
            numbers: vec![],
            lists: vec![],
            functions: vec![],
            requires: vec![],
            loops: vec![],
            bounds: vec![],
            layouts: vec![],
            limits: Limits { p: 1, numbers: vec![], lists: vec![] },
            slots: 0,
        }
    }

    fn arguments(&self) -> Arguments {
        Arguments::default()
    }

    fn from_arguments(_args: &Arguments) -> Option<Self> {
        None
    }

    fn admits(&self, _at: &Place) -> Result<(), Refusal> {
        Ok(())
    }

    fn proved(&self, _at: &Place) -> Result<(), Refusal> {
        Ok(())
    }

    fn rotation(&self, _at: &Place) -> Option<i64> {
        None
    }

    fn rounds<S: Sink>(&self, at: &Place, sink: &mut S) -> Result<(), S::Error> {
        let log = &self.trace.ranks[at.rank as usize];
        for round in 0..log.rounds() {
            sink.begin_round()?;
            for message in log.round(round) {
                let blocks = Stripes(log.blocks(message).iter().map(|&block| Stripe::one(block.into(), at.p)));
                match message.direction {
                    Direction::Send => sink.send(message.site, message.peer, blocks)?,
                    Direction::Recv => sink.recv(message.site, message.peer, blocks)?,
                }
            }
            sink.end_round()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roundel_spec::check::{self, Points};

    /// How the ring ends with `p` ranks after a change.
    fn ring(p: usize, change: impl FnOnce(&mut Schedule)) -> Ended {
        let mut schedule = (crate::catalogue::find("ring").expect("in the catalogue").schedule)();
        change(&mut schedule);
        let point = Points::new(&schedule, p..=p).iter().next().expect("a point");
        let trace = check::record_schedule(&schedule, &point).expect("has values");
        run(schedule.kind, &trace, &point.placement)
    }

    #[test]
    fn the_transport_and_the_definition_judge() {
        assert_eq!(ring(4, |_| {}), Ended::Right);
        let no_rounds = |schedule: &mut Schedule| schedule.loops.clear();
        assert_eq!(ring(2, no_rounds), Ended::WrongData("rank 0 ends with nothing in slot 1".into()));
        let no_receives = |schedule: &mut Schedule| {
            schedule.loops[0].transfers.retain(|t| t.direction == Direction::Send);
        };
        assert!(matches!(ring(3, no_receives), Ended::Failed(why) if why.contains("deadlock")));
        assert_eq!(ring(1, no_receives), Ended::Right);
    }
}

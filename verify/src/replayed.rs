//! Recorded rounds as a collective.
//!
//! A declaration that no compiler has seen has no generated code. The evaluator records its rounds, and transports get
//! these in place of code: so it runs through the same calls as the catalogue.

use roundel::algorithms::Visitor;
use roundel::{Collective, IsAllgather, IsAllreduce, IsAlltoall, IsBroadcast, IsGather, IsReduce, IsReduceScatter};
use roundel::{IsScatter, Refusal};
use roundel_spec::check::Point;
use roundel_spec::expr::Expr;
use roundel_spec::schedule::{Limits, Order};
use roundel_spec::{Arguments, Direction, Kind, Place, Schedule, Sink, Stripe, Stripes, Trace, eval};
use std::convert::Infallible;
use std::sync::Arc;

/// The rounds of a schedule at one point, with everything that a call asks of a collective.
#[derive(Clone, Debug)]
pub struct ReplayedRounds {
    schedule: Schedule,
    trace: Arc<Trace>,
    blocks: i64,
    root: i64,
    /// How far the blocks of each rank are rotated, if the declaration has that layout.
    rotations: Option<Arc<Vec<i64>>>,
}

impl ReplayedRounds {
    /// The rounds of a schedule that were recorded at a point; `None` if a number of it has no value there.
    pub fn new(schedule: &Schedule, point: &Point, trace: &Trace) -> Option<Self> {
        let rotation = |rank| eval::rotation(schedule, &point.args, &point.place(schedule, rank)).ok();
        let rotations: Vec<Option<i64>> = (0..trace.p()).map(rotation).collect::<Option<_>>()?;
        let blocks = eval::blocks::<Infallible>(schedule, &point.args, &point.place(schedule, 0)).ok()?;
        Some(ReplayedRounds {
            schedule: schedule.clone(),
            trace: Arc::new(trace.clone()),
            blocks,
            root: schedule.root(&point.args) as i64,
            rotations: rotations.into_iter().collect::<Option<Vec<i64>>>().map(Arc::new),
        })
    }

    /// The schedule.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Shows the rounds to a visitor, as a collective of their kind.
    pub fn visit(&self, visitor: &mut impl Visitor) {
        match self.schedule.lines_in_memory() {
            0 | 1 => self.visit_with::<1>(visitor),
            2..=8 => self.visit_with::<8>(visitor),
            _ => self.visit_with::<256>(visitor),
        }
    }

    fn visit_with<const LINES: usize>(&self, visitor: &mut impl Visitor) {
        let (name, one) = (ReplayedTrace::<1>::NAME, ReplayedTrace::<1>(self.clone()));
        match self.schedule.kind {
            Kind::Allgather => visitor.allgather(name, &one),
            Kind::Alltoall => visitor.alltoall(name, &one),
            Kind::Broadcast => visitor.broadcast(name, &one),
            Kind::Gather => visitor.gather(name, &one),
            Kind::Scatter => visitor.scatter(name, &one),
            Kind::Allreduce => visitor.allreduce(name, &ReplayedTrace::<LINES>(self.clone())),
            Kind::ReduceScatter => visitor.reduce_scatter(name, &ReplayedTrace::<LINES>(self.clone())),
            Kind::Reduce => visitor.reduce(name, &ReplayedTrace::<LINES>(self.clone())),
        }
    }
}

/// Recorded rounds with up to `LINES` lines of memory. For transports that ask for the rounds in every call, as threads
/// do: one that caches rounds by type and arguments would confuse two recordings. The recorded ranks are the real ones,
/// so it does not look at nodes. It claims no order of reduction.
#[derive(Clone, Debug)]
pub struct ReplayedTrace<const LINES: usize>(ReplayedRounds);

impl<const LINES: usize> ReplayedTrace<LINES> {
    /// Rounds with this many blocks, of which nothing else is known.
    pub fn of(trace: &Arc<Trace>, blocks: i64) -> Self {
        let (schedule, trace) = (Self::schedule(), Arc::clone(trace));
        ReplayedTrace(ReplayedRounds { schedule, trace, blocks, root: 0, rotations: None })
    }
}

impl<const LINES: usize> Collective for ReplayedTrace<LINES> {
    const NAME: &'static str = "the replayed collective";
    const PREFERS_ROTATION: bool = false;
    const LINES: usize = LINES;

    /// Transports ask only for the rounds; this type has no declaration.
    fn schedule() -> Schedule {
        Schedule {
            name: Self::NAME.into(),
            kind: Kind::Allgather,
            reverse_of: None,
            numbers: vec![],
            inners: Vec::new(),
            lists: vec![],
            functions: vec![],
            requires: vec![],
            lines: vec![],
            blocks: Expr::Int(1),
            order: Order::default(),
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

    fn rotation(&self, at: &Place) -> Option<i64> {
        self.0.rotations.as_ref()?.get(at.rank as usize).copied()
    }

    fn blocks(&self, _at: &Place) -> i64 {
        self.0.blocks
    }

    fn root(&self) -> i64 {
        self.0.root
    }

    fn rounds<S: Sink>(&self, at: &Place, sink: &mut S) -> Result<(), S::Error> {
        let log = &self.0.trace.ranks[at.rank as usize];
        for round in 0..log.rounds() {
            sink.begin_round()?;
            for message in log.round(round) {
                let stripe = |&block: &u32| Stripe::one(block.into(), self.0.blocks);
                let blocks = Stripes(log.blocks(message).iter().map(stripe));
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

impl IsAllgather for ReplayedTrace<1> {}
impl IsAlltoall for ReplayedTrace<1> {}
impl IsBroadcast for ReplayedTrace<1> {}
impl IsGather for ReplayedTrace<1> {}
impl IsScatter for ReplayedTrace<1> {}
impl<const LINES: usize> IsAllreduce for ReplayedTrace<LINES> {}
impl<const LINES: usize> IsReduceScatter for ReplayedTrace<LINES> {}
impl<const LINES: usize> IsReduce for ReplayedTrace<LINES> {}

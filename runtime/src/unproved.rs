//! Runs calls that are not proved, on explicit request: for experiments.

use roundel_spec::schedule::Order;
use roundel_spec::{Arguments, Collective, Kind, Place, Refusal, Schedule, Sink};

/// A collective that runs whether or not it is proved for the call. Its domain is still checked.
#[derive(Clone, Copy, Debug)]
pub struct Unproved<C>(C);

/// Adds [`unproved`](AllowUnproved::unproved) to every collective.
pub trait AllowUnproved: Collective + Sized {
    /// The same collective, which also accepts calls outside its proved range.
    fn unproved(self) -> Unproved<Self> {
        Unproved(self)
    }
}

impl<C: Collective> AllowUnproved for C {}

impl<C: Collective> Collective for Unproved<C> {
    const NAME: &'static str = C::NAME;
    const KIND: Kind = C::KIND;
    const LOOKS_AT_NODES: bool = C::LOOKS_AT_NODES;
    const PREFERS_ROTATION: bool = C::PREFERS_ROTATION;
    const LINES: usize = C::LINES;
    const ORDER: Order = C::ORDER;
    const BOUNDS_PROVED_FOR: Option<&'static str> = C::BOUNDS_PROVED_FOR;
    const RECORD: Option<&'static str> = C::RECORD;

    fn schedule() -> Schedule {
        C::schedule()
    }

    fn arguments(&self) -> Arguments {
        self.0.arguments()
    }

    fn has_arguments(&self, args: &Arguments) -> bool {
        self.0.has_arguments(args)
    }

    fn from_arguments(args: &Arguments) -> Option<Self> {
        C::from_arguments(args).map(Unproved)
    }

    fn rooted_at(&self, root: i64) -> Option<Self> {
        self.0.rooted_at(root).map(Unproved)
    }

    fn admits(&self, at: &Place) -> Result<(), Refusal> {
        self.0.admits(at)
    }

    fn proved(&self, _at: &Place) -> Result<(), Refusal> {
        Ok(())
    }

    fn proved_alone(&self, _at: &Place) -> Result<(), Refusal> {
        Ok(())
    }

    fn proved_in_order(&self, _at: &Place) -> Result<(), Refusal> {
        Ok(())
    }

    fn blocks(&self, at: &Place) -> i64 {
        self.0.blocks(at)
    }

    fn root(&self) -> i64 {
        self.0.root()
    }

    fn rotation(&self, at: &Place) -> Option<i64> {
        self.0.rotation(at)
    }

    fn rounds<S: Sink>(&self, at: &Place, sink: &mut S) -> Result<(), S::Error> {
        self.0.rounds(at, sink)
    }
}

//! Records and runs the generated code of the catalogue.
//!
//! The catalogue provides each collective as its own type, so everything here is a small [`Visitor`]: a query that is
//! generic over the type.

use crate::error::Error;
use crate::simulation::rounds::{CodeRounds, RankSource};
use roundel::algorithms::{self, Entry, Visitor};
use roundel::plan::{Plan, Unplanned};
use roundel::{Collective, IsAlltoall, Refusal};
use roundel_spec::check::arguments::least_inner;
use roundel_spec::check::{self, Census, CheckInput, Point};
use roundel_spec::{Arguments, Kind, Place, Placement, Schedule, Trace, Violation};

/// Looks a collective up by its full name, or by the last part of it.
pub fn find(name: &str) -> Result<&'static Entry, Error> {
    algorithms::find(name).map_err(Error::Unknown)
}

/// Records the rounds of an entry's generated code at a point; a refusal if the point lies outside its domain.
pub fn record(entry: &Entry, args: &Arguments, placement: &Placement) -> Result<Result<Trace, Refusal>, Error> {
    let mut record = TraceRecorder { placement, answer: None };
    visit(entry, args, &mut record)?;
    record.answer.ok_or_else(|| not_visited(entry))
}

/// Calls `with` with the rounds of every rank of an entry's generated code, if its domain admits the call.
pub fn with_rounds<T>(
    entry: &Entry,
    args: &Arguments,
    placement: &Placement,
    with: impl FnOnce(&dyn RankSource) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut visitor = WithRounds { entry, placement, with: Some(with), answer: None };
    visit(entry, args, &mut visitor)?;
    visitor.answer.unwrap_or_else(|| Err(not_visited(entry)))
}

struct WithRounds<'a, F, T> {
    entry: &'a Entry,
    placement: &'a Placement,
    with: Option<F>,
    answer: Option<Result<T, Error>>,
}

impl<T, F: FnOnce(&dyn RankSource) -> Result<T, Error>> Visitor for WithRounds<'_, F, T> {
    fn any<C: Collective + Sync>(&mut self, _name: &'static str, collective: &C) {
        let Some(with) = self.with.take() else { return };
        self.answer = Some(match collective.admits(&self.placement.place(0)) {
            Ok(()) => with(&CodeRounds { collective, placement: self.placement }),
            Err(refusal) => Err(Error::OutsideDomain { name: self.entry.name.into(), refusal }),
        });
    }
}

struct TraceRecorder<'a> {
    placement: &'a Placement,
    answer: Option<Result<Trace, Refusal>>,
}

impl TraceRecorder<'_> {
    fn take<C: Collective>(&mut self, collective: &C) {
        let admitted = collective.admits(&self.placement.place(0));
        self.answer = Some(admitted.map(|()| check::record_code(collective, self.placement)));
    }
}

impl Visitor for TraceRecorder<'_> {
    fn any<C: Collective + Sync>(&mut self, _name: &'static str, collective: &C) {
        self.take(collective);
    }
}

/// Checks that an entry is proved for a call that its domain admits.
pub fn proved(entry: &Entry, args: &Arguments, placement: &Placement) -> Result<(), Error> {
    match unproved(entry, args, placement.place(0))? {
        Some(refusal) => Err(Error::OutsideDomain { name: entry.name.into(), refusal }),
        None => Ok(()),
    }
}

/// Why an entry is not proved for a call that its domain admits, if so.
pub fn unproved(entry: &Entry, args: &Arguments, at: Place<'_>) -> Result<Option<Refusal>, Error> {
    let mut proved = Proved { at, answer: Ok(()) };
    visit(entry, args, &mut proved)?;
    Ok(proved.answer.err())
}

/// The calls for which an entry is proved, in words.
pub fn proved_range(entry: &Entry) -> Result<&'static str, Error> {
    let args = least_arguments(&(entry.schedule)());
    // This many ranks are never proved, and the refusal states the proved range.
    let mut proved = Proved { at: Place::flat(0, i64::MAX), answer: Ok(()) };
    visit(entry, &args, &mut proved)?;
    match proved.answer {
        Err(Refusal::Unproved { range, .. } | Refusal::Placement { range }) => Ok(range),
        _ => {
            Err(Error::Catalogue { name: entry.name, reason: "it does not say for which calls it is proved".into() })
        }
    }
}

/// The calls for which an entry's bounds are proved, in words, if these are not all that it serves.
pub fn bounds_proved_for(entry: &Entry) -> Result<Option<&'static str>, Error> {
    struct Bounds(Option<&'static str>);
    impl Visitor for Bounds {
        fn any<C: Collective + Sync>(&mut self, _name: &'static str, _collective: &C) {
            self.0 = C::BOUNDS_PROVED_FOR;
        }
    }
    let mut bounds = Bounds(None);
    visit(entry, &least_arguments(&(entry.schedule)()), &mut bounds)?;
    Ok(bounds.0)
}

/// The smallest arguments of a declaration.
fn least_arguments(schedule: &Schedule) -> Arguments {
    let numbers = schedule.numbers.iter().map(|number| number.domain.lo).collect();
    Arguments { numbers, lists: vec![vec![]; schedule.lists.len()], inner: least_inner(schedule) }
}

struct Proved<'a> {
    at: Place<'a>,
    answer: Result<(), Refusal>,
}

impl Proved<'_> {
    fn ask<C: Collective>(&mut self, collective: &C) {
        self.answer = collective.proved(&self.at);
    }
}

impl Visitor for Proved<'_> {
    fn any<C: Collective + Sync>(&mut self, _name: &'static str, collective: &C) {
        self.ask(collective);
    }
}

/// The rounds of all ranks of an entry, as a plan.
pub fn plan(entry: &Entry, args: &Arguments, placement: &Placement) -> Result<Plan, Error> {
    let mut planned = PlanRecorder { placement, answer: Err(Unplanned::Moves { kind: Kind::Alltoall }) };
    visit(entry, args, &mut planned)?;
    planned.answer.map_err(|source| match source {
        Unplanned::Refused(refusal) => Error::OutsideDomain { name: entry.name.into(), refusal },
        source => Error::Unplanned { name: entry.name.into(), source },
    })
}

/// Ignores all-to-alls: they have no plan.
struct PlanRecorder<'a> {
    placement: &'a Placement,
    answer: Result<Plan, Unplanned>,
}

impl PlanRecorder<'_> {
    fn take<C: Collective>(&mut self, collective: &C) {
        self.answer = Plan::record_placed(collective, self.placement);
    }
}

impl Visitor for PlanRecorder<'_> {
    fn any<C: Collective + Sync>(&mut self, _name: &'static str, collective: &C) {
        self.take(collective);
    }

    fn alltoall<C: IsAlltoall + Sync>(&mut self, _name: &'static str, _collective: &C) {}
}

/// Calls the visitor with an entry's type.
pub fn visit(entry: &Entry, args: &Arguments, visitor: &mut impl Visitor) -> Result<(), Error> {
    if algorithms::visit_one(entry.name, args, visitor) { Ok(()) } else { Err(not_visited(entry)) }
}

fn not_visited(entry: &Entry) -> Error {
    Error::Catalogue { name: entry.name, reason: "its type does not take the parameters of its declaration".into() }
}

/// The rounds of an entry at one point of its domain, with the verdict of the checks.
#[derive(Debug)]
pub struct Recorded {
    /// The point.
    pub point: Point,
    /// The recorded rounds.
    pub trace: Trace,
    /// The cost of the run.
    pub census: Census,
    /// The violation, if any.
    pub violation: Option<Violation>,
}

/// Records the generated code of an entry and checks it. The evaluator goes first: it reports numbers that do not fit,
/// where generated code, which expects checked arguments, would panic.
pub fn examine(entry: &'static Entry, args: &Arguments, placement: Placement) -> Result<Recorded, Error> {
    let schedule = (entry.schedule)();
    let point = Point { placement, args: args.clone() };
    let fault = |violation: Violation| Error::Catalogue { name: entry.name, reason: violation.to_string() };
    if check::in_domain(&schedule, &point).map_err(fault)? {
        check::record_schedule(&schedule, &point).map_err(fault)?;
    }
    let trace = record(entry, args, &point.placement)?
        .map_err(|refusal| Error::OutsideDomain { name: entry.name.into(), refusal })?;
    let census = Census::of(&CheckInput { schedule: &schedule, point: &point, trace: &trace });
    let violation = check::trace(&schedule, &point, &trace).err();
    Ok(Recorded { point, trace, census, violation })
}

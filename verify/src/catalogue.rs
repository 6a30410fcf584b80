//! Questions to the generated code of the catalogue.
//!
//! The catalogue provides each collective as its own type. Here the type is forgotten (`GeneratedCode`), so that the
//! catalogue is compiled once and not once for every question.

use crate::error::Error;
use crate::simulation::rounds::{CodeRounds, RankSource};
use roundel::algorithms::{self, Entry, Visitor};
use roundel::plan::{Plan, Unplanned};
use roundel::{Collective, Refusal};
use roundel_spec::check::arguments::least_inner;
use roundel_spec::check::{self, Census, CheckInput, Point};
use roundel_spec::{Arguments, Place, Placement, Schedule, Trace, Violation};

/// Looks a collective up by its full name, or by the last part of it.
pub fn find(name: &str) -> Result<&'static Entry, Error> {
    algorithms::find(name).map_err(Error::Unknown)
}

/// The generated code of a collective with its parameters, of whatever type.
trait GeneratedCode {
    /// Why its domain does not admit a call, if so.
    fn admits(&self, at: &Place<'_>) -> Result<(), Refusal>;

    /// Why it is not proved for a call, if so.
    fn proved(&self, at: &Place<'_>) -> Result<(), Refusal>;

    /// The calls for which its bounds are proved, in words, if these are not all that it serves.
    fn bounds_proved_for(&self) -> Option<&'static str>;

    /// Records the rounds of all ranks.
    fn record(&self, placement: &Placement) -> Trace;

    /// The rounds of all ranks, as a plan.
    fn plan(&self, placement: &Placement) -> Result<Plan, Unplanned>;

    /// Calls `with` with the rounds of every rank.
    fn with_rounds(&self, placement: &Placement, with: &mut dyn FnMut(&dyn RankSource));
}

impl<C: Collective + Sync> GeneratedCode for C {
    fn admits(&self, at: &Place<'_>) -> Result<(), Refusal> {
        Collective::admits(self, at)
    }

    fn proved(&self, at: &Place<'_>) -> Result<(), Refusal> {
        Collective::proved(self, at)
    }

    fn bounds_proved_for(&self) -> Option<&'static str> {
        C::BOUNDS_PROVED_FOR
    }

    fn record(&self, placement: &Placement) -> Trace {
        check::record_code(self, placement)
    }

    fn plan(&self, placement: &Placement) -> Result<Plan, Unplanned> {
        Plan::record_placed(self, placement)
    }

    fn with_rounds(&self, placement: &Placement, with: &mut dyn FnMut(&dyn RankSource)) {
        with(&CodeRounds { collective: self, placement });
    }
}

/// Asks the generated code of an entry with these parameters.
fn ask<T>(entry: &Entry, args: &Arguments, question: impl FnOnce(&dyn GeneratedCode) -> T) -> Result<T, Error> {
    let (mut question, mut answer) = (Some(question), None);
    let mut visitor = AnyCode(&mut |code| answer = question.take().map(|question| question(code)));
    visit(entry, args, &mut visitor)?;
    answer.ok_or_else(|| not_visited(entry))
}

/// Shows every collective as [`GeneratedCode`].
struct AnyCode<'a>(&'a mut dyn FnMut(&dyn GeneratedCode));

impl Visitor for AnyCode<'_> {
    fn any<C: Collective + Sync>(&mut self, _name: &'static str, collective: &C) {
        (self.0)(collective);
    }
}

/// Records the rounds of an entry's generated code at a point; a refusal if the point lies outside its domain.
pub fn record(entry: &Entry, args: &Arguments, placement: &Placement) -> Result<Result<Trace, Refusal>, Error> {
    ask(entry, args, |code| code.admits(&placement.place(0)).map(|()| code.record(placement)))
}

/// Calls `with` with the rounds of every rank of an entry's generated code, if its domain admits the call.
pub fn with_rounds<T>(
    entry: &Entry,
    args: &Arguments,
    placement: &Placement,
    with: impl FnOnce(&dyn RankSource) -> Result<T, Error>,
) -> Result<T, Error> {
    let outside = |refusal| Error::OutsideDomain { name: entry.name.into(), refusal };
    let answer = ask(entry, args, |code| {
        code.admits(&placement.place(0)).map_err(outside)?;
        let (mut with, mut answer) = (Some(with), None);
        code.with_rounds(placement, &mut |source| answer = with.take().map(|with| with(source)));
        answer.unwrap_or_else(|| Err(not_visited(entry)))
    });
    answer?
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
    ask(entry, args, |code| code.proved(&at).err())
}

/// The calls for which an entry is proved, in words.
pub fn proved_range(entry: &Entry) -> Result<&'static str, Error> {
    let args = least_arguments(&(entry.schedule)());
    // This many ranks are never proved, and the refusal states the proved range.
    match unproved(entry, &args, Place::flat(0, i64::MAX))? {
        Some(Refusal::Unproved { range, .. } | Refusal::Placement { range }) => Ok(range),
        _ => {
            Err(Error::Catalogue { name: entry.name, reason: "it does not say for which calls it is proved".into() })
        }
    }
}

/// The calls for which an entry's bounds are proved, in words, if these are not all that it serves.
pub fn bounds_proved_for(entry: &Entry) -> Result<Option<&'static str>, Error> {
    ask(entry, &least_arguments(&(entry.schedule)()), |code| code.bounds_proved_for())
}

/// The smallest arguments of a declaration.
fn least_arguments(schedule: &Schedule) -> Arguments {
    let numbers = schedule.numbers.iter().map(|number| number.domain.lo).collect();
    Arguments { numbers, lists: vec![vec![]; schedule.lists.len()], inner: least_inner(schedule) }
}

/// The rounds of all ranks of an entry, as a plan.
pub fn plan(entry: &Entry, args: &Arguments, placement: &Placement) -> Result<Plan, Error> {
    ask(entry, args, |code| code.plan(placement))?.map_err(|source| match source {
        Unplanned::Refused(refusal) => Error::OutsideDomain { name: entry.name.into(), refusal },
        source => Error::Unplanned { name: entry.name.into(), source },
    })
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

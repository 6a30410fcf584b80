//! A collective declared in a file that no compiler has seen.
//!
//! It has no generated code, so its rounds come from the evaluator, and so do the answers that generated code gives
//! about calls: whether they lie in the domain, and whether they are proved. What is proved of it is what the derive
//! would embed: the record in the crate of the file, or what the check at compile time covers.

mod inner;
mod refusal;

use crate::catalogue::Recorded;
use crate::emit;
use crate::error::{Diagnosed, Error};
use crate::simulation::rounds::{EvaluatedRounds, RankSource};
use crate::source::{DeclaredStruct, DefaultType, Source};
use inner::InnerOrigin;
use roundel::Refusal;
use roundel::plan::{Plan, Unplanned};
use roundel_spec::check::{self, Census, CheckInput, Point};
use roundel_spec::proof::GrantedCalls;
use roundel_spec::syntax::Declaration;
use roundel_spec::{Arguments, Placement, Schedule, Violation, eval};
use std::convert::Infallible;
use std::path::{Path, PathBuf};

/// A declaration of a file that passed its check.
#[derive(Debug)]
pub struct DeclaredCollective {
    source: Source,
    declaration: Declaration,
    /// The declaration as data, with its inner collectives.
    schedule: Schedule,
    grant: Grant,
}

/// What is proved of a schedule, and of its inner collectives.
#[derive(Debug)]
struct Grant {
    calls: GrantedCalls,
    /// The command that would prove more.
    prove: String,
    /// Where each inner collective comes from.
    inners: Vec<InnerOrigin>,
}

impl DeclaredCollective {
    /// All declarations of a file, or only the named one, if they are correct.
    ///
    /// # Errors
    /// The first error of a malformed declaration, or the counterexample to a wrong one.
    pub fn all(source: &Source, declared: Vec<DeclaredStruct>) -> Result<Vec<Self>, Error> {
        declared.into_iter().map(|one| Self::new(source, one)).collect()
    }

    fn new(source: &Source, declared: DeclaredStruct) -> Result<Self, Error> {
        let DeclaredStruct { result, defaults, .. } = declared;
        let declaration = result.map_err(|errors| Diagnosed::malformed(source, errors))?;
        let (schedule, grant) = inner::resolve(source, &declaration, &defaults, &mut Vec::new())?;
        Ok(DeclaredCollective { source: source.clone(), declaration, schedule, grant })
    }

    /// The name of the declared type.
    pub fn name(&self) -> &str {
        &self.schedule.name
    }

    /// The first line of its documentation.
    pub fn summary(&self) -> &str {
        self.declaration.docs.first().map_or("", String::as_str)
    }

    /// The declaration as data.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// The calls for which it is proved, in words.
    pub fn proved_range(&self) -> String {
        self.grant.calls.all.text(&self.schedule)
    }

    /// The calls for which its bounds are proved, in words, if these are not all that it serves.
    pub fn bounds_proved_for(&self) -> Option<String> {
        let GrantedCalls { all, bounded, .. } = &self.grant.calls;
        (bounded != all).then(|| bounded.text(&self.schedule))
    }

    /// The inner collectives for which the simplest one of their kind stands in, because the file does not say which
    /// they are.
    pub fn stand_ins(&self) -> Vec<String> {
        let unknown = self.schedule.inners.iter().filter(|inner| inner.schedule.is_none());
        unknown.map(|inner| inner.name.clone()).collect()
    }

    /// Records its rounds at a point, and checks them.
    pub fn examine(&self, args: &Arguments, placement: Placement) -> Result<Recorded, Error> {
        let point = Point { placement, args: args.clone() };
        self.admits(&point)?.map_err(|refusal| self.refused(refusal))?;
        let trace = check::record_schedule(&self.schedule, &point).map_err(|violation| self.wrong(&violation))?;
        check::trace(&self.schedule, &point, &trace).map_err(|violation| self.wrong(&violation))?;
        let census = Census::of(&CheckInput { schedule: &self.schedule, point: &point, trace: &trace });
        Ok(Recorded { point, trace, census, violation: None })
    }

    /// Whether its domain contains a call, as generated code would answer.
    pub fn admits(&self, point: &Point) -> Result<Result<(), Refusal>, Error> {
        refusal::admits(&self.schedule, point).map_err(|violation| self.wrong(&violation))
    }

    /// Checks that it is proved for a call that its domain admits.
    pub fn proved(&self, args: &Arguments, placement: &Placement) -> Result<(), Error> {
        self.served(args, placement)?.map_err(|refusal| self.refused(refusal))
    }

    /// Whether it is proved for a call, as generated code would answer.
    pub fn served(&self, args: &Arguments, placement: &Placement) -> Result<Result<(), Refusal>, Error> {
        refusal::proved(&self.schedule, &self.grant, args, placement)
    }

    /// The rounds of all ranks, as a plan.
    pub fn plan(&self, args: &Arguments, placement: Placement) -> Result<Plan, Error> {
        let kind = self.schedule.kind;
        if kind.moves() {
            return Err(Error::Unplanned { name: self.name().into(), source: Unplanned::Moves { kind } });
        }
        let Recorded { point, trace, .. } = self.examine(args, placement)?;
        let blocks = eval::blocks::<Infallible>(&self.schedule, args, &point.place(&self.schedule, 0));
        Ok(Plan::of_trace(&self.schedule, args, blocks.map_or(trace.p(), |blocks| blocks as usize), &trace))
    }

    /// Calls `with` with the rounds of every rank, if its domain admits the call.
    pub fn with_rounds<T>(
        &self,
        args: &Arguments,
        placement: &Placement,
        with: impl FnOnce(&dyn RankSource) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let point = Point { placement: placement.clone(), args: args.clone() };
        self.admits(&point)?.map_err(|refusal| self.refused(refusal))?;
        let blocks = eval::blocks::<Infallible>(&self.schedule, args, &point.place(&self.schedule, 0));
        let blocks = blocks.map_or(placement.p(), |blocks| blocks as usize);
        with(&EvaluatedRounds { schedule: &self.schedule, point: &point, blocks }).map_err(|error| match error {
            Error::WrongDeclaration { violation, .. } => self.wrong(&violation),
            other => other,
        })
    }

    fn refused(&self, refusal: Refusal) -> Error {
        Error::OutsideDomain { name: self.name().into(), refusal }
    }

    /// The counterexample to a wrong declaration, at the clause at fault.
    fn wrong(&self, violation: &Violation) -> Error {
        Diagnosed::wrong(&self.source, &self.declaration, violation)
    }
}

/// How deep collectives may stand inside one another where nothing is checked: a type that contains itself has no end.
const DEEPEST: usize = 8;

/// The schedule of a declaration that need not be correct, with its inner collectives as far as the file tells them.
pub fn unchecked(source: &Source, declaration: &Declaration, defaults: &[DefaultType]) -> Schedule {
    inner::filled(source, declaration, defaults, DEEPEST)
}

/// What is proved of a declaration: by the record in its crate, or by the check at compile time, which is made now.
fn granted(source: &Source, declaration: &Declaration) -> Result<GrantedCalls, Error> {
    // A record belongs to the declaration, whatever its inner collectives are.
    let proved = emit::proved(&declaration.schedule, crate_of(Path::new(&source.origin)).as_deref());
    match proved {
        Ok((granted, _)) => Ok(granted),
        Err(Error::WrongDeclaration { violation, .. }) => Err(Diagnosed::wrong(source, declaration, &violation)),
        Err(error) => Err(error),
    }
}

/// The root of the crate that a source file belongs to.
pub fn crate_of(file: &Path) -> Option<PathBuf> {
    let file = file.canonicalize().ok()?;
    file.ancestors().skip(1).find(|dir| dir.join("Cargo.toml").is_file()).map(Path::to_path_buf)
}

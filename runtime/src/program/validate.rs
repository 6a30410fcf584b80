//! A whole job before it runs: the programs of all ranks, built and replayed together.

use super::Program;
use super::build::{BuildError, ProgramSpec, build};
use super::replay::{CALLS, ReductionOrder, ReplayError, replay};

/// More elements than these, over all ranks, are not followed one by one.
const FOLLOWED: usize = 1 << 16;

/// What is wrong with a job.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Invalid {
    /// A rank has no program.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The programs do not do what they should.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

/// Builds the programs of all ranks and replays them together, several calls in a row.
///
/// Long vectors are shortened: which steps there are does not depend on how many elements a block has, as long as it
/// has some.
///
/// # Errors
/// When a rank has no program, or the programs together race, wait for ever or give something wrong.
pub fn validate(job: &ProgramSpec<'_>) -> Result<ReductionOrder, Invalid> {
    let (p, elements) = (job.placement.p(), job.counts.iter().fold(0usize, |sum, &count| sum.saturating_add(count)));
    let by = elements.saturating_mul(p).div_ceil(FOLLOWED).max(1);
    let counts: Vec<usize> = job.counts.iter().map(|count| count.div_ceil(by)).collect();
    let job = ProgramSpec { counts: &counts, ..*job };
    let programs: Vec<[Program; 2]> = (0..p).map(|rank| build(&job, rank)).collect::<Result<_, _>>()?;
    Ok(replay(&job, &programs, CALLS)?)
}

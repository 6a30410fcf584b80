//! Checks a whole job before it runs: builds and replays the programs of all ranks together.

use super::Program;
use super::build::{BuildError, ProgramSpec, build};
use super::replay::{CALLS, ReductionOrder, ReplayError, replay};

/// The most elements, over all ranks, that are tracked one by one.
const FOLLOWED: usize = 1 << 16;

/// Why a job is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Invalid {
    /// The program of a rank cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The programs are wrong.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

/// Builds the programs of all ranks and replays them together, several calls in a row.
///
/// Long vectors are shortened: the steps do not depend on the number of elements of a block, as long as it is not
/// empty.
///
/// # Errors
/// If a program cannot be built, or the programs together race, deadlock or give a wrong result.
pub fn validate(job: &ProgramSpec<'_>) -> Result<ReductionOrder, Invalid> {
    let (p, elements) = (job.placement.p(), job.counts.iter().fold(0usize, |sum, &count| sum.saturating_add(count)));
    let by = elements.saturating_mul(p).div_ceil(FOLLOWED).max(1);
    let counts: Vec<usize> = job.counts.iter().map(|count| count.div_ceil(by)).collect();
    let job = ProgramSpec { counts: &counts, ..*job };
    let programs: Vec<[Program; 2]> = (0..p).map(|rank| build(&job, rank)).collect::<Result<_, _>>()?;
    Ok(replay(&job, &programs, CALLS)?)
}

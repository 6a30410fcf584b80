//! Compares the arguments of all ranks before a request is made.
//!
//! A request is made by all ranks together, so there is a moment to compare what they say: afterwards there is no
//! message whose length is not known to both of its ends. A rank that has an error of its own says so instead, and then
//! no rank gets a request.

use crate::error::Error;
use crate::mpi::code::check;
use ::mpi::ffi;
use std::ffi::c_int;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;

/// Something that all ranks must say alike: what it is, and what this rank says.
pub(in crate::mpi) type Saying = (&'static str, u64);

/// A long saying as a number.
pub(super) fn digest(saying: &impl Hash) -> u64 {
    // The keys of this hasher are constants, so that equal values are equal on all ranks.
    let mut hasher = DefaultHasher::new();
    saying.hash(&mut hasher);
    hasher.finish()
}

/// Compares what all ranks say; or hands on the error of this rank, when the others know that it has one. Collective.
///
/// Every rank must bring equally many sayings.
pub(in crate::mpi) fn agree<R>(comm: ffi::MPI_Comm, sayings: &[Saying], own: Result<R, Error>) -> Result<R, Error> {
    agree_and_hear(comm, sayings, &[], own).map(|(result, _)| result)
}

/// The same; and tells of other numbers, which ranks need not have alike, the smallest and the largest of all ranks.
/// Collective.
///
/// Every rank must bring equally many sayings, and equally many numbers.
pub(in crate::mpi) fn agree_and_hear<R>(
    comm: ffi::MPI_Comm,
    sayings: &[Saying],
    numbers: &[u64],
    own: Result<R, Error>,
) -> Result<(R, Vec<RangeInclusive<u64>>), Error> {
    let words = sayings.iter().map(|&(_, word)| word).chain([u64::from(own.is_err())]).chain(numbers.iter().copied());
    // The largest of all values and, as the complement of the largest of all complements, the smallest.
    let mine: Vec<u64> = words.flat_map(|word| [word, !word]).collect();
    let mut most = vec![0u64; mine.len()];
    // SAFETY: both lists have as many numbers as are said.
    let code = unsafe {
        let (word, max) = (ffi::RSMPI_UINT64_T, ffi::RSMPI_MAX);
        ffi::PMPI_Allreduce(mine.as_ptr().cast(), most.as_mut_ptr().cast(), mine.len() as c_int, word, max, comm)
    };
    check("MPI_Allreduce", code)?;
    let result = own?;
    let failed = most[2 * sayings.len()] == 1;
    if failed {
        return Err(Error::Disagree { what: "whether the call is possible; another rank says why not" });
    }
    match sayings.iter().zip(most.chunks(2)).find(|(_, words)| words[0] != !words[1]) {
        Some(((what, _), _)) => Err(Error::Disagree { what }),
        None => Ok((result, most[2 * sayings.len() + 2..].chunks(2).map(|words| !words[1]..=words[0]).collect())),
    }
}

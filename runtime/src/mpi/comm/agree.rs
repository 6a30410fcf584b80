//! Compares the arguments of all ranks before a request is made.
//!
//! All ranks make a request together, so they can compare their arguments: afterwards both ends know the length of
//! every message. A rank that has an error reports it instead, and then no rank gets a request.

use crate::error::Error;
use crate::mpi::process::code::check;
use ::mpi::ffi;
use std::ffi::c_int;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;

/// A value that must be equal on all ranks: its name, and this rank's value.
pub(crate) type ComparedValue = (&'static str, u64);

/// A hash of a value.
pub(crate) fn digest(value: &impl Hash) -> u64 {
    // This hasher has constant keys, so equal values have equal hashes on all ranks.
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Compares values across ranks. If this rank has an error, reports that to the others and returns it. Collective.
///
/// Every rank must pass the same number of values.
pub(crate) fn agree<R>(comm: ffi::MPI_Comm, values: &[ComparedValue], own: Result<R, Error>) -> Result<R, Error> {
    agree_and_hear(comm, values, &[], own).map(|(result, _)| result)
}

/// Like [`agree`]; also returns the minimum and maximum of each of `numbers`, which may differ between ranks.
/// Collective.
///
/// Every rank must pass the same number of `values` and the same number of `numbers`.
pub(crate) fn agree_and_hear<R>(
    comm: ffi::MPI_Comm,
    values: &[ComparedValue],
    numbers: &[u64],
    own: Result<R, Error>,
) -> Result<(R, Vec<RangeInclusive<u64>>), Error> {
    let words = values.iter().map(|&(_, word)| word).chain([u64::from(own.is_err())]).chain(numbers.iter().copied());
    // The maximum of all values and, as the complement of the maximum of all complements, the minimum.
    let mine: Vec<u64> = words.flat_map(|word| [word, !word]).collect();
    let mut most = vec![0u64; mine.len()];
    // SAFETY: both lists have `mine.len()` numbers.
    let code = unsafe {
        let (word, max) = (ffi::RSMPI_UINT64_T, ffi::RSMPI_MAX);
        ffi::PMPI_Allreduce(mine.as_ptr().cast(), most.as_mut_ptr().cast(), mine.len() as c_int, word, max, comm)
    };
    check("MPI_Allreduce", code)?;
    let result = own?;
    let failed = most[2 * values.len()] == 1;
    if failed {
        return Err(Error::Disagree { what: "whether the call is possible; another rank says why not" });
    }
    match values.iter().zip(most.chunks(2)).find(|(_, words)| words[0] != !words[1]) {
        Some(((what, _), _)) => Err(Error::Disagree { what }),
        None => Ok((result, most[2 * values.len() + 2..].chunks(2).map(|words| !words[1]..=words[0]).collect())),
    }
}

//! The profile of a job: the first rank reads it, and all ranks get what it has read.

use crate::error::Error;
use crate::mpi::code::check;
use crate::mpi::state::Group;
use crate::profile::Profile;
use ::mpi::ffi;

/// Names the file with the times of this machine.
const VARIABLE: &str = "ROUNDEL_PROFILE";

/// The profile that the environment of the first rank names, or the usual one. Collective over the group.
pub(in crate::mpi) fn profile(group: &Group) -> Result<Profile, Error> {
    let read = if group.rank == 0 { read() } else { Ok(String::new()) };
    // An error travels as a text, too: all ranks must hear of it.
    let (failed, text) = match &read {
        Ok(text) => (false, text.clone()),
        Err(error) => (true, error.to_string()),
    };
    let (failed, text) = spread(group.comm.raw(), failed, text)?;
    match (read, failed) {
        (Err(error), _) => Err(error),
        (Ok(_), true) => Err(Error::Profile { file: "of the first rank".into(), reason: text }),
        (Ok(_), false) if text.is_empty() => Ok(Profile::default()),
        // The first rank has parsed it before.
        (Ok(_), false) => parse(&text, "of the first rank"),
    }
}

/// The profile that the environment of this process names, or the usual one.
pub(in crate::mpi) fn own_profile() -> Result<Profile, Error> {
    match read()? {
        text if text.is_empty() => Ok(Profile::default()),
        text => parse(&text, VARIABLE),
    }
}

/// The text of the profile, if there is one and it is one.
fn read() -> Result<String, Error> {
    let Some(file) = std::env::var_os(VARIABLE).filter(|file| !file.is_empty()) else { return Ok(String::new()) };
    let name = file.to_string_lossy().into_owned();
    let unreadable = |error: std::io::Error| Error::Profile { file: name.clone(), reason: error.to_string() };
    let text = std::fs::read_to_string(&file).map_err(unreadable)?;
    parse(&text, &name).map(|_| text)
}

fn parse(text: &str, file: &str) -> Result<Profile, Error> {
    Profile::parse(text).map_err(|error| Error::Profile { file: file.into(), reason: error.to_string() })
}

/// What the first rank says.
fn spread(comm: ffi::MPI_Comm, failed: bool, text: String) -> Result<(bool, String), Error> {
    let mut head = [u64::from(failed), text.len() as u64];
    // SAFETY: two numbers of the first rank for all others.
    let code = unsafe { ffi::PMPI_Bcast(head.as_mut_ptr().cast(), 2, ffi::RSMPI_UINT64_T, 0, comm) };
    check("MPI_Bcast", code)?;
    let mut bytes = text.into_bytes();
    if head[1] == 0 {
        return Ok((head[0] == 1, String::new()));
    }
    bytes.resize(head[1] as usize, 0);
    // SAFETY: as many bytes as the first rank has said.
    let code = unsafe { ffi::PMPI_Bcast(bytes.as_mut_ptr().cast(), head[1] as i32, ffi::RSMPI_UINT8_T, 0, comm) };
    check("MPI_Bcast", code)?;
    Ok((head[0] == 1, String::from_utf8_lossy(&bytes).into_owned()))
}

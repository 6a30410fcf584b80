//! The profile of a job: the first rank reads it and sends it to all ranks.

use crate::choice::profile::Profile;
use crate::error::Error;
use crate::mpi::comm::own::OwnComm;
use crate::mpi::process::code::check;
use ::mpi::ffi;

/// Names the file with the profile of this machine.
const VARIABLE: &str = "ROUNDEL_PROFILE";

/// The profile that the first rank's environment names, or the default. Collective over the group.
pub(crate) fn profile(group: &OwnComm) -> Result<Profile, Error> {
    let reading = Reading::new(group.rank);
    let mut head = reading.head();
    // SAFETY: one number, from the first rank to all others.
    let code = unsafe { ffi::PMPI_Bcast((&raw mut head).cast(), 1, ffi::RSMPI_UINT64_T, 0, group.comm.raw()) };
    check("MPI_Bcast", code)?;
    reading.share(group, head)
}

/// The profile's text, read by the first rank; empty on all others.
pub(crate) struct Reading(Result<String, Error>);

impl Reading {
    pub(crate) fn new(rank: usize) -> Self {
        Reading(if rank == 0 { read() } else { Ok(String::new()) })
    }

    /// The length of the text, and whether the text is an error message, in one number. The first rank has the
    /// largest, which all ranks must get.
    pub(crate) fn head(&self) -> u64 {
        match &self.0 {
            Ok(text) => 2 * text.len() as u64,
            // An error is sent as text too, so that all ranks return it.
            Err(error) => 2 * error.to_string().len() as u64 + 1,
        }
    }

    /// The profile, given the first rank's `head`. Collective, unless there is nothing to share.
    pub(crate) fn share(self, group: &OwnComm, head: u64) -> Result<Profile, Error> {
        if head == 0 {
            return Ok(Profile::default());
        }
        let (length, failed) = (head / 2, head % 2 == 1);
        let mut bytes = match &self.0 {
            Ok(text) => text.clone(),
            Err(error) => error.to_string(),
        }
        .into_bytes();
        bytes.resize(length as usize, 0);
        // SAFETY: the buffer has as many bytes as the first rank sends.
        let code = unsafe {
            ffi::PMPI_Bcast(bytes.as_mut_ptr().cast(), length as i32, ffi::RSMPI_UINT8_T, 0, group.comm.raw())
        };
        check("MPI_Bcast", code)?;
        self.0?;
        let (file, text) = ("of the first rank", String::from_utf8_lossy(&bytes).into_owned());
        // The first rank has already parsed it.
        if failed { Err(Error::Profile { file: file.into(), reason: text }) } else { parse(&text, file) }
    }
}

/// The profile that the environment of this process names, or the default.
pub(crate) fn own_profile() -> Result<Profile, Error> {
    match read()? {
        text if text.is_empty() => Ok(Profile::default()),
        text => parse(&text, VARIABLE),
    }
}

/// The text of the profile; empty if there is none.
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

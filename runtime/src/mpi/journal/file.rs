//! The trace file of this process.

use crate::error::Error;
use crate::mpi::process::code::check;
use crate::mpi::process::say::say;
use ::mpi::ffi;
use std::ffi::c_int;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A file; `None` after a write has failed.
type Open = Mutex<Option<(PathBuf, File)>>;

/// The file, or why it could not be opened. All communicators share it.
static FILE: OnceLock<Result<Open, String>> = OnceLock::new();

/// Opens `PATH.R`, where R is this process's rank in the world, unless it is open.
pub(crate) fn open(path: &Path) -> Result<(), Error> {
    let made = FILE.get_or_init(|| create(path).map(|file| Mutex::new(Some(file))));
    made.as_ref().map(|_| ()).map_err(|reason| Error::Settings { reason: reason.clone() })
}

fn create(path: &Path) -> Result<(PathBuf, File), String> {
    let (rank, size) = world().map_err(|error| error.to_string())?;
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{rank}"));
    let path = PathBuf::from(name);
    let header = super::line::header(rank, size);
    let written = File::create(&path).and_then(|mut file| file.write_all(header.as_bytes()).map(|()| file));
    match written {
        Ok(file) => Ok((path, file)),
        Err(reason) => Err(format!("ROUNDEL_TRACE: cannot write {}: {reason}; correct the path", path.display())),
    }
}

/// This process's rank in the world, and the number of ranks.
fn world() -> Result<(c_int, c_int), Error> {
    let (mut rank, mut size) = (0, 0);
    // SAFETY: the world is live while collectives run.
    unsafe {
        check("MPI_Comm_rank", ffi::MPI_Comm_rank(ffi::RSMPI_COMM_WORLD, &mut rank))?;
        check("MPI_Comm_size", ffi::MPI_Comm_size(ffi::RSMPI_COMM_WORLD, &mut size))?;
    }
    Ok((rank, size))
}

/// Writes a line at once, so that it is in the file even if the job is killed. A failure does not stop the call,
/// because the other ranks would wait for this one; it is reported, and nothing more is written.
pub(crate) fn write(line: &str) {
    let Some(Ok(file)) = FILE.get() else { return };
    let mut open = file.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((path, file)) = open.as_mut() else { return };
    if let Err(reason) = file.write_all(line.as_bytes()) {
        say(format_args!("ROUNDEL_TRACE: cannot write {}: {reason}; the rest is not traced", path.display()));
        *open = None;
    }
}

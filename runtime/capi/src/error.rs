//! Errors: an MPI error class for the program and a message for its user.

use engine::mpi::raw;
use engine::selection::{self, ForceError, SettingsError};
use mpi::ffi;
use roundel_spec::Kind;
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// MPI's return code for success.
pub(crate) const SUCCESS: c_int = ffi::MPI_SUCCESS as c_int;

/// Why a function of this library failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiFailure {
    #[error("MPI is not running: call MPI_Init before, and nothing after MPI_Finalize")]
    NotRunning,
    #[error("the communicator is MPI_COMM_NULL: call on the ranks of a communicator alone")]
    NoCommunicator,
    #[error("{what} is NULL: give the address of one")]
    Null { what: &'static str },
    #[error("{what} is MPI_DATATYPE_NULL: give a datatype that was committed")]
    NoDatatype { what: &'static str },
    #[error("{what} is {found}: give 0 or more")]
    Negative { what: &'static str, found: c_int },
    #[error("{what} is MPI_IN_PLACE: give a buffer")]
    InPlace { what: &'static str },
    #[error("`{found}` names no algorithm: write `collective/algorithm`, such as `allreduce/nap`")]
    NoName { found: String },
    #[error(
        "`{found}` is a plan with ports, which only persistent requests of Rust programs run: write the name of an \
         algorithm"
    )]
    Ports { found: String },
    #[error("{name} is an algorithm of another collective, and this is {kind}: take one of `roundel list {kind}`")]
    OtherCollective { name: String, kind: Kind },
    #[error(
        "`{found}` is no collective: write allgather, allreduce, reduce_scatter, alltoall, broadcast or the like"
    )]
    NoCollective { found: String },
    #[error("this request is NULL: prepare one with a function whose name ends with `_init`")]
    NoRequest,
    #[error("this request is running: wait for it first")]
    Running,
    #[error("this request runs once: start what a function has prepared whose name ends with `_init`")]
    Once,
    #[error("this request was made by another thread: let that one start it and wait for it")]
    OtherThread,
    #[error("cannot read {}: {source}; correct the path", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{}: {source}", path.display())]
    Selection { path: PathBuf, source: selection::Error },
    #[error(transparent)]
    Name(#[from] ForceError),
    #[error(transparent)]
    Environment(#[from] SettingsError),
    #[error(transparent)]
    Call(#[from] engine::Error),
    #[error("{0}; this is a fault of Roundel, please report it")]
    Panic(String),
}

impl ApiFailure {
    /// The most specific error class.
    fn class(&self) -> c_int {
        let class = match self {
            ApiFailure::NoCommunicator => ffi::MPI_ERR_COMM,
            ApiFailure::NoDatatype { .. } => ffi::MPI_ERR_TYPE,
            ApiFailure::Negative { .. } => ffi::MPI_ERR_COUNT,
            ApiFailure::InPlace { .. } => ffi::MPI_ERR_BUFFER,
            ApiFailure::NoRequest | ApiFailure::Running | ApiFailure::Once | ApiFailure::OtherThread => {
                ffi::MPI_ERR_REQUEST
            }
            ApiFailure::Read { .. } => ffi::MPI_ERR_NO_SUCH_FILE,
            ApiFailure::NotRunning | ApiFailure::Environment(_) => ffi::MPI_ERR_OTHER,
            ApiFailure::Panic(_) => ffi::MPI_ERR_INTERN,
            ApiFailure::Call(error) => return raw::class(error),
            _ => ffi::MPI_ERR_ARG,
        };
        class as c_int
    }
}

/// Runs something that returns a code, and catches panics. An error is stored, and no error handler is called.
pub(crate) fn quiet(what: impl FnOnce() -> Result<c_int, ApiFailure>) -> c_int {
    caught(what).unwrap_or_else(|failure| {
        remember(&failure);
        failure.class()
    })
}

/// The same for a call on a communicator, whose error handler is called; for `MPI_COMM_NULL`, that of
/// `MPI_COMM_WORLD`.
pub(crate) fn guard(function: &str, comm: ffi::MPI_Comm, what: impl FnOnce() -> Result<c_int, ApiFailure>) -> c_int {
    if !runs() {
        return quiet(|| Err(ApiFailure::NotRunning));
    }
    // SAFETY: a constant.
    let nobody = comm == unsafe { ffi::RSMPI_COMM_NULL };
    let result = if nobody { Err(ApiFailure::NoCommunicator) } else { caught(what) };
    result.unwrap_or_else(|failure| {
        // SAFETY: a constant.
        raise(function, if nobody { unsafe { ffi::RSMPI_COMM_WORLD } } else { comm }, &failure)
    })
}

/// Whether MPI is initialised, and not finalised.
fn runs() -> bool {
    let (mut begun, mut over) = (0, 0);
    // SAFETY: both may be called at any time.
    unsafe {
        ffi::MPI_Initialized(&mut begun);
        ffi::MPI_Finalized(&mut over);
    }
    begun != 0 && over == 0
}

fn caught<T>(what: impl FnOnce() -> Result<T, ApiFailure>) -> Result<T, ApiFailure> {
    catch_unwind(AssertUnwindSafe(what)).unwrap_or_else(|panic| Err(ApiFailure::Panic(words(&*panic))))
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().map(String::from);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".into())
}

/// Reports to a communicator's error handler that a function has failed.
#[cold]
fn raise(function: &str, comm: ffi::MPI_Comm, failure: &ApiFailure) -> c_int {
    remember(failure);
    if let ApiFailure::Call(error) = failure {
        // SAFETY: MPI runs, and the communicator is live, as the caller of the function has promised.
        return unsafe { raw::raise(comm, function, error) };
    }
    let class = failure.class();
    // SAFETY: as above; a class is a code.
    unsafe { raw::tell(comm, function, failure, class) };
    class
}

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

fn remember(failure: &ApiFailure) {
    LAST.set(failure.to_string());
}

/// The text of this thread's last error, in UTF-8.
///
/// Writes at most `length` bytes to `buffer`, including the final 0; with a length of 0, `buffer` may be NULL. Returns
/// the length of the whole text in bytes, without the 0. Successful calls leave the text unchanged; it is empty before
/// the first error. Errors of the MPI library itself are not included: `MPI_Error_string` describes those.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_last_error(buffer: *mut c_char, length: usize) -> usize {
    // SAFETY: the caller promises a buffer of this length.
    LAST.with_borrow(|text| unsafe { write(text, buffer, length) })
}

/// Writes as much of a text as there is room for.
///
/// # Safety
/// The buffer has `length` bytes, or is null.
pub(crate) unsafe fn write(text: &str, buffer: *mut c_char, length: usize) -> usize {
    if !buffer.is_null() && length > 0 {
        let most = (0..=text.len().min(length - 1)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        // SAFETY: at most `length - 1` bytes, and one more.
        unsafe {
            buffer.copy_from_nonoverlapping(text.as_ptr().cast(), most);
            buffer.add(most).write(0);
        }
    }
    text.len()
}

//! Handles that select the implementation of a call.

use crate::error::{ApiFailure, SUCCESS, quiet, write};
use engine::mpi::raw::{self, By, MpiCall};
use engine::program::shared::CopyPath;
use engine::selection::{self, Force, ForceError, Implementation, Selection, Settings};
use roundel_spec::Kind;
use std::ffi::{CStr, c_char, c_int};
use std::path::PathBuf;

/// How calls run: by one algorithm, or by a selection. NULL stands for the settings in the environment, or the default.
pub struct CAlgorithm(AlgorithmSource);

enum AlgorithmSource {
    /// By this algorithm; a call that it does not serve is an error.
    One(Kind, Box<selection::Algorithm>),
    /// By the MPI library.
    Library(Kind),
    /// Through the node's shared memory; a call that it does not serve is an error.
    SharedMemory(Kind, CopyPath),
    /// By rules.
    Rules(Box<Settings>),
}

/// The decider of a call, from a handle.
///
/// # Safety
/// The handle is null or live.
pub(crate) unsafe fn who<'a>(how: *const CAlgorithm, call: &MpiCall) -> Result<By<'a>, ApiFailure> {
    // SAFETY: the caller promises it.
    match unsafe { how.as_ref() }.map(|algorithm| &algorithm.0) {
        None => Ok(By::Environment),
        Some(AlgorithmSource::Rules(settings)) => Ok(By::Settings(settings)),
        Some(AlgorithmSource::One(kind, algorithm)) if *kind == call.kind() => Ok(By::Algorithm(algorithm)),
        Some(AlgorithmSource::Library(kind)) if *kind == call.kind() => Ok(By::Library),
        Some(AlgorithmSource::SharedMemory(kind, path)) if *kind == call.kind() => Ok(By::SharedMemory(*path)),
        Some(AlgorithmSource::One(_, algorithm)) => other(algorithm.name().into(), call.kind()),
        Some(AlgorithmSource::Library(kind)) => other(format!("{kind}/library"), call.kind()),
        Some(AlgorithmSource::SharedMemory(kind, path)) => {
            other(format!("{kind}/{}", Implementation::SharedMemory(*path)), call.kind())
        }
    }
}

fn other<T>(name: String, kind: Kind) -> Result<T, ApiFailure> {
    Err(ApiFailure::OtherCollective { name, kind })
}

/// Finds an algorithm by its name.
///
/// Names are those of `roundel list`, such as "allreduce/nap". Parameters follow as in ROUNDEL_FORCE:
/// "alltoall/k-bruck:radix=4" or "allreduce/cyclic-shift:ports=1+2". "allreduce/library" is the MPI library's own
/// function. A call of another collective, or one for which the algorithm is not proved, is an error.
///
/// Returns MPI_SUCCESS, or an error class; no error handler is called. Free the handle with roundel_algorithm_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_algorithm_create(name: *const c_char, algorithm: *mut *mut CAlgorithm) -> c_int {
    // SAFETY: the caller promises a text that ends with 0, and room for a handle.
    quiet(|| unsafe { give(algorithm, || named(&text("the name", name)?)) })
}

/// Reads a selection file, and checks its rules against the proofs.
///
/// Calls that no rule matches run by default; the MPI library serves the rest. Of the other environment variables,
/// ROUNDEL_REPRODUCIBLE, ROUNDEL_DEVICE, ROUNDEL_EXPLAIN and ROUNDEL_TRACE apply. All ranks must read the same rules.
///
/// Returns MPI_SUCCESS, or an error class; no error handler is called, and roundel_last_error() names file and line.
/// Free the handle with roundel_algorithm_free().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_selection_create(path: *const c_char, selection: *mut *mut CAlgorithm) -> c_int {
    // SAFETY: the caller promises a text that ends with 0, and room for a handle.
    quiet(|| unsafe { give(selection, || rules(text("the path", path)?.into())) })
}

/// Frees a handle, and sets it to NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_algorithm_free(algorithm: *mut *mut CAlgorithm) -> c_int {
    quiet(|| {
        // SAFETY: the caller promises a handle that was made here and is not freed, or NULL.
        let algorithm =
            unsafe { algorithm.as_mut() }.ok_or(ApiFailure::Null { what: "the address of the handle" })?;
        let freed = std::mem::replace(algorithm, std::ptr::null_mut());
        if !freed.is_null() {
            // SAFETY: it was made by `give`, and is not used any more.
            drop(unsafe { Box::from_raw(freed) });
        }
        Ok(SUCCESS)
    })
}

/// Describes in one line how a call would run, why, and what is proved about it.
///
/// The call is one of `collective` ("allreduce") by `ranks` ranks that fill nodes of `ppn`, with `bytes` bytes as
/// docs/selection.md counts them; its operation, if any, commutes. The text is written as by roundel_last_error(), and
/// its length is written to `needed` unless that is NULL. May be called without MPI. Returns MPI_SUCCESS, or an error
/// class; no error handler is called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_explain(
    how: *const CAlgorithm,
    collective: *const c_char,
    ranks: c_int,
    ppn: c_int,
    bytes: u64,
    buffer: *mut c_char,
    length: usize,
    needed: *mut usize,
) -> c_int {
    quiet(|| {
        // SAFETY: the caller promises live handles, a text that ends with 0, and a buffer of `length` bytes.
        unsafe {
            let call = question(&text("the collective", collective)?, ranks, ppn, bytes)?;
            let long = write(&explained(how.as_ref(), &call)?, buffer, length);
            needed.as_mut().into_iter().for_each(|needed| *needed = long);
        }
        Ok(SUCCESS)
    })
}

fn question(collective: &str, ranks: c_int, ppn: c_int, bytes: u64) -> Result<selection::Question, ApiFailure> {
    let kind = collective.replace('-', "_").parse();
    let kind: Kind = kind.map_err(|_| ApiFailure::NoCollective { found: collective.into() })?;
    let at_least_one = |what, found| match usize::try_from(found) {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(ApiFailure::Negative { what, found }),
    };
    Ok(selection::Question::new(kind, at_least_one("ranks", ranks)?, at_least_one("ppn", ppn)?, bytes))
}

fn explained(how: Option<&CAlgorithm>, call: &selection::Question) -> Result<String, ApiFailure> {
    Ok(match how.map(|algorithm| &algorithm.0) {
        None => raw::own_settings()?.choose(call).explain(),
        Some(AlgorithmSource::Rules(settings)) => settings.choose(call).explain(),
        Some(AlgorithmSource::Library(kind)) if *kind == call.kind => {
            format!("{call}: library; {}", Implementation::Library.proof())
        }
        Some(AlgorithmSource::One(kind, algorithm)) if *kind == call.kind => {
            match Implementation::Catalogue(*algorithm.clone()).serves(call) {
                Ok(()) => format!("{call}: {algorithm}; {}", algorithm.proof()),
                Err(reason) => format!("{call}: {algorithm} does not serve this call: {reason}"),
            }
        }
        Some(AlgorithmSource::SharedMemory(kind, path)) if *kind == call.kind => {
            let memory = Implementation::SharedMemory(*path);
            match memory.serves(call) {
                Ok(()) => format!("{call}: {memory}; {}", memory.proof()),
                Err(reason) => format!("{call}: {memory} does not serve this call: {reason}"),
            }
        }
        Some(AlgorithmSource::One(_, algorithm)) => return other(algorithm.name().into(), call.kind),
        Some(AlgorithmSource::Library(kind)) => return other(format!("{kind}/library"), call.kind),
        Some(AlgorithmSource::SharedMemory(kind, path)) => {
            return other(format!("{kind}/{}", Implementation::SharedMemory(*path)), call.kind);
        }
    })
}

/// Creates a handle and writes it to `to`.
unsafe fn give(
    to: *mut *mut CAlgorithm,
    make: impl FnOnce() -> Result<AlgorithmSource, ApiFailure>,
) -> Result<c_int, ApiFailure> {
    // SAFETY: the caller promises room for a handle, or null.
    let to = unsafe { to.as_mut() }.ok_or(ApiFailure::Null { what: "the address of the handle" })?;
    *to = std::ptr::null_mut();
    *to = Box::into_raw(Box::new(CAlgorithm(make()?)));
    Ok(SUCCESS)
}

unsafe fn text(what: &'static str, from: *const c_char) -> Result<String, ApiFailure> {
    if from.is_null() {
        return Err(ApiFailure::Null { what });
    }
    // SAFETY: the caller promises that it ends with 0.
    Ok(unsafe { CStr::from_ptr(from) }.to_string_lossy().into_owned())
}

/// `allreduce/nap` is what `ROUNDEL_FORCE` calls `allreduce:nap`.
fn named(name: &str) -> Result<AlgorithmSource, ApiFailure> {
    let none = || ApiFailure::NoName { found: name.into() };
    let mut forced = Force::read(&name.replacen('/', ":", 1)).map_err(|unforced| match unforced {
        ForceError::Shape { .. } => none(),
        other => other.into(),
    })?;
    let (Some(Force { kind, implementation }), true) = (forced.pop(), forced.is_empty()) else { return Err(none()) };
    match implementation {
        Implementation::Catalogue(algorithm) => Ok(AlgorithmSource::One(kind, Box::new(algorithm))),
        Implementation::Library => Ok(AlgorithmSource::Library(kind)),
        Implementation::SharedMemory(path) => Ok(AlgorithmSource::SharedMemory(kind, path)),
        Implementation::Ports(_) => Err(ApiFailure::Ports { found: name.into() }),
    }
}

fn rules(path: PathBuf) -> Result<AlgorithmSource, ApiFailure> {
    let unread = |source| ApiFailure::Read { path: path.clone(), source };
    let content = std::fs::read_to_string(&path).map_err(unread)?;
    let selection =
        Selection::parse(&content).map_err(|source| ApiFailure::Selection { path: path.clone(), source })?;
    let others =
        |name| (!matches!(name, "ROUNDEL_SELECTION" | "ROUNDEL_FORCE")).then(|| std::env::var_os(name)).flatten();
    let settings = Settings::from_variables(others)?;
    Ok(AlgorithmSource::Rules(Box::new(Settings { selection, file: Some(path), ..settings })))
}

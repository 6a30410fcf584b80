//! Non-blocking and persistent calls.

use crate::error::{ApiFailure, SUCCESS, guard, quiet};
use crate::running::{RunningCall, is_anything, progress};
use engine::mpi::raw::PendingCall;
use mpi::ffi;
use std::ffi::c_int;
use std::rc::Rc;
use std::thread::{self, ThreadId};

/// A call that was started or prepared. NULL stands for no call.
pub struct CRequest {
    comm: ffi::MPI_Comm,
    owner: ThreadId,
    persistent: bool,
    /// Whether it was started, and the program has not been told that it is complete.
    active: bool,
    work: RequestWork,
}

enum RequestWork {
    Ours(Rc<RunningCall>),
    Library(Library),
}

/// A request of the library.
struct Library {
    request: ffi::MPI_Request,
    again: Option<StartMode>,
}

/// How the library starts a persistent call.
#[allow(dead_code, reason = "one or the other, as MPI has persistent collectives or not")]
pub(crate) enum StartMode {
    /// With a request that is created once.
    Made(Box<dyn Fn(*mut ffi::MPI_Request) -> c_int>),
    /// With a new request each time.
    Again(Box<dyn Fn(*mut ffi::MPI_Request) -> c_int>),
}

/// How the library prepares a call: with a persistent request if it has them, otherwise with a non-blocking call each
/// time.
macro_rules! prepares {
    ($init:ident or $begin:ident ( $($argument:expr),* $(,)? )) => {{
        #[cfg(persistent)]
        // SAFETY: the arguments are those of a call that the library would accept.
        let library = move |request| unsafe { ffi::$init($($argument,)* ffi::RSMPI_INFO_NULL, request) };
        #[cfg(not(persistent))]
        // SAFETY: the arguments are those of a call that the library would accept, and stay until the request is free.
        let library = move |request| unsafe { ffi::$begin($($argument,)* request) };
        if cfg!(persistent) {
            crate::request::StartMode::Made(Box::new(library))
        } else {
            crate::request::StartMode::Again(Box::new(library))
        }
    }};
}
pub(crate) use prepares;

impl CRequest {
    /// A request that runs once. Starts it.
    pub(crate) fn once(comm: ffi::MPI_Comm, operation: PendingCall) -> Result<Self, ApiFailure> {
        let running = RunningCall::new(operation);
        running.start()?;
        Ok(CRequest::new(comm, false, RequestWork::Ours(running)))
    }

    /// A request that can be started many times.
    pub(crate) fn many(comm: ffi::MPI_Comm, operation: PendingCall) -> Self {
        CRequest::new(comm, true, RequestWork::Ours(RunningCall::new(operation)))
    }

    /// Starts a call of the library, and writes its request to `to`.
    pub(crate) fn begun(
        comm: ffi::MPI_Comm,
        begin: impl FnOnce(*mut ffi::MPI_Request) -> c_int,
        to: &mut *mut CRequest,
    ) -> Result<c_int, ApiFailure> {
        let mut library = Library::new(None);
        match begin(&mut library.request) {
            SUCCESS => CRequest::new(comm, false, RequestWork::Library(library)).give(to),
            code => Ok(code),
        }
    }

    /// Writes to `to` a request that the library can start many times.
    pub(crate) fn kept(comm: ffi::MPI_Comm, begin: StartMode, to: &mut *mut CRequest) -> Result<c_int, ApiFailure> {
        let mut library = Library::new(None);
        let code = match &begin {
            StartMode::Made(make) => make(&mut library.request),
            StartMode::Again(_) => SUCCESS,
        };
        library.again = Some(begin);
        if code == SUCCESS { CRequest::new(comm, true, RequestWork::Library(library)).give(to) } else { Ok(code) }
    }

    /// Writes the request to `to`.
    pub(crate) fn give(self, to: &mut *mut CRequest) -> Result<c_int, ApiFailure> {
        *to = Box::into_raw(Box::new(self));
        Ok(SUCCESS)
    }

    fn new(comm: ffi::MPI_Comm, persistent: bool, work: RequestWork) -> Self {
        CRequest { comm, owner: thread::current().id(), persistent, active: !persistent, work }
    }

    fn start(&mut self) -> Result<c_int, ApiFailure> {
        self.is_own()?;
        match (self.persistent, self.active) {
            (false, _) => return Err(ApiFailure::Once),
            (_, true) => return Err(ApiFailure::Running),
            _ => {}
        }
        let code = match &mut self.work {
            RequestWork::Ours(running) => running.start().map(|()| SUCCESS)?,
            RequestWork::Library(library) => library.start(),
        };
        self.active = code == SUCCESS;
        Ok(code)
    }

    /// The return code, if the call is complete. If `patient`, waits for a call of the library.
    fn test(&mut self, patient: bool) -> Result<Option<c_int>, ApiFailure> {
        if !self.active {
            return Ok(Some(SUCCESS));
        }
        let end = match &mut self.work {
            RequestWork::Ours(running) => running.end().transpose(),
            RequestWork::Library(library) if patient => Ok(Some(library.wait())),
            RequestWork::Library(library) => Ok(library.test()),
        };
        self.active = matches!(end, Ok(None));
        Ok(end?)
    }

    fn is_own(&self) -> Result<(), ApiFailure> {
        if self.owner == thread::current().id() { Ok(()) } else { Err(ApiFailure::OtherThread) }
    }
}

impl Library {
    fn new(again: Option<StartMode>) -> Self {
        // SAFETY: a constant.
        Library { request: unsafe { ffi::RSMPI_REQUEST_NULL }, again }
    }

    fn start(&mut self) -> c_int {
        match &self.again {
            Some(StartMode::Again(begin)) => begin(&mut self.request),
            // SAFETY: a persistent request that is not running.
            _ => unsafe { ffi::MPI_Start(&mut self.request) },
        }
    }

    fn test(&mut self) -> Option<c_int> {
        let mut complete = 0;
        // SAFETY: a live request, whose status is not needed.
        let code = unsafe { ffi::MPI_Test(&mut self.request, &mut complete, ffi::RSMPI_STATUS_IGNORE) };
        (code != SUCCESS || complete != 0).then_some(code)
    }

    /// Waits without progressing any other call of Roundel.
    fn wait(&mut self) -> c_int {
        // SAFETY: a live request, whose status is not needed.
        unsafe { ffi::MPI_Wait(&mut self.request, ffi::RSMPI_STATUS_IGNORE) }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: a request that is not running; MPI has already freed those that are not persistent.
        unsafe {
            if matches!(self.again, Some(StartMode::Made(_))) && self.request != ffi::RSMPI_REQUEST_NULL {
                ffi::MPI_Request_free(&mut self.request);
            }
        }
    }
}

/// Starts a call that a function with `_init` has prepared. Its buffers belong to the library until it is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_start(request: *mut *mut CRequest) -> c_int {
    // SAFETY: the caller promises a live request.
    unsafe { with(request, CRequest::start) }
}

/// Progresses calls, and sets `flag` to 1 if this one is complete, otherwise to 0.
///
/// When a request that runs once is complete, it is freed and set to NULL; a persistent one can be started again. NULL
/// and a request that was not started count as complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_test(request: *mut *mut CRequest, flag: *mut c_int) -> c_int {
    // SAFETY: the caller promises room for the flag.
    let Some(flag) = (unsafe { flag.as_mut() }) else {
        return refused(ApiFailure::Null { what: "the address of the flag" });
    };
    *flag = 0;
    // SAFETY: the caller promises a live request.
    let Some(request) = (unsafe { request.as_mut() }) else {
        return refused(ApiFailure::Null { what: "the address of the request" });
    };
    match go_on() {
        SUCCESS => {
            // SAFETY: the caller promises a live request.
            let end = unsafe { end(request, false) };
            *flag = c_int::from(end.is_some());
            end.unwrap_or(SUCCESS)
        }
        code => code,
    }
}

/// Waits until a call is complete. Meanwhile, all calls that this thread has started make progress.
///
/// When a request that runs once is complete, it is freed and set to NULL; a persistent one can be started again. NULL
/// and a request that was not started count as complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_wait(request: *mut *mut CRequest) -> c_int {
    // SAFETY: the caller promises a live request.
    unsafe { roundel_waitall(1, request) }
}

/// Waits until all of `count` calls are complete, in any order.
///
/// Reports every failed call to the error handler of its communicator, and returns the code of the last one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_waitall(count: c_int, requests: *mut *mut CRequest) -> c_int {
    match usize::try_from(count) {
        Err(_) => refused(ApiFailure::Negative { what: "the number of requests", found: count }),
        Ok(0) => SUCCESS,
        Ok(_) if requests.is_null() => refused(ApiFailure::Null { what: "the address of requests" }),
        // SAFETY: the caller promises this many live requests.
        Ok(count) => unsafe { wait(std::slice::from_raw_parts_mut(requests, count)) },
    }
}

/// Frees a request that is not running, and sets it to NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roundel_request_free(request: *mut *mut CRequest) -> c_int {
    let is_free = |one: &mut CRequest| {
        one.is_own()?;
        if one.active { Err(ApiFailure::Running) } else { Ok(SUCCESS) }
    };
    // SAFETY: the caller promises a live request, which is not used any more after that.
    unsafe {
        match with(request, is_free) {
            SUCCESS => quiet(|| Ok(free(&mut *request))),
            code => code,
        }
    }
}

/// The name in errors of all functions for requests: it does not matter which of them the program has called.
const REQUESTS: &str = "a function for requests of Roundel";

/// Waits for requests, polling them in turn.
///
/// # Safety
/// They are null or live.
unsafe fn wait(requests: &mut [*mut CRequest]) -> c_int {
    let mut code = SUCCESS;
    loop {
        let (patient, mut left) = (!is_anything(), false);
        for request in requests.iter_mut() {
            // SAFETY: the caller promises it.
            match unsafe { end(request, patient) } {
                None => left = true,
                Some(SUCCESS) => {}
                Some(failed) => code = failed,
            }
        }
        if !left {
            return code;
        }
        match go_on() {
            // There may be more ranks than processors.
            SUCCESS => thread::yield_now(),
            failed => return failed,
        }
    }
}

/// The code of a complete request, which is freed unless it is persistent; `None` if it is not complete. If `patient`,
/// waits for a call of the library.
///
/// # Safety
/// It is null or live.
unsafe fn end(request: &mut *mut CRequest, patient: bool) -> Option<c_int> {
    // SAFETY: the caller promises it.
    let Some(one) = (unsafe { request.as_mut() }) else { return Some(SUCCESS) };
    let mut goes_on = false;
    let code = guard(REQUESTS, one.comm, || {
        one.is_own()?;
        let end = one.test(patient);
        goes_on = matches!(end, Ok(None));
        if !goes_on && !one.persistent {
            // SAFETY: it is complete, and not used any more.
            unsafe { free(request) };
        }
        Ok(end?.unwrap_or(SUCCESS))
    });
    (!goes_on).then_some(code)
}

/// Progresses all calls that this thread has started.
fn go_on() -> c_int {
    if !is_anything() {
        return SUCCESS;
    }
    // SAFETY: a constant.
    guard(REQUESTS, unsafe { ffi::RSMPI_COMM_WORLD }, || {
        progress();
        Ok(SUCCESS)
    })
}

/// Applies a function to a request.
///
/// # Safety
/// It is null or live.
unsafe fn with(request: *mut *mut CRequest, act: impl FnOnce(&mut CRequest) -> Result<c_int, ApiFailure>) -> c_int {
    // SAFETY: the caller promises it.
    let Some(request) = (unsafe { request.as_ref() }) else {
        return refused(ApiFailure::Null { what: "the address of the request" });
    };
    // SAFETY: the caller promises it.
    match unsafe { request.as_mut() } {
        None => refused(ApiFailure::NoRequest),
        Some(one) => guard(REQUESTS, one.comm, || act(one)),
    }
}

/// Reports a failure to the error handler of `MPI_COMM_WORLD`, because it belongs to no other communicator.
fn refused(failure: ApiFailure) -> c_int {
    // SAFETY: a constant.
    guard(REQUESTS, unsafe { ffi::RSMPI_COMM_WORLD }, || Err(failure))
}

/// Frees a request.
///
/// # Safety
/// It was returned by [`CRequest::give`], and is not running.
unsafe fn free(request: &mut *mut CRequest) -> c_int {
    // SAFETY: the caller promises it.
    drop(unsafe { Box::from_raw(std::mem::replace(request, std::ptr::null_mut())) });
    SUCCESS
}

//! Requests that work with all of MPI's functions for requests.
//!
//! The program's request is an empty receive from this process itself, on a private communicator. It completes when
//! Roundel sends the message. After an error, Roundel sends a message that is too long, so that waiting for the
//! request fails.

pub(crate) mod held;
pub(crate) mod start;

use crate::failure::{CallFailure, SUCCESS, guarded};
use crate::progress;
use crate::request::held::HandleUse;
use mpi::ffi::{self, MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request};
use roundel::mpi::raw::PendingCall;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// An operation and its MPI request.
pub(crate) struct ActiveRequest {
    /// The function that the program has called.
    function: &'static str,
    /// The program's communicator, or `MPI_COMM_WORLD` once that was freed.
    comm: Mutex<Comm>,
    /// The tag of the message that completes the request.
    tag: c_int,
    /// The operation itself.
    pub(crate) operation: Mutex<PendingCall>,
    /// Keeps the handles that the operation uses.
    _op: Option<HandleUse<MPI_Op>>,
    _datatypes: [Option<HandleUse<MPI_Datatype>>; 3],
}

// SAFETY: handles are numbers, or addresses that MPI manages; the operation is behind a lock.
unsafe impl Send for ActiveRequest {}
// SAFETY: as above.
unsafe impl Sync for ActiveRequest {}

impl ActiveRequest {
    /// The communicator whose error handler receives errors.
    pub(crate) fn comm(&self) -> MPI_Comm {
        self.comm.lock().unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        with_own(|own| own.free.push(self.tag));
    }
}

/// The communicator and the tags from which requests are made.
#[derive(Default)]
struct Own {
    comm: Option<Comm>,
    /// All tags below this one are in use, or in `free`.
    tags: c_int,
    free: Vec<c_int>,
}

#[derive(Clone, Copy)]
struct Comm(MPI_Comm);

// SAFETY: a handle is a number, or an address that MPI manages.
unsafe impl Send for Comm {}

static OWN: Mutex<Own> = Mutex::new(Own { comm: None, tags: 0, free: Vec::new() });

fn with_own<R>(work: impl FnOnce(&mut Own) -> R) -> R {
    work(&mut OWN.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Own {
    fn tag(&mut self) -> c_int {
        self.free.pop().unwrap_or_else(|| {
            self.tags += 1;
            self.tags - 1
        })
    }

    /// The communicator, created at first use. It is created by a split: a duplicate would copy the program's
    /// attributes.
    fn comm(&mut self) -> Result<MPI_Comm, CallFailure> {
        if let Some(Comm(comm)) = self.comm {
            return Ok(comm);
        }
        // SAFETY: MPI is live; all of these calls are local.
        let comm = unsafe {
            let mut comm = ffi::RSMPI_COMM_NULL;
            check(ffi::PMPI_Comm_split(ffi::RSMPI_COMM_SELF, 0, 0, &mut comm))?;
            check(ffi::PMPI_Comm_set_errhandler(comm, ffi::RSMPI_ERRORS_RETURN))?;
            comm
        };
        self.comm = Some(Comm(comm));
        Ok(comm)
    }
}

fn check(code: c_int) -> Result<(), CallFailure> {
    if code == SUCCESS { Ok(()) } else { Err(CallFailure::Code(code)) }
}

fn job(
    function: &'static str,
    comm: MPI_Comm,
    operation: PendingCall,
) -> Result<(Arc<ActiveRequest>, MPI_Comm), CallFailure> {
    let (own, tag) = with_own(|own| own.comm().map(|comm| (comm, own.tag())))?;
    let (op, datatypes) =
        (operation.op().map(HandleUse::new), operation.datatypes().map(|held| held.map(HandleUse::new)));
    let (comm, operation) = (Mutex::new(Comm(comm)), Mutex::new(operation));
    let job = ActiveRequest { function, comm, tag, operation, _op: op, _datatypes: datatypes };
    Ok((Arc::new(job), own))
}

/// `MPI_Irecv` or `MPI_Recv_init`.
type Receive =
    unsafe extern "C" fn(*mut c_void, c_int, MPI_Datatype, c_int, c_int, MPI_Comm, *mut MPI_Request) -> c_int;

/// The request of a receive without data, which a send to this rank completes.
fn receive(function: Receive, tag: c_int, own: MPI_Comm) -> Result<MPI_Request, CallFailure> {
    // SAFETY: a constant of the library.
    let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
    // SAFETY: nothing is received; the communicator is ours and live.
    check(unsafe { function(null_mut(), 0, ffi::RSMPI_UINT8_T, 0, tag, own, &mut request) })?;
    Ok(request)
}

/// Starts an operation. Waiting for its request frees it.
pub(crate) fn once(
    function: &'static str,
    comm: MPI_Comm,
    operation: PendingCall,
) -> Result<MPI_Request, CallFailure> {
    let (job, own) = job(function, comm, operation)?;
    let request = receive(ffi::PMPI_Irecv, job.tag, own)?;
    start(&job);
    Ok(request)
}

/// Starts the operation of an active request.
fn start(job: &Arc<ActiveRequest>) {
    let started = {
        let mut operation = job.operation.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the program has started the call, so its memory is ours until the request is complete.
        guarded(|| unsafe { operation.start() })
    };
    match started {
        Ok(()) => progress::add(job.clone()),
        Err(failure) => fail(job, &failure),
    }
}

/// Completes the request of an operation.
pub(crate) fn complete(job: &ActiveRequest) {
    send(job, 0);
}

/// Calls the error handler, and completes the request in such a way that waiting for it also fails.
pub(crate) fn fail(job: &ActiveRequest, failure: &CallFailure) {
    failure.raise(job.comm(), job.function);
    send(job, 1);
}

fn send(job: &ActiveRequest, length: c_int) {
    let Some(Comm(own)) = with_own(|own| own.comm) else { return };
    let byte = 0u8;
    let from: *const c_void = (&raw const byte).cast();
    // SAFETY: the byte outlives the call; the receive is posted, so the send does not block.
    unsafe { ffi::PMPI_Send(from, length, ffi::RSMPI_UINT8_T, 0, job.tag, own) };
}

/// The number of persistent requests that Roundel has made.
static PERSISTENT: AtomicUsize = AtomicUsize::new(0);

/// The persistent requests, by handle.
static TABLE: LazyLock<Mutex<HashMap<usize, Arc<ActiveRequest>>>> = LazyLock::new(Mutex::default);

fn table() -> MutexGuard<'static, HashMap<usize, Arc<ActiveRequest>>> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a persistent request.
pub(crate) fn persistent(
    function: &'static str,
    comm: MPI_Comm,
    operation: PendingCall,
) -> Result<MPI_Request, CallFailure> {
    let (job, own) = job(function, comm, operation)?;
    let request = receive(ffi::PMPI_Recv_init, job.tag, own)?;
    table().insert(request.0 as usize, job);
    PERSISTENT.fetch_add(1, Ordering::Relaxed);
    Ok(request)
}

/// Whether Roundel has made any persistent request.
#[inline]
pub(crate) fn any_persistent() -> bool {
    PERSISTENT.load(Ordering::Relaxed) != 0
}

/// The operation of a persistent request.
pub(crate) fn find(request: MPI_Request) -> Option<Arc<ActiveRequest>> {
    if !any_persistent() {
        return None;
    }
    table().get(&(request.0 as usize)).cloned()
}

/// Starts a persistent request of ours.
///
/// # Safety
/// The request belongs to the operation.
pub(crate) unsafe fn restart(request: *mut MPI_Request, job: &Arc<ActiveRequest>) -> c_int {
    // SAFETY: the caller guarantees it.
    let code = unsafe { ffi::PMPI_Start(request) };
    if code == SUCCESS {
        start(job);
    }
    code
}

/// Drops a request that the program frees.
pub(crate) fn forget(request: MPI_Request) {
    if any_persistent() && table().remove(&(request.0 as usize)).is_some() {
        PERSISTENT.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Detaches requests from a communicator that the program frees: MPI may soon reuse its handle.
pub(crate) fn orphan(comm: MPI_Comm) {
    if any_persistent() {
        for job in table().values().filter(|job| job.comm() == comm) {
            // SAFETY: a constant of the library.
            let world = unsafe { ffi::RSMPI_COMM_WORLD };
            *job.comm.lock().unwrap_or_else(PoisonError::into_inner) = Comm(world);
        }
    }
}

/// Frees everything when MPI is finalised.
pub(crate) fn end() {
    let jobs = std::mem::take(&mut *table());
    PERSISTENT.store(0, Ordering::Relaxed);
    drop(jobs);
    if let Some(Comm(mut comm)) = with_own(|own| own.comm.take()) {
        // SAFETY: the communicator is ours, and nothing uses it any more.
        unsafe { ffi::PMPI_Comm_free(&mut comm) };
    }
}

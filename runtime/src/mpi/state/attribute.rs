//! Finds the [`CommState`] of a communicator, through an attribute cached on it.
//!
//! MPI deletes attributes with their communicator, which is when our duplicate must be freed. `MPI_COMM_WORLD` is
//! never freed, and when its attributes are deleted at the end, if at all, it is too late to free another
//! communicator. But MPI guarantees that `MPI_Finalize` first deletes the attributes of `MPI_COMM_SELF`: one
//! attribute there is the hook that cleans up the world.
//!
//! An attribute is not copied: a duplicate that the user makes gets its own state.

use crate::error::Error;
use crate::mpi::cache::repeated::forget;
use crate::mpi::comm::own;
use crate::mpi::handles::datatype;
use crate::mpi::process::code::{OTHER, SUCCESS, check};
use crate::mpi::process::keyval::do_not_copy;
use crate::mpi::process::lock::making;
use crate::mpi::state::CommState;
use ::mpi::ffi;
use ::mpi::topology::Communicator;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{NonNull, null, null_mut};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

/// The attribute's key, or [`NO_KEY`], which is not a C `int`.
static KEY: AtomicI64 = AtomicI64::new(NO_KEY);
const NO_KEY: i64 = i64::MIN;

/// The communicator that a thread used last. Looking up an MPI attribute costs as much as a small message.
#[derive(Clone, Copy)]
struct LastState {
    comm: Option<ffi::MPI_Comm>,
    state: *const CommState,
    epoch: usize,
}

thread_local! {
    static RECENT: Cell<LastState> = const { Cell::new(LastState { comm: None, state: null(), epoch: 0 }) };
}

/// Counts freed states. MPI may reuse the handle of a freed communicator, so a [`LastState`] is valid only as long as
/// no state was freed.
static EPOCH: AtomicUsize = AtomicUsize::new(0);

/// Everything cached by communicator handle is valid as long as this does not change.
#[inline]
pub(crate) fn epoch() -> usize {
    EPOCH.load(Ordering::Acquire)
}

/// The state of a communicator; the first call creates it.
#[inline]
pub(crate) fn state<C: Communicator>(comm: &C) -> Result<&CommState, Error> {
    // SAFETY: the communicator is borrowed as long as the state is.
    unsafe { state_of(comm.as_raw()) }
}

/// The state of a communicator given by its handle; the first call creates it.
///
/// # Safety
/// The communicator must be live as long as the state is used.
#[inline]
pub(crate) unsafe fn state_of<'a>(raw: ffi::MPI_Comm) -> Result<&'a CommState, Error> {
    let recent = RECENT.get();
    let state = if recent.comm == Some(raw) && recent.epoch == EPOCH.load(Ordering::Acquire) {
        recent.state
    } else {
        look_up(raw)?
    };
    // SAFETY: the state lives as long as the attribute, that is, as long as the communicator, which the caller keeps
    // alive.
    Ok(unsafe { &*state })
}

#[inline(never)]
fn look_up(comm: ffi::MPI_Comm) -> Result<*const CommState, Error> {
    let epoch = EPOCH.load(Ordering::Acquire);
    let key = KEY.load(Ordering::Acquire);
    let found = if key == NO_KEY { None } else { find(comm, key as c_int)? };
    let state = match found {
        Some(state) => state.as_ptr().cast_const(),
        None => attach(comm)?.as_ptr().cast_const(),
    };
    RECENT.set(LastState { comm: Some(comm), state, epoch });
    Ok(state)
}

/// The state that is cached on a communicator.
fn find(comm: ffi::MPI_Comm, key: c_int) -> Result<Option<NonNull<CommState>>, Error> {
    let mut value: *mut CommState = null_mut();
    let mut found: c_int = 0;
    // SAFETY: the communicator is live and the key is ours; MPI stores the attribute, a pointer, in `value`.
    let code = unsafe { ffi::MPI_Comm_get_attr(comm, key, (&raw mut value).cast(), &mut found) };
    check("MPI_Comm_get_attr", code)?;
    Ok(if found == 0 { None } else { NonNull::new(value) })
}

/// Caches a new state on a communicator, unless another thread has done so already.
#[cold]
fn attach(comm: ffi::MPI_Comm) -> Result<NonNull<CommState>, Error> {
    let _making = making();
    let key = make_key()?;
    if let Some(state) = find(comm, key)? {
        return Ok(state);
    }
    let state = NonNull::from(Box::leak(Box::<CommState>::default()));
    // SAFETY: the communicator is live and the key is ours; the attribute owns the state from now on.
    let code = unsafe { ffi::MPI_Comm_set_attr(comm, key, state.as_ptr().cast()) };
    if code != SUCCESS {
        // SAFETY: MPI did not take the state, so this is its only owner.
        drop(unsafe { Box::from_raw(state.as_ptr()) });
    }
    check("MPI_Comm_set_attr", code)?;
    Ok(state)
}

/// The key, created once, together with the hook that frees it.
fn make_key() -> Result<c_int, Error> {
    let known = KEY.load(Ordering::Acquire);
    if known != NO_KEY {
        return Ok(known as c_int);
    }
    set_hook()?;
    let key = new_key(delete)?;
    KEY.store(key.into(), Ordering::Release);
    Ok(key)
}

/// Makes MPI call [`end`] at the beginning of `MPI_Finalize`.
fn set_hook() -> Result<(), Error> {
    let mut key = new_key(end)?;
    // SAFETY: MPI_COMM_SELF is always live and the key was just created. A key in use may be freed at once: MPI keeps
    // it until its last attribute is deleted.
    let (set, freed) = unsafe {
        let set = ffi::MPI_Comm_set_attr(ffi::RSMPI_COMM_SELF, key, null_mut());
        (set, ffi::MPI_Comm_free_keyval(&mut key))
    };
    check("MPI_Comm_set_attr", set)?;
    check("MPI_Comm_free_keyval", freed)
}

type Delete = unsafe extern "C" fn(ffi::MPI_Comm, c_int, *mut c_void, *mut c_void) -> c_int;

fn new_key(delete: Delete) -> Result<c_int, Error> {
    let mut key: c_int = 0;
    // SAFETY: both callbacks have the signature that MPI asks for and do not unwind.
    let code = unsafe { ffi::MPI_Comm_create_keyval(Some(do_not_copy), Some(delete), &mut key, null_mut()) };
    check("MPI_Comm_create_keyval", code)?;
    Ok(key)
}

/// The callback with which MPI deletes the attribute: frees the cached state, unless a thread is using it.
unsafe extern "C" fn delete(_comm: ffi::MPI_Comm, _key: c_int, value: *mut c_void, _extra: *mut c_void) -> c_int {
    let free = || {
        let state: *mut CommState = value.cast();
        // SAFETY: the value is what `attach` stored, and it was not freed: MPI deletes an attribute once.
        if unsafe { &*state }.is_busy() {
            return OTHER;
        }
        EPOCH.fetch_add(1, Ordering::Release);
        forget();
        // SAFETY: as above, and with its attribute the state loses its last user.
        unsafe { Box::from_raw(state) }.close()
    };
    catch_unwind(AssertUnwindSafe(free)).unwrap_or(OTHER)
}

/// The callback at the beginning of `MPI_Finalize`: frees the state cached on the world, and the key.
unsafe extern "C" fn end(_comm: ffi::MPI_Comm, _key: c_int, _value: *mut c_void, _extra: *mut c_void) -> c_int {
    catch_unwind(|| end_of_world().map_or(OTHER, |()| SUCCESS)).unwrap_or(OTHER)
}

fn end_of_world() -> Result<(), Error> {
    datatype::end()?;
    own::end()?;
    let key = KEY.swap(NO_KEY, Ordering::AcqRel);
    if key == NO_KEY {
        return Ok(());
    }
    let mut key = key as c_int;
    // SAFETY: the handle is a constant of the library.
    let world = unsafe { ffi::RSMPI_COMM_WORLD };
    if find(world, key)?.is_some() {
        // SAFETY: the world is live until MPI_Finalize continues, and has the attribute.
        check("MPI_Comm_delete_attr", unsafe { ffi::MPI_Comm_delete_attr(world, key) })?;
    }
    // SAFETY: the key is ours, and is not used again.
    check("MPI_Comm_free_keyval", unsafe { ffi::MPI_Comm_free_keyval(&mut key) })
}

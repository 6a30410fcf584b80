//! Where a thread is: in the program, in a collective of Roundel, or in its progress.
//!
//! Roundel's own calls of MPI come through the functions of this library, too. A collective that it calls is the library's.
//! Messages and waits inside of a collective let other operations go on; those inside of progress do not, as they are what
//! goes on.

use mpi::ffi;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// How deep a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// In the program.
    Program,
    /// In a collective.
    Collective,
    /// In the progress of operations.
    Progress,
}

thread_local! {
    static PLACE: Cell<Place> = const { Cell::new(Place::Program) };
}

/// Where this thread is.
#[inline]
pub(crate) fn place() -> Place {
    PLACE.get()
}

/// Whether a call comes from Roundel itself.
#[inline]
pub(crate) fn inside() -> bool {
    PLACE.get() != Place::Program
}

/// Back to where the thread was, when it is dropped.
pub(crate) struct Entered(Place);

/// This thread is there until the value is dropped.
#[inline]
pub(crate) fn enter(place: Place) -> Entered {
    Entered(PLACE.replace(place))
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        PLACE.set(self.0);
    }
}

/// Whether MPI is known to be initialised, and not finalised.
static LIVE: AtomicBool = AtomicBool::new(false);

/// Whether calls can be served: MPI is initialised, and not finalised.
#[inline]
pub(crate) fn live() -> bool {
    LIVE.load(Ordering::Relaxed) || ask()
}

#[cold]
fn ask() -> bool {
    let (mut begun, mut over) = (0, 0);
    // SAFETY: both may be called at any time.
    unsafe {
        ffi::PMPI_Initialized(&mut begun);
        ffi::PMPI_Finalized(&mut over);
    }
    let live = begun != 0 && over == 0;
    LIVE.store(live, Ordering::Relaxed);
    live
}

/// MPI ends.
pub(crate) fn ends() {
    LIVE.store(false, Ordering::Relaxed);
}

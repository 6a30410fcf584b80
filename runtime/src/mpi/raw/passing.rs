//! Calls that go to the library, known again at a glance: whoever repeats one pays next to nothing for being asked about it.
//!
//! Only what never changes is remembered: communicators until one is freed, datatypes and operations that MPI itself names.

use super::call::{Call, Typed};
use super::datatype::facts;
use crate::mpi::attribute::epoch;
use ::mpi::ffi;
use std::cell::Cell;
use std::ffi::c_int;

/// What is equal in two calls that are alike.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Brief {
    /// Which function, and whether it is in place.
    function: u8,
    in_place: bool,
    root: c_int,
    counts: [usize; 2],
    datatypes: [ffi::MPI_Datatype; 2],
    op: Option<ffi::MPI_Op>,
}

/// The last call of a thread that the library has done.
#[derive(Clone, Copy)]
struct Last {
    comm: ffi::MPI_Comm,
    epoch: usize,
    brief: Brief,
}

thread_local! {
    static LAST: Cell<Option<Last>> = const { Cell::new(None) };
}

/// Whether a call is like the last one of this thread, which was the library's.
#[inline]
pub fn passes(comm: ffi::MPI_Comm, call: &Call) -> bool {
    let Some(last) = LAST.get() else { return false };
    last.comm == comm && last.epoch == epoch() && Brief::of(call) == Some(last.brief)
}

/// Remembers that a call is the library's, if that can be remembered.
///
/// # Safety
/// The datatypes of the call are live.
#[cold]
pub(super) unsafe fn remember(comm: ffi::MPI_Comm, call: &Call) {
    let brief = Brief::of(call);
    // SAFETY: the caller promises live datatypes.
    let named = |&datatype: &_| unsafe { facts(datatype) }.is_ok_and(|facts| facts.named);
    let stays = |brief: &Brief| brief.datatypes.iter().all(named) && brief.op.is_none_or(is_named);
    LAST.set(brief.filter(stays).map(|brief| Last { comm, epoch: epoch(), brief }));
}

/// Whether MPI itself names an operation; not all of those are known here.
fn is_named(op: ffi::MPI_Op) -> bool {
    // SAFETY: the handles are constants of the library.
    let named = unsafe {
        use ffi::{RSMPI_BAND, RSMPI_BOR, RSMPI_BXOR, RSMPI_LAND, RSMPI_LOR, RSMPI_LXOR};
        use ffi::{RSMPI_MAX, RSMPI_MIN, RSMPI_PROD, RSMPI_SUM};
        [
            RSMPI_SUM, RSMPI_MAX, RSMPI_MIN, RSMPI_PROD, RSMPI_LAND, RSMPI_LOR, RSMPI_LXOR, RSMPI_BAND, RSMPI_BOR,
            RSMPI_BXOR,
        ]
    };
    named.contains(&op)
}

impl Brief {
    /// None for calls with lists, which take longer to compare than to serve.
    #[inline]
    fn of(call: &Call) -> Option<Brief> {
        let moved = |function, send: Option<Typed>, to: Typed, root| {
            let (from, in_place) = (send.unwrap_or(to), send.is_none());
            let (counts, datatypes) = ([from.count, to.count], [from.datatype, to.datatype]);
            Some(Brief { function, in_place, root, counts, datatypes, op: None })
        };
        let reduced = |function, data: &super::Reduced, count, root| {
            let (in_place, datatypes) = (data.send.is_none(), [data.datatype; 2]);
            Some(Brief { function, in_place, root, counts: [count; 2], datatypes, op: Some(data.op) })
        };
        match call {
            Call::Allgather { send, recv } => moved(0, *send, *recv, 0),
            Call::Alltoall { send, recv } => moved(1, *send, *recv, 0),
            Call::Broadcast { data, root } => moved(2, None, *data, *root),
            Call::Allreduce { data, count } => reduced(5, data, *count, 0),
            Call::Reduce { data, count, root } => reduced(6, data, *count, *root),
            Call::ReduceScatterBlock { data, count } => reduced(7, data, *count, 0),
            // Those with a root have arguments that mean nothing on other ranks.
            Call::Gather { .. } | Call::Scatter { .. } => None,
            Call::Allgatherv { .. } | Call::Alltoallv { .. } | Call::ReduceScatter { .. } => None,
        }
    }
}

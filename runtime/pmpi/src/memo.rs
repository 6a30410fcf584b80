//! Calls that were the library's, so that the next one like it goes there at once.
//!
//! Whose a call is depends on its communicator, counts, datatypes and operation. Only handles that MPI names itself are
//! remembered: those are never freed, and mean the same for ever. Communicators may be freed, and are counted then.

use crate::guard;
use mpi::ffi::{self, MPI_Comm, MPI_Datatype, MPI_Op};
use roundel::mpi::raw::{Call, Reduced, Typed};
use std::cell::Cell;
use std::ffi::c_int;

/// What a call has in common with others that are the library's.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Key {
    comm: MPI_Comm,
    freed: usize,
    function: u8,
    count: [usize; 2],
    datatype: [MPI_Datatype; 2],
    op: Option<MPI_Op>,
    root: c_int,
}

const PLACES: usize = 8;

thread_local! {
    static KEYS: [Cell<Option<Key>>; PLACES] = const { [const { Cell::new(None) }; PLACES] };
}

impl Key {
    /// The key of a call, if it is one that can be remembered.
    #[inline]
    pub(crate) fn of(comm: MPI_Comm, call: &Call) -> Option<Key> {
        let reduced = |function, data: &Reduced, count: usize, root| {
            let in_place = usize::from(data.send.is_none());
            let datatype = [data.datatype; 2];
            Key { comm, freed: guard::freed(), function, count: [count, in_place], datatype, op: Some(data.op), root }
        };
        let moved = |function, send: Option<Typed>, recv: &Typed| {
            let (other, datatype) = send.map_or((usize::MAX, recv.datatype), |send| (send.count, send.datatype));
            let (count, datatype) = ([recv.count, other], [recv.datatype, datatype]);
            Key { comm, freed: guard::freed(), function, count, datatype, op: None, root: 0 }
        };
        Some(match call {
            Call::Allreduce { data, count } => reduced(0, data, *count, 0),
            Call::ReduceScatterBlock { data, count } => reduced(1, data, *count, 0),
            Call::Reduce { data, count, root } => reduced(2, data, *count, *root),
            Call::Allgather { send, recv } => moved(3, *send, recv),
            Call::Alltoall { send, recv } => moved(4, *send, recv),
            Call::Broadcast { data, root } => Key { root: *root, ..moved(5, None, data) },
            _ => return None,
        })
    }

    fn place(&self) -> usize {
        (self.count[0] ^ self.count[0] >> 3 ^ usize::from(self.function)) % PLACES
    }

    /// Whether such a call was the library's.
    #[inline]
    pub(crate) fn is_known(&self) -> bool {
        KEYS.with(|keys| keys[self.place()].get() == Some(*self))
    }

    /// Such calls are the library's.
    #[cold]
    pub(crate) fn keep(self) {
        if self.op.is_none_or(is_predefined) && self.datatype.into_iter().all(is_named) {
            KEYS.with(|keys| keys[self.place()].set(Some(self)));
        }
    }
}

/// Whether MPI names a datatype itself: it is made of no other.
fn is_named(datatype: MPI_Datatype) -> bool {
    let (mut integers, mut addresses, mut types, mut combiner) = (0, 0, 1, 0);
    // SAFETY: the program has passed the datatype to MPI.
    unsafe { ffi::PMPI_Type_get_envelope(datatype, &mut integers, &mut addresses, &mut types, &mut combiner) };
    integers == 0 && types == 0
}

fn is_predefined(op: MPI_Op) -> bool {
    // SAFETY: constants of the library.
    let known = unsafe {
        [
            ffi::RSMPI_MAX,
            ffi::RSMPI_MIN,
            ffi::RSMPI_SUM,
            ffi::RSMPI_PROD,
            ffi::RSMPI_LAND,
            ffi::RSMPI_BAND,
            ffi::RSMPI_LOR,
            ffi::RSMPI_BOR,
            ffi::RSMPI_LXOR,
            ffi::RSMPI_BXOR,
        ]
    };
    known.contains(&op)
}

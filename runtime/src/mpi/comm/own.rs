//! Roundel's own communicator, which has the ranks of the user's, and its placement.

use crate::error::Error;
use crate::mpi::comm::nodes;
use crate::mpi::process::code::{SUCCESS, check};
use crate::transport::RankPlacement;
use ::mpi::ffi;
use roundel_spec::Placement;
use std::ffi::c_int;
use std::ptr::null;
use std::sync::{Arc, Mutex, PoisonError};

/// The ranks of a communicator, as known without communication.
pub(crate) struct CommMembers {
    pub(crate) rank: usize,
    pub(crate) placement: Placement,
}

impl CommMembers {
    pub(crate) fn here(&self) -> RankPlacement<'_> {
        RankPlacement { placement: &self.placement, rank: self.rank }
    }
}

/// Roundel's own communicator, which has the ranks of the user's.
pub(crate) struct OwnComm {
    pub(crate) comm: Duplicate,
    pub(crate) rank: usize,
    pub(crate) placement: Placement,
    /// Whether the settings of the world apply to it.
    pub(crate) inherits: bool,
    /// The largest tag that MPI allows.
    pub(crate) largest_tag: c_int,
}

impl OwnComm {
    /// Duplicates `user` and determines the placement of its ranks, unless it is known. Collective.
    pub(crate) fn new(
        user: ffi::MPI_Comm,
        path: Option<&[usize]>,
        members: Option<&CommMembers>,
    ) -> Result<Self, Error> {
        let comm = Duplicate::of(user)?;
        if let Some(CommMembers { rank, placement }) = members {
            let largest_tag = largest_tag(comm.raw())?;
            return Ok(OwnComm { comm, rank: *rank, placement: placement.clone(), inherits: true, largest_tag });
        }
        let (mut rank, mut p) = (0, 0);
        // SAFETY: the communicator is live.
        check("MPI_Comm_rank", unsafe { ffi::MPI_Comm_rank(comm.raw(), &mut rank) })?;
        // SAFETY: the communicator is live.
        check("MPI_Comm_size", unsafe { ffi::MPI_Comm_size(comm.raw(), &mut p) })?;
        let placement = match path {
            Some(path) => nodes::given(comm.raw(), p, path),
            None => nodes::placement(comm.raw(), rank, p),
        };
        match placement {
            Ok(placement) => {
                let largest_tag = largest_tag(comm.raw())?;
                Ok(OwnComm { comm, rank: rank as usize, placement, inherits: false, largest_tag })
            }
            Err(error @ (Error::PlaceDepth { .. } | Error::PlaceTooLarge { .. })) => {
                // All ranks got this error, so all of them free the duplicate, which is collective.
                comm.free();
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    /// This rank and the placement of all ranks.
    pub(crate) fn here(&self) -> RankPlacement<'_> {
        RankPlacement { placement: &self.placement, rank: self.rank }
    }
}

/// The largest tag that MPI guarantees, equal on all ranks.
const LARGEST_TAG: c_int = 32_767;

fn largest_tag(comm: ffi::MPI_Comm) -> Result<c_int, Error> {
    let (mut value, mut found): (*const c_int, c_int) = (null(), 0);
    // SAFETY: the communicator is live; MPI stores the address of the number in `value`.
    let code = unsafe { ffi::MPI_Comm_get_attr(comm, ffi::MPI_TAG_UB as c_int, (&raw mut value).cast(), &mut found) };
    check("MPI_Comm_get_attr", code)?;
    // SAFETY: if the attribute is set, its value points to a number.
    let largest = if found == 0 { None } else { unsafe { value.as_ref() } };
    Ok(largest.map_or(LARGEST_TAG, |&largest| largest.max(LARGEST_TAG)))
}

/// A communicator with the same ranks, whose errors are returned as codes.
pub(crate) struct Duplicate {
    comm: ffi::MPI_Comm,
    held: Arc<()>,
}

/// Keeps the communicator alive.
pub(crate) struct Holder(#[allow(dead_code, reason = "it counts")] Arc<()>);

/// Communicators that the program freed while requests on them existed.
static LIMBO: Mutex<Vec<Limbo>> = Mutex::new(Vec::new());

struct Limbo(ffi::MPI_Comm);

// SAFETY: a handle is a number, or an address that MPI manages.
unsafe impl Send for Limbo {}

/// Frees the remaining communicators when MPI is finalised, in the same order on all ranks.
pub(crate) fn end() -> Result<(), Error> {
    let limbo = std::mem::take(&mut *LIMBO.lock().unwrap_or_else(PoisonError::into_inner));
    for Limbo(mut comm) in limbo {
        // SAFETY: it is ours, and its requests cannot be started any more.
        check("MPI_Comm_free", unsafe { ffi::MPI_Comm_free(&mut comm) })?;
    }
    Ok(())
}

impl Duplicate {
    /// Created from the communicator's group: a duplicate would copy the program's attributes, which its callbacks
    /// might free twice, and a split would exchange the colours of all ranks.
    fn of(user: ffi::MPI_Comm) -> Result<Self, Error> {
        reject_intercommunicator(user)?;
        // SAFETY: the null handles are constants of the library.
        let (mut comm, mut all) = unsafe { (ffi::RSMPI_COMM_NULL, ffi::RSMPI_GROUP_NULL) };
        // SAFETY: `user` is a live communicator; its owner is borrowed by the call that led here. The group is freed
        // once.
        let (made, freed) = unsafe {
            check("MPI_Comm_group", ffi::MPI_Comm_group(user, &mut all))?;
            (ffi::MPI_Comm_create(user, all, &mut comm), ffi::MPI_Group_free(&mut all))
        };
        check("MPI_Comm_create", made)?;
        check("MPI_Group_free", freed)?;
        let comm = Duplicate { comm, held: Arc::default() };
        // SAFETY: the communicator was just made.
        let code = unsafe { ffi::MPI_Comm_set_errhandler(comm.raw(), ffi::RSMPI_ERRORS_RETURN) };
        check("MPI_Comm_set_errhandler", code)?;
        Ok(comm)
    }

    #[inline]
    pub(crate) fn raw(&self) -> ffi::MPI_Comm {
        self.comm
    }

    /// Keeps it from being freed.
    pub(crate) fn hold(&self) -> Holder {
        Holder(self.held.clone())
    }

    /// Frees the communicator, unless MPI is finalised; deferred to the end if requests may still be started on it.
    pub(crate) fn free(mut self) -> c_int {
        let mut over = 0;
        if Arc::strong_count(&self.held) > 1 {
            LIMBO.lock().unwrap_or_else(PoisonError::into_inner).push(Limbo(self.comm));
            return SUCCESS;
        }
        // SAFETY: MPI_Finalized may be called at any time. The communicator is live and has no messages in flight,
        // because every call completes its own; this object is consumed, so the handle is not used again.
        unsafe {
            match ffi::MPI_Finalized(&mut over) {
                SUCCESS if over == 0 => ffi::MPI_Comm_free(&mut self.comm),
                code => code,
            }
        }
    }
}

/// Returns an error for an intercommunicator, which no collective supports.
fn reject_intercommunicator(comm: ffi::MPI_Comm) -> Result<(), Error> {
    let mut inter = 0;
    // SAFETY: `comm` is a live communicator; its owner is borrowed by the call that led here.
    check("MPI_Comm_test_inter", unsafe { ffi::MPI_Comm_test_inter(comm, &mut inter) })?;
    if inter == 0 { Ok(()) } else { Err(Error::Intercommunicator) }
}

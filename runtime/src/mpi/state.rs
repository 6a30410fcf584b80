//! What is cached on a communicator.

use super::areas::Scratch;
use super::code::{SUCCESS, check};
use super::nodes;
use super::persistent::{self, Node};
use super::plan::{Key, Plan};
use super::raw::{self, By, Decider, Journal, Recent, Spare};
use super::replay::Flight;
use super::varying::Luggage;
use crate::error::Error;
use crate::profile::Profile;
use crate::selection::Settings;
use crate::transport::Here;
use ::mpi::ffi;
use ::mpi::topology::Communicator;
use roundel_spec::Placement;
use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Everything that calls on one communicator share.
///
/// Safe code can share a communicator between threads, so exclusive use of the working memory is a run-time matter:
/// whoever holds the [`Lease`] has it.
#[derive(Default)]
pub(super) struct State {
    busy: AtomicBool,
    group: OnceLock<Group>,
    work: UnsafeCell<Work>,
}

/// Memory that calls use again.
#[derive(Default)]
pub(super) struct Work {
    /// The steps of the last call, and which calls they serve.
    pub(super) key: Key,
    pub(super) plan: Plan,
    /// Blocks in the rotated layout, and packed messages.
    pub(super) scratch: Scratch,
    /// Messages of the current round.
    pub(super) flight: Flight,
    /// How long blocks of different lengths are, and where they begin.
    pub(super) counts: Vec<usize>,
    pub(super) offsets: Vec<usize>,
    /// What alltoalls with blocks of any lengths use.
    pub(super) luggage: Luggage,
    /// How many persistent requests were made.
    pub(super) serial: u32,
    /// What persistent requests of this rank's node share.
    node: Option<Node>,
    /// The times by which they are planned, or why there are none.
    profile: Option<Result<Profile, Error>>,
    /// What all ranks have agreed upon about choices, or why they have not.
    settings: Option<Result<Settings, Error>>,
    /// What all ranks know to decide alike.
    deciders: Vec<Decider>,
    /// What calls with MPI's own arguments use again.
    pub(super) recent: Recent,
    /// What operations that are over have left.
    pub(super) spare: Spare,
    /// Where they are written down, while somebody wants to know.
    pub(super) journal: Option<Journal>,
}

impl Work {
    /// What persistent requests of this rank's node share; the first call makes it, and is then collective.
    pub(super) fn node(&mut self, group: &Group) -> Result<&mut Node, Error> {
        match &mut self.node {
            Some(node) => Ok(node),
            none => Ok(none.insert(Node::new(group)?)),
        }
    }

    /// Has all ranks agree about settings, and about what decides; the first call with each asks for them, and is then collective.
    #[inline]
    pub(super) fn agree(&mut self, group: &Group, by: By<'_>) -> Result<(), Error> {
        match &self.settings {
            Some(Ok(_)) if matches!(by, By::Environment) || self.deciders.iter().any(|known| known.is(by)) => Ok(()),
            Some(Ok(_)) => self.compare(group, by),
            Some(Err(error)) => Err(error.clone()),
            None => self.ask(group, by),
        }
    }

    #[cold]
    fn ask(&mut self, group: &Group, by: By<'_>) -> Result<(), Error> {
        let settings = raw::settings(self, group, by);
        let outcome = settings.as_ref().map(|_| ()).map_err(Clone::clone);
        self.settings = Some(settings);
        self.deciders.push(by.into());
        outcome
    }

    #[cold]
    fn compare(&mut self, group: &Group, by: By<'_>) -> Result<(), Error> {
        raw::same_decider(group, by)?;
        self.deciders.push(by.into());
        Ok(())
    }

    /// What all ranks have agreed upon.
    pub(super) fn settings(&self) -> Result<&Settings, Error> {
        let none = Error::Settings { reason: "no settings were asked for".into() };
        self.settings.as_ref().map_or(Err(none), |settings| settings.as_ref().map_err(Clone::clone))
    }

    /// The times by which persistent requests are planned; the first call asks for them, and is then collective.
    pub(super) fn profile(&mut self, group: &Group) -> Result<&Profile, Error> {
        let profile = self.profile.get_or_insert_with(|| persistent::profile(group));
        profile.as_ref().map_err(Clone::clone)
    }
}

impl State {
    /// The group behind the communicator `user`; the first call makes it, and is then collective.
    #[inline]
    pub(super) fn group(&self, user: &impl Communicator) -> Result<&Group, Error> {
        self.group_of(user.as_raw())
    }

    /// The group behind a communicator that is known by its handle; the first call makes it, and is then collective.
    #[inline]
    pub(super) fn group_of(&self, user: ffi::MPI_Comm) -> Result<&Group, Error> {
        match self.group.get() {
            Some(group) => Ok(group),
            None => self.make_group(user, None),
        }
    }

    /// The group behind the communicator, if a call has made it.
    pub(super) fn known_group(&self) -> Option<&Group> {
        self.group.get()
    }

    #[cold]
    fn make_group(&self, user: ffi::MPI_Comm, path: Option<&[usize]>) -> Result<&Group, Error> {
        let _lease = self.lease()?;
        let group = Group::new(user, path)?;
        Ok(self.group.get_or_init(|| group))
    }

    /// Makes the group with places that the ranks say, unless there is one already.
    pub(super) fn place(&self, user: &impl Communicator, path: &[usize]) -> Result<(), Error> {
        match self.group.get() {
            Some(_) => Err(Error::Placed),
            None => self.make_group(user.as_raw(), Some(path)).map(|_| ()),
        }
    }

    /// Exclusive use of the working memory, unless somebody else has it.
    #[inline]
    pub(super) fn lease(&self) -> Result<Lease<'_>, Error> {
        if self.busy.swap(true, Ordering::Acquire) { Err(Error::Busy) } else { Ok(Lease { state: self }) }
    }

    /// Frees the duplicated communicator and returns MPI's code.
    pub(super) fn close(self) -> c_int {
        if let Some(node) = self.work.into_inner().node {
            node.free();
        }
        match self.group.into_inner() {
            Some(group) => group.comm.free(),
            None => SUCCESS,
        }
    }
}

/// The right to use the working memory, given back on drop.
pub(super) struct Lease<'a> {
    state: &'a State,
}

impl Deref for Lease<'_> {
    type Target = Work;

    #[inline]
    fn deref(&self) -> &Work {
        // SAFETY: `busy` was false when this lease was made and is true while it lives, so there is no other.
        unsafe { &*self.state.work.get() }
    }
}

impl DerefMut for Lease<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Work {
        // SAFETY: as in `deref`, and the lease itself is borrowed exclusively.
        unsafe { &mut *self.state.work.get() }
    }
}

impl Drop for Lease<'_> {
    #[inline]
    fn drop(&mut self) {
        self.state.busy.store(false, Ordering::Release);
    }
}

/// A communicator of our own with the ranks of the user's.
pub(super) struct Group {
    pub(super) comm: Duplicate,
    pub(super) rank: usize,
    pub(super) placement: Placement,
}

impl Group {
    /// Duplicates `user` and finds out where its ranks sit. Collective.
    fn new(user: ffi::MPI_Comm, path: Option<&[usize]>) -> Result<Self, Error> {
        let comm = Duplicate::of(user)?;
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
            Ok(placement) => Ok(Group { comm, rank: rank as usize, placement }),
            Err(error @ (Error::PlaceDepth { .. } | Error::PlaceTooLarge { .. })) => {
                // All ranks got this error, so that all of them free the duplicate, which is collective.
                comm.free();
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    /// This rank among all of them.
    pub(super) fn here(&self) -> Here<'_> {
        Here { placement: &self.placement, rank: self.rank }
    }
}

/// A duplicated communicator whose errors come back as return codes.
pub(super) struct Duplicate(ffi::MPI_Comm);

impl Duplicate {
    fn of(user: ffi::MPI_Comm) -> Result<Self, Error> {
        reject_intercommunicator(user)?;
        // SAFETY: the null handle is a constant of the library.
        let mut comm = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: `user` is a live communicator; its owner is borrowed by the call that led here.
        check("MPI_Comm_dup", unsafe { ffi::MPI_Comm_dup(user, &mut comm) })?;
        let comm = Duplicate(comm);
        // SAFETY: the communicator was just made.
        let code = unsafe { ffi::MPI_Comm_set_errhandler(comm.raw(), ffi::RSMPI_ERRORS_RETURN) };
        check("MPI_Comm_set_errhandler", code)?;
        Ok(comm)
    }

    #[inline]
    pub(super) fn raw(&self) -> ffi::MPI_Comm {
        self.0
    }

    /// Frees the communicator, unless MPI is over.
    fn free(mut self) -> c_int {
        let mut over = 0;
        // SAFETY: MPI_Finalized may be called at any time. The communicator is live and has no messages in flight,
        // because every call completes its own; this object goes, so the handle is not used again.
        unsafe {
            match ffi::MPI_Finalized(&mut over) {
                SUCCESS if over == 0 => ffi::MPI_Comm_free(&mut self.0),
                code => code,
            }
        }
    }
}

/// An intercommunicator has two groups, and no collective of ours is declared for that.
fn reject_intercommunicator(comm: ffi::MPI_Comm) -> Result<(), Error> {
    let mut inter = 0;
    // SAFETY: `comm` is a live communicator; its owner is borrowed by the call that led here.
    check("MPI_Comm_test_inter", unsafe { ffi::MPI_Comm_test_inter(comm, &mut inter) })?;
    if inter == 0 { Ok(()) } else { Err(Error::Intercommunicator) }
}

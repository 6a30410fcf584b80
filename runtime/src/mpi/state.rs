//! The state cached on a communicator.

use super::alltoallv::AlltoallvBuffers;
use super::areas::Scratch;
use super::code::{SUCCESS, check};
use super::execution::{MessagesInFlight, Tags};
use super::nodes;
use super::persistent::{self, NodeRanks};
use super::plan::{MessagePlan, PlanKey};
use super::raw::{self, By, CallCache, Decider, Journal, Settled, Spare};
use super::world::{self, CommMembers};
use crate::error::Error;
use crate::profile::Profile;
use crate::selection::Settings;
use crate::transport::RankPlacement;
use ::mpi::ffi;
use ::mpi::topology::Communicator;
use roundel_spec::Placement;
use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::ops::{Deref, DerefMut};
use std::ptr::null;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Everything that calls on one communicator share.
///
/// Safe code can share a communicator between threads, so exclusive use of the working memory is checked at run time:
/// only the holder of the [`Lease`] has access.
#[derive(Default)]
pub(super) struct CommState {
    busy: AtomicBool,
    /// Whether MPI serves all calls.
    passes: AtomicBool,
    /// The number of calls before the group was created, of those that all ranks count.
    uses: AtomicU32,
    /// The members, if known without communication; the inner option is none if some belong to another world.
    members: OnceLock<Option<CommMembers>>,
    group: OnceLock<OwnComm>,
    work: UnsafeCell<CommWork>,
}

/// Memory that calls reuse.
#[derive(Default)]
pub(super) struct CommWork {
    /// The steps of the last call, and which calls they serve.
    pub(super) key: PlanKey,
    pub(super) plan: MessagePlan,
    /// Blocks in the rotated layout, and packed messages.
    pub(super) scratch: Scratch,
    /// Messages of the current round.
    pub(super) flight: MessagesInFlight,
    /// The lengths of blocks of different lengths, and their offsets.
    pub(super) counts: Vec<usize>,
    pub(super) offsets: Vec<usize>,
    /// The buffers of alltoalls with blocks of any lengths.
    pub(super) buffers: AlltoallvBuffers,
    /// The tags of requests.
    pub(super) tags: Tags,
    /// Resources that the persistent requests of this rank's node share.
    node: Option<NodeRanks>,
    /// The profile for planning, or why it could not be read.
    pub(super) profile: Option<Result<Profile, Error>>,
    /// The settings that all ranks agreed on, or why they did not agree.
    settings: Option<Result<Settings, Error>>,
    /// Whether all ranks can serve non-blocking calls.
    pub(super) requests: bool,
    /// The deciders that were compared across all ranks.
    deciders: Vec<Decider>,
    /// Calls that MPI served before the group was created, and still serves.
    pub(super) settled: Settled,
    /// The cache of calls with MPI's own arguments.
    pub(super) recent: CallCache,
    /// The buffers of completed operations.
    pub(super) spare: Spare,
    /// The journal, if calls are recorded.
    pub(super) journal: Option<Journal>,
}

impl CommWork {
    /// Resources that the persistent requests of this rank's node share. The first call creates them and is
    /// collective.
    pub(super) fn node(&mut self, group: &OwnComm) -> Result<&mut NodeRanks, Error> {
        match &mut self.node {
            Some(node) => Ok(node),
            none => Ok(none.insert(NodeRanks::new(group)?)),
        }
    }

    /// Makes all ranks agree about the settings and the decider. The first call for each is collective.
    #[inline]
    pub(super) fn agree(&mut self, group: &OwnComm, by: By<'_>) -> Result<(), Error> {
        match &self.settings {
            Some(Ok(_)) if matches!(by, By::Environment) || self.deciders.iter().any(|known| known.is(by)) => Ok(()),
            Some(Ok(_)) => self.compare(group, by),
            Some(Err(error)) => Err(error.clone()),
            None => self.ask(group, by),
        }
    }

    /// Takes over the settings that all ranks of the world agreed on.
    pub(super) fn inherit(&mut self, settings: &Settings, requests: bool) {
        if self.settings.is_none() {
            self.settings = Some(Ok(settings.clone()));
            self.deciders.push(Decider::Environment);
            self.requests = requests;
        }
    }

    #[cold]
    fn ask(&mut self, group: &OwnComm, by: By<'_>) -> Result<(), Error> {
        if let (By::Environment, true, Some(world)) = (by, group.inherits, world::known()) {
            self.inherit(&world.settings, world.requests);
            return Ok(());
        }
        let settings = raw::settings(self, group, by);
        let outcome = settings.as_ref().map(|_| ()).map_err(Clone::clone);
        self.settings = Some(settings);
        self.deciders.push(by.into());
        outcome
    }

    #[cold]
    fn compare(&mut self, group: &OwnComm, by: By<'_>) -> Result<(), Error> {
        raw::same_decider(group, by)?;
        self.deciders.push(by.into());
        Ok(())
    }

    /// The settings that all ranks agreed on.
    pub(super) fn settings(&self) -> Result<&Settings, Error> {
        let none = Error::Settings { reason: "no settings were asked for".into() };
        self.settings.as_ref().map_or(Err(none), |settings| settings.as_ref().map_err(Clone::clone))
    }

    /// The profile for planning persistent requests. The first call reads it and is collective.
    pub(super) fn profile(&mut self, group: &OwnComm) -> Result<&Profile, Error> {
        let profile = self.profile.get_or_insert_with(|| persistent::profile(group));
        profile.as_ref().map_err(Clone::clone)
    }
}

impl CommState {
    /// The group of the communicator `user`. The first call creates it and is collective.
    #[inline]
    pub(super) fn group(&self, user: &impl Communicator) -> Result<&OwnComm, Error> {
        match self.group.get() {
            Some(group) => Ok(group),
            // Only here, because converting to the raw handle takes some instructions.
            None => self.make_group(user.as_raw(), None),
        }
    }

    /// The group of a communicator given by its handle. The first call creates it and is collective.
    #[inline]
    pub(super) fn group_of(&self, user: ffi::MPI_Comm) -> Result<&OwnComm, Error> {
        match self.group.get() {
            Some(group) => Ok(group),
            None => self.make_group(user, None),
        }
    }

    /// The group of the communicator, if a call has created it.
    pub(super) fn known_group(&self) -> Option<&OwnComm> {
        self.group.get()
    }

    #[cold]
    fn make_group(&self, user: ffi::MPI_Comm, path: Option<&[usize]>) -> Result<&OwnComm, Error> {
        let _lease = self.lease()?;
        let members = if path.is_none() { self.members(user)? } else { None };
        let group = OwnComm::new(user, path, members)?;
        Ok(self.group.get_or_init(|| group))
    }

    /// Whether MPI serves all calls.
    #[inline]
    pub(super) fn passes(&self) -> bool {
        self.passes.load(Ordering::Relaxed)
    }

    /// Whether MPI serves all calls, given the placement of the ranks; remembers that for [`passes`](Self::passes).
    pub(super) fn leaves_all(&self, settings: &Settings, placement: &Placement) -> bool {
        let all = settings.leaves_all(placement.regions().nodes() as usize);
        if all {
            self.pass();
        }
        all
    }

    /// Makes MPI serve all calls from now on.
    pub(super) fn pass(&self) {
        self.passes.store(true, Ordering::Relaxed);
    }

    /// Counts a call before the group is created; returns the number of calls including this one.
    pub(super) fn count(&self) -> u32 {
        self.uses.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }

    /// The ranks of the communicator `user`, if known without communication.
    pub(super) fn members(&self, user: ffi::MPI_Comm) -> Result<Option<&CommMembers>, Error> {
        if let Some(known) = self.members.get() {
            return Ok(known.as_ref());
        }
        let found = world::members(user)?;
        Ok(self.members.get_or_init(|| found).as_ref())
    }

    /// Creates the group with the placement that the ranks specify; an error if it exists already.
    pub(super) fn place(&self, user: &impl Communicator, path: &[usize]) -> Result<(), Error> {
        match self.group.get() {
            Some(_) => Err(Error::Placed),
            None => self.make_group(user.as_raw(), Some(path)).map(|_| ()),
        }
    }

    /// Exclusive use of the working memory; an error if it is in use.
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

/// The right to use the working memory, released on drop.
pub(super) struct Lease<'a> {
    state: &'a CommState,
}

impl Deref for Lease<'_> {
    type Target = CommWork;

    #[inline]
    fn deref(&self) -> &CommWork {
        // SAFETY: `busy` was false when this lease was made and is true while it lives, so there is no other.
        unsafe { &*self.state.work.get() }
    }
}

impl DerefMut for Lease<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut CommWork {
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

/// Roundel's own communicator with the ranks of the user's.
pub(super) struct OwnComm {
    pub(super) comm: Duplicate,
    pub(super) rank: usize,
    pub(super) placement: Placement,
    /// Whether the settings of the world hold for it.
    inherits: bool,
    /// The largest tag that MPI has.
    pub(super) largest_tag: c_int,
}

impl OwnComm {
    /// Duplicates `user` and determines the placement of its ranks, unless it is known. Collective.
    fn new(user: ffi::MPI_Comm, path: Option<&[usize]>, members: Option<&CommMembers>) -> Result<Self, Error> {
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
    pub(super) fn here(&self) -> RankPlacement<'_> {
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
pub(super) struct Duplicate {
    comm: ffi::MPI_Comm,
    held: Arc<()>,
}

/// Keeps the communicator alive.
pub(super) struct Holder(#[allow(dead_code, reason = "it counts")] Arc<()>);

/// Communicators that the program freed while requests on them existed.
static LIMBO: Mutex<Vec<Limbo>> = Mutex::new(Vec::new());

struct Limbo(ffi::MPI_Comm);

// SAFETY: a handle is a number, or an address that MPI manages.
unsafe impl Send for Limbo {}

/// Frees the remaining communicators when MPI is finalised, in the same order on all ranks.
pub(super) fn end() -> Result<(), Error> {
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
    pub(super) fn raw(&self) -> ffi::MPI_Comm {
        self.comm
    }

    /// Keeps it from being freed.
    pub(super) fn hold(&self) -> Holder {
        Holder(self.held.clone())
    }

    /// Frees the communicator, unless MPI is finalised; deferred to the end if requests may still be started on it.
    fn free(mut self) -> c_int {
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

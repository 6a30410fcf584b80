//! The state cached on a communicator, which its calls share.

pub(crate) mod attribute;
mod lease;

use self::lease::{Lease, LeasedWork};
use crate::choice::profile::Profile;
use crate::choice::selection::Settings;
use crate::error::Error;
use crate::mpi::arguments::shape::LastLists;
use crate::mpi::cache::call_cache::CallCache;
use crate::mpi::cache::decider::Decider;
use crate::mpi::cache::repeated::{KEPT, RepeatedCall};
use crate::mpi::cache::settled::Settled;
use crate::mpi::cache::spare::Spare;
use crate::mpi::comm::node_members::NodeMembers;
use crate::mpi::comm::own::{CommMembers, OwnComm};
use crate::mpi::comm::peer_processes::PeerProcesses;
use crate::mpi::comm::profile;
use crate::mpi::comm::shared_window::RINGS;
use crate::mpi::comm::window::NodeRanks;
use crate::mpi::comm::world;
use crate::mpi::execution::alltoallv::AlltoallvBuffers;
use crate::mpi::execution::shared::SharedMemory;
use crate::mpi::execution::{MessagesInFlight, Tags};
use crate::mpi::journal::{Journal, JournaledRequest};
use crate::mpi::lowering::areas::Scratch;
use crate::mpi::lowering::plan::{MessagePlan, PlanKey};
use crate::mpi::process::code::SUCCESS;
use ::mpi::ffi;
use ::mpi::topology::Communicator;
use roundel_spec::{Kind, Placement};
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// Everything that calls on one communicator share.
///
/// Safe code can share a communicator between threads, so exclusive use of the working memory is checked at run time:
/// only the holder of the [`Lease`] has access.
#[derive(Default)]
pub(crate) struct CommState {
    /// Whether MPI serves all calls.
    passes: AtomicBool,
    /// The number of calls before the group was created that all ranks count.
    uses: AtomicU32,
    /// The members, if known without communication; the inner option is `None` if some belong to another world.
    members: OnceLock<Option<CommMembers>>,
    group: OnceLock<OwnComm>,
    work: LeasedWork,
}

/// Memory that calls reuse.
#[derive(Default)]
pub(crate) struct CommWork {
    /// The steps of the last call, and which calls they serve.
    pub(crate) key: PlanKey,
    pub(crate) plan: MessagePlan,
    /// Blocks in the rotated layout, and packed messages.
    pub(crate) scratch: Scratch,
    /// Data that one rank of a node holds for the others.
    pub(crate) held: Scratch,
    /// Messages of the current round.
    pub(crate) flight: MessagesInFlight,
    /// The lengths and offsets of blocks of different lengths.
    pub(crate) counts: Vec<usize>,
    pub(crate) offsets: Vec<usize>,
    /// The buffers of alltoalls with blocks of any lengths.
    pub(crate) buffers: AlltoallvBuffers,
    /// The tags of requests.
    pub(crate) tags: Tags,
    /// Resources that the persistent requests of this rank's node share.
    pub(crate) node: Option<NodeRanks>,
    /// The memory that the ranks of each node share, or why there is none.
    pub(crate) shared: Option<Result<Arc<Mutex<SharedMemory>>, Error>>,
    /// The processes whose memory this rank can read, or why it cannot.
    pub(crate) peers: Option<Result<Arc<PeerProcesses>, Error>>,
    /// The profile for planning, or why it could not be read.
    pub(crate) profile: Option<Result<Profile, Error>>,
    /// The settings that all ranks agreed on, or why they did not agree.
    pub(crate) settings: Option<Result<Settings, Error>>,
    /// Whether all ranks can serve non-blocking calls.
    pub(crate) requests: bool,
    /// The deciders that were compared across all ranks.
    pub(crate) deciders: Vec<Decider>,
    /// Calls that MPI served before the group was created, and still serves.
    pub(crate) settled: Settled,
    /// The cache of calls with MPI's own arguments.
    pub(crate) recent: CallCache,
    /// The lists of the last alltoallv in shared memory.
    pub(crate) last_lists: LastLists,
    /// Calls that can be repeated by comparing their arguments.
    #[allow(clippy::vec_box, reason = "a plan that was found keeps its address")]
    pub(crate) repeated: Vec<Box<RepeatedCall>>,
    /// The buffers of completed operations.
    pub(crate) spare: Spare,
    /// The journal, if calls are recorded.
    pub(crate) journal: Option<Journal>,
    /// The number of calls in the journal that do not block.
    recorded_requests: u32,
}

impl CommWork {
    /// The entry in the journal of a call that does not block, if calls are recorded.
    pub(crate) fn recorded_request(&mut self, kind: Kind) -> Option<JournaledRequest> {
        let journal = self.journal.as_ref()?;
        self.recorded_requests = self.recorded_requests.wrapping_add(1);
        Some(journal.request(self.recorded_requests, kind))
    }

    /// Keeps a call that can be repeated, in the place of the oldest one if there are too many.
    pub(crate) fn repeat(&mut self, call: RepeatedCall) -> &RepeatedCall {
        self.repeated.truncate(KEPT - 1);
        self.repeated.insert(0, Box::new(call));
        &self.repeated[0]
    }

    /// Resources that the persistent requests of this rank's node share. The first call creates them and is
    /// collective.
    pub(crate) fn node(&mut self, group: &OwnComm) -> Result<&mut NodeRanks, Error> {
        match &mut self.node {
            Some(node) => Ok(node),
            none => Ok(none.insert(NodeRanks::new(group)?)),
        }
    }

    /// Makes the memory that the ranks of each node share. The first call creates it and is collective; all ranks get
    /// it, or none does.
    pub(crate) fn shared(&mut self, group: &OwnComm) -> Result<(), Error> {
        let make = || SharedMemory::new(group, RINGS).map(|memory| Arc::new(Mutex::new(memory)));
        self.shared.get_or_insert_with(make).as_ref().map(|_| ()).map_err(|error| error.clone())
    }

    /// The processes of this rank's node, if all ranks can read each other's memory. The first call finds out and is
    /// collective; all ranks get them, or none does. No memory may be locked: others may wait for calls in it.
    pub(crate) fn peers(&mut self, group: &OwnComm) -> Result<Arc<PeerProcesses>, Error> {
        let ask = || PeerProcesses::new(NodeMembers::of(group)).map(Arc::new);
        self.peers.get_or_insert_with(ask).clone()
    }

    /// The same, without asking the other ranks.
    pub(crate) fn known_peers(&self) -> Result<Arc<PeerProcesses>, Error> {
        let unasked = || Error::NoSharedMemory { reason: "no blocking call has tried to read other ranks".into() };
        self.peers.clone().ok_or_else(unasked)?
    }

    /// Takes over the settings that all ranks of the world agreed on.
    pub(crate) fn inherit(&mut self, settings: &Settings, requests: bool) {
        if self.settings.is_none() {
            self.settings = Some(Ok(settings.clone()));
            self.deciders.push(Decider::Environment);
            self.requests = requests;
        }
    }

    /// The settings that all ranks agreed on.
    pub(crate) fn settings(&self) -> Result<&Settings, Error> {
        let none = || Err(Error::Settings { reason: "no settings were asked for".into() });
        self.settings.as_ref().map_or_else(none, |settings| settings.as_ref().map_err(Clone::clone))
    }

    /// The profile for planning persistent requests. The first call reads it and is collective.
    pub(crate) fn profile(&mut self, group: &OwnComm) -> Result<&Profile, Error> {
        let profile = self.profile.get_or_insert_with(|| profile::profile(group));
        profile.as_ref().map_err(Clone::clone)
    }
}

impl CommState {
    /// The group of the communicator `user`. The first call creates it and is collective.
    #[inline]
    pub(crate) fn group(&self, user: &impl Communicator) -> Result<&OwnComm, Error> {
        match self.group.get() {
            Some(group) => Ok(group),
            // Only here, because converting to the raw handle takes some instructions.
            None => self.make_group(user.as_raw(), None),
        }
    }

    /// The group of a communicator given by its handle. The first call creates it and is collective.
    #[inline]
    pub(crate) fn group_of(&self, user: ffi::MPI_Comm) -> Result<&OwnComm, Error> {
        match self.group.get() {
            Some(group) => Ok(group),
            None => self.make_group(user, None),
        }
    }

    /// The group of the communicator, if a call has created it.
    pub(crate) fn known_group(&self) -> Option<&OwnComm> {
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
    pub(crate) fn passes(&self) -> bool {
        self.passes.load(Ordering::Relaxed)
    }

    /// Whether MPI serves all calls, given the placement of the ranks; remembers that for [`passes`](Self::passes).
    pub(crate) fn leaves_all(&self, settings: &Settings, placement: &Placement) -> bool {
        let all = placement.regions().nodes() == 1 && settings.leaves_all(placement.p());
        if all {
            self.pass();
        }
        all
    }

    /// Makes MPI serve all calls from now on.
    pub(crate) fn pass(&self) {
        self.passes.store(true, Ordering::Relaxed);
    }

    /// Counts a call before the group is created; returns the number of calls including this one.
    pub(crate) fn count(&self) -> u32 {
        self.uses.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }

    /// The ranks of the communicator `user`, if known without communication.
    pub(crate) fn members(&self, user: ffi::MPI_Comm) -> Result<Option<&CommMembers>, Error> {
        if let Some(known) = self.members.get() {
            return Ok(known.as_ref());
        }
        let found = world::members(user)?;
        Ok(self.members.get_or_init(|| found).as_ref())
    }

    /// Creates the group with the placement that the ranks specify; an error if it exists already.
    pub(crate) fn place(&self, user: &impl Communicator, path: &[usize]) -> Result<(), Error> {
        match self.group.get() {
            Some(_) => Err(Error::Placed),
            None => self.make_group(user.as_raw(), Some(path)).map(|_| ()),
        }
    }

    /// Exclusive use of the working memory; an error if it is in use.
    #[inline]
    pub(crate) fn lease(&self) -> Result<Lease<'_>, Error> {
        self.work.lease()
    }

    /// Exclusive use of the working memory, unless it is in use or no call has needed it yet.
    #[inline]
    pub(crate) fn lease_again(&self) -> Option<Lease<'_>> {
        self.work.lease_again()
    }

    /// Notes that MPI serves reductions of this kind and of this many bytes.
    pub(crate) fn settle(&self, kind: Kind, bytes: u64) -> Result<(), Error> {
        self.work.settle(kind, bytes)
    }

    /// Whether a thread is using the working memory.
    fn is_busy(&self) -> bool {
        self.work.is_busy()
    }

    /// Frees the duplicated communicator and returns MPI's code.
    pub(crate) fn close(mut self) -> c_int {
        if let Some(node) = self.work.take().and_then(|work| work.node) {
            node.free();
        }
        match self.group.into_inner() {
            Some(group) => group.comm.free(),
            None => SUCCESS,
        }
    }
}

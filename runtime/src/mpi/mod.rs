//! Collectives on real MPI.
//!
//! Every communicator of the `mpi` crate is a [`Transport`]. Its messages travel on a duplicate of the communicator,
//! so that they never mix with the user's. The first call creates the duplicate and all working memory, and caches
//! them on the user's communicator; they are freed with it, and later calls allocate nothing.
//!
//! The path of a call leads through these files:
//!
//! - `attribute`: finds and frees the state cached on a communicator
//! - `state`: the cached state, and exclusive access to it
//! - `nodes`: which ranks share a node
//! - `world`: what is known of all ranks before the first call, so that no communicator needs to communicate for it
//! - `limit`: rejects messages that MPI's 32-bit counts cannot express, before any message is sent
//! - `plan`: a call's copies and messages as a list of steps, and which calls it serves
//! - `rank_rounds`: records the rounds of a schedule
//! - `build`: the sink that turns a schedule's rounds into steps
//! - `areas`: the buffers, as MPI sees them
//! - `reduction`: what only reductions need
//! - `alltoall`, `space`: plans of alltoalls with blocks of the same length, and their use of scratch
//! - `direct`: plans of alltoalls with blocks of any lengths that go directly, for non-blocking calls
//! - [`raw`]: calls with MPI's own arguments
//! - [`persistent`]: collectives that are prepared once and started many times, with their own programs
//! - `alltoallv`, `route`, `arena`: alltoalls with blocks of any lengths, which are unknown when the route is planned
//! - `rooted`: what only collectives with a root need
//! - `execution`: the loop that executes the steps
//! - `trace`: records the posted messages
//! - `tune`: measures a profile
//! - `code`: MPI's return codes as [`Error`]s
//!
//! Invariant: Rust code does not access, move or free a buffer while a request uses it.
//!
//! Ranks that disagree about a call get [`Error::Mismatch`], as far as the MPI library allows. Open MPI 4.1 writes a
//! message of more than a few kilobytes past the end of a shorter receive buffer before it reports the truncation
//! (`btl_vader_single_copy_mechanism=none` helps within a node). MPICH 4.0 ends the job if the round has several
//! messages each way, unless `MPI_COMM_WORLD` returns errors. In an alltoallv, this only affects blocks that travel
//! directly from their source to their destination: the length of all others is known before they are received, and a
//! block that does not fit is not written anywhere. Different counts of more than 2^31 elements may leave messages
//! behind, because the two ranks disagree about the number of messages.

mod alltoall;
mod alltoallv;
mod areas;
mod arena;
mod attribute;
mod build;
mod code;
mod direct;
mod ending;
mod execution;
mod limit;
mod nodes;
pub mod persistent;
mod plan;
mod rank_rounds;
pub mod raw;
mod reduction;
mod rooted;
mod route;
mod say;
mod space;
mod state;
mod trace;
mod tune;
mod world;

pub use self::trace::trace;
pub use self::tune::{BUDGET, tune};

use self::areas::{Area, AreaOffset, Areas, Extents};
use self::build::Home;
use self::execution::{Nothing, PlanExecution, TAG};
use self::plan::{Draft, MessagePlan, MovedPiece, PlanStep};
use self::rank_rounds::RankRounds;
use self::state::{CommWork, OwnComm};
use crate::alltoall::{AlltoallCall, AlltoallvCall};
use crate::error::Error;
use crate::geometry::{Described, Geometry, Moved, Rotated, Uniform};
use crate::operation::Operation;
use crate::policy::Policy;
use crate::reduce::ReductionCall;
use crate::rooted::RootedCall;
use crate::runs::Run;
use crate::transport::{AllgatherCall, Options, RankPlacement, Transport};
use ::mpi::datatype::Equivalence;
use ::mpi::raw::AsRaw;
use ::mpi::topology::Communicator;
use roundel_spec::Collective;

/// Sets where this rank sits, instead of what Roundel detects: its node, its part of the node (a socket), and so on.
/// Collective: all ranks call it before the first collective on the communicator, with the same number of levels.
///
/// # Errors
/// [`Error::Placed`] if collectives have already run. On all ranks, [`Error::PlaceDepth`] if ranks give different
/// numbers of levels, [`Error::PlaceTooLarge`] if a number does not fit 31 bits, and MPI's own errors.
pub fn place(comm: &impl Communicator, path: &[usize]) -> Result<(), Error> {
    attribute::state(comm)?.place(comm, path)
}

/// Splits the messages of an alltoallv on `comm` into pieces of at most `elements` elements, at least 1. All ranks
/// must agree. For tests: otherwise only messages of 2^31 elements are split.
#[doc(hidden)]
pub fn cut_messages(comm: &impl Communicator, elements: usize) -> Result<(), Error> {
    attribute::state(comm)?.lease()?.buffers.limit = elements.clamp(1, limit::LIMIT);
    Ok(())
}

impl<T: Equivalence, C: Communicator> Transport<T> for C {
    fn here(&self) -> Result<RankPlacement<'_>, Error> {
        Ok(attribute::state(self)?.group(self)?.here())
    }

    /// A call equal to the last one is valid, and its steps are cached.
    #[inline(always)]
    fn gather<K: Collective, G: Described>(
        &self,
        collective: &K,
        call: AllgatherCall<'_, T, G>,
    ) -> Result<(), Error> {
        let state = attribute::state(self)?;
        let group = state.group(self)?;
        let mut work = state.lease()?;
        // Taken apart, and put together only where a plan is made, so that a repeated call stays in registers.
        let AllgatherCall { send, recv, geometry, options } = call;
        if !work.key.fits(collective, &geometry, Extents::of(send, recv), options) {
            plan_anew(&mut work, group, collective, AllgatherCall { send, recv: &mut *recv, geometry, options })?;
        }
        let CommWork { plan, scratch, flight, .. } = &mut *work;
        let areas = Areas::new(send, recv, scratch.reserve(plan.scratch));
        let (comm, datatype, rank) = (group.comm.raw(), T::equivalent_datatype(), group.rank);
        PlanExecution { comm, datatype: datatype.as_raw(), areas, rank, tag: TAG, lead: 0, flight, combine: Nothing }
            .run(plan)
    }

    /// A call equal to the last one is valid, and its steps are cached.
    #[inline(always)]
    fn reduce<K: Collective, O: Operation<T>>(
        &self,
        collective: &K,
        call: ReductionCall<'_, T, O>,
    ) -> Result<(), Error> {
        const { assert!(align_of::<T>() <= size_of::<u128>(), "elements of reductions are aligned to at most 16 bytes") };
        let state = attribute::state(self)?;
        let group = state.group(self)?;
        let mut work = state.lease()?;
        let send = call.input.map(<[T]>::len);
        let extents = Extents { send, recv: call.output.len(), size: size_of::<T>() };
        // The key does not tell commutative operations from others, so the order is checked first.
        let in_order = O::COMMUTES || group.here().keeps_order::<K>();
        if !in_order || !work.key.fits(collective, &call.division, extents, Options::default()) {
            call.validate(collective, group.here())?;
            reduction::plan_anew(&mut work, group, collective, &call, extents)?;
        }
        let CommWork { plan, scratch, flight, .. } = &mut *work;
        let areas = Areas::new(call.input, call.output, scratch.reserve(plan.scratch));
        let (comm, datatype, rank) = (group.comm.raw(), T::equivalent_datatype(), group.rank);
        let combine = reduction::Elements::new(call.op, rank);
        PlanExecution { comm, datatype: datatype.as_raw(), areas, rank, tag: TAG, lead: 0, flight, combine }.run(plan)
    }

    /// A call equal to the last one is valid, and its steps are cached.
    #[inline(always)]
    fn spread<K: Collective>(&self, collective: &K, call: RootedCall<'_, T>) -> Result<(), Error> {
        let state = attribute::state(self)?;
        let group = state.group(self)?;
        let mut work = state.lease()?;
        let send = call.input.map(<[T]>::len);
        let extents = Extents { send, recv: call.output.len(), size: size_of::<T>() };
        if !work.key.fits(collective, &call.layout, extents, Options::default()) {
            call.validate(collective, group.here())?;
            rooted::plan_anew(&mut work, group, collective, &call, extents)?;
        }
        let CommWork { plan, scratch, flight, .. } = &mut *work;
        let areas = Areas::new(call.input, call.output, scratch.reserve(plan.scratch));
        let (comm, datatype, rank) = (group.comm.raw(), T::equivalent_datatype(), group.rank);
        PlanExecution { comm, datatype: datatype.as_raw(), areas, rank, tag: TAG, lead: 0, flight, combine: Nothing }
            .run(plan)
    }

    /// A call equal to the last one is valid, and its steps are cached.
    #[inline(always)]
    fn shuffle<K: Collective>(&self, collective: &K, call: AlltoallCall<'_, T>) -> Result<(), Error> {
        let state = attribute::state(self)?;
        let group = state.group(self)?;
        let mut work = state.lease()?;
        let extents = Extents { send: call.send.map(<[T]>::len), recv: call.recv.len(), size: size_of::<T>() };
        // All lengths follow from the length of the buffer, so it need not be divided here.
        let geometry = Uniform { count: extents.recv };
        if !work.key.fits(collective, &geometry, extents, call.options) {
            let rotation = call.validate(collective, group.here())?;
            alltoall::plan_anew(&mut work, group, collective, extents, call.options, rotation)?;
            work.key.set(collective, &geometry, extents, call.options);
        }
        let CommWork { plan, scratch, flight, .. } = &mut *work;
        let areas = Areas::new(call.send, call.recv, scratch.reserve(plan.scratch));
        let (comm, datatype, rank) = (group.comm.raw(), T::equivalent_datatype(), group.rank);
        PlanExecution { comm, datatype: datatype.as_raw(), areas, rank, tag: TAG, lead: 0, flight, combine: Nothing }
            .run(plan)
    }

    /// Counts may differ from call to call; the route of blocks is cached.
    fn shuffle_varying<K: Collective>(&self, collective: &K, call: AlltoallvCall<'_, T>) -> Result<(), Error> {
        let state = attribute::state(self)?;
        let group = state.group(self)?;
        let mut work = state.lease()?;
        call.validate(group.here())?;
        let (layout, route) = (call.options.layout, &mut work.buffers.route);
        if !route.fits(collective, layout) {
            call.serve(collective, group.here())?;
            route.plan(collective, group.here(), layout);
        }
        alltoallv::run(&mut work, group, call)
    }
}

/// Makes the plan for a call that differs from the last one.
#[inline(never)]
fn plan_anew<T, K: Collective, G: Described>(
    work: &mut CommWork,
    group: &OwnComm,
    collective: &K,
    call: AllgatherCall<'_, T, G>,
) -> Result<(), Error> {
    let rotation = call.validate(collective, group.here())?;
    let AllgatherCall { send, recv, geometry, options } = call;
    let (extents, geometry) = (Extents::of(send, recv), &geometry);
    limit::check(collective, &group.placement, geometry, extents.recv)?;
    let CommWork { key, plan, counts, offsets, flight, .. } = work;
    key.clear();
    let (draft, score) =
        (Draft { plan, counts, offsets }, RankRounds::of(collective, group.here(), flight.log.is_some()));
    draw_gather(draft, group.here(), &score, geometry, extents, options.policy, rotation);
    key.set(collective, geometry, extents, options);
    Ok(())
}

/// Fills the plan of a valid allgather.
fn draw_gather<G: Geometry>(
    draft: Draft<'_>,
    here: RankPlacement<'_>,
    score: &RankRounds,
    geometry: &G,
    extents: Extents,
    policy: Policy,
    rotation: Option<usize>,
) {
    draft.plan.clear();
    let mut planner = Planner { plan: draft.plan, score, here, geometry, extents, policy };
    match (rotation.unwrap_or(0), geometry.uniform()) {
        (0, _) => planner.in_place(),
        (by, Some(count)) if geometry.first() == 0 => planner.rotated(by, count),
        (by, _) => planner.moved(by, draft.offsets),
    }
}

/// Decides where blocks lie while the collective runs.
struct Planner<'a, G> {
    plan: &'a mut MessagePlan,
    score: &'a RankRounds,
    here: RankPlacement<'a>,
    geometry: &'a G,
    extents: Extents,
    policy: Policy,
}

impl<G: Geometry> Planner<'_, G> {
    /// Keeps every block at its final position.
    fn in_place(&mut self) {
        self.rounds(self.recv(), self.geometry);
    }

    /// Runs with blocks of equal length in the rotated layout, then moves them to their positions with two copies.
    fn rotated(&mut self, by: usize, count: usize) {
        let p = self.here.p();
        let home = self.scratch(p * count);
        self.rounds(home, Rotated { count, by, p });
        let front = (p - by) * count;
        self.put_in_place(&home, Run { start: 0, len: front }, by * count);
        self.put_in_place(&home, Run { start: front, len: by * count }, 0);
        self.plan.flush_unpacks();
    }

    /// Runs with blocks of any length in the rotated layout without gaps, then moves them to their positions.
    fn moved(&mut self, by: usize, offsets: &mut Vec<usize>) {
        let total = rotated_offsets(offsets, self.geometry, by, self.here.p());
        let home = self.scratch(total);
        self.rounds(home, Moved { lengths: self.geometry, offsets });
        for (b, &offset) in offsets.iter().enumerate() {
            self.put_in_place(&home, Run { start: offset, len: self.geometry.len(b) }, self.geometry.offset(b));
        }
        self.plan.flush_unpacks();
    }

    /// Scratch for `elements` elements.
    fn scratch(&mut self, elements: usize) -> Home {
        let size = self.extents.size;
        self.plan.scratch = (elements * size).next_multiple_of(size_of::<u128>());
        Home { begin: AreaOffset { area: Area::Scratch, offset: 0 }, bytes: elements * size, size }
    }

    /// Copies the own block, then runs the rounds, with blocks in `home`.
    fn rounds(&mut self, home: Home, geometry: impl Geometry) {
        let rank = self.here.rank;
        let own = Run { start: geometry.offset(rank), len: self.geometry.len(rank) };
        let given = Run { start: self.geometry.offset(rank), len: own.len };
        if own.len > 0 {
            let (to, bytes) = home.locate(own);
            match self.extents.send {
                Some(_) => {
                    let from = AreaOffset { area: Area::Send, offset: 0 };
                    self.plan.steps.push(PlanStep::Move(MovedPiece { from, to, bytes }));
                }
                None if to.area == Area::Recv => {}
                None => {
                    let (from, _) = self.recv().locate(given);
                    self.plan.steps.push(PlanStep::Move(MovedPiece { from, to, bytes }));
                }
            }
        }
        build::rounds(self.plan, self.score, self.here, &[home], geometry, self.policy);
    }

    /// Copies elements from scratch to their final position, at the end.
    fn put_in_place(&mut self, scratch: &Home, elements: Run, to: usize) {
        if elements.len > 0 {
            let (from, bytes) = scratch.locate(elements);
            let (to, _) = self.recv().locate(Run { start: to, len: elements.len });
            self.plan.unpacks.push(MovedPiece { from, to, bytes });
        }
    }

    /// The receive buffer.
    fn recv(&self) -> Home {
        let begin = AreaOffset { area: Area::Recv, offset: 0 };
        Home { begin, bytes: self.extents.recv * self.extents.size, size: self.extents.size }
    }
}

/// Sets where blocks begin if they lie without gaps and block `by` comes first; returns where the last one ends.
fn rotated_offsets<G: Geometry>(offsets: &mut Vec<usize>, geometry: &G, by: usize, p: usize) -> usize {
    offsets.clear();
    offsets.resize(p, 0);
    let mut end = 0;
    for b in (by..p).chain(0..by) {
        offsets[b] = end;
        end += geometry.len(b);
    }
    end
}

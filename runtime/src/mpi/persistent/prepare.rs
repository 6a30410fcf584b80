//! Makes a request from a call, together with all other ranks.

use super::buffer::UserBuffer;
use super::choice::{PortsChoice, PortsRequest};
use super::engine::{Engine, EngineParts};
use super::{Element, Request, Settings};
use crate::choice::profile::Profile;
use crate::choice::selection;
use crate::error::Error;
use crate::mpi::comm::agree::{agree, digest};
use crate::mpi::execution::RequestLife;
use crate::mpi::handles::operand;
use crate::mpi::raw::{self, By};
use crate::mpi::state::attribute;
use crate::operation::Operation;
use crate::plan::part::RankPlan;
use crate::program::build::{ProgramSpec, build};
use crate::program::{Program, validate};
use crate::transport::RankPlacement;
use ::mpi::raw::AsRaw;
use ::mpi::topology::Communicator;
use roundel_spec::{Kind, Placement};
use std::marker::PhantomData;
use std::rc::Rc;

/// A persistent collective, as the user called it.
pub(super) struct PersistentCall<T, O> {
    pub(super) kind: Kind,
    /// The length of the vector, or of each rank's block.
    pub(super) counts: Vec<usize>,
    pub(super) input: UserBuffer<T>,
    pub(super) output: UserBuffer<T>,
    pub(super) op: O,
    /// The only rank whose count is not zero, if there is such a rank.
    pub(super) root: Option<usize>,
}

/// What one rank proposes before all ranks agree.
struct Proposal {
    description: String,
    programs: [Program; 2],
}

/// Makes a request. Collective.
pub(super) fn prepare<'c, T: Element, O: Operation<T> + 'static>(
    comm: &'c impl Communicator,
    call: PersistentCall<T, O>,
    settings: &Settings,
    owned: bool,
) -> Result<Request<'c, T, O>, Error> {
    const { assert!(align_of::<T>() <= size_of::<u128>(), "elements are aligned to at most 16 bytes") };
    let state = attribute::state(comm)?;
    let group = state.group(comm)?;
    let mut work = state.lease()?;
    let (tag, here) = (work.tags.next(RequestLife::Persistent, group.largest_tag), group.here());
    let made = work.tags.made();
    raw::agree(&mut work, group, By::Environment)?;
    let inexact = !(O::EXACT_ON_INTEGERS && operand::has_bits(T::equivalent_datatype().as_raw()));
    let environment = &work.settings()?.clone();
    // Read on all ranks, even where it is not used: the first call is collective.
    let machine = work.profile(group);
    let profile = settings.profile.as_ref().map_or(machine, Ok);
    let own = profile.and_then(|profile| call.plan(here, (settings, environment), profile, (owned, inexact)));
    let how = own.as_ref().map_or(0, |planned| digest(&planned.description));
    let values = [
        ("which collective they call", call.kind as u64),
        ("the size of an element", size_of::<T>() as u64),
        ("lengths or counts", digest(&call.counts)),
        ("how the call is to run: settings and profiles", how),
        ("how many requests were made before this one", made.into()),
    ];
    let Proposal { description, programs } = agree(group.comm.raw(), &values, own)?;
    let signals = programs[0].signals.iter().any(|&signals| signals > 0);
    // If any node has several ranks, all ranks take part in finding the ranks of their own node.
    let together = !settings.flat && group.placement.regions().sizes().any(|size| size > 1);
    let node = if together { Some(work.node(group)?) } else { None };
    let (local, window) = match node {
        Some(node) if signals => (node.local(), Some(node.window(programs[0].shared)?)),
        _ => (0, None),
    };
    let PersistentCall { input, output, op, .. } = call;
    let engine = Engine::new(EngineParts {
        comm: group.comm.raw(),
        rank: group.rank,
        local,
        tag,
        programs,
        input: input.address().cast(),
        output: output.address().cast(),
        window,
        datatype: T::equivalent_datatype(),
        op,
    })?;
    if let Some(offset) = engine.last().input {
        // SAFETY: the shared memory has space for the input there, and no other rank accesses it before this one has
        // started.
        unsafe { std::ptr::copy_nonoverlapping(input.address(), engine.shared(offset).cast(), input.len()) };
    }
    Ok(Request { engine: Rc::new(engine), input, output, description, borrows: PhantomData })
}

/// Whether plans and programs must be checked before they run.
fn validates() -> bool {
    std::env::var_os("ROUNDEL_VALIDATE").is_some_and(|value| !value.is_empty() && value != "0")
}

impl<T: Copy, O: Operation<T>> PersistentCall<T, O> {
    /// This rank's proposal, if the call is possible.
    fn plan(
        &self,
        here: RankPlacement<'_>,
        (settings, environment): (&Settings, &selection::Settings),
        profile: &Profile,
        (owned, inexact): (bool, bool),
    ) -> Result<Proposal, Error> {
        self.validate(here)?;
        let flat = Placement::consecutive(here.p(), 1);
        let placement = if settings.flat { &flat } else { here.placement };
        let (kind, counts, size) = (self.kind, &self.counts[..], size_of::<T>());
        let (rooted, explains) = (self.root.is_some(), environment.explain && here.rank == 0);
        let commutes = O::COMMUTES;
        let request = PortsRequest { kind, counts, size, placement, commutes, inexact, owned, rooted, explains };
        let choice = PortsChoice::new(&request, settings, environment, profile)?;
        let sizes = sizes(kind, counts, placement);
        // One rank checks, and all ranks learn the result.
        if here.rank == 0 && (validates() || choice.is_unknown(sizes.len()) && !settings.unproved) {
            choice.validate(kind, &sizes)?;
        }
        let part = choice.part(kind, &sizes, placement.node(here.rank))?;
        let (lanes, scheme, parts) = (choice.lanes, choice.scheme, |_| part.clone());
        let job = ProgramSpec { kind, placement, counts, size, lanes, scheme, parts: &parts };
        let programs = build(&job, here.rank)?;
        if here.rank == 0 && validates() {
            replay_all(&job, &choice, &sizes)?;
        }
        Ok(Proposal { description: choice.to_string(), programs })
    }

    /// Returns an error if the buffers are not as long as the counts require.
    fn validate(&self, here: RankPlacement<'_>) -> Result<(), Error> {
        let length = |what, expected: usize, found: usize, reason| match expected == found {
            true => Ok(()),
            false => Err(Error::Length { what, expected, found, reason }),
        };
        let (p, rank, input, output) = (here.p(), here.rank, self.input.len(), self.output.len());
        if let Some(root) = self.root.filter(|&root| root >= p) {
            return Err(Error::NoSuchRoot { root, p });
        }
        if self.kind == Kind::Allreduce {
            return length("the output", input, output, "as many as the input");
        }
        length("counts", p, self.counts.len(), "one entry for each rank")?;
        let add = |sum: usize, &count: &usize| sum.checked_add(count);
        let total = self.counts.iter().try_fold(0, add);
        let limit = isize::MAX as usize / size_of::<T>().max(1);
        let Some(total) = total.filter(|&total| total <= limit) else {
            return Err(Error::TooLarge { what: "the sum of the counts", elements: usize::MAX, limit });
        };
        let (whole, part) = if self.kind == Kind::Allgather { (output, input) } else { (input, output) };
        let (whole_is, part_is) =
            if self.kind == Kind::Allgather { ("the output", "the input") } else { ("the input", "the output") };
        length(whole_is, total, whole, "the sum of the counts")?;
        length(part_is, self.counts[rank], part, "this rank's entry in the counts")
    }
}

/// The lengths of the nodes' blocks; an allreduce has one for all.
fn sizes(kind: Kind, counts: &[usize], placement: &Placement) -> Vec<usize> {
    let mut sizes = vec![0; placement.regions().nodes() as usize];
    if kind != Kind::Allreduce {
        counts.iter().enumerate().for_each(|(rank, count)| sizes[placement.node(rank)] += count);
    }
    sizes
}

/// Replays the programs of all ranks together.
fn replay_all(job: &ProgramSpec<'_>, choice: &PortsChoice, sizes: &[usize]) -> Result<(), Error> {
    let parts: Vec<RankPlan> =
        (0..sizes.len()).map(|node| choice.part(job.kind, sizes, node)).collect::<Result<_, _>>()?;
    let part = |node: usize| parts[node].clone();
    let outcome = validate(&ProgramSpec { parts: &part, ..*job });
    outcome.map(|_| ()).map_err(|invalid| Error::InvalidPlan { reason: invalid.to_string() })
}

//! Chooses the algorithm of a call: by the environment of all ranks, by a selection, or by name.

use super::device;
use crate::choice::selection::{
    Answer, BetweenNodes, Device, Explanations, Implementation, Reason, Settings, most_of_alltoallv,
};
use crate::choice::{CallForm, Question};
use crate::error::Error;
use crate::mpi::arguments::shape::{BlockLayout, CallShape};
use crate::mpi::cache::decider::By;
use crate::mpi::comm::agree::{self, agree_and_hear};
use crate::mpi::comm::own::OwnComm;
use crate::mpi::comm::profile::{Reading, own_profile};
use crate::mpi::comm::world;
use crate::mpi::execution::shared::ExchangeLimit;
use crate::mpi::journal::{self, Journal};
use crate::mpi::process::say::say;
use crate::mpi::state::CommWork;
use crate::transport::RankPlacement;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Makes all ranks agree about the settings and the decider. The first call for each is collective.
#[inline]
pub(in crate::mpi) fn agree(work: &mut CommWork, group: &OwnComm, by: By<'_>) -> Result<(), Error> {
    match &work.settings {
        Some(Ok(_)) if matches!(by, By::Environment) || work.deciders.iter().any(|known| known.is(by)) => Ok(()),
        Some(Ok(_)) => compare(work, group, by),
        Some(Err(error)) => Err(error.clone()),
        None => ask(work, group, by),
    }
}

#[cold]
fn ask(work: &mut CommWork, group: &OwnComm, by: By<'_>) -> Result<(), Error> {
    if let (By::Environment, true, Some(world)) = (by, group.inherits, world::known()) {
        work.inherit(&world.settings, world.requests);
        return Ok(());
    }
    let settings = settings(work, group, by);
    let outcome = settings.as_ref().map(|_| ()).map_err(Clone::clone);
    work.settings = Some(settings);
    work.deciders.push(by.into());
    outcome
}

#[cold]
fn compare(work: &mut CommWork, group: &OwnComm, by: By<'_>) -> Result<(), Error> {
    same_decider(group, by)?;
    work.deciders.push(by.into());
    Ok(())
}

/// The settings in this process's environment, read once.
fn environment() -> Result<&'static Settings, Error> {
    static SETTINGS: OnceLock<Result<Settings, String>> = OnceLock::new();
    let read = || Settings::from_env().map_err(|error| error.to_string());
    SETTINGS.get_or_init(read).as_ref().map_err(|reason| Error::Settings { reason: reason.clone() })
}

/// The settings of a communicator, which are equal on all of its ranks: from the environment, with the times of the
/// profile if there is one. Also compares the decider of the first call. Collective.
fn settings(work: &mut CommWork, group: &OwnComm, by: By<'_>) -> Result<Settings, Error> {
    let own = environment().and_then(|settings| Ok((journal::possible(settings, group)?, settings)));
    let print = own.as_ref().map_or(0, |(_, settings)| settings.fingerprint());
    let traces = own.as_ref().map_or(0, |(members, _)| u64::from(members.is_some()));
    let values = [(MISMATCH, print), (journal::MISMATCH, traces), (HANDLES, by.print())];
    let reading = Reading::new(group.rank);
    let hosts = own.as_ref().map_or(true, |(_, settings)| settings.device != Device::Auto || !device::is_loaded());
    let numbers = [u64::from(REQUESTS.load(Ordering::Relaxed)), reading.head(), u64::from(hosts)];
    let ((members, settings), heard) = agree_and_hear(group.comm.raw(), &values, &numbers, own)?;
    work.requests = *heard[0].start() != 0;
    let profile = work.profile.insert(reading.share(group, *heard[1].end())).clone()?;
    let device = if *heard[2].start() != 0 { settings.device } else { Device::Loaded };
    device::explain(settings.explain);
    work.journal = members.map(|members| Journal::begin(members, group)).transpose()?;
    let selection = settings.selection.clone().with_profile(&profile);
    Ok(Settings { selection, device, ..settings.clone() })
}

/// The settings in a job whose processes all have the environment of this one.
///
/// # Errors
/// If the environment has invalid settings.
pub fn own_settings() -> Result<Settings, Error> {
    let (settings, profile) = (environment()?, own_profile()?);
    let selection = settings.selection.clone().with_profile(&profile);
    Ok(Settings { selection, ..settings.clone() })
}

/// Whether this process can serve non-blocking calls.
static REQUESTS: AtomicBool = AtomicBool::new(true);

/// Sets whether this process can serve non-blocking calls. If some rank of a communicator cannot,
/// [`prepare`](super::prepare) leaves them to MPI on all ranks. Must be called before the first call.
pub fn begin_requests(can: bool) {
    REQUESTS.store(can, Ordering::Relaxed);
}

/// Whether requests of this process may run in shared memory.
static SHARED_REQUESTS: AtomicBool = AtomicBool::new(true);

/// Sets whether non-blocking calls by [`By::Environment`] may run in shared memory. They may only if MPI notices
/// requests that complete without a message. Equal on all ranks, because it depends only on the MPI library. Must be
/// called before the first call.
pub fn begin_shared_requests(can: bool) {
    SHARED_REQUESTS.store(can, Ordering::Relaxed);
}

const MISMATCH: &str = "ROUNDEL_SELECTION, ROUNDEL_FORCE, ROUNDEL_PREFER, ROUNDEL_REPRODUCIBLE or ROUNDEL_DEVICE: \
                        set them alike for all ranks";

const HANDLES: &str = "the handles that they pass";

/// Compares the decider of a call across all ranks. Collective.
fn same_decider(group: &OwnComm, by: By<'_>) -> Result<(), Error> {
    agree::agree(group.comm.raw(), &[(HANDLES, by.print())], Ok(()))
}

/// How a call runs, and why.
pub(super) struct Choice {
    pub(super) implementation: Implementation,
    pub(super) reason: String,
    /// What runs between the nodes of a call in shared memory.
    pub(super) between: Option<BetweenNodes>,
    /// The length of blocks up to which shared memory is the default for an alltoallv; `None` if it is not by default.
    most: Option<u64>,
    /// The explanation to print, if any.
    explained: Option<Answer>,
}

impl Choice {
    fn asked(implementation: Implementation, between: Option<BetweenNodes>) -> Self {
        Choice { implementation, reason: "asked for".into(), between, most: None, explained: None }
    }

    /// The most bytes that a rank may send to the others in an alltoallv in shared memory.
    pub(super) fn exchange_limit(&self, p: usize) -> ExchangeLimit {
        let stream = |block: u64| usize::try_from(block.saturating_mul(p as u64 - 1)).unwrap_or(usize::MAX);
        self.most.map_or(ExchangeLimit::Unlimited, |block| ExchangeLimit::Most(stream(block)))
    }

    /// Explains, if requested, that the call runs in this way, or failed and is left to MPI.
    pub(super) fn tell(self, outcome: Result<(), &Error>) {
        let Some(mut chosen) = self.explained else { return };
        if let Err(error) = outcome {
            chosen.passed.push(error.to_string());
            chosen.implementation = Implementation::Library;
        }
        explain(&chosen);
    }
}

/// Chooses how a blocking or non-blocking call runs.
pub(super) fn choose(
    by: By<'_>,
    work: &CommWork,
    shape: &CallShape,
    here: RankPlacement<'_>,
    form: CallForm,
) -> Result<Choice, Error> {
    let environment = work.settings()?;
    let question = Question::at(shape.kind, here.placement, shape.bytes);
    let (commutes, identical) = (shape.commutes, !shape.exact);
    let varying = matches!(shape.blocks, BlockLayout::Listed | BlockLayout::Private);
    let question = Question { varying, commutes, identical, form, ..question };
    let settings = match by {
        By::Algorithm(algorithm) => return Ok(Choice::asked(Implementation::Catalogue(algorithm.clone()), None)),
        By::Library => return Ok(Choice::asked(Implementation::Library, None)),
        By::SharedMemory(path) => {
            let (refused, memory) = (|reason| Error::NoSharedMemory { reason }, Implementation::SharedMemory(path));
            memory.serves(&question).map_err(refused)?;
            let between = environment.selection.between_nodes(&memory, &question);
            return Ok(Choice::asked(memory, between));
        }
        By::Settings(settings) if environment.device.library().is_none() => settings,
        By::Settings(_) | By::Environment => environment,
    };
    let mut chosen = settings.choose(&question);
    if form != CallForm::Blocking && matches!(by, By::Environment) && !SHARED_REQUESTS.load(Ordering::Relaxed) {
        chosen = without_shared_memory(settings, chosen);
    }
    if matches!(by, By::Environment) && work.settled.has(shape) {
        (chosen.implementation, chosen.reason) = (Implementation::Library, Reason::Default(SETTLED));
        chosen.between = None;
    }
    let passed: String = chosen.passed.iter().map(|passed| format!("; {passed}")).collect();
    let most = matches!(chosen.reason, Reason::Default(_)).then(|| most_of_alltoallv(&question));
    let (implementation, reason) = (chosen.implementation.clone(), format!("{}{passed}", chosen.reason));
    let between = chosen.between.clone();
    let explained = (settings.explain && here.rank == 0).then_some(chosen);
    Ok(Choice { implementation, reason, between, most, explained })
}

/// The best answer that is not shared memory.
fn without_shared_memory(settings: &Settings, chosen: Answer) -> Answer {
    let in_memory = |answer: &Answer| matches!(answer.implementation, Implementation::SharedMemory(_));
    if !in_memory(&chosen) {
        return chosen;
    }
    let others = settings.answers(&chosen.question).into_iter();
    let (implementation, reason) = (Implementation::Library, Reason::Default(UNNOTICED));
    let library = Answer { implementation, reason, estimate: None, between: None, ..chosen };
    others.into_iter().find(|answer| !in_memory(answer)).unwrap_or(library)
}

const UNNOTICED: &str = "this MPI does not notice that a request is complete if nothing was received";

const SETTLED: &str =
    "the first reductions like it on this communicator were the library's, and results must not change";

/// Explains once why a call runs in this way.
pub(in crate::mpi) fn explain(chosen: &Answer) {
    static EXPLAINED: Mutex<Option<Explanations>> = Mutex::new(None);
    let mut explained = EXPLAINED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(line) = explained.get_or_insert_default().once(chosen) {
        say(line);
    }
}

//! Which algorithm does a call: by what the environment of all ranks says, by a selection, or by name.

use super::By;
use super::journal::{self, Journal};
use super::shape::Shape;
use crate::error::Error;
use crate::mpi::persistent::agree;
use crate::mpi::say::say;
use crate::mpi::state::{Group, Work};
use crate::selection::{self, Algorithm, Chosen, Settings, Told, Way};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What this process's environment says, read once.
fn environment() -> Result<&'static Settings, Error> {
    static SETTINGS: OnceLock<Result<Settings, String>> = OnceLock::new();
    let read = || Settings::from_env().map_err(|error| error.to_string());
    SETTINGS.get_or_init(read).as_ref().map_err(|reason| Error::Settings { reason: reason.clone() })
}

/// The settings of a communicator, which all of its ranks have: from the environment, with the times of the profile if there is
/// one. Whatever decides about the first call is compared, too. Collective.
pub(in crate::mpi) fn settings(work: &mut Work, group: &Group, by: By<'_>) -> Result<Settings, Error> {
    let profile = work.profile(group);
    let own = environment().and_then(|settings| Ok((settings, profile?)));
    let own = own.map(|(settings, profile)| {
        let selection = settings.selection.clone().with_profile(profile);
        Settings { selection, ..settings.clone() }
    });
    let own = own.and_then(|settings| Ok((journal::possible(&settings, group)?, settings)));
    let print = own.as_ref().map_or(0, |(_, settings)| settings.fingerprint());
    let traces = own.as_ref().map_or(0, |(members, _)| u64::from(members.is_some()));
    let sayings = [(MISMATCH, print), (journal::MISMATCH, traces), (HANDLES, by.print())];
    let (members, settings) = agree(group.comm.raw(), &sayings, own)?;
    work.journal = members.map(|members| Journal::begin(members, group)).transpose()?;
    Ok(settings)
}

const MISMATCH: &str = "ROUNDEL_SELECTION, ROUNDEL_FORCE or ROUNDEL_REPRODUCIBLE: set them alike for all ranks";

const HANDLES: &str = "the handles that they pass";

/// Has all ranks compare what decides about a call. Collective.
pub(in crate::mpi) fn same_decider(group: &Group, by: By<'_>) -> Result<(), Error> {
    agree(group.comm.raw(), &[(HANDLES, by.print())], Ok(()))
}

impl By<'_> {
    /// A number that differs, for all practical purposes, if choices may: ranks compare it.
    fn print(self) -> u64 {
        match self {
            By::Environment => 0,
            By::Library => 1,
            By::Settings(settings) => settings.fingerprint(),
            By::Algorithm(algorithm) => algorithm.fingerprint(),
        }
    }
}

/// Something that decides, kept to see whether it is the same as before.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::mpi) enum Decider {
    Environment,
    Library,
    Settings(Box<Settings>),
    Algorithm(Box<Algorithm>),
}

impl From<By<'_>> for Decider {
    fn from(by: By<'_>) -> Self {
        match by {
            By::Environment => Decider::Environment,
            By::Library => Decider::Library,
            By::Settings(settings) => Decider::Settings(Box::new(settings.clone())),
            By::Algorithm(algorithm) => Decider::Algorithm(Box::new(algorithm.clone())),
        }
    }
}

impl Decider {
    /// Whether it is this one.
    pub(in crate::mpi) fn is(&self, by: By<'_>) -> bool {
        match (self, by) {
            (Decider::Environment, By::Environment) | (Decider::Library, By::Library) => true,
            (Decider::Settings(own), By::Settings(other)) => **own == *other,
            (Decider::Algorithm(own), By::Algorithm(other)) => **own == *other,
            _ => false,
        }
    }
}

/// How a call is done, and why.
pub(super) fn choose(by: By<'_>, environment: &Settings, shape: &Shape, group: &Group) -> (Way, String) {
    let settings = match by {
        By::Algorithm(algorithm) => return (Way::Catalogue(algorithm.clone()), "asked for".into()),
        By::Library => return (Way::Library, "asked for".into()),
        By::Settings(settings) => settings,
        By::Environment => environment,
    };
    let call = selection::Call::at(shape.kind, &group.placement, shape.bytes);
    let chosen = settings.choose(&selection::Call { commutes: shape.commutes, ..call });
    if settings.explain && group.rank == 0 {
        explain(&chosen);
    }
    let passed: String = chosen.passed.iter().map(|passed| format!("; {passed}")).collect();
    (chosen.way, format!("{}{passed}", chosen.why))
}

/// Says once why a call is done so.
pub(in crate::mpi) fn explain(chosen: &Chosen) {
    static TOLD: Mutex<Option<Told>> = Mutex::new(None);
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(line) = told.get_or_insert_default().once(chosen) {
        say(line);
    }
}

//! A collective that a command names: of the catalogue, or of a file.
//!
//! Both have rounds, a domain and a proved range; only their origin differs. The catalogue has generated code, and a
//! file has the evaluator. Commands that show, run or plan a collective see no difference.

use crate::catalogue::{self, Recorded};
use crate::declared::DeclaredCollective;
use crate::error::Error;
use crate::proving::trial::{Performer, Trial};
use crate::replayed::ReplayedRounds;
use crate::simulation::rounds::RankSource;
use roundel::Layout;
use roundel::algorithms::Entry;
use roundel::plan::Plan;
use roundel_spec::{Arguments, Placement, Schedule};
use std::borrow::Cow;
use std::time::Duration;

/// A collective, and how to get at its rounds.
#[derive(Debug)]
pub enum NamedCollective {
    /// A catalogue entry: generated code.
    Entry(&'static Entry),
    /// A declaration of a file: the evaluator.
    Declared(Box<DeclaredCollective>),
}

impl NamedCollective {
    /// The name: that of the catalogue, or that of the declared type.
    pub fn name(&self) -> &str {
        match self {
            NamedCollective::Entry(entry) => entry.name,
            NamedCollective::Declared(declared) => declared.name(),
        }
    }

    /// The declared type.
    pub fn type_name(&self) -> &str {
        match self {
            NamedCollective::Entry(entry) => entry.type_name,
            NamedCollective::Declared(declared) => declared.name(),
        }
    }

    /// The first line of its documentation.
    pub fn summary(&self) -> &str {
        match self {
            NamedCollective::Entry(entry) => entry.summary(),
            NamedCollective::Declared(declared) => declared.summary(),
        }
    }

    /// The declaration as data.
    pub fn schedule(&self) -> Schedule {
        match self {
            NamedCollective::Entry(entry) => (entry.schedule)(),
            NamedCollective::Declared(declared) => declared.schedule().clone(),
        }
    }

    /// The calls for which it is proved, in words.
    pub fn proved_range(&self) -> Result<Cow<'static, str>, Error> {
        Ok(match self {
            NamedCollective::Entry(entry) => catalogue::proved_range(entry)?.into(),
            NamedCollective::Declared(declared) => declared.proved_range().into(),
        })
    }

    /// The calls for which its bounds are proved, in words, if these are not all that it serves.
    pub fn bounds_proved_for(&self) -> Result<Option<Cow<'static, str>>, Error> {
        Ok(match self {
            NamedCollective::Entry(entry) => catalogue::bounds_proved_for(entry)?.map(Cow::from),
            NamedCollective::Declared(declared) => declared.bounds_proved_for().map(Cow::from),
        })
    }

    /// The inner collectives for which the simplest one of their kind stands in.
    pub fn stand_ins(&self) -> Vec<String> {
        match self {
            NamedCollective::Entry(_) => Vec::new(),
            NamedCollective::Declared(declared) => declared.stand_ins(),
        }
    }

    /// Records its rounds at a point, and checks them.
    pub fn examine(&self, args: &Arguments, placement: Placement) -> Result<Recorded, Error> {
        match self {
            NamedCollective::Entry(entry) => catalogue::examine(entry, args, placement),
            NamedCollective::Declared(declared) => declared.examine(args, placement),
        }
    }

    /// Checks that it is proved for a call that its domain admits.
    pub fn proved(&self, args: &Arguments, placement: &Placement) -> Result<(), Error> {
        match self {
            NamedCollective::Entry(entry) => catalogue::proved(entry, args, placement),
            NamedCollective::Declared(declared) => declared.proved(args, placement),
        }
    }

    /// The rounds of all ranks, as a plan.
    pub fn plan(&self, args: &Arguments, placement: Placement) -> Result<Plan, Error> {
        match self {
            NamedCollective::Entry(entry) => catalogue::plan(entry, args, &placement),
            NamedCollective::Declared(declared) => declared.plan(args, placement),
        }
    }

    /// Calls `with` with the rounds of every rank, each of which is made by itself.
    pub fn with_rounds<T>(
        &self,
        args: &Arguments,
        placement: &Placement,
        with: impl FnOnce(&dyn RankSource) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match self {
            NamedCollective::Entry(entry) => catalogue::with_rounds(entry, args, placement, with),
            NamedCollective::Declared(declared) => declared.with_rounds(args, placement, with),
        }
    }

    /// Runs it on threads at the point of a recording, `repeat` times, and compares the results with the definition.
    /// Returns the time of the slowest rank for each repetition; the error says what went wrong.
    pub fn run(
        &self,
        recorded: &Recorded,
        layout: Layout,
        bytes: usize,
        repeat: usize,
    ) -> Result<Vec<Duration>, String> {
        let Recorded { point, trace, .. } = recorded;
        let replayed;
        let performer = match self {
            NamedCollective::Entry(entry) => Performer::Code(entry),
            NamedCollective::Declared(declared) => {
                let rounds = ReplayedRounds::new(declared.schedule(), point, trace);
                replayed = rounds.ok_or("a number of the declaration has no value here")?;
                Performer::Replay(&replayed)
            }
        };
        let trial = Trial { performer, args: &point.args, placement: &point.placement, layout };
        trial.uniform(bytes, repeat)
    }
}

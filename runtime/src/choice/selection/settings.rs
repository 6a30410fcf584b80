//! Settings from the environment.

use super::answer::{Answer, Reason};
use super::device::Device;
use super::fingerprint::print_of;
use super::force::{Force, ForceError};
use super::implementation::Implementation;
use super::{Error, Selection};
use crate::algorithms::own::fault;
use crate::algorithms::{NameError, own};
use crate::choice::question::Question;
use crate::program::shared::MOST_RANKS;
use std::ffi::OsString;
use std::path::PathBuf;

/// The values of `ROUNDEL_SELECTION`, `ROUNDEL_FORCE`, `ROUNDEL_PREFER`, `ROUNDEL_REPRODUCIBLE`, `ROUNDEL_DEVICE`,
/// `ROUNDEL_EXPLAIN` and `ROUNDEL_TRACE`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The rules of the file in `ROUNDEL_SELECTION`, and the implementations that `ROUNDEL_FORCE` forces.
    pub selection: Selection,
    /// The file.
    pub file: Option<PathBuf>,
    /// Whether all ranks must get bitwise equal results in every call.
    pub reproducible: bool,
    /// How to handle buffers that may be in device memory.
    pub device: Device,
    /// Whether choices are explained, once for each distinct call.
    pub explain: bool,
    /// The file for traced messages.
    pub trace: Option<PathBuf>,
}

/// Why an environment variable is invalid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A switch is neither on nor off.
    #[error("{name} is `{found}`: set it to 1 or 0, or leave it out")]
    Switch {
        /// The variable.
        name: &'static str,
        /// The value.
        found: String,
    },
    /// The preference is unknown.
    #[error("ROUNDEL_PREFER is `{found}`: set it to `fastest` or `catalogue`, or leave it out")]
    Prefer {
        /// The value.
        found: String,
    },
    /// The handling of device memory is unknown.
    #[error("ROUNDEL_DEVICE is `{found}`: set it to auto, host or library, or leave it out")]
    Device {
        /// The value.
        found: String,
    },
    /// A file has no name.
    #[error("{name} names no file: set it to a path, or leave it out")]
    NoFile {
        /// The variable.
        name: &'static str,
    },
    /// A file cannot be read.
    #[error("ROUNDEL_SELECTION: cannot read {}: {source}; correct the path", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// A file is not a valid selection.
    #[error("ROUNDEL_SELECTION: {}: {source}", path.display())]
    Selection {
        /// The file.
        path: PathBuf,
        /// The error.
        source: Error,
    },
    /// A collective of another crate cannot have its name.
    #[error("collectives!: {source}")]
    Collectives {
        /// The error.
        source: NameError,
    },
    /// A forced implementation is invalid.
    #[error("ROUNDEL_FORCE: {source}")]
    Force {
        /// The error.
        source: ForceError,
    },
}

impl Settings {
    /// The settings in this process's environment.
    ///
    /// # Errors
    /// If a variable is invalid.
    pub fn from_env() -> Result<Self, SettingsError> {
        Settings::from_variables(std::env::var_os)
    }

    /// The settings in variables that a function looks up.
    ///
    /// # Errors
    /// If a variable is invalid.
    pub fn from_variables(variable: impl Fn(&'static str) -> Option<OsString>) -> Result<Self, SettingsError> {
        if let Some(source) = fault() {
            return Err(SettingsError::Collectives { source });
        }
        let forced = variable("ROUNDEL_FORCE").unwrap_or_default();
        let forced = Force::read(&forced.to_string_lossy()).map_err(|source| SettingsError::Force { source })?;
        let file = path("ROUNDEL_SELECTION", &variable)?;
        let selection = file.as_ref().map_or_else(|| Ok(Selection::default()), read)?.forcing(forced);
        let selection = if prefers(&variable)? { selection.preferring_the_catalogue() } else { selection };
        Ok(Settings {
            selection,
            file,
            reproducible: switch("ROUNDEL_REPRODUCIBLE", &variable)?,
            device: Device::read(variable("ROUNDEL_DEVICE")).map_err(|found| SettingsError::Device { found })?,
            explain: switch("ROUNDEL_EXPLAIN", &variable)?,
            trace: path("ROUNDEL_TRACE", &variable)?,
        })
    }

    /// Whether the user has set how calls run, so that not only the default rule decides.
    pub fn is_said(&self) -> bool {
        let Selection { rules, forced, default_rule, .. } = &self.selection;
        !rules.is_empty() || !forced.is_empty() || default_rule.catalogue || self.reproducible
    }

    /// Whether MPI serves all calls of this many ranks on one node, and nothing must be explained or traced.
    ///
    /// ```
    /// use roundel::selection::Settings;
    /// assert!(Settings::default().leaves_all(1) && !Settings::default().leaves_all(2));
    /// ```
    pub fn leaves_all(&self, ranks: usize) -> bool {
        let shared = (2..=MOST_RANKS).contains(&ranks);
        !shared && !self.is_said() && !self.explain && self.trace.is_none()
    }

    /// All implementations that serve a call, the best first.
    pub fn answers(&self, question: &Question) -> Vec<Answer> {
        let left = self.on_a_device(question).map(|answer| vec![answer]);
        left.unwrap_or_else(|| self.selection.answers(&self.asked(question)))
    }

    /// The first of all [answers](Settings::answers), or MPI if there are none.
    pub fn choose(&self, question: &Question) -> Answer {
        self.on_a_device(question).unwrap_or_else(|| self.selection.choose(&self.asked(question)))
    }

    /// The ports of a persistent request, if any are set.
    pub fn ports(&self, question: &Question) -> Option<Answer> {
        self.selection.ports(&self.asked(question))
    }

    /// The question, with the requirements that these settings add to every call.
    fn asked(&self, question: &Question) -> Question {
        Question { reproducible: question.reproducible || self.reproducible, ..*question }
    }

    /// MPI, if buffers may be in device memory. Requests take host memory only.
    fn on_a_device(&self, question: &Question) -> Option<Answer> {
        let reason = self.device.library().filter(|_| !question.request)?;
        Some(Answer {
            question: *question,
            implementation: Implementation::Library,
            reason: Reason::Device(reason),
            estimate: None,
            between: None,
            passed: Vec::new(),
        })
    }

    /// A hash of everything that affects choices, which ranks compare. It excludes whether calls are explained or
    /// traced, and the location and layout of the file; it includes the declarations that other crates have registered.
    pub fn fingerprint(&self) -> u64 {
        let Selection { rules, forced, default_rule, .. } = &self.selection;
        let rules = rules.iter().map(ToString::to_string);
        let parts = rules.chain([";".into()]).chain(forced.iter().map(ToString::to_string));
        let said = format!("{} {default_rule:?} {} {:?}", env!("CARGO_PKG_VERSION"), self.reproducible, self.device);
        let own = own().into_iter().map(|entry| format!("{} {}", entry.name, (entry.schedule)().fingerprint()));
        let text: Vec<String> = parts.chain([said]).chain(own).collect();
        print_of(&text.join("\n"))
    }
}

fn switch(name: &'static str, variable: impl Fn(&'static str) -> Option<OsString>) -> Result<bool, SettingsError> {
    let value = variable(name).unwrap_or_default();
    match value.to_str() {
        Some("1") => Ok(true),
        Some("0" | "") => Ok(false),
        _ => Err(SettingsError::Switch { name, found: value.to_string_lossy().into() }),
    }
}

/// Whether the catalogue is preferred, even where MPI is faster.
fn prefers(variable: impl Fn(&'static str) -> Option<OsString>) -> Result<bool, SettingsError> {
    let value = variable("ROUNDEL_PREFER").unwrap_or_default();
    match value.to_str() {
        Some("catalogue") => Ok(true),
        Some("fastest" | "") => Ok(false),
        _ => Err(SettingsError::Prefer { found: value.to_string_lossy().into() }),
    }
}

fn path(
    name: &'static str,
    variable: impl Fn(&'static str) -> Option<OsString>,
) -> Result<Option<PathBuf>, SettingsError> {
    match variable(name) {
        Some(value) if value.is_empty() => Err(SettingsError::NoFile { name }),
        value => Ok(value.map(PathBuf::from)),
    }
}

fn read(path: &PathBuf) -> Result<Selection, SettingsError> {
    let text = std::fs::read_to_string(path).map_err(|source| SettingsError::Read { path: path.clone(), source })?;
    Selection::parse(&text).map_err(|source| SettingsError::Selection { path: path.clone(), source })
}

//! How a persistent collective is to run, where the user does not leave it to measurements.

use crate::plan::ports::Ports;
use crate::profile::Profile;
use crate::program::build::Scheme;

/// How a persistent collective is to run. What is not said is chosen by the times of a profile.
///
/// ```
/// use roundel::mpi::persistent::Settings;
/// let settings = Settings::default().ports("4(-1 -1) 4(1 1)".parse()?).lanes(2).reproducible();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub(super) ports: Option<Ports>,
    pub(super) lanes: Option<usize>,
    pub(super) scheme: Option<Scheme>,
    pub(super) reproducible: bool,
    pub(super) flat: bool,
    pub(super) unproved: bool,
    pub(super) profile: Option<Profile>,
}

impl Settings {
    /// These ports between nodes.
    pub fn ports(mut self, ports: Ports) -> Self {
        self.ports = Some(ports);
        self
    }

    /// So many ranks of each node communicate; as many as the smallest node has, if it has fewer.
    pub fn lanes(mut self, lanes: usize) -> Self {
        self.lanes = Some(lanes);
        self
    }

    /// The ranks of a node share memory in this way.
    pub fn scheme(mut self, scheme: Scheme) -> Self {
        self.scheme = Some(scheme);
        self
    }

    /// All ranks get the same bits: only algorithms in which all ranks reduce the same tree.
    pub fn reproducible(mut self) -> Self {
        self.reproducible = true;
        self
    }

    /// Every rank communicates for itself, as if it were alone on its node.
    pub fn flat(mut self) -> Self {
        self.flat = true;
        self
    }

    /// Plans of more nodes than all have been checked for are not checked when the request is made, either. For
    /// experiments.
    pub fn unproved(mut self) -> Self {
        self.unproved = true;
        self
    }

    /// Times of this machine, instead of those that `ROUNDEL_PROFILE` names or the usual ones. All ranks must give the
    /// same.
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }
}

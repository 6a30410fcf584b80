//! The user's settings for persistent collectives, which override measurements.

use crate::choice::profile::Profile;
use crate::plan::ports::Ports;
use crate::program::build::Scheme;

/// How a persistent collective must run. Everything that is not set is chosen by a profile.
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
    /// Sets the ports between nodes.
    pub fn ports(mut self, ports: Ports) -> Self {
        self.ports = Some(ports);
        self
    }

    /// Sets how many ranks of each node communicate; at most as many as the smallest node has.
    pub fn lanes(mut self, lanes: usize) -> Self {
        self.lanes = Some(lanes);
        self
    }

    /// Sets how the ranks of a node share memory.
    pub fn scheme(mut self, scheme: Scheme) -> Self {
        self.scheme = Some(scheme);
        self
    }

    /// Gives all ranks bitwise identical results: allows only algorithms in which all ranks reduce the same tree.
    pub fn reproducible(mut self) -> Self {
        self.reproducible = true;
        self
    }

    /// Lets every rank communicate for itself, as if it were alone on its node.
    pub fn flat(mut self) -> Self {
        self.flat = true;
        self
    }

    /// Skips the check of plans with more nodes than all plans were checked for. For experiments.
    pub fn unproved(mut self) -> Self {
        self.unproved = true;
        self
    }

    /// Sets the profile of this machine, instead of the one in `ROUNDEL_PROFILE` or the default. All ranks must pass
    /// the same.
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }
}

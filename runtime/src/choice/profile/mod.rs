//! The cost of rounds on a machine: measured once by `roundel tune`, stored in a file, read by the selector.
//!
//! A latency and a bandwidth alone do not describe a network: several messages at once cost less than one after the
//! other, up to a number that only a measurement can tell. So a profile has grids: the seconds of a round, by the
//! length of its messages and by their number (Jocksch et al., section 3).
//!
//! - [`Profile`]: everything; [`Profile::default`] is used where nothing was measured
//! - [`Grid`]: the seconds of rounds, with interpolation between the measured points
//! - [`Machine`]: the machine that was measured
//! - `Profile::parse` (feature `profile`): from text, with errors that name the line
//!
//! Estimates are equal on all ranks that have the same profile: IEEE 754 defines all computations to the last bit,
//! including logarithms, which are computed here.

mod defaults;
mod error;
mod grid;
mod logarithm;
mod machine;
#[cfg(feature = "profile")]
mod read;
mod write;

pub(crate) use defaults::WIRE;
#[cfg(feature = "mpi")]
pub(crate) use defaults::{PORTS, SIZES};
pub use error::Error;
pub use grid::{Grid, GridFault};
pub use machine::Machine;

/// The version of the format that is written and read.
pub const VERSION: i64 = 1;

/// The speed of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The machine that was measured.
    pub machine: Machine,
    /// The local speed of processes.
    pub node: NodeSpeed,
    /// The slowdown when all processes of a node send at once.
    pub contention: Contention,
    /// Messages between processes of a node.
    pub inside: Grid,
    /// Messages between nodes, from one process of each.
    pub between: Grid,
}

/// The speed of a node's processes without messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeSpeed {
    /// Seconds from incrementing a counter to another process's answer.
    pub signal: f64,
    /// The bytes that a process copies per second.
    pub copy: f64,
    /// The bytes that a process combines per second.
    pub combine: f64,
}

/// By what factor a round between nodes is slower when `lanes` processes of every node send at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contention {
    /// The number of processes of a node that sent at once, at least 2.
    pub lanes: usize,
    /// The factor for the shortest messages of the grid.
    pub short: f64,
    /// The factor for the longest messages.
    pub long: f64,
}

impl Profile {
    /// The seconds of a round between nodes in which `lanes` processes of every node each exchange messages of
    /// `bytes` bytes with `ports` others.
    pub fn round(&self, bytes: u64, ports: usize, lanes: usize) -> f64 {
        self.between.seconds(bytes, ports) * self.slowdown(bytes, lanes)
    }

    /// By what factor the other lanes slow down a round: linear in their number, and in the logarithm of the length
    /// between the shortest and the longest message.
    fn slowdown(&self, bytes: u64, lanes: usize) -> f64 {
        if lanes < 2 {
            return 1.0;
        }
        let Contention { lanes: of, short, long } = self.contention;
        let at = self.between.position(bytes);
        let share = (lanes - 1) as f64 / (of.max(2) - 1) as f64;
        1.0 + (short + (long - short) * at - 1.0) * share
    }

    /// A hash of the profile, which ranks compare.
    pub fn fingerprint(&self) -> u64 {
        // FNV-1a, which is portable because only its arithmetic defines it.
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.to_string().bytes().fold(0xcbf2_9ce4_8422_2325, mix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_tell_profiles_apart() {
        let defaults = Profile::default();
        assert_eq!(defaults.fingerprint(), Profile::default().fingerprint());
        let mut other = defaults.clone();
        other.node.signal += f64::EPSILON * other.node.signal;
        assert_ne!(defaults.fingerprint(), other.fingerprint());
        other = defaults.clone();
        other.machine.host.push('x');
        assert_ne!(defaults.fingerprint(), other.fingerprint());
    }

    #[test]
    fn lanes_contend() {
        let profile = Profile { contention: Contention { lanes: 5, short: 2.0, long: 5.0 }, ..Profile::default() };
        let alone = profile.round(8, 1, 1);
        assert_eq!(alone, profile.between.seconds(8, 1));
        assert_eq!(profile.round(8, 1, 5), 2.0 * alone);
        assert_eq!(profile.round(8, 1, 3), 1.5 * alone);
        let long = *profile.between.sizes().last().expect("has sizes");
        assert_eq!(profile.round(long, 1, 5), 5.0 * profile.between.seconds(long, 1));
    }
}

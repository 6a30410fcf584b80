//! What rounds cost on a machine: measured once by `roundel tune`, kept in a file, read by the selector.
//!
//! A network is not described by a latency and a bandwidth alone: several messages at once cost less than one after the
//! other, up to a number that nobody can tell without a measurement. So a profile has grids: the seconds of a round, by
//! the length of its messages and by their number (Jocksch et al., section 3).
//!
//! - [`Profile`]: everything; [`Profile::default`] serves where nothing was measured
//! - [`Grid`]: the seconds of rounds, and what lies between the measured points
//! - [`Machine`]: where it was measured
//! - `Profile::parse` (feature `profile`): from text, with errors that name the line
//!
//! Estimates are the same on all ranks that have the same profile: IEEE 754 defines everything that is computed with to
//! the last bit, logarithms included, which are computed here.

mod error;
mod grid;
mod logarithm;
mod machine;
#[cfg(feature = "profile")]
mod read;
mod usual;
mod write;

pub use error::Error;
pub use grid::{Grid, GridFault};
pub use machine::Machine;
#[cfg(feature = "mpi")]
pub(crate) use usual::{PORTS, SIZES};

/// The version of the format that is written and read.
pub const VERSION: i64 = 1;

/// What a machine costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Where it was measured.
    pub machine: Machine,
    /// What processes do by themselves.
    pub node: NodeSpeed,
    /// What it costs when all processes of a node send at once.
    pub crowd: Contention,
    /// Messages between processes of a node.
    pub inside: Grid,
    /// Messages between nodes, from one process of each.
    pub between: Grid,
}

/// What the processes of a node do without messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeSpeed {
    /// Seconds from raising a counter to another process's answer.
    pub signal: f64,
    /// Bytes that a process copies in a second.
    pub copy: f64,
    /// Bytes that a process combines in a second.
    pub combine: f64,
}

/// How many times longer a round between nodes takes when so many processes of every node do it at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contention {
    /// How many processes of a node sent at once, at least 2.
    pub lanes: usize,
    /// With the shortest messages of the grid.
    pub short: f64,
    /// With the longest.
    pub long: f64,
}

impl Profile {
    /// Seconds of a round between nodes, with so many processes of every node at it, each of which exchanges messages
    /// of so many bytes with so many others.
    pub fn round(&self, bytes: u64, ports: usize, lanes: usize) -> f64 {
        self.between.seconds(bytes, ports) * self.crowding(bytes, lanes)
    }

    /// How many times longer a round takes because of the other lanes: linear in their number, and in the logarithm of
    /// the length between the shortest and the longest message.
    fn crowding(&self, bytes: u64, lanes: usize) -> f64 {
        if lanes < 2 {
            return 1.0;
        }
        let Contention { lanes: of, short, long } = self.crowd;
        let at = self.between.position(bytes);
        let share = (lanes - 1) as f64 / (of.max(2) - 1) as f64;
        1.0 + (short + (long - short) * at - 1.0) * share
    }

    /// A number that differs, for all practical purposes, if anything in the profile does: ranks compare it.
    pub fn fingerprint(&self) -> u64 {
        // FNV-1a, which is defined by its arithmetic alone.
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.to_string().bytes().fold(0xcbf2_9ce4_8422_2325, mix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_tell_profiles_apart() {
        let usual = Profile::default();
        assert_eq!(usual.fingerprint(), Profile::default().fingerprint());
        let mut other = usual.clone();
        other.node.signal += f64::EPSILON * other.node.signal;
        assert_ne!(usual.fingerprint(), other.fingerprint());
        other = usual.clone();
        other.machine.host.push('x');
        assert_ne!(usual.fingerprint(), other.fingerprint());
    }

    #[test]
    fn lanes_crowd() {
        let profile = Profile { crowd: Contention { lanes: 5, short: 2.0, long: 5.0 }, ..Profile::default() };
        let alone = profile.round(8, 1, 1);
        assert_eq!(alone, profile.between.seconds(8, 1));
        assert_eq!(profile.round(8, 1, 5), 2.0 * alone);
        assert_eq!(profile.round(8, 1, 3), 1.5 * alone);
        let long = *profile.between.sizes().last().expect("has sizes");
        assert_eq!(profile.round(long, 1, 5), 5.0 * profile.between.seconds(long, 1));
    }
}

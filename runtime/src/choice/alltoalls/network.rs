//! The cost of messages on a network.

use super::Error;
use crate::choice::profile::{Grid, WIRE};

/// A network as one rank sees it: three numbers that hold for every pair of ranks.
///
/// Ranks that share the network link of their node each get a share of its bandwidth.
///
/// ```
/// use roundel::choice::alltoalls::Network;
/// let network = Network::new(3e-6, 1.25e9, 5e-7)?;
/// assert_eq!(network.latency(), 3e-6);
/// assert!(Network::new(f64::NAN, 1.25e9, 0.0).is_err());
/// assert!(Network::new(3e-6, 0.0, 0.0).is_err());
/// # Ok::<(), roundel::choice::alltoalls::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Unchecked"))]
pub struct Network {
    latency: f64,
    bandwidth: f64,
    overhead: f64,
}

/// The longest latency or overhead, in seconds.
const LONGEST: f64 = 1e6;
/// The slowest and the fastest wire, in bytes per second.
const BANDWIDTHS: (f64, f64) = (1.0, 1e18);

/// A latency, an overhead and a bandwidth that approximate the measured times of rounds.
impl From<&Grid> for Network {
    fn from(grid: &Grid) -> Self {
        let (one, two, long) = (grid.seconds(8, 1), grid.seconds(8, 2), grid.seconds(Network::LONGEST, 1));
        let overhead = (two - one).clamp(0.0, one);
        let bandwidth = Network::LONGEST as f64 / (long - one).max(1e-12);
        Network::new(one - overhead, bandwidth, overhead).unwrap_or_default()
    }
}

impl Network {
    /// The longest messages for which a grid is evaluated, in bytes.
    pub(crate) const LONGEST: u64 = 4 << 20;

    /// A network with a latency in seconds, a bandwidth in bytes per second and an overhead in seconds for each
    /// message.
    pub fn new(latency: f64, bandwidth: f64, overhead: f64) -> Result<Self, Error> {
        let within = |what, value, unit, (least, most): (f64, f64)| {
            // NaN lies in no range.
            if (least..=most).contains(&value) {
                Ok(value)
            } else {
                Err(Error::Network { what, value, unit, least, most })
            }
        };
        Ok(Network {
            latency: within("a latency", latency, "seconds", (0.0, LONGEST))?,
            bandwidth: within("a bandwidth", bandwidth, "bytes per second", BANDWIDTHS)?,
            overhead: within("an overhead", overhead, "seconds", (0.0, LONGEST))?,
        })
    }

    /// Seconds from the departure of the first byte to its arrival. The messages of a round share this time.
    pub const fn latency(&self) -> f64 {
        self.latency
    }

    /// The bytes per second that a rank sends, and can receive at the same time.
    pub const fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// The seconds that a rank spends on sending and receiving one message, regardless of its length.
    pub const fn overhead(&self) -> f64 {
        self.overhead
    }
}

/// A cluster of ordinary machines with 10-gigabit Ethernet: 20 µs, 1.25 GB/s, 1 µs. These are round figures for no
/// machine in particular; measure yours with a ping-pong between two nodes.
impl Default for Network {
    fn default() -> Self {
        let [latency, overhead, bandwidth] = WIRE;
        Network { latency, bandwidth, overhead }
    }
}

/// A network as read, before validation.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Unchecked {
    latency: f64,
    bandwidth: f64,
    overhead: f64,
}

#[cfg(feature = "serde")]
impl TryFrom<Unchecked> for Network {
    type Error = Error;

    fn try_from(read: Unchecked) -> Result<Self, Error> {
        Network::new(read.latency, read.bandwidth, read.overhead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused() {
        let says = |network: Result<Network, Error>, words: &str| {
            let message = network.expect_err(words).to_string();
            assert!(message.contains(words), "{message}");
        };
        says(Network::new(-1.0, 1e9, 0.0), "a latency of -1 seconds makes no sense: give a number in 0..=1000000");
        says(Network::new(f64::NAN, 1e9, 0.0), "a latency of NaN seconds");
        says(Network::new(f64::INFINITY, 1e9, 0.0), "a latency of inf seconds");
        says(Network::new(0.0, 0.0, 0.0), "a bandwidth of 0 bytes per second");
        says(Network::new(0.0, f64::NAN, 0.0), "a bandwidth of NaN bytes per second");
        says(Network::new(0.0, 1.0, -0.5), "an overhead of -0.5 seconds");
        assert!(Network::new(0.0, 1.0, 0.0).is_ok());
        let default = Network::default();
        assert_eq!(Network::new(default.latency(), default.bandwidth(), default.overhead()), Ok(default));
    }
}

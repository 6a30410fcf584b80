//! What messages cost on a network.

use super::Error;

/// A network, as one rank sees it: three numbers, the same for every pair of ranks.
///
/// A rank that shares the wire of its node with others has its share of the bandwidth, not all of it.
///
/// ```
/// use roundel::choose::Network;
/// let network = Network::new(3e-6, 1.25e9, 5e-7)?;
/// assert_eq!(network.latency(), 3e-6);
/// assert!(Network::new(f64::NAN, 1.25e9, 0.0).is_err());
/// assert!(Network::new(3e-6, 0.0, 0.0).is_err());
/// # Ok::<(), roundel::choose::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Unchecked"))]
pub struct Network {
    latency: f64,
    bandwidth: f64,
    overhead: f64,
}

/// As long as anybody waits, in seconds.
const LONGEST: f64 = 1e6;
/// The slowest and the fastest wire, in bytes per second.
const BANDWIDTHS: (f64, f64) = (1.0, 1e18);

impl Network {
    /// A network with a latency in seconds, a bandwidth in bytes per second and an overhead in seconds for each
    /// message.
    pub fn new(latency: f64, bandwidth: f64, overhead: f64) -> Result<Self, Error> {
        let within = |what, value, unit, (least, most): (f64, f64)| {
            // A value that is no number lies in no range.
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

    /// Seconds from the first byte's departure to its arrival. Messages of a round wait for it together.
    pub const fn latency(&self) -> f64 {
        self.latency
    }

    /// Bytes per second that a rank sends, and receives at the same time.
    pub const fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// Seconds that a rank is busy with sending and receiving a message, whatever its length. It pays this for each.
    pub const fn overhead(&self) -> f64 {
        self.overhead
    }
}

/// A cluster of plain machines joined by 10-gigabit Ethernet: 20 µs, 1.25 GB/s, 1 µs. Round figures, of no machine in
/// particular; a ping-pong between two nodes measures yours.
impl Default for Network {
    fn default() -> Self {
        Network { latency: 20e-6, bandwidth: 1.25e9, overhead: 1e-6 }
    }
}

/// What is read, before anybody has looked at it.
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
        let usual = Network::default();
        assert_eq!(Network::new(usual.latency(), usual.bandwidth(), usual.overhead()), Ok(usual));
    }
}

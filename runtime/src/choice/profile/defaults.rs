//! The default profile, used where nothing was measured.

use super::{Contention, Grid, Machine, NodeSpeed, Profile};

/// The message sizes to measure, in bytes: 8 B to 4 MiB.
pub(crate) const SIZES: [u64; 11] = {
    let mut sizes = [8; 11];
    let mut i = 1;
    while i < 11 {
        sizes[i] = sizes[i - 1] * if i == 10 { 2 } else { 4 };
        i += 1;
    }
    sizes
};

/// The numbers of simultaneous messages to measure.
pub(crate) const PORTS: [usize; 7] = [1, 2, 3, 4, 6, 8, 12];

/// Between nodes: the latency, the overhead of a message, and the bandwidth.
pub(crate) const WIRE: [f64; 3] = [20e-6, 1e-6, 1.25e9];

/// Round figures for no machine in particular. Between nodes: those of `WIRE` (20 µs, 1.25 GB/s, 1 µs
/// for each message). Within a node: 1 µs, 5 GB/s and 0.3 µs. A counter is answered after 0.5 µs; a process copies 8
/// GB/s and combines 4 GB/s. The processes of a node share its bandwidth, and hardly slow down each other's short
/// messages.
impl Default for Profile {
    fn default() -> Self {
        let [latency, overhead, bandwidth] = WIRE;
        Profile {
            machine: Machine { host: "default".into(), ..Machine::default() },
            node: NodeSpeed { signal: 5e-7, copy: 8e9, combine: 4e9 },
            contention: Contention { lanes: 4, short: 1.2, long: 4.0 },
            inside: modelled(1e-6, 3e-7, 5e9),
            between: modelled(latency, overhead, bandwidth),
        }
    }
}

/// A grid from a latency, an overhead for each message and a bandwidth.
fn modelled(latency: f64, overhead: f64, bandwidth: f64) -> Grid {
    let time = |ports: usize, bytes: u64| latency + ports as f64 * (overhead + bytes as f64 / bandwidth);
    let rows = PORTS.iter().map(|&ports| SIZES.iter().map(|&bytes| time(ports, bytes)).collect()).collect();
    match Grid::new(SIZES.to_vec(), PORTS.to_vec(), rows) {
        Ok(grid) => grid.assumed(),
        Err(fault) => unreachable!("the figures above make sense: {fault:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_end_with_4_mib() {
        assert_eq!((SIZES[0], SIZES[9], SIZES[10]), (8, 2 << 20, 4 << 20));
    }

    #[test]
    fn the_default_is_the_network_of_the_all_to_alls() {
        let profile = Profile::default();
        assert!((profile.between.seconds(8, 3) - (20e-6 + 3.0 * (1e-6 + 8.0 / 1.25e9))).abs() < 1e-15);
        assert!(!profile.between.is_measured() && !profile.inside.is_measured());
    }
}

//! The modelled time of each all-to-all on a network, and the fastest one.
//!
//! The model is simple: a round costs the latency once, every message its overhead, every byte its share of the
//! bandwidth; `rounds * latency + messages * overhead + bytes / bandwidth`. It ignores copies within a rank, ranks
//! that wait for each other, and messages that share a link. It ranks algorithms; it does not predict times.

use super::counts::{Split, ceil_sqrt};
use super::{Error, MAX_P, Network};
use std::cmp::Ordering;
use std::fmt;

/// An all-to-all that is a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum AlltoallAlgorithm {
    /// Sends every block directly to its destination, all at the same time.
    SpreadOut,
    /// Sends every block directly to its destination, one after the other.
    Pairwise,
    /// Bruck with a radix, all substeps of a digit at the same time.
    KBruck,
    /// Bruck with a radix, one substep after the other.
    ModifiedBruck,
    /// Within nodes, then between nodes. The radix is that of `alltoall/k-bruck` between nodes; without one,
    /// `alltoall/spread-out` runs there. Needs the nodes of a [`Cluster`](super::Cluster).
    Hierarchical,
    /// Through one leader rank on each node. Needs the nodes of a [`Cluster`](super::Cluster).
    Leaders,
}

impl AlltoallAlgorithm {
    /// All algorithms that do not use nodes.
    pub const ALL: [AlltoallAlgorithm; 4] = [
        AlltoallAlgorithm::SpreadOut,
        AlltoallAlgorithm::Pairwise,
        AlltoallAlgorithm::KBruck,
        AlltoallAlgorithm::ModifiedBruck,
    ];

    /// Its name in the catalogue.
    pub const fn name(self) -> &'static str {
        match self {
            AlltoallAlgorithm::SpreadOut => "alltoall/spread-out",
            AlltoallAlgorithm::Pairwise => "alltoall/pairwise",
            AlltoallAlgorithm::KBruck => "alltoall/k-bruck",
            AlltoallAlgorithm::ModifiedBruck => "alltoall/modified-bruck",
            AlltoallAlgorithm::Hierarchical => "alltoall/hierarchical",
            AlltoallAlgorithm::Leaders => "alltoall/leaders",
        }
    }

    /// Whether it takes a radix.
    pub const fn has_radix(self) -> bool {
        matches!(self, AlltoallAlgorithm::KBruck | AlltoallAlgorithm::ModifiedBruck)
    }
}

impl fmt::Display for AlltoallAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An algorithm with its radix, the amount of data it sends, and its time by the model.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelledAlltoall {
    /// The algorithm.
    pub algorithm: AlltoallAlgorithm,
    /// Its radix, if it has one.
    pub radix: Option<i64>,
    /// The number of rounds, which run one after the other.
    pub rounds: i64,
    /// The number of messages that a rank sends.
    pub messages: i64,
    /// The number of blocks that a rank sends; a block counts once for every hop.
    pub blocks: i64,
    /// The number of bytes that a rank sends.
    pub bytes: i64,
    /// The modelled time.
    pub time: Time,
}

/// A modelled time in seconds, split by cause.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Time {
    /// Waiting for the first bytes of each round.
    pub latency: f64,
    /// Sending and receiving messages, regardless of length.
    pub overhead: f64,
    /// Transferring bytes.
    pub transfer: f64,
}

impl Time {
    /// The time multiplied by a factor.
    pub(super) fn times(self, factor: f64) -> Time {
        Time { latency: self.latency * factor, overhead: self.overhead * factor, transfer: self.transfer * factor }
    }

    /// The sum of all parts.
    pub fn total(&self) -> f64 {
        self.latency + self.overhead + self.transfer
    }
}

impl ModelledAlltoall {
    /// Orders by time. Ties go to algorithms without a radix, then to the smaller radix, then to the order of
    /// [`AlltoallAlgorithm::ALL`]. So no two candidates are equal, and every rank makes the same choice.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let times = self.time.total().total_cmp(&other.time.total());
        times.then(self.radix.cmp(&other.radix)).then(self.algorithm.cmp(&other.algorithm))
    }

    fn or_faster(self, other: Self) -> Self {
        if other.order(&self) == Ordering::Less { other } else { self }
    }
}

/// Up to this many ranks every radix is a candidate.
const EVERY_RADIX: i64 = 64;

/// The fastest all-to-all among `p` ranks for blocks of `bytes` bytes, by the model.
///
/// Evaluates at most `2 * ceil_sqrt(p)` candidates, without allocating memory.
///
/// ```
/// use roundel::choice::alltoalls::{AlltoallAlgorithm, Network, choose};
/// let slow = Network::new(1e-3, 1e9, 1e-6)?;
/// let choice = choose(16, 4, &slow)?;
/// assert_eq!((choice.algorithm, choice.radix), (AlltoallAlgorithm::SpreadOut, None));
/// // Where each message costs as much as a round, few messages are better than few rounds.
/// let busy = Network::new(1e-5, 1e9, 1e-5)?;
/// let choice = choose(16, 4, &busy)?;
/// assert_eq!((choice.algorithm, choice.radix), (AlltoallAlgorithm::KBruck, Some(4)));
/// # Ok::<(), roundel::choice::alltoalls::Error>(())
/// ```
pub fn choose(p: i64, bytes: i64, network: &Network) -> Result<ModelledAlltoall, Error> {
    let first = modelled(AlltoallAlgorithm::SpreadOut, p, 2, bytes, network)?;
    every(p, EVERY_RADIX).try_fold(first, |best, (algorithm, radix)| {
        Ok(best.or_faster(modelled(algorithm, p, radix, bytes, network)?))
    })
}

/// The fastest radix of one algorithm, by the model. An algorithm without a radix is returned as it is.
///
/// ```
/// use roundel::choice::alltoalls::{AlltoallAlgorithm, Network, choose_radix};
/// let choice = choose_radix(AlltoallAlgorithm::ModifiedBruck, 512, 64, &Network::new(2e-6, 1.5e8, 1e-6)?)?;
/// assert_eq!((choice.radix, choice.rounds), (Some(22), 43));
/// # Ok::<(), roundel::choice::alltoalls::Error>(())
/// ```
pub fn choose_radix(
    algorithm: AlltoallAlgorithm,
    p: i64,
    bytes: i64,
    network: &Network,
) -> Result<ModelledAlltoall, Error> {
    let first = modelled(algorithm, p, 2, bytes, network)?;
    let mut same = every(p, EVERY_RADIX).filter(|&(other, _)| other == algorithm);
    same.try_fold(first, |best, (_, radix)| Ok(best.or_faster(modelled(algorithm, p, radix, bytes, network)?)))
}

/// All candidates, the fastest first: the algorithms without a radix, and the others with every radix below `p` up to
/// 64 ranks. For more ranks most radices can be skipped, and the fastest is still among the rest:
///
/// - Below `ceil_sqrt(p)` all radices are candidates; there are few of them.
/// - From `ceil_sqrt(p)` to `p - 1` offsets have two digits, and `messages = r - 2 + ceil(p / r)`. The blocks whose
///   last digit is zero are `ceil(p / r)`, those whose first digit is zero are `r`; so `blocks = 2 p - 2 - messages`.
///   Rounds are 2 or as many as messages. The time is linear in the number of messages, so one of the ends is fastest:
///   the fewest messages, at `ceil_sqrt(p)`, or the most, at `p - 1`.
/// - From `p` on it is `alltoall/spread-out` or `alltoall/pairwise`.
///
/// ```
/// use roundel::choice::alltoalls::{Network, candidates, choose};
/// let network = Network::default();
/// let all = candidates(1000, 64, &network)?;
/// assert_eq!(all.first(), Some(&choose(1000, 64, &network)?));
/// // Radices 2 to 32 and 999 of two algorithms, and two without a radix.
/// assert_eq!(all.len(), 2 * 32 + 2);
/// # Ok::<(), roundel::choice::alltoalls::Error>(())
/// ```
pub fn candidates(p: i64, bytes: i64, network: &Network) -> Result<Vec<ModelledAlltoall>, Error> {
    // The order is total, so the result is unique.
    let modelled = |(algorithm, radix)| modelled(algorithm, p, radix, bytes, network);
    let mut all: Vec<ModelledAlltoall> = every(p, EVERY_RADIX).map(modelled).collect::<Result<_, _>>()?;
    all.sort_by(ModelledAlltoall::order);
    Ok(all)
}

/// The candidates, with all radices up to `every_radix` ranks. An algorithm without a radix ignores it.
fn every(p: i64, every_radix: i64) -> impl Iterator<Item = (AlltoallAlgorithm, i64)> {
    let radices = move || {
        let (end, last) = if p <= every_radix { (p.max(3), None) } else { (ceil_sqrt(p) + 1, Some(p - 1)) };
        (2..end).chain(last)
    };
    AlltoallAlgorithm::ALL.into_iter().flat_map(move |algorithm| {
        radices().take(if algorithm.has_radix() { usize::MAX } else { 1 }).map(move |radix| (algorithm, radix))
    })
}

/// The amount of data that one algorithm sends, and its modelled time. An algorithm without a radix ignores it. An
/// algorithm that uses nodes is an error, because there are none.
pub fn modelled(
    algorithm: AlltoallAlgorithm,
    p: i64,
    radix: i64,
    bytes: i64,
    network: &Network,
) -> Result<ModelledAlltoall, Error> {
    // Sending every block directly is the case of offsets with one digit.
    let split = Split::new(p, if algorithm.has_radix() { radix } else { MAX_P })?;
    // No block takes more than 31 hops.
    let most = i64::MAX / (31 * p);
    if !(0..=most).contains(&bytes) {
        return Err(Error::Bytes { bytes, p, most });
    }
    let (messages, blocks) = (split.substeps(), split.total());
    let rounds = match algorithm {
        AlltoallAlgorithm::SpreadOut | AlltoallAlgorithm::KBruck => split.digits(),
        AlltoallAlgorithm::Pairwise | AlltoallAlgorithm::ModifiedBruck => messages,
        AlltoallAlgorithm::Hierarchical | AlltoallAlgorithm::Leaders => return Err(Error::NoNodes { algorithm }),
    };
    let bytes = blocks * bytes;
    let time = Time {
        latency: rounds as f64 * network.latency(),
        overhead: messages as f64 * network.overhead(),
        transfer: bytes as f64 / network.bandwidth(),
    };
    Ok(ModelledAlltoall {
        algorithm,
        radix: algorithm.has_radix().then_some(radix),
        rounds,
        messages,
        blocks,
        bytes,
        time,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(latency: f64, bandwidth: f64, overhead: f64) -> Network {
        Network::new(latency, bandwidth, overhead).expect("makes sense")
    }

    /// Networks from pure latency to pure bandwidth. On the fourth, a message costs as much as a block of 64 bytes.
    fn networks() -> [Network; 7] {
        [
            Network::default(),
            network(3e-6, 1e9, 0.0),
            network(0.0, 1e9, 2e-6),
            network(0.0, 6.4e7, 1e-6),
            network(1e-3, 1e18, 1e-9),
            network(0.0, 1.0, 0.0),
            network(2e-6, 1.5e8, 1e-6),
        ]
    }

    /// The model by its definition, message by message.
    #[test]
    fn times_are_sums_over_messages() {
        for network in networks() {
            for p in [1, 2, 3, 7, 16, 17, 100] {
                for radix in 2..=p + 1 {
                    let (bytes, split) = (100i64, Split::new(p, radix).expect("in the domain"));
                    let wire = |blocks: i64| (blocks * bytes) as f64 / network.bandwidth();
                    let step = |blocks: i64| network.latency() + network.overhead() + wire(blocks);
                    let direct = (p - 1) as f64;
                    let digit = |x: i64| {
                        network.latency()
                            + split.substeps_of(x) as f64 * network.overhead()
                            + wire(split.blocks_of(x))
                    };
                    let first = if p == 1 { 0.0 } else { network.latency() };
                    let sums = [
                        (AlltoallAlgorithm::SpreadOut, first + direct * (network.overhead() + wire(1))),
                        (AlltoallAlgorithm::Pairwise, direct * step(1)),
                        (AlltoallAlgorithm::KBruck, (0..split.digits()).map(digit).sum()),
                        (AlltoallAlgorithm::ModifiedBruck, split.each().map(|substep| step(substep.blocks)).sum()),
                    ];
                    for (algorithm, sum) in sums {
                        let time =
                            modelled(algorithm, p, radix, bytes, &network).expect("in the domain").time.total();
                        assert!(
                            (time - sum).abs() <= 1e-12 * sum,
                            "{algorithm}, p = {p}, radix = {radix}: {time} {sum}"
                        );
                    }
                }
            }
        }
    }

    /// The candidates skipped beyond 64 ranks are never faster, except for rounding.
    #[test]
    fn the_fastest_is_never_left_out() {
        let fastest = |p, bytes, network: &Network, algorithm: AlltoallAlgorithm, every_radix| {
            let same = every(p, every_radix).filter(|&(other, _)| other == algorithm);
            let times = same.map(|(_, radix)| modelled(algorithm, p, radix, bytes, network).expect("in the domain"));
            times.min_by(ModelledAlltoall::order).expect("there are some").time.total()
        };
        for network in networks() {
            for p in 3..=300 {
                for bytes in [0, 1, 64, 4096] {
                    for algorithm in AlltoallAlgorithm::ALL {
                        let all = fastest(p, bytes, &network, algorithm, i64::MAX);
                        let few = fastest(p, bytes, &network, algorithm, 0);
                        assert!(few <= all * (1.0 + 1e-12), "{algorithm}, p = {p}, {bytes} bytes: {few} {all}");
                    }
                }
            }
        }
    }

    /// Why so many radices can be skipped: with two digits, each additional message saves a block.
    #[test]
    fn with_two_digits_messages_and_blocks_add_up_to_the_same() {
        for p in 3..=300 {
            let mut most = 0;
            for radix in ceil_sqrt(p)..p {
                let split = Split::new(p, radix).expect("in the domain");
                assert_eq!(
                    (split.digits(), split.total() + split.substeps()),
                    (2, 2 * p - 2),
                    "p = {p}, radix = {radix}"
                );
                let fewest = Split::new(p, ceil_sqrt(p)).expect("in the domain");
                assert!(fewest.substeps() <= split.substeps(), "p = {p}, radix = {radix}");
                most = most.max(split.substeps());
            }
            assert_eq!(Split::new(p, p - 1).map(|split| split.substeps()), Ok(most), "p = {p}");
        }
    }

    #[test]
    fn the_choice_is_the_first_candidate() {
        for network in networks() {
            for p in (1..=140).chain([1000, 4096, 65_537]) {
                for bytes in [0, 8, 1024, 1 << 20] {
                    let all = candidates(p, bytes, &network).expect("in the domain");
                    assert_eq!(all.first(), choose(p, bytes, &network).ok().as_ref(), "p = {p}, {bytes} bytes");
                    assert!(all.windows(2).all(|two| two[0].order(&two[1]) == Ordering::Less), "p = {p}");
                    for algorithm in AlltoallAlgorithm::ALL {
                        let first = all.iter().find(|choice| choice.algorithm == algorithm);
                        assert_eq!(first, choose_radix(algorithm, p, bytes, &network).ok().as_ref(), "p = {p}");
                    }
                }
            }
        }
    }

    #[test]
    fn where_nothing_differs_the_simplest_is_chosen() {
        // Everything is free.
        let free = choose(100, 0, &network(0.0, 1.0, 0.0)).expect("in the domain");
        assert_eq!((free.algorithm, free.radix), (AlltoallAlgorithm::SpreadOut, None));
        // With two digits a message costs what a block costs: radix 10 and 99 take the same time.
        let even = network(0.0, 1e6, 1e-6);
        let times = [10, 99].map(|radix| modelled(AlltoallAlgorithm::ModifiedBruck, 100, radix, 1, &even));
        let [Ok(small), Ok(large)] = times else { panic!("in the domain") };
        assert!((small.time.total() - large.time.total()).abs() < 1e-15);
        // One rank sends nothing.
        let alone = choose(1, 8, &Network::default()).expect("in the domain");
        assert_eq!(
            (alone.algorithm, alone.rounds, alone.messages, alone.time.total()),
            (AlltoallAlgorithm::SpreadOut, 0, 0, 0.0)
        );
    }

    #[test]
    fn the_largest_calls_are_modelled() {
        let network = Network::default();
        let choice = choose(MAX_P, 0, &network).expect("in the domain");
        assert!(choice.time.total().is_finite() && choice.rounds > 0);
        let most = i64::MAX / (31 * MAX_P);
        assert!(choose(MAX_P, most, &network).is_ok());
        assert_eq!(choose(MAX_P, most + 1, &network), Err(Error::Bytes { bytes: most + 1, p: MAX_P, most }));
        assert_eq!(choose(0, 8, &network), Err(Error::Ranks { p: 0 }));
        assert_eq!(candidates(-3, 8, &network), Err(Error::Ranks { p: -3 }));
        assert!(matches!(choose(3, -1, &network), Err(Error::Bytes { bytes: -1, .. })));
        assert_eq!(choose(MAX_P + 1, 8, &network), Err(Error::Ranks { p: MAX_P + 1 }));
    }

    /// One rank's share of the Cray XC40 Theta, where the paper measured. The paper says nothing about the network.
    /// These are round figures for such machines: 64 cores and ranks on a node; some 3 µs one way for a short message,
    /// slow cores included; some 10 GB/s into the network, which the ranks of a node share.
    fn theta() -> Network {
        network(2e-6, 10e9 / 64.0, 1e-6)
    }

    /// The paper's Fig. 3: one message after the other, radices up to 56 and 80, blocks of 64 and 1024 bytes.
    ///
    /// With 64 bytes the model agrees: 22, which is the one the paper names (23 is 0.1 % slower), and 64. With 1024
    /// bytes a block takes longer than a message's latency, and the largest radix of the paper's range is best by 1 %
    /// at most. Here the model does not agree with the paper: it would send every block directly, in three quarters of
    /// the time of `ceil_sqrt(p)`, while the paper finds Bruck faster than the vendor's all-to-all. The model ignores
    /// that ranks get in each other's way when each of them sends p messages.
    ///
    /// The share is what matters: with the 10 GB/s to itself, a rank would be best off with radix 2 to 5 at 64 bytes.
    #[test]
    fn the_square_root_is_a_good_radix_where_the_paper_measured() {
        for (p, largest, bytes, best) in
            [(512, 56, 64, 22), (4096, 80, 64, 64), (512, 56, 1024, 56), (4096, 80, 1024, 80)]
        {
            let at =
                |radix| modelled(AlltoallAlgorithm::ModifiedBruck, p, radix, bytes, &theta()).expect("in the domain");
            let found = (2..=largest).map(at).min_by(ModelledAlltoall::order).expect("there are some");
            let root = at(ceil_sqrt(p));
            assert_eq!(found.radix, Some(best), "p = {p}, {bytes} bytes");
            assert!(root.time.total() <= 1.02 * found.time.total(), "p = {p}, {bytes} bytes");
            assert!(root.time.total() <= 0.7 * at(2).time.total(), "p = {p}, {bytes} bytes: radix 2 is much slower");
            let among_all =
                choose_radix(AlltoallAlgorithm::ModifiedBruck, p, bytes, &theta()).expect("in the domain");
            let ratio = root.time.total() / among_all.time.total();
            match bytes {
                64 => assert_eq!(among_all.radix, Some(best), "p = {p}"),
                _ => assert!(among_all.radix == Some(p - 1) && (1.3..1.4).contains(&ratio), "p = {p}: {ratio}"),
            }
        }
        let alone = network(2e-6, 10e9, 1e-6);
        let radix = |p| choose_radix(AlltoallAlgorithm::ModifiedBruck, p, 64, &alone).map(|choice| choice.radix);
        assert_eq!((radix(512), radix(4096)), (Ok(Some(2)), Ok(Some(5))));
    }

    /// The paper's Fig. 2b: 2048 ranks, 512 bytes. It found 48 best among powers of two and 48; the square root is 46.
    #[test]
    fn figure_2b() {
        let at =
            |radix| modelled(AlltoallAlgorithm::ModifiedBruck, 2048, radix, 512, &theta()).expect("in the domain");
        let found =
            [2, 4, 8, 16, 32, 48, 64].map(at).into_iter().min_by(ModelledAlltoall::order).expect("there are some");
        let ratio = at(48).time.total() / found.time.total();
        assert!(found.radix >= Some(48) && ratio < 1.01, "{found:?} {ratio}");
    }
}

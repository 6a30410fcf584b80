//! The default rule, used where no other rule matches.
//!
//! One number decides what is short: how many bytes the network moves while one latency passes. A vector of fewer bytes
//! costs rounds, and few rounds are best; a longer one costs bytes, and it is best to send each as seldom as possible.
//! The bounds for gathered data follow Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations
//! in MPICH, IJHPCA 19(1), 2005; those for lanes between nodes Träff, Hunold: Decomposing MPI Collectives for
//! Exploiting Multi-lane Communication, IEEE CLUSTER 2020.
//!
//! The default must not be slower than the library, so the library is a candidate, too. `benches/defaults.sh`
//! measures both, and where the library is faster it comes first: on one node, and wherever the catalogue has only
//! what the library has as well. Candidates are asked one after the other. What comes after the library serves calls
//! for which it may not be asked: those that need the same bits on all ranks, and all of them if
//! `ROUNDEL_PREFER=catalogue`.

use super::algorithm::Parameter;
use super::call::Call;
use super::chosen::Reason;
use super::implementation::Implementation;
use crate::choose::{self, Cluster, Network};
use crate::profile::Profile;
use roundel_spec::Kind;

/// The default rule, on a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DefaultRule {
    /// Vectors of up to so many bytes are short.
    pub short: u64,
    inside: Network,
    between: Network,
    /// Whether the library is asked last, also where it is faster: to try algorithms.
    pub(super) catalogue: bool,
}

/// Bytes of all ranks together that are few, in short vectors.
const GATHERED: u64 = 16;

/// Bytes of all ranks together up to which lanes are faster than an allgatherv of the library: with 1 MiB they take
/// 0.63 of its time on 4 nodes of 4 ranks, with 16 MiB 1.10. (Its allgather takes twice as long there as its
/// allgatherv.)
const VARYING: u64 = 4 << 20;

/// The rule on the network of [`Profile::default`]: up to 32 KiB are short.
impl Default for DefaultRule {
    fn default() -> Self {
        DefaultRule::from(&Profile::default())
    }
}

impl From<&Profile> for DefaultRule {
    fn from(profile: &Profile) -> Self {
        let (inside, between) = (network(&profile.inside), network(&profile.between));
        let bytes = (between.latency() + between.overhead()) * between.bandwidth();
        // Rounded, so that measurements that differ a little make no difference.
        let short = (bytes.clamp(1.0, LONGEST as f64) as u64).next_power_of_two();
        DefaultRule { short, inside, between, catalogue: false }
    }
}

/// The longest messages that a grid is asked about.
const LONGEST: u64 = 4 << 20;

/// A latency, a bandwidth and an overhead that say about what a grid says.
fn network(grid: &crate::profile::Grid) -> Network {
    let (one, two, long) = (grid.seconds(8, 1), grid.seconds(8, 2), grid.seconds(LONGEST, 1));
    let overhead = (two - one).clamp(0.0, one);
    let bandwidth = LONGEST as f64 / (long - one).max(1e-12);
    Network::new(one - overhead, bandwidth, overhead).unwrap_or_default()
}

/// An algorithm, with its radix if it has one, or the library; and why it would be taken.
type Candidate = (&'static str, Option<i64>, &'static str);

/// The name of the library among candidates.
const LIBRARY: &str = "library";

impl DefaultRule {
    /// The first candidate that serves the call, or the library.
    pub(super) fn choose(&self, call: &Call) -> (Implementation, Reason) {
        let serving = |(name, radix, why): Candidate| {
            let parameters: Vec<_> =
                radix.map(|radix| ("radix".into(), Parameter::Number(radix))).into_iter().collect();
            let way = Implementation::named(call.kind, name, &parameters).ok()?;
            way.serves(call).is_ok().then_some((way, Reason::Default(why)))
        };
        let library = || (Implementation::Library, Reason::Default("the catalogue has nothing proved that suits it"));
        self.candidates(call).into_iter().find_map(serving).unwrap_or_else(library)
    }

    fn candidates(&self, call: &Call) -> Vec<Candidate> {
        let gathered = call.bytes.saturating_mul(call.p as u64) <= GATHERED * self.short;
        let short = call.bytes <= self.short;
        let mut candidates = match call.kind {
            Kind::Allreduce => self.allreduce(call),
            Kind::Allgather => allgather(call, gathered),
            Kind::ReduceScatter => reduce_scatter(call, gathered),
            Kind::Broadcast if short => vec![library(call), ("broadcast/binomial", None, SHORT)],
            Kind::Reduce if short => {
                let ordered = ("reduce/binomial-ordered", None, ORDERED);
                vec![library(call), ("reduce/binomial", None, SHORT), ordered]
            }
            Kind::Gather if gathered => vec![library(call), ("gather/binomial", None, SHORT)],
            Kind::Scatter if gathered => vec![library(call), ("scatter/binomial", None, SHORT)],
            Kind::Alltoall => self.alltoall(call),
            Kind::Broadcast | Kind::Reduce | Kind::Gather | Kind::Scatter => vec![library(call)],
        };
        if self.catalogue {
            // All others stay in their order.
            candidates.sort_by_key(|(name, ..)| *name == LIBRARY);
        }
        candidates
    }

    fn allreduce(&self, call: &Call) -> Vec<Candidate> {
        let nap = ("allreduce/nap", None, ON_NODES);
        let doubling = ("allreduce/recursive-doubling", None, SHORT);
        let ordered = ("allreduce/recursive-doubling", None, ORDERED);
        let halving = ("allreduce/rabenseifner", None, LONG);
        // Where ranks fold in pairs first, they send the vector twice more; a ring does not.
        let ring = ("allreduce/ring", None, "blocks are long, and p is no power of two");
        let long_blocks = call.bytes / self.short >= call.p as u64 && !call.p.is_power_of_two();
        match call.bytes {
            // It sends no more between nodes than recursive doubling, in fewer rounds.
            bytes if bytes <= self.short && has_nodes(call) => vec![nap, library(call), doubling],
            bytes if bytes <= self.short => vec![library(call), doubling],
            _ if long_blocks => vec![library(call), ring, halving, ordered],
            _ => vec![library(call), halving, ordered],
        }
    }

    fn alltoall(&self, call: &Call) -> Vec<Candidate> {
        let leaders = ("alltoall/leaders", None, ON_NODES);
        // What one node has for another travels in one message.
        let together = call.bytes.saturating_mul((call.ppn_max * call.ppn_max) as u64);
        let leads = has_nodes(call) && together <= 2 * self.short;
        let modelled = if self.catalogue { self.modelled(call) } else { Vec::new() };
        let first = leads.then_some(leaders).into_iter().chain([library(call)]);
        first.chain(modelled).collect()
    }

    /// All that [`choose`] knows, the fastest first, for those who prefer the catalogue.
    fn modelled(&self, call: &Call) -> Vec<Candidate> {
        let (p, ppn) = (call.p as i64, call.ppn_max as i64);
        let cluster = Cluster::new(p, ppn, self.inside, self.between);
        let bytes = i64::try_from(call.bytes).unwrap_or(i64::MAX);
        let all = cluster.and_then(|cluster| cluster.candidates(bytes)).unwrap_or_default();
        let named = all.into_iter().filter(|choice| {
            // With a radix between nodes it is a type of its own, which has no name.
            choice.algorithm != choose::AlltoallAlgorithm::Hierarchical || choice.radix.is_none()
        });
        let named = named.map(|choice| (choice.algorithm.name(), choice.radix, "the fastest by the model"));
        named.chain([("alltoall/spread-out", None, "every block goes straight")]).collect()
    }
}

const SHORT: &str = "few rounds, because it is short";
const LONG: &str = "few bytes, because it is long";
const ORDERED: &str = "operands keep their order";
const LANES: &str = "all ranks of a node send their part of what leaves it, because it is long";
const ON_NODES: &str = "few messages between nodes, because it is short";

/// Whether there are nodes whose ranks can do something together.
const fn has_nodes(call: &Call) -> bool {
    call.nodes > 1 && call.ppn_min > 1
}

/// The library, in its place among candidates.
const fn library(call: &Call) -> Candidate {
    let why = match call.nodes {
        1 => "on one node nothing of the catalogue is faster",
        _ => "nothing that is proved for it is faster",
    };
    (LIBRARY, None, why)
}

fn allgather(call: &Call, short: bool) -> Vec<Candidate> {
    let (bruck, ring) = (("allgather/bruck", None, SHORT), ("allgather/ring", None, LONG));
    let lanes = ("allgather/multi-lane", None, LANES);
    let much = call.varying && call.bytes.saturating_mul(call.p as u64) > VARYING;
    match short {
        true if has_nodes(call) => vec![("allgather/locality-bruck", None, ON_NODES), library(call), bruck],
        true => vec![library(call), bruck],
        // All ranks of a node send to other nodes at the same time; in a ring the last one sends for all.
        false if has_nodes(call) && much => vec![library(call), lanes, ring],
        false if has_nodes(call) => vec![lanes, library(call), ring],
        false => vec![library(call), ring],
    }
}

fn reduce_scatter(call: &Call, short: bool) -> Vec<Candidate> {
    let pairwise = ("reduce-scatter/pairwise", None, LONG);
    let halving = ("reduce-scatter/recursive-halving", None, SHORT);
    let circulant = ("reduce-scatter/circulant", None, SHORT);
    let left = ("reduce-scatter/pairwise", None, "nothing with fewer rounds is proved for it");
    if short { vec![library(call), halving, circulant, left] } else { vec![library(call), pairwise] }
}

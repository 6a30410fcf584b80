//! What is chosen where no rule matches.
//!
//! One number decides what is short: how many bytes the network moves while one latency passes. A vector of fewer bytes costs
//! rounds, and few rounds are best; a longer one costs bytes, and it is best to send each as seldom as possible. The bounds for
//! gathered data follow Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH, IJHPCA 19(1),
//! 2005; those for lanes between nodes Träff, Hunold: Decomposing MPI Collectives for Exploiting Multi-lane Communication, IEEE CLUSTER
//! 2020. All-to-alls are chosen by the model of [`choose`](crate::choose). Candidates are asked one after the other, and the
//! first that is proved for the call is taken; if none is, the library.

use super::algorithm::{Algorithm, Parameter};
use super::call::Call;
use super::chosen::Why;
use super::way::Way;
use crate::choose::{self, Cluster, Network};
use crate::profile::Profile;
use roundel_spec::Kind;

/// The default rule, on a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usual {
    /// Vectors of up to so many bytes are short.
    pub short: u64,
    inside: Network,
    between: Network,
}

/// Bytes of all ranks together that are few, in short vectors.
const GATHERED: u64 = 16;

/// The rule on the network of [`Profile::default`]: up to 32 KiB are short.
impl Default for Usual {
    fn default() -> Self {
        Usual::from(&Profile::default())
    }
}

impl From<&Profile> for Usual {
    fn from(profile: &Profile) -> Self {
        let (inside, between) = (network(&profile.inside), network(&profile.between));
        let bytes = (between.latency() + between.overhead()) * between.bandwidth();
        // Rounded, so that measurements that differ a little make no difference.
        let short = (bytes.clamp(1.0, LONGEST as f64) as u64).next_power_of_two();
        Usual { short, inside, between }
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

/// An algorithm, with its radix if it has one, and why it would be taken.
type Candidate = (&'static str, Option<i64>, &'static str);

impl Usual {
    /// The first candidate that serves the call, or the library.
    pub(super) fn choose(&self, call: &Call) -> (Way, Why) {
        let serving = |(name, radix, why): Candidate| {
            let parameters: Vec<_> =
                radix.map(|radix| ("radix".into(), Parameter::Number(radix))).into_iter().collect();
            let way = Algorithm::named(call.kind, name, &parameters).map(Way::Catalogue).ok()?;
            way.serves(call).is_ok().then_some((way, Why::Default(why)))
        };
        let library = || (Way::Library, Why::Default("the catalogue has nothing proved that suits it"));
        self.candidates(call).into_iter().find_map(serving).unwrap_or_else(library)
    }

    fn candidates(&self, call: &Call) -> Vec<Candidate> {
        let gathered = call.bytes.saturating_mul(call.p as u64) <= GATHERED * self.short;
        match call.kind {
            Kind::Allreduce => self.allreduce(call),
            Kind::Allgather => allgather(call, gathered),
            Kind::ReduceScatter => reduce_scatter(gathered),
            Kind::Broadcast if call.bytes <= self.short => vec![("broadcast/binomial", None, SHORT)],
            Kind::Reduce if call.bytes <= self.short => {
                vec![("reduce/binomial", None, SHORT), ("reduce/binomial-ordered", None, "operands keep their order")]
            }
            Kind::Gather if gathered => vec![("gather/binomial", None, SHORT)],
            Kind::Scatter if gathered => vec![("scatter/binomial", None, SHORT)],
            Kind::Alltoall => self.alltoall(call),
            Kind::Broadcast | Kind::Reduce | Kind::Gather | Kind::Scatter => Vec::new(),
        }
    }

    fn allreduce(&self, call: &Call) -> Vec<Candidate> {
        let doubling = ("allreduce/recursive-doubling", None, SHORT);
        let ordered = ("allreduce/recursive-doubling", None, "operands keep their order");
        let halving = ("allreduce/rabenseifner", None, LONG);
        // Where ranks fold in pairs first, they send the vector twice more; a ring does not.
        let ring = ("allreduce/ring", None, "blocks are long, and p is no power of two");
        let long_blocks = call.bytes / self.short >= call.p as u64 && !call.p.is_power_of_two();
        match call.bytes {
            // It sends no more between nodes than recursive doubling, in fewer rounds.
            bytes if bytes <= self.short && has_nodes(call) => vec![("allreduce/nap", None, ON_NODES), doubling],
            bytes if bytes <= self.short => vec![doubling],
            _ if long_blocks => vec![ring, halving, ordered],
            _ => vec![halving, ordered],
        }
    }

    fn alltoall(&self, call: &Call) -> Vec<Candidate> {
        let (p, ppn) = (call.p as i64, call.ppn_max as i64);
        let cluster = Cluster::new(p, ppn, self.inside, self.between);
        let bytes = i64::try_from(call.bytes).unwrap_or(i64::MAX);
        let all = cluster.and_then(|cluster| cluster.candidates(bytes)).unwrap_or_default();
        let named = all.into_iter().filter(|choice| {
            // With a radix between nodes it is a type of its own, which has no name.
            choice.algorithm != choose::Algorithm::Hierarchical || choice.radix.is_none()
        });
        let named = named.map(|choice| (choice.algorithm.name(), choice.radix, "the fastest by the model"));
        // What is beyond the model is sent straight.
        named.chain([("alltoall/spread-out", None, LONG)]).collect()
    }
}

const SHORT: &str = "few rounds, because it is short";
const LONG: &str = "few bytes, because it is long";
const LANES: &str = "all ranks of a node send their part of what leaves it, because it is long";
const ON_NODES: &str = "few messages between nodes, because it is short";

/// Whether there are nodes whose ranks can do something together.
const fn has_nodes(call: &Call) -> bool {
    call.nodes > 1 && call.ppn_min > 1
}

fn allgather(call: &Call, short: bool) -> Vec<Candidate> {
    let (bruck, ring) = (("allgather/bruck", None, SHORT), ("allgather/ring", None, LONG));
    match short {
        true if has_nodes(call) => vec![("allgather/locality-bruck", None, ON_NODES), bruck],
        true => vec![bruck],
        // All ranks of a node send to other nodes at the same time; in a ring the last one sends for all.
        false if has_nodes(call) => vec![("allgather/multi-lane", None, LANES), ring],
        false => vec![ring],
    }
}

fn reduce_scatter(short: bool) -> Vec<Candidate> {
    let pairwise = ("reduce-scatter/pairwise", None, LONG);
    let halving = ("reduce-scatter/recursive-halving", None, SHORT);
    let circulant = ("reduce-scatter/circulant", None, SHORT);
    if short { vec![halving, circulant, pairwise] } else { vec![pairwise] }
}

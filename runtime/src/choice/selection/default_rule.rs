//! The default rule, used where no other rule matches.
//!
//! One number defines what is short: the bytes that the network moves during one latency. The time of a shorter
//! vector depends on the rounds, so few rounds are best; that of a longer one depends on the bytes, so it is best to
//! send each as rarely as possible. The bounds for gathered data follow Thakur, Rabenseifner, Gropp: Optimization of
//! Collective Communication Operations in MPICH, IJHPCA 19(1), 2005; those for lanes between nodes Träff, Hunold:
//! Decomposing MPI Collectives for Exploiting Multi-lane Communication, IEEE CLUSTER 2020.
//!
//! The default must not be slower than MPI, so MPI is also a candidate. `benches/defaults.sh` measures both. MPI comes
//! first where it is faster, which is wherever the catalogue has no algorithm that MPI lacks. On one node, ranks share
//! memory where that is faster than messages.
//! Candidates are tried one after the other. Those after MPI serve calls for which it is not allowed: those that need
//! bitwise equal results on all ranks, and all calls with `ROUNDEL_PREFER=catalogue`.

use super::Candidate;
use super::answer::{Estimate, Reason};
use super::implementation::{FETCHED, Implementation, SHARED};
use super::parameter::Parameter;
use crate::choice::alltoalls::{AlltoallAlgorithm, Cluster, ModelledAlltoall, Network};
use crate::choice::profile::Profile;
use crate::choice::question::{ANY, CallForm, Question};
use roundel_spec::Kind;
use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// The default rule for a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DefaultRule {
    /// Vectors of up to this many bytes are short.
    pub short: u64,
    inside: Network,
    between: Network,
    /// Whether MPI is the last choice even where it is faster, to try algorithms.
    pub(super) catalogue: bool,
}

/// The total of all ranks' bytes that still counts as short, in short vectors.
const GATHERED: u64 = 16;

/// The total bytes of all ranks up to which lanes are faster than MPI's allgatherv: with 1 MiB they take 0.63 of its
/// time on 4 nodes of 4 ranks, with 16 MiB 1.10. (MPI's allgather takes twice as long there as its allgatherv.)
const VARYING: u64 = 4 << 20;

/// The rule for the network of [`Profile::default`]: vectors up to 32 KiB are short.
impl Default for DefaultRule {
    fn default() -> Self {
        // Every choice between nodes asks for it.
        static DEFAULT: LazyLock<DefaultRule> = LazyLock::new(|| DefaultRule::from(&Profile::default()));
        *DEFAULT
    }
}

impl From<&Profile> for DefaultRule {
    fn from(profile: &Profile) -> Self {
        let (inside, between) = (Network::from(&profile.inside), Network::from(&profile.between));
        let bytes = (between.latency() + between.overhead()) * between.bandwidth();
        // Rounded, so that small differences between measurements do not matter.
        let short = (bytes.clamp(1.0, Network::LONGEST as f64) as u64).next_power_of_two();
        DefaultRule { short, inside, between, catalogue: false }
    }
}

/// An algorithm, or MPI; its modelled cost, if a model ranked it; and the reason to choose it.
type NamedCandidate = (&'static str, Option<ModelledAlltoall>, &'static str);

/// The bytes for which the memory of a node is faster than MPI's messages, measured with 2, 3 and 4 ranks on two
/// processors. Data that is only moved is copied twice, where MPI has the kernel copy it once. So with two ranks, which
/// have a processor each, it is slower for long blocks.
fn in_shared_memory(call: &Question) -> RangeInclusive<u64> {
    let moves = !call.kind.reduces();
    let (least, most) = match call.form {
        // Creating a request takes longer than MPI needs for a few bytes, and than two or three ranks gain with a root.
        CallForm::Nonblocking if call.p < 4 && call.kind.has_root() => (ANY, ANY),
        CallForm::Nonblocking if call.p < 4 => (2 << 10, if moves { 8 << 10 } else { ANY }),
        CallForm::Nonblocking => (512, ANY),
        // For a few bytes MPI is no slower: with two or three ranks to or from a root, in persistent requests with a
        // root, and in persistent all-to-alls of two or three ranks and alltoallvs.
        CallForm::Persistent if call.kind.has_root() => (65, ANY),
        CallForm::Persistent if call.kind == Kind::Alltoall && (call.p < 4 || call.varying) => (65, ANY),
        CallForm::Blocking if call.kind.has_root() && call.p < 4 => (65, ANY),
        CallForm::Persistent | CallForm::Blocking => (0, ANY),
    };
    least..=most.min(most_in_shared_memory(call))
}

/// The length of blocks up to which the memory of a node is faster for an alltoallv. Ranks know only their own lengths
/// when they choose, and find out during the call: what counts is the rank that sends most, as if its blocks for the
/// others had equal lengths.
#[cfg(feature = "mpi")]
pub(crate) fn most_of_alltoallv(call: &Question) -> u64 {
    most_in_shared_memory(call)
}

/// Whether the memory of a node is faster than MPI's messages.
fn shares_memory(call: &Question) -> bool {
    match (call.kind, call.bytes) {
        // A request cannot be left to MPI when its lengths are found out.
        (Kind::Alltoall, ANY) => call.form == CallForm::Blocking,
        (_, bytes) => in_shared_memory(call).contains(&bytes),
    }
}

/// The most ranks for which it was measured whether the kernel should copy. Many readers of one process slow each other
/// down: Chakraborty, Subramoni, Panda: Contention-Aware Kernel-Assisted MPI Collectives for Multi-/Many-Core Systems,
/// IEEE CLUSTER 2017.
const READERS: usize = 8;

/// Whether it is fastest that the kernel copies blocks from rank to rank, which it does for MPI's messages, too: where
/// a slot is slower than messages, because they are long.
fn copies_in_kernel(call: &Question) -> bool {
    let knows_lengths = call.kind != Kind::Alltoall || !call.varying && call.bytes != ANY;
    let waits = call.form != CallForm::Nonblocking;
    call.p <= READERS && !call.kind.reduces() && knows_lengths && waits && call.bytes > most_in_shared_memory(call)
}

fn most_in_shared_memory(call: &Question) -> u64 {
    match call.kind {
        Kind::Allreduce | Kind::ReduceScatter => ANY,
        Kind::Reduce if call.p > 3 => ANY,
        Kind::Reduce => 2 << 10,
        Kind::Broadcast if call.p > 2 => ANY,
        Kind::Broadcast => 64 << 10,
        Kind::Allgather if call.p > 2 => ANY,
        Kind::Allgather => 8 << 10,
        Kind::Alltoall if call.p < 3 => 8 << 10,
        Kind::Alltoall | Kind::Gather | Kind::Scatter => 16 << 10,
    }
}

/// Where shared memory stands among the candidates for a call on several nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Before all others.
    All,
    /// Before MPI, after algorithms that look at nodes: those have fewer rounds between nodes.
    Library,
}

/// Where shared memory is faster than MPI's messages on several nodes, and than the catalogue's, measured on 4 nodes of
/// 4 ranks, 8 of 2 and 26 of 4.
fn before_which(call: &Question, short: u64) -> Option<Before> {
    if call.nodes < 2 || call.ppn_max < 2 {
        return None;
    }
    // One rank sends for its node: that costs little if there are few others, and gains little.
    let small = call.ppn_min < 4;
    // Beyond, algorithms that look at nodes have fewer rounds between nodes, or fewer bytes that one rank sorts.
    let first = if call.p <= 1024 && call.ppn_max <= 8 { Before::All } else { Before::Library };
    match (call.kind, call.bytes) {
        (Kind::Allgather, _) if is_brief_allgatherv(call) => None,
        (Kind::Allreduce, 0..=2048) => Some(first),
        (Kind::Allreduce, 2049..=65_536) => Some(Before::All),
        // On 26 nodes of 4 ranks 8 bytes took 0.9 to 1.2 of MPI's time, 1 KiB 0.4 to 0.7.
        (Kind::ReduceScatter, 0..=511) if call.nodes > 16 && call.ppn_max < 8 => None,
        // As a request, blocks of 64 KiB take 1.2 times MPI's time on 8 nodes of 2 ranks.
        (Kind::ReduceScatter, 32_768..) if small && call.form != CallForm::Blocking => None,
        (Kind::Allgather, 0..=2048) => Some(first),
        (Kind::Allgather | Kind::ReduceScatter, _) => Some(Before::All),
        (Kind::Alltoall, _) if is_brief_alltoall(call, short) => Some(first),
        (Kind::Broadcast, 65..) | (Kind::Reduce, 0..=2048) => Some(Before::All),
        _ => None,
    }
}

/// Whether all data from one node to another, which travels in one message, is short. With blocks of 16 KiB it takes
/// 1.3 times MPI's time on 8 nodes of 2 ranks, with blocks of 4 KiB less than MPI on 4 nodes of 4.
fn is_brief_alltoall(call: &Question, short: u64) -> bool {
    let together = call.bytes.saturating_mul((call.ppn_max * call.ppn_max) as u64);
    has_nodes(call) && together <= 2 * short && call.bytes <= short / 8
}

/// The name of MPI among candidates.
const LIBRARY: &str = "library";

impl DefaultRule {
    /// The default rule with MPI as the last choice.
    pub(super) fn of_catalogue() -> Self {
        DefaultRule { catalogue: true, ..DefaultRule::default() }
    }

    /// The network between nodes.
    pub(super) fn network(&self) -> &Network {
        &self.between
    }

    /// The candidates for a call, the best first.
    pub(super) fn answers<'a>(&self, call: &Question) -> impl Iterator<Item = Candidate<'a>> + use<'a> {
        let call = *call;
        self.candidates(&call).into_iter().filter_map(move |(name, modelled, reason)| {
            let radix = modelled.and_then(|modelled| modelled.radix);
            let parameters: Vec<_> =
                radix.map(|radix| ("radix".into(), Parameter::Number(radix))).into_iter().collect();
            let implementation = Implementation::named(call.kind, name, &parameters).ok()?;
            let estimate = modelled.map(Estimate::Alltoall);
            let (implementation, reason) = (Cow::Owned(implementation), Reason::Default(reason));
            Some(Candidate { implementation, reason, estimate, unchecked: Some(call) })
        })
    }

    fn candidates(&self, call: &Question) -> Vec<NamedCandidate> {
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
            // The sort is stable, so all others keep their order.
            candidates.sort_by_key(|(name, ..)| *name == LIBRARY);
        } else if call.nodes == 1 && call.p > 1 && shares_memory(call) {
            candidates.insert(0, (SHARED, None, "its ranks share memory"));
        } else if call.nodes == 1 && call.p > 1 && copies_in_kernel(call) {
            candidates.insert(0, (FETCHED, None, "the kernel copies blocks from rank to rank"));
        } else if let Some(before) = before_which(call, self.short) {
            let at = candidates.iter().position(|(name, ..)| before == Before::All || *name == LIBRARY);
            candidates.insert(at.unwrap_or(0), (SHARED, None, "the ranks of a node share memory"));
        }
        candidates
    }

    fn allreduce(&self, call: &Question) -> Vec<NamedCandidate> {
        let nap = ("allreduce/nap", None, ON_NODES);
        let doubling = ("allreduce/recursive-doubling", None, SHORT);
        let ordered = ("allreduce/recursive-doubling", None, ORDERED);
        let halving = ("allreduce/rabenseifner", None, LONG);
        // If ranks fold in pairs first, they send the vector two more times; a ring does not.
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

    fn alltoall(&self, call: &Question) -> Vec<NamedCandidate> {
        let leaders = ("alltoall/leaders", None, ON_NODES);
        let leads = is_brief_alltoall(call, self.short);
        let modelled = if self.catalogue { self.modelled(call) } else { Vec::new() };
        let first = leads.then_some(leaders).into_iter().chain([library(call)]);
        first.chain(modelled).collect()
    }

    /// All algorithms of [`alltoalls`], the fastest first, if the catalogue is preferred.
    fn modelled(&self, call: &Question) -> Vec<NamedCandidate> {
        let (p, ppn) = (call.p as i64, call.ppn_max as i64);
        let cluster = Cluster::new(p, ppn, self.inside, self.between);
        let bytes = i64::try_from(call.bytes).unwrap_or(i64::MAX);
        let all = cluster.and_then(|cluster| cluster.candidates(bytes)).unwrap_or_default();
        let named = all.into_iter().filter(|choice| {
            // With a radix between nodes it is a separate type, which has no name.
            choice.algorithm != AlltoallAlgorithm::Hierarchical || choice.radix.is_none()
        });
        let named = named.map(|choice| (choice.algorithm.name(), Some(choice), "the fastest by the model"));
        named.chain([("alltoall/spread-out", None, "every block goes straight")]).collect()
    }
}

const SHORT: &str = "few rounds, because it is short";
const LONG: &str = "few bytes, because it is long";
const ORDERED: &str = "operands keep their order";
const LANES: &str = "all ranks of a node send their part of what leaves it, because it is long";
const ON_NODES: &str = "few messages between nodes, because it is short";

/// Whether there are several nodes, all with several ranks.
const fn has_nodes(call: &Question) -> bool {
    call.nodes > 1 && call.ppn_min > 1
}

/// MPI as a candidate.
const fn library(call: &Question) -> NamedCandidate {
    let reason = match call.nodes {
        1 => "on one node nothing is faster",
        _ => "nothing that is proved for it is faster",
    };
    (LIBRARY, None, reason)
}

/// Whether MPI's allgatherv is faster: with blocks of 8 bytes on 26 nodes of 4 ranks `locality-bruck` takes 1.4 times
/// its time, with 1 KiB 0.8.
fn is_brief_allgatherv(call: &Question) -> bool {
    call.varying && call.p > 64 && call.bytes < 512
}

fn allgather(call: &Question, short: bool) -> Vec<NamedCandidate> {
    let (bruck, ring) = (("allgather/bruck", None, SHORT), ("allgather/ring", None, LONG));
    let lanes = ("allgather/multi-lane", None, LANES);
    let much = call.varying && call.bytes.saturating_mul(call.p as u64) > VARYING;
    // With two ranks on a node it has no fewer rounds between nodes than MPI's.
    let fewer_rounds = has_nodes(call) && (call.ppn_min > 2 || call.varying) && !is_brief_allgatherv(call);
    match short {
        true if fewer_rounds => vec![("allgather/locality-bruck", None, ON_NODES), library(call), bruck],
        true => vec![library(call), bruck],
        // All ranks of a node send to other nodes at the same time; in a ring the last one sends for all.
        false if has_nodes(call) && much => vec![library(call), lanes, ring],
        false if has_nodes(call) => vec![lanes, library(call), ring],
        false => vec![library(call), ring],
    }
}

fn reduce_scatter(call: &Question, short: bool) -> Vec<NamedCandidate> {
    let pairwise = ("reduce-scatter/pairwise", None, LONG);
    let halving = ("reduce-scatter/recursive-halving", None, SHORT);
    let circulant = ("reduce-scatter/circulant", None, SHORT);
    let left = ("reduce-scatter/pairwise", None, "nothing with fewer rounds is proved for it");
    if short { vec![library(call), halving, circulant, left] } else { vec![library(call), pairwise] }
}

//! The algorithms by name.

use super::allgather::{
    Bruck, Circulant, Hierarchical, KBruck, LocalityBruck, MultiLane, NeighborExchange, RecursiveDoubling, Ring,
    Sparbit,
};
use super::allreduce::{
    CyclicShiftAllreduce, MultiLaneAllreduce, NapAllreduce, PrefixAllreduce, RabenseifnerAllreduce,
    RecursiveDoublingAllreduce, ReduceBroadcastAllreduce, ReduceScatterAllgather, RingAllreduce, SmpAllreduce,
};
use super::alltoall::{HierarchicalAlltoall, KBruckAlltoall, Leaders, ModifiedBruck, PairwiseAlltoall, SpreadOut};
use super::broadcast::{BinomialBroadcast, ScatterAllgather};
use super::gather::BinomialGather;
use super::reduce::{BinomialReduce, OrderedBinomialReduce};
use super::reduce_scatter::{
    BruckReduceScatter, CirculantReduceScatter, CyclicShiftReduceScatter, KBruckReduceScatter,
    NeighborExchangeReduceScatter, PairwiseReduceScatter, RecursiveHalvingReduceScatter, RingReduceScatter,
    SparbitReduceScatter,
};
use super::scatter::BinomialScatter;
use crate::any_collective::{SharedCollective, make};
use crate::{IsAllgather, IsAllreduce, IsAlltoall, IsBroadcast, IsGather, IsReduce, IsReduceScatter, IsScatter};
use roundel_spec::check::Points;
use roundel_spec::similar::suggestions;
use roundel_spec::{Arguments, Collective, Schedule};

/// An algorithm of the catalogue, or one that another crate has [registered](super::register).
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its full name, `kind/algorithm`.
    pub name: &'static str,
    /// The Rust type that declares it.
    pub type_name: &'static str,
    /// Its Rust source: citation, idea, declaration. Empty if the collective is registered by another crate.
    pub source: &'static str,
    /// Its declaration as data.
    pub schedule: fn() -> Schedule,
    /// The collective with parameters.
    pub(super) make: fn(&Arguments) -> Option<Box<SharedCollective>>,
    /// The crate that declares it, unless it is in the catalogue.
    pub(super) origin: Option<&'static str>,
}

impl Entry {
    /// The first line of its documentation.
    pub fn summary(&self) -> &'static str {
        self.source.lines().find_map(|line| line.strip_prefix("/// ")).unwrap_or("")
    }

    /// Whether it is declared as the reverse of another collective.
    fn is_reverse(&self) -> bool {
        (self.schedule)().reverse_of.is_some()
    }

    /// The crate that declares it, unless it is in the catalogue.
    pub const fn origin(&self) -> Option<&'static str> {
        self.origin
    }

    /// The collective with parameters; `None` if their number is wrong.
    pub(crate) fn with_arguments(&self, args: &Arguments) -> Option<Box<SharedCollective>> {
        (self.make)(args)
    }
}

/// Visits collectives of different types. Each kind has its own method; those that are not implemented call
/// [`any`](Visitor::any).
pub trait Visitor {
    /// Visits a collective of any kind.
    fn any<C: Collective + Sync>(&mut self, _name: &'static str, _collective: &C) {}

    /// Visits an allgather.
    fn allgather<C: IsAllgather + Sync>(&mut self, name: &'static str, collective: &C) {
        self.any(name, collective);
    }

    /// Visits an allreduce.
    fn allreduce<C: IsAllreduce + Sync>(&mut self, name: &'static str, collective: &C) {
        self.any(name, collective);
    }

    /// Visits a reduce_scatter.
    fn reduce_scatter<C: IsReduceScatter + Sync>(&mut self, name: &'static str, collective: &C) {
        self.any(name, collective);
    }

    /// Visits a broadcast.
    fn broadcast<C: IsBroadcast + Sync>(&mut self, name: &'static str, collective: &C) {
        self.any(name, collective);
    }

    /// Visits a reduce.
    fn reduce<C: IsReduce + Sync>(&mut self, name: &'static str, collective: &C) {
        self.any(name, collective);
    }

    /// Visits a gather.
    fn gather<C: IsGather + Sync>(&mut self, name: &'static str, collective: &C) {
        self.any(name, collective);
    }

    /// Visits a scatter.
    fn scatter<C: IsScatter + Sync>(&mut self, name: &'static str, collective: &C) {
        self.any(name, collective);
    }

    /// Visits an alltoall.
    fn alltoall<C: IsAlltoall + Sync>(&mut self, name: &'static str, collective: &C) {
        self.any(name, collective);
    }
}

/// A name that does not identify an algorithm of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// No algorithm has this name.
    #[error("there is no collective `{name}`; {}", did_you_mean(close))]
    Nowhere {
        /// The name.
        name: String,
        /// Similar names, the most similar first.
        close: Vec<&'static str>,
    },
    /// Several algorithms have names that end with it.
    #[error("several collectives are called `{name}`; write one of {}", listed(known))]
    Ambiguous {
        /// The name.
        name: String,
        /// Their full names.
        known: Vec<&'static str>,
    },
}

/// The most names to suggest.
const SUGGESTIONS: usize = 5;

fn did_you_mean(close: &[&str]) -> String {
    match close {
        [] => format!("`roundel list` shows all {}", CATALOGUE.len()),
        close => format!("did you mean {}? `roundel list` shows all {}", listed(close), CATALOGUE.len()),
    }
}

/// Up to [`SUGGESTIONS`] of the names, as `a, b or c`.
fn listed(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().take(SUGGESTIONS).map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        one => one.concat(),
    }
}

macro_rules! catalogue {
    ($($name:literal => $type:ident, $kind:ident in $file:literal),* $(,)?) => {
        pub(super) static CATALOGUE: &[Entry] = &[$(Entry {
            name: $name,
            type_name: stringify!($type),
            source: include_str!($file),
            schedule: <$type as Collective>::schedule,
            make: make::<$type>,
            origin: None,
        }),*];

        /// Shows one algorithm, with parameters, to a visitor. Returns false if there is no such algorithm, or if the
        /// number of parameters is wrong.
        pub fn visit_one(name: &str, args: &Arguments, visitor: &mut impl Visitor) -> bool {
            match current(name) {
                $($name => match <$type>::from_arguments(args) {
                    Some(collective) => visitor.$kind($name, &collective),
                    None => return false,
                },)*
                _ => return false,
            }
            true
        }
    };
}

catalogue! {
    "allgather/ring" => Ring, allgather in "allgather/ring.rs",
    "allgather/neighbor-exchange" => NeighborExchange, allgather in "allgather/neighbor_exchange.rs",
    "allgather/recursive-doubling" => RecursiveDoubling, allgather in "allgather/recursive_doubling.rs",
    "allgather/bruck" => Bruck, allgather in "allgather/bruck.rs",
    "allgather/k-bruck" => KBruck, allgather in "allgather/k_bruck.rs",
    "allgather/sparbit" => Sparbit, allgather in "allgather/sparbit.rs",
    "allgather/circulant" => Circulant, allgather in "allgather/circulant.rs",
    "allgather/locality-bruck" => LocalityBruck, allgather in "allgather/locality_bruck.rs",
    "allgather/hierarchical" => Hierarchical, allgather in "allgather/hierarchical.rs",
    "allgather/multi-lane" => MultiLane, allgather in "allgather/multi_lane.rs",
    "allreduce/recursive-doubling" => RecursiveDoublingAllreduce, allreduce in "allreduce/recursive_doubling.rs",
    "allreduce/reduce-broadcast" => ReduceBroadcastAllreduce, allreduce in "allreduce/reduce_broadcast.rs",
    "allreduce/ring" => RingAllreduce, allreduce in "allreduce/ring.rs",
    "allreduce/rabenseifner" => RabenseifnerAllreduce, allreduce in "allreduce/rabenseifner.rs",
    "allreduce/smp" => SmpAllreduce, allreduce in "allreduce/smp.rs",
    "allreduce/nap" => NapAllreduce, allreduce in "allreduce/nap.rs",
    "allreduce/prefix" => PrefixAllreduce, allreduce in "allreduce/prefix.rs",
    "allreduce/reduce-scatter-allgather" => ReduceScatterAllgather, allreduce in "allreduce/reduce_scatter_allgather.rs",
    "allreduce/multi-lane" => MultiLaneAllreduce, allreduce in "allreduce/multi_lane.rs",
    "allreduce/cyclic-shift" => CyclicShiftAllreduce, allreduce in "allreduce/cyclic_shift.rs",
    "reduce-scatter/pairwise" => PairwiseReduceScatter, reduce_scatter in "reduce_scatter/pairwise.rs",
    "reduce-scatter/recursive-halving" => RecursiveHalvingReduceScatter, reduce_scatter in "reduce_scatter/recursive_halving.rs",
    "reduce-scatter/cyclic-shift" => CyclicShiftReduceScatter, reduce_scatter in "reduce_scatter/cyclic_shift.rs",
    "reduce-scatter/circulant" => CirculantReduceScatter, reduce_scatter in "reduce_scatter/circulant.rs",
    "reduce-scatter/ring" => RingReduceScatter, reduce_scatter in "reduce_scatter/ring.rs",
    "reduce-scatter/neighbor-exchange" => NeighborExchangeReduceScatter, reduce_scatter in "reduce_scatter/neighbor_exchange.rs",
    "reduce-scatter/bruck" => BruckReduceScatter, reduce_scatter in "reduce_scatter/bruck.rs",
    "reduce-scatter/k-bruck" => KBruckReduceScatter, reduce_scatter in "reduce_scatter/k_bruck.rs",
    "reduce-scatter/sparbit" => SparbitReduceScatter, reduce_scatter in "reduce_scatter/sparbit.rs",
    "broadcast/binomial" => BinomialBroadcast, broadcast in "broadcast/binomial.rs",
    "broadcast/scatter-allgather" => ScatterAllgather, broadcast in "broadcast/scatter_allgather.rs",
    "reduce/binomial" => BinomialReduce, reduce in "reduce/binomial.rs",
    "reduce/binomial-ordered" => OrderedBinomialReduce, reduce in "reduce/binomial_ordered.rs",
    "gather/binomial" => BinomialGather, gather in "gather/binomial.rs",
    "scatter/binomial" => BinomialScatter, scatter in "scatter/binomial.rs",
    "alltoall/spread-out" => SpreadOut, alltoall in "alltoall/spread_out.rs",
    "alltoall/pairwise" => PairwiseAlltoall, alltoall in "alltoall/pairwise.rs",
    "alltoall/modified-bruck" => ModifiedBruck, alltoall in "alltoall/modified_bruck.rs",
    "alltoall/k-bruck" => KBruckAlltoall, alltoall in "alltoall/k_bruck.rs",
    "alltoall/leaders" => Leaders, alltoall in "alltoall/leaders.rs",
    "alltoall/hierarchical" => HierarchicalAlltoall, alltoall in "alltoall/hierarchical.rs",
}

/// Former names of algorithms. Selection files and commands may still use them.
pub(super) const FORMER: &[(&str, &str)] = &[("alltoall/radix-bruck", "alltoall/modified-bruck")];

/// The current name of an algorithm, given that or a former one.
pub fn current(name: &str) -> &str {
    let last = |full: &'static str| full.rsplit('/').next();
    let is = |(former, _): &&(&'static str, &str)| *former == name || last(former) == Some(name);
    FORMER.iter().find(is).map_or(name, |(_, current)| current)
}

/// All algorithms.
pub fn catalogue() -> &'static [Entry] {
    CATALOGUE
}

/// Finds an algorithm by its full name, or by the last part of its name if that is unique. The reverse of another
/// algorithm, which often has the same name, is found by its full name.
///
/// ```
/// use roundel::algorithms::find;
/// assert_eq!(find("sparbit").map(|entry| entry.name).ok(), Some("allgather/sparbit"));
/// assert_eq!(find("reduce-scatter/sparbit").map(|entry| entry.name).ok(), Some("reduce-scatter/sparbit"));
/// assert_eq!(find("radix-bruck").map(|entry| entry.name).ok(), Some("alltoall/modified-bruck"));
/// assert!(find("quicksort").is_err());
/// ```
pub fn find(name: &str) -> Result<&'static Entry, Unknown> {
    let name = current(name);
    let full = CATALOGUE.iter().find(|entry| entry.name == name);
    let is_meant = |entry: &&Entry| entry.name.rsplit('/').next() == Some(name) && !entry.is_reverse();
    let short: Vec<&Entry> = CATALOGUE.iter().filter(is_meant).collect();
    let names = |entries: &mut dyn Iterator<Item = &Entry>| entries.map(|entry| entry.name).collect();
    match (full, short.as_slice()) {
        (Some(entry), _) | (None, &[entry]) => Ok(entry),
        (None, []) => {
            let close = suggestions(name, CATALOGUE.iter().map(|entry| entry.name), SUGGESTIONS);
            Err(Unknown::Nowhere { name: name.into(), close })
        }
        (None, several) => Err(Unknown::Ambiguous { name: name.into(), known: names(&mut several.iter().copied()) }),
    }
}

/// How many combinations of parameters of one algorithm a visitor sees.
const COMBINATIONS: u64 = 12;

/// Shows all algorithms to a visitor, those with parameters once for each combination within their limits; if there are
/// many combinations, an evenly spread sample of them.
pub fn visit_all(visitor: &mut impl Visitor) {
    for entry in CATALOGUE {
        let schedule = (entry.schedule)();
        for point in Points::new(&schedule, 1..=1).thinned(COMBINATIONS).iter() {
            visit_one(entry.name, &point.args, visitor);
        }
    }
}

//! The question to answer: a call, described by values that are equal on all ranks.

use roundel_spec::{Kind, Placement};
use std::fmt;

/// The distribution of ranks over nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeSizes {
    /// The same number of ranks on all nodes.
    Even,
    /// The same, except that the last node may have fewer.
    Regular,
    /// Any number of ranks on each node.
    Any,
}

impl NodeSizes {
    /// All distributions, the strictest first.
    pub const ALL: [NodeSizes; 3] = [NodeSizes::Even, NodeSizes::Regular, NodeSizes::Any];

    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            NodeSizes::Even => "even",
            NodeSizes::Regular => "regular",
            NodeSizes::Any => "any",
        }
    }
}

/// An unknown number of bytes: handled like the largest.
pub const ANY: u64 = u64::MAX;

/// The order that a reduction must keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequiredOrder {
    /// None: ranks may reduce different trees.
    #[default]
    Any,
    /// All ranks get bitwise equal results.
    SameTree,
    /// Operands stay in the order of ranks.
    RankOrder,
}

/// How a program makes a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CallForm {
    /// It returns when it is complete.
    #[default]
    Blocking,
    /// It returns at once, with a request.
    Nonblocking,
    /// It makes a request that can be started many times.
    Persistent,
}

/// Which implementation serves a call? The call is described by values that are equal on all ranks, so that all choose
/// alike without communication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Question {
    /// The collective.
    pub kind: Kind,
    /// The number of ranks.
    pub p: usize,
    /// The number of nodes.
    pub nodes: usize,
    /// The smallest number of ranks on a node.
    pub ppn_min: usize,
    /// The largest number of ranks on a node.
    pub ppn_max: usize,
    /// The distribution of ranks over nodes: the strictest one that holds.
    pub shape: NodeSizes,
    /// Whether ranks are numbered node by node.
    pub sorted: bool,
    /// The bytes of the vector of an allreduce, a reduce or a broadcast; of one rank's contribution to an allgather
    /// or a gather; of one rank's result in a reduce_scatter or a scatter; of one block in an alltoall. [`ANY`] in an
    /// alltoallv, where ranks know only their own lengths.
    pub bytes: u64,
    /// Whether blocks may have different lengths, as in an allgatherv and in an alltoallv. Only the default rule uses
    /// this.
    pub varying: bool,
    /// Whether the operation commutes. Collectives that do not reduce ignore this.
    pub commutes: bool,
    /// Whether the user requires bitwise equal results on all ranks.
    pub reproducible: bool,
    /// Whether different trees may give different results, as for sums of floats: MPI requires identical results of
    /// an allreduce on all ranks. Collectives that do not reduce ignore this.
    pub identical: bool,
    /// Whether it is a request of `roundel::mpi::persistent`. Those only run plans with ports; all other calls run
    /// algorithms of the catalogue, or are left to MPI.
    pub request: bool,
    /// How the program makes it.
    pub form: CallForm,
    /// Whether inputs lie in memory that the processes of a node share. Only requests can own such buffers.
    pub owned_buffers: bool,
}

impl Question {
    /// A call of ranks that fill nodes of `ppn` ranks, one after the other; the operation, if any, commutes.
    ///
    /// ```
    /// use roundel::choice::{NodeSizes, Question};
    /// use roundel_spec::Kind;
    /// let call = Question::new(Kind::Allgather, 7, 3, 8);
    /// assert_eq!((call.nodes, call.ppn_min, call.shape), (3, 1, NodeSizes::Regular));
    /// ```
    pub fn new(kind: Kind, p: usize, ppn: usize, bytes: u64) -> Self {
        let ppn_max = ppn.clamp(1, p.max(1));
        let (nodes, rest) = (p.div_ceil(ppn_max), p % ppn_max);
        let (ppn_min, shape) = if rest == 0 { (ppn_max, NodeSizes::Even) } else { (rest, NodeSizes::Regular) };
        Question { p, nodes, ppn_min, ppn_max, shape, bytes, ..Question::of(kind) }
    }

    /// A call of ranks with a placement; the operation, if any, commutes.
    pub fn at(kind: Kind, placement: &Placement, bytes: u64) -> Self {
        let sizes = || placement.regions().sizes();
        let (ppn_min, ppn_max) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
        let regular = placement.p() > 0 && placement.regions().is_regular();
        let shape = match regular {
            _ if ppn_min == ppn_max => NodeSizes::Even,
            true => NodeSizes::Regular,
            false => NodeSizes::Any,
        };
        let (p, nodes) = (placement.p(), placement.regions().nodes() as usize);
        let sorted = placement.is_sorted();
        Question { p, nodes, ppn_min, ppn_max, shape, sorted, bytes, ..Question::of(kind) }
    }

    /// A call of one rank without special requirements.
    const fn of(kind: Kind) -> Self {
        Question {
            kind,
            p: 1,
            nodes: 1,
            ppn_min: 1,
            ppn_max: 1,
            shape: NodeSizes::Even,
            sorted: true,
            bytes: 0,
            varying: false,
            commutes: true,
            reproducible: false,
            identical: false,
            request: false,
            form: CallForm::Blocking,
            owned_buffers: false,
        }
    }

    /// The order that a plan must keep.
    pub fn required_order(&self) -> RequiredOrder {
        match (self.commutes, self.reproducible || self.needs_identity()) {
            (false, _) => RequiredOrder::RankOrder,
            (true, true) => RequiredOrder::SameTree,
            (true, false) => RequiredOrder::Any,
        }
    }

    /// Whether all ranks must reduce the same tree. Only in an allreduce do several ranks get the same result.
    pub(super) fn needs_tree(&self) -> bool {
        self.reproducible && self.kind == Kind::Allreduce
    }

    /// Whether MPI requires identical results, and different trees might not give them.
    pub(super) fn needs_identity(&self) -> bool {
        self.identical && self.kind == Kind::Allreduce
    }

    /// Whether operands must stay in the order of ranks.
    pub(super) fn needs_order(&self) -> bool {
        self.kind.reduces() && !self.commutes
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Question { kind, p, nodes, ppn_min, ppn_max, bytes, .. } = self;
        write!(f, "{kind} p={p} nodes={nodes} ppn={ppn_min}")?;
        if ppn_min != ppn_max {
            write!(f, "..={ppn_max}")?;
        }
        match *bytes {
            ANY => f.write_str(" any number of bytes")?,
            bytes => write!(f, " bytes={bytes}")?,
        }
        let words = [
            (self.needs_order(), " in rank order"),
            (self.needs_tree(), " reproducible"),
            (self.request, " as a persistent request"),
            (self.form == CallForm::Nonblocking, " non-blocking"),
            (self.form == CallForm::Persistent && !self.request, " as a persistent call"),
            (!self.sorted, " (ranks are not numbered node by node)"),
        ];
        words.iter().filter(|(said, _)| *said).try_for_each(|(_, word)| f.write_str(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_known_are_said_so() {
        let call = |bytes| Question::new(Kind::Alltoall, 4, 2, bytes).to_string();
        assert_eq!(call(8), "alltoall p=4 nodes=2 ppn=2 bytes=8");
        assert_eq!(call(ANY), "alltoall p=4 nodes=2 ppn=2 any number of bytes");
    }
}

//! Collectives to build programs for.

use roundel::program::{
    BuildError, Program, ProgramFault, ProgramSpec, ReductionOrder, ReplayError, Scheme, build, replay,
};
use roundel_spec::{Kind, Placement};

use crate::parts::{BETWEEN, Between};

pub(crate) const SCHEMES: [Scheme; 3] = [Scheme::Copies, Scheme::Chunks, Scheme::Direct];

/// One collective.
pub(crate) struct Case {
    pub(crate) nodes: Vec<usize>,
    pub(crate) placement: Placement,
    pub(crate) counts: Vec<usize>,
    pub(crate) size: usize,
    pub(crate) lanes: usize,
    pub(crate) scheme: Scheme,
    pub(crate) between: &'static Between,
}

impl Case {
    /// A short description.
    pub(crate) fn name(&self) -> String {
        let Case { nodes, counts, lanes, scheme, between, .. } = self;
        format!(
            "{} ({}) on nodes {nodes:?}, counts {counts:?}, {lanes} lanes, {scheme:?}",
            between.kind, between.name
        )
    }

    /// Calls a function with the job.
    pub(crate) fn with<T>(&self, then: impl FnOnce(&ProgramSpec) -> T) -> T {
        let nodes = self.placement.place(0).nodes as usize;
        then(&ProgramSpec {
            kind: self.between.kind,
            placement: &self.placement,
            counts: &self.counts,
            size: self.size,
            lanes: self.lanes,
            scheme: self.scheme,
            parts: &|node| (self.between.part)(nodes, node),
        })
    }

    /// The programs of all ranks.
    pub(crate) fn programs(&self) -> Result<Vec<[Program; 2]>, BuildError> {
        self.with(|job| (0..self.nodes.len()).map(|rank| build(job, rank)).collect())
    }

    /// The result of a replay of the programs.
    pub(crate) fn replay(&self, programs: &[[Program; 2]]) -> Result<ReductionOrder, ReplayError> {
        self.with(|job| replay(job, programs, 5))
    }

    /// The fault of the programs, if any.
    pub(crate) fn fault(&self, programs: &[[Program; 2]]) -> Option<ProgramFault> {
        self.replay(programs).err().map(|error| error.fault)
    }
}

/// Counts of a kind for `p` ranks, of about this size.
pub(crate) fn counts(kind: Kind, p: usize, size: usize, shape: usize) -> Vec<usize> {
    match (kind, shape) {
        (Kind::Allreduce, _) => vec![size],
        (_, 0) => vec![size; p],
        (_, 1) => (0..p).map(|rank| (rank * 5 + 3) % (size + 1)).collect(),
        (_, root) => (0..p).map(|rank| if rank == root % p { size } else { 0 }).collect(),
    }
}

/// All collectives of a placement, with these counts and lanes.
pub(crate) fn cases(nodes: &[usize], sizes: &[usize], shapes: &[usize], lanes: &[usize]) -> Vec<Case> {
    let placement = Placement::from_nodes(nodes.to_vec());
    let mut all = Vec::new();
    for between in &BETWEEN {
        let shapes = if between.kind == Kind::Allreduce { &shapes[..1] } else { shapes };
        for (&size, &shape) in sizes.iter().flat_map(|size| shapes.iter().map(move |shape| (size, shape))) {
            for (&lanes, scheme) in lanes.iter().flat_map(|lanes| SCHEMES.map(|scheme| (lanes, scheme))) {
                let counts = counts(between.kind, nodes.len(), size, shape);
                let (nodes, placement) = (nodes.to_vec(), placement.clone());
                all.push(Case { nodes, placement, counts, size: 8, lanes, scheme, between });
            }
        }
    }
    all
}

/// Every way to place `p` ranks on nodes: node numbers in the order of their first rank.
pub(crate) fn divisions(p: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![0]];
    for _ in 1..p {
        let longer = |nodes: &Vec<usize>| {
            let next = nodes.iter().max().map_or(0, |last| last + 1);
            (0..=next).map(|node| [nodes.as_slice(), &[node]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

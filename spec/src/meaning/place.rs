//! The placement of ranks on nodes.
//!
//! Algorithms that look at nodes want ranks numbered node by node; real jobs may number them in any way. So there are
//! two numberings. A [`Placement`] knows the real ranks and sorts them by node. A [`Place`] is what one rank knows in
//! the sorted numbering, where the ranks of a node are consecutive. [`rounds_of`](crate::rounds_of) translates peers
//! and blocks back. A sorted placement is determined by the sizes of its nodes, so proofs only need to consider these.

use crate::meaning::arith;
use crate::meaning::regions::Regions;
use crate::schedule::contract::{Kind, ends, pair};

/// What one rank knows about itself and its environment: the built-in variables of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// This rank, in `0..p`.
    pub rank: i64,
    /// The number of ranks.
    pub p: i64,
    /// The node of this rank, in `0..nodes`.
    pub node: i64,
    /// The number of nodes.
    pub nodes: i64,
    /// The index of this rank on its node.
    pub local: i64,
    /// The number of ranks on this rank's node.
    pub ppn: i64,
    /// The smallest number of ranks on any node.
    pub lanes: i64,
    /// All nodes; `None` if every node has the same number of ranks and none is divided further.
    pub regions: Option<&'a Regions>,
}

impl<'a> Place<'a> {
    /// A rank if all ranks are on one node.
    pub const fn flat(rank: i64, p: i64) -> Self {
        Place { rank, p, node: 0, nodes: 1, local: rank, ppn: p, lanes: p, regions: None }
    }

    /// A rank if every rank is on a node of its own.
    pub const fn apart(rank: i64, p: i64) -> Self {
        Place { rank, p, node: rank, nodes: p, local: 0, ppn: 1, lanes: 1, regions: None }
    }

    /// The variables in the order of [`BUILTIN_VARS`](crate::schedule::expr::BUILTIN_VARS).
    pub const fn values(&self) -> [i64; 7] {
        [self.rank, self.p, self.node, self.nodes, self.local, self.ppn, self.lanes]
    }

    /// The first rank of a node; nodes wrap around.
    #[inline]
    pub fn first_rank(&self, node: i64) -> i64 {
        let node = arith::wrap(node, self.nodes);
        self.regions.map_or(node * self.ppn, |regions| regions.first(node))
    }

    /// The number of ranks on a node; nodes wrap around.
    #[inline]
    pub fn node_size(&self, node: i64) -> i64 {
        self.regions.map_or(self.ppn, |regions| regions.size(arith::wrap(node, self.nodes)))
    }

    /// What another rank of the same placement knows.
    pub fn of(&self, rank: i64) -> Place<'a> {
        match self.regions {
            Some(regions) => regions.place(rank),
            None => {
                let (node, local) = (arith::div(rank, self.ppn), arith::rem(rank, self.ppn));
                Place { rank, node, local, ..*self }
            }
        }
    }

    /// What this rank knows inside its node, which may be divided further.
    pub fn inside_node(&self) -> Place<'a> {
        match self.regions.and_then(|regions| regions.inside(self.node)) {
            Some(inside) => inside.place(self.local),
            None => Place::flat(self.local, self.ppn),
        }
    }

    /// What this rank knows among the ranks of its node, or among the first `members` of these; `None` if it is not a
    /// member.
    pub fn in_node(&self, members: Option<i64>) -> Option<Place<'a>> {
        match members {
            Some(members) if members < self.ppn => Place::among(self.local, self.ppn, Some(members)),
            _ => Some(self.inside_node()),
        }
    }

    /// What this rank knows among the ranks with its local index, one per node, or among the first `members` of these;
    /// `None` if it is not a member, or if a node has no such rank.
    pub fn in_lane(&self, members: Option<i64>) -> Option<Place<'a>> {
        let all = members.unwrap_or(self.nodes).clamp(0, self.nodes);
        (self.local < self.lanes && self.node < all).then(|| Place::apart(self.node, all))
    }

    /// What the rank with an index knows among `size` ranks on one node, or among the first `members` of these; `None`
    /// if it is not a member.
    pub fn among(index: i64, size: i64, members: Option<i64>) -> Option<Place<'a>> {
        let all = members.unwrap_or(size).clamp(0, size.max(0));
        (0..all).contains(&index).then(|| Place::flat(index, all))
    }

    /// Whether all nodes have equally many ranks, except for the last, which may have fewer. All ranks agree on this.
    pub fn is_regular(&self) -> bool {
        self.regions.is_none_or(Regions::is_regular)
    }
}

/// The node of each rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The node of each rank.
    nodes: Vec<i64>,
    /// The nodes, and how they are divided.
    regions: Regions,
    /// The ranks, sorted by node.
    order: Vec<usize>,
    /// The position of each rank in that order.
    numbers: Vec<usize>,
    /// Whether the ranks are already sorted.
    sorted: bool,
}

impl Placement {
    /// Ranks fill one node of `ppn` after another; the last node may have fewer.
    ///
    /// ```
    /// use roundel_spec::Placement;
    /// let placement = Placement::consecutive(7, 3);
    /// let place = placement.place(6);
    /// assert_eq!((place.node, place.local, place.nodes, place.lanes), (2, 0, 3, 1));
    /// ```
    pub fn consecutive(p: usize, ppn: usize) -> Self {
        let ppn = ppn.clamp(1, p.max(1));
        Placement {
            nodes: (0..p).map(|rank| (rank / ppn) as i64).collect(),
            regions: Regions::consecutive(p as i64, ppn as i64),
            order: (0..p).collect(),
            numbers: (0..p).collect(),
            sorted: true,
        }
    }

    /// Distributes the ranks cyclically over nodes of up to `ppn`, as with `mpirun --map-by node`.
    pub fn cyclic(p: usize, ppn: usize) -> Self {
        let nodes = p.div_ceil(ppn.clamp(1, p.max(1))).max(1);
        Self::from_nodes((0..p).map(|rank| rank % nodes).collect())
    }

    /// Ranks fill nodes of these sizes, one after another.
    pub fn of_sizes(sizes: &[usize]) -> Self {
        Self::from_nodes(sizes.iter().enumerate().flat_map(|(node, &size)| std::iter::repeat_n(node, size)).collect())
    }

    /// Any placement: `nodes[rank]` is the rank's node. Node numbers are made dense, in order of their first rank;
    /// local indices follow the rank order.
    ///
    /// ```
    /// use roundel_spec::Placement;
    /// let placement = Placement::from_nodes(vec![7, 4, 7]);
    /// let place = placement.place(2);
    /// assert_eq!((place.node, place.local, place.rank), (0, 1, 1)); // in the numbering by node
    /// ```
    pub fn from_nodes(nodes: Vec<usize>) -> Self {
        Self::from_levels(&nodes.into_iter().map(|node| vec![node]).collect::<Vec<_>>())
    }

    /// A placement of several levels: `paths[rank]` names the rank's node, then its part of the node (a socket), and so
    /// on. Paths may have different lengths; a shorter path does not divide its part further.
    ///
    /// ```
    /// use roundel_spec::Placement;
    /// // Two nodes of two sockets; ranks are dealt out in turn.
    /// let paths: Vec<Vec<usize>> = (0..8).map(|rank| vec![rank % 2, rank / 2 % 2]).collect();
    /// let placement = Placement::from_levels(&paths);
    /// let inside = placement.place(6).inside_node();
    /// assert_eq!((inside.p, inside.nodes, inside.node, inside.local), (4, 2, 1, 1));
    /// ```
    pub fn from_levels(paths: &[Vec<usize>]) -> Self {
        let mut order: Vec<usize> = (0..paths.len()).collect();
        let regions = Regions::sort(&mut order, paths, 0);
        let mut numbers = vec![0; order.len()];
        (0..).zip(&order).for_each(|(number, &rank)| numbers[rank] = number);
        let nodes = numbers.iter().map(|&number| regions.node_of(number as i64)).collect();
        let sorted = order.is_sorted();
        Placement { nodes, regions, order, numbers, sorted }
    }

    /// Whether ranks are numbered node by node.
    pub fn is_sorted(&self) -> bool {
        self.sorted
    }

    /// The ranks, sorted by node.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The real block for a block of a collective that sees ranks numbered node by node. Blocks belong to ranks, unless
    /// the collective reduces a vector that is not divided among them.
    pub fn real_block(&self, kind: Kind, block: usize) -> usize {
        match kind {
            Kind::Allreduce => block,
            Kind::Alltoall => {
                let (source, destination) = ends(block, self.p());
                pair(self.order[source], self.order[destination], self.p())
            }
            _ => self.order[block],
        }
    }

    /// The number of ranks.
    pub fn p(&self) -> usize {
        self.nodes.len()
    }

    /// The largest number of ranks on a node.
    pub fn ppn(&self) -> usize {
        (0..self.regions.nodes()).map(|node| self.regions.size(node)).max().unwrap_or(1) as usize
    }

    /// The nodes.
    pub fn regions(&self) -> &Regions {
        &self.regions
    }

    /// The node of each rank, unless the ranks fill nodes of one size one after another.
    pub fn irregular(&self) -> Option<Vec<usize>> {
        let ppn = self.ppn();
        let regular = (0..self.p()).all(|rank| self.node(rank) == rank / ppn);
        (!regular).then(|| (0..self.p()).map(|rank| self.node(rank)).collect())
    }

    /// The node of a rank.
    pub fn node(&self, rank: usize) -> usize {
        self.nodes[rank] as usize
    }

    /// The path of a rank, from its node downwards; [`from_levels`](Placement::from_levels) makes the same placement of
    /// these paths.
    ///
    /// ```
    /// use roundel_spec::Placement;
    /// let placement = Placement::from_levels(&[vec![7, 1], vec![4], vec![7, 0]]);
    /// let paths: Vec<Vec<usize>> = (0..3).map(|rank| placement.path(rank)).collect();
    /// assert_eq!(paths, [[0, 0], [1, 0], [0, 1]]);
    /// assert_eq!(Placement::from_levels(&paths), placement);
    /// ```
    pub fn path(&self, rank: usize) -> Vec<usize> {
        let (mut regions, mut number, mut path) = (Some(&self.regions), self.numbers[rank] as i64, Vec::new());
        while let Some(level) = regions {
            let region = level.node_of(number);
            path.push(region as usize);
            number -= level.first(region);
            regions = level.inside(region);
        }
        path
    }

    /// What `rank` knows, in the numbering by node.
    pub fn place(&self, rank: usize) -> Place<'_> {
        self.regions.place(self.numbers[rank] as i64)
    }

    /// What `rank` knows. A collective that looks at nodes gets the numbering by node; any other sees one node and the
    /// real numbering.
    pub fn seen(&self, rank: usize, looks_at_nodes: bool) -> Place<'_> {
        if looks_at_nodes { self.place(rank) } else { Place::flat(rank as i64, self.p() as i64) }
    }

    /// Whether a message between the two ranks crosses nodes.
    pub fn nonlocal(&self, a: usize, b: usize) -> bool {
        self.nodes[a] != self.nodes[b]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every rank of a placement as node and local index, computed from the plain definition.
    fn expected(nodes: &[usize]) -> Vec<(usize, usize)> {
        let mut first: Vec<usize> = Vec::new();
        nodes
            .iter()
            .enumerate()
            .map(|(rank, node)| {
                if !first.contains(node) {
                    first.push(*node);
                }
                let dense = first.iter().position(|known| known == node).unwrap_or(0);
                (dense, nodes[..rank].iter().filter(|other| *other == node).count())
            })
            .collect()
    }

    #[test]
    fn places_are_what_the_nodes_say() {
        let placements = [
            vec![0, 1, 0, 1],
            vec![0, 1, 1],
            vec![0, 0, 1, 1, 1],
            vec![3, 3, 1, 2, 2],
            vec![0, 0, 1, 1, 0],
            vec![5],
            (0..24).map(|rank| rank % 5).collect(),
        ];
        for nodes in placements {
            let placement = Placement::from_nodes(nodes.clone());
            let sorted = nodes.windows(2).all(|pair| pair[0] == pair[1] || !nodes[..1].contains(&pair[1]));
            assert!(sorted || !placement.is_sorted(), "{nodes:?}");
            for (rank, (node, local)) in expected(&nodes).into_iter().enumerate() {
                let place = placement.place(rank);
                assert_eq!((place.node, place.local), (node as i64, local as i64), "{nodes:?}, rank {rank}");
                assert_eq!(place.rank, place.first_rank(place.node) + place.local);
                assert_eq!(placement.order()[place.rank as usize], rank);
                assert_eq!(place.node_size(place.node), place.ppn);
                assert_eq!(place.of(place.rank), place);
            }
        }
    }

    #[test]
    fn consecutive_ranks_need_no_sorting() {
        for p in 0..30 {
            for ppn in 1..=p.max(1) {
                let nodes = (0..p).map(|rank| rank / ppn).collect();
                assert_eq!(Placement::consecutive(p, ppn), Placement::from_nodes(nodes), "p = {p}, ppn = {ppn}");
            }
        }
    }

    #[test]
    fn regular_placements_know_it() {
        for p in 1..20 {
            for ppn in 1..=p {
                let place = Placement::consecutive(p, ppn);
                assert!(place.place(0).is_regular(), "p = {p}, ppn = {ppn}");
            }
        }
        for sizes in [vec![1, 2], vec![2, 3], vec![2, 1, 2]] {
            assert!(!Placement::of_sizes(&sizes).place(0).is_regular(), "{sizes:?}");
        }
        assert!(Placement::cyclic(4, 2).place(0).is_regular() && !Placement::cyclic(4, 2).is_sorted());
    }

    #[test]
    fn worlds_without_a_table_are_like_those_with_one() {
        for p in 1..7 {
            let (one, each) = (Placement::consecutive(p, p), Placement::consecutive(p, 1));
            for rank in 0..p {
                let (flat, apart) = (Place::flat(rank as i64, p as i64), Place::apart(rank as i64, p as i64));
                for (short, long) in [(flat, one.place(rank)), (apart, each.place(rank))] {
                    assert_eq!(short.values(), long.values());
                    assert_eq!(short.is_regular(), long.is_regular());
                    for node in -2..9 {
                        assert_eq!(short.first_rank(node), long.first_rank(node));
                        assert_eq!(short.node_size(node), long.node_size(node));
                    }
                    assert_eq!(short.of(0).values(), long.of(0).values());
                    assert_eq!(short.inside_node().values(), long.inside_node().values());
                }
            }
        }
    }
}

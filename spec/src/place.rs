//! Where ranks sit.

use crate::arith;

/// What one rank knows about itself and its surroundings: the built-in variables of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
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
    /// Whether ranks fill one node after the other, equally many on each, or fewer on the last. It is no variable of
    /// the language, but what a schedule that depends on placement is proved for; it is the same on all ranks.
    pub consecutive: bool,
}

impl Place {
    /// A rank in a world of one node.
    pub const fn flat(rank: i64, p: i64) -> Self {
        Place { rank, p, node: 0, nodes: 1, local: rank, ppn: p, lanes: p, consecutive: true }
    }

    /// The variables in the order of [`BUILTIN_VARS`](crate::expr::BUILTIN_VARS).
    pub const fn values(&self) -> [i64; 7] {
        [self.rank, self.p, self.node, self.nodes, self.local, self.ppn, self.lanes]
    }
}

/// Which node each rank sits on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    nodes: Vec<i64>,
    locals: Vec<i64>,
    sizes: Vec<i64>,
    ppn: i64,
    consecutive: bool,
}

impl Placement {
    /// Ranks fill one node of `ppn` after the other; the last node may have fewer.
    ///
    /// ```
    /// use roundel_spec::Placement;
    /// let place = Placement::consecutive(7, 3).place(6);
    /// assert_eq!((place.node, place.local, place.nodes, place.lanes), (2, 0, 3, 1));
    /// ```
    pub fn consecutive(p: usize, ppn: usize) -> Self {
        let ppn = ppn.clamp(1, p.max(1));
        Self::from_nodes((0..p).map(|rank| rank / ppn).collect())
    }

    /// Any placement: `nodes[rank]` is the rank's node. Node numbers are made dense, in order of their first rank;
    /// local indices follow the rank order.
    pub fn from_nodes(nodes: Vec<usize>) -> Self {
        let mut seen: Vec<usize> = Vec::new();
        let mut sizes: Vec<i64> = Vec::new();
        let (mut dense, mut locals) = (Vec::new(), Vec::new());
        for node in nodes {
            let index = seen.iter().position(|&known| known == node).unwrap_or_else(|| {
                seen.push(node);
                sizes.push(0);
                seen.len() - 1
            });
            dense.push(index as i64);
            locals.push(sizes[index]);
            sizes[index] += 1;
        }
        let ppn = sizes.iter().copied().max().unwrap_or(1);
        let consecutive = (0i64..).zip(&dense).all(|(rank, &node)| node == arith::div(rank, ppn));
        Placement { nodes: dense, locals, sizes, ppn, consecutive }
    }

    /// The ranks dealt out to nodes of up to `ppn` in turn, as with `mpirun --map-by node`.
    pub fn cyclic(p: usize, ppn: usize) -> Self {
        let nodes = p.div_ceil(ppn.clamp(1, p.max(1))).max(1);
        Self::from_nodes((0..p).map(|rank| rank % nodes).collect())
    }

    /// Whether it is [`consecutive`](Placement::consecutive), for some number of ranks per node.
    pub fn is_consecutive(&self) -> bool {
        self.consecutive
    }

    /// The number of ranks.
    pub fn p(&self) -> usize {
        self.nodes.len()
    }

    /// The largest number of ranks on a node.
    pub fn ppn(&self) -> usize {
        self.ppn as usize
    }

    /// What `rank` knows.
    pub fn place(&self, rank: usize) -> Place {
        let node = self.nodes[rank];
        Place {
            rank: rank as i64,
            p: self.nodes.len() as i64,
            node,
            nodes: self.sizes.len() as i64,
            local: self.locals[rank],
            ppn: self.sizes[node as usize],
            lanes: self.sizes.iter().copied().fold(i64::MAX, arith::min),
            consecutive: self.consecutive,
        }
    }

    /// Whether a message between the two ranks leaves a node.
    pub fn nonlocal(&self, a: usize, b: usize) -> bool {
        self.nodes[a] != self.nodes[b]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_placements_know_it_on_every_rank() {
        for p in 1..20 {
            for ppn in 1..=p {
                let placement = Placement::consecutive(p, ppn);
                assert!((0..p).all(|rank| placement.place(rank).consecutive), "p = {p}, ppn = {ppn}");
            }
        }
        let others = [vec![0, 1, 0, 1], vec![0, 1, 1], vec![0, 0, 1, 1, 1], vec![0, 0, 1, 2, 2], vec![0, 0, 1, 1, 0]];
        for nodes in others {
            let placement = Placement::from_nodes(nodes);
            assert!((0..placement.p()).all(|rank| !placement.place(rank).consecutive), "{placement:?}");
        }
        assert!(Placement::cyclic(5, 5).is_consecutive() && Placement::cyclic(5, 1).is_consecutive());
        assert!(!Placement::cyclic(4, 2).is_consecutive());
    }
}

//! Trees of contributions: the contents of a reduction's slots.
//!
//! Equal trees share one node, and swapping the operands gives the same node. So whether two ranks have reduced the
//! same tree, up to commutativity, is a comparison of two numbers.

use std::collections::HashMap;

/// A tree, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tree(u32);

/// The data of a tree.
#[derive(Clone, Debug)]
struct TreeNode {
    /// One bit per rank.
    ranks: Vec<u64>,
    /// The number of bits set.
    count: usize,
    /// The two trees that it joins, unless it is a leaf, in the order in which they were first joined.
    operands: Option<(Tree, Tree)>,
}

/// Contributions in the order in which a non-commutative operation would see them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeValue {
    /// The tree, regardless of the order of its operands.
    pub tree: Tree,
    /// The first and the last rank, if the operands are in rank order without a gap.
    pub run: Option<(u32, u32)>,
}

/// All trees of one run.
#[derive(Clone, Debug)]
pub struct Trees {
    nodes: Vec<TreeNode>,
    joined: HashMap<(Tree, Tree), Tree>,
    /// Trees of one rank, by that rank and what it was told they are.
    owned: HashMap<(Tree, usize), Tree>,
    p: usize,
}

impl Trees {
    /// The contributions of `p` ranks, before any reduction.
    pub fn new(p: usize) -> Self {
        let leaf = |rank: usize| {
            let mut ranks = vec![0; p.div_ceil(64)];
            ranks[rank / 64] |= 1 << (rank % 64);
            TreeNode { ranks, count: 1, operands: None }
        };
        Trees { nodes: (0..p).map(leaf).collect(), joined: HashMap::new(), owned: HashMap::new(), p }
    }

    /// A rank's own contribution.
    pub fn leaf(&self, rank: usize) -> TreeValue {
        TreeValue { tree: Tree(rank as u32), run: Some((rank as u32, rank as u32)) }
    }

    /// Combines `left` with `right`. Returns a rank that has contributed to both, if there is one.
    pub fn join(&mut self, left: TreeValue, right: TreeValue) -> Result<TreeValue, usize> {
        if let Some(rank) = self.common(left.tree, right.tree) {
            return Err(rank);
        }
        let key = (left.tree.min(right.tree), left.tree.max(right.tree));
        let tree = match self.joined.get(&key) {
            Some(&tree) => tree,
            None => self.add(key, (left.tree, right.tree)),
        };
        let run = match (left.run, right.run) {
            (Some((first, end)), Some((begin, last))) if end + 1 == begin => Some((first, last)),
            _ => None,
        };
        Ok(TreeValue { tree, run })
    }

    fn add(&mut self, key: (Tree, Tree), operands: (Tree, Tree)) -> Tree {
        let tree = Tree(self.nodes.len() as u32);
        let pairs = self.ranks(key.0).iter().zip(self.ranks(key.1));
        let ranks: Vec<u64> = pairs.map(|(a, b)| a | b).collect();
        let count = ranks.iter().map(|word| word.count_ones() as usize).sum();
        self.nodes.push(TreeNode { ranks, count, operands: Some(operands) });
        self.joined.insert(key, tree);
        tree
    }

    /// The same contributions, reduced by one rank in a way that no other rank need share: a tree of its own.
    pub fn of_one(&mut self, value: TreeValue, rank: usize) -> TreeValue {
        let next = Tree(self.nodes.len() as u32);
        let tree = *self.owned.entry((value.tree, rank)).or_insert(next);
        if tree == next {
            self.nodes.push(self.nodes[value.tree.0 as usize].clone());
        }
        TreeValue { tree, ..value }
    }

    fn ranks(&self, tree: Tree) -> &[u64] {
        &self.nodes[tree.0 as usize].ranks
    }

    /// The first rank that has contributed to both trees.
    fn common(&self, a: Tree, b: Tree) -> Option<usize> {
        let mut words = self.ranks(a).iter().zip(self.ranks(b)).map(|(a, b)| a & b).enumerate();
        words.find(|(_, both)| *both != 0).map(|(word, both)| 64 * word + both.trailing_zeros() as usize)
    }

    /// The two trees that a tree joins; `None` if it is the contribution of one rank.
    pub fn operands(&self, tree: Tree) -> Option<(Tree, Tree)> {
        self.nodes[tree.0 as usize].operands
    }

    /// The number of ranks that have contributed to a tree.
    pub fn count(&self, tree: Tree) -> usize {
        self.nodes[tree.0 as usize].count
    }

    /// Whether a rank has contributed to a tree.
    pub fn contains(&self, tree: Tree, rank: usize) -> bool {
        self.ranks(tree)[rank / 64] >> (rank % 64) & 1 == 1
    }

    /// The ranks that have contributed to a tree.
    pub fn contributors(&self, tree: Tree) -> impl Iterator<Item = usize> + '_ {
        (0..self.p).filter(move |&rank| self.contains(tree, rank))
    }

    /// Whether every rank that contributed to `a` also contributed to `b`.
    pub fn within(&self, a: Tree, b: Tree) -> bool {
        self.ranks(a).iter().zip(self.ranks(b)).all(|(a, b)| a & !b == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_operands_are_the_same_tree_and_another_order() {
        let mut trees = Trees::new(3);
        let [a, b, c] = [0, 1, 2].map(|rank| trees.leaf(rank));
        let (ab, ba) =
            (trees.join(a, b).expect("no rank counts twice"), trees.join(b, a).expect("no rank counts twice"));
        assert_eq!((ab.tree, ab.run, ba.run), (ba.tree, Some((0, 1)), None));
        let (left, right) =
            (trees.join(ab, c).expect("no rank counts twice"), trees.join(b, c).expect("no rank counts twice"));
        let right = trees.join(a, right).expect("no rank counts twice");
        assert_ne!(left.tree, right.tree);
        assert_eq!((left.run, right.run), (Some((0, 2)), Some((0, 2))));
        assert_eq!(trees.contributors(left.tree).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(trees.within(ab.tree, left.tree) && !trees.within(left.tree, ab.tree));
    }

    #[test]
    fn a_tree_of_one_rank_is_no_other() {
        let mut trees = Trees::new(3);
        let [a, b] = [0, 1].map(|rank| trees.leaf(rank));
        let both = trees.join(a, b).expect("no rank counts twice");
        let (first, second) = (trees.of_one(both, 0), trees.of_one(both, 1));
        assert_eq!(trees.of_one(both, 0), first);
        assert!(first.tree != second.tree && first.tree != both.tree);
        assert_eq!((first.run, trees.count(first.tree)), (both.run, 2));
        assert_eq!(trees.join(first, second), Err(0));
    }

    #[test]
    fn nobody_counts_twice() {
        let mut trees = Trees::new(70);
        let [a, b] = [3, 68].map(|rank| trees.leaf(rank));
        let both = trees.join(a, b).expect("no rank counts twice");
        assert_eq!(trees.join(both, b), Err(68));
    }
}

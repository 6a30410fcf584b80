//! Nodes, and their further division into sockets and so on.

use crate::meaning::place::Place;
use std::collections::HashMap;

/// Nested regions of ranks that are numbered region by region, to any depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regions {
    /// The first rank of each region, and one past the last rank.
    starts: Vec<i64>,
    /// The smallest number of ranks in a region.
    lanes: i64,
    /// The number of ranks in every region but the last, which has at most as many; `None` if they differ.
    even: Option<i64>,
    /// The division of each region; empty if none is divided.
    inside: Vec<Regions>,
}

impl Regions {
    /// Sorts ranks by their paths, starting at level `level`. Regions are ordered by their first rank.
    pub(crate) fn sort(ranks: &mut [usize], paths: &[Vec<usize>], level: usize) -> Self {
        let mut seen: HashMap<Option<usize>, usize> = HashMap::new();
        let mut number = |rank: usize| {
            let next = seen.len();
            *seen.entry(paths[rank].get(level).copied()).or_insert(next)
        };
        let mut numbered: Vec<(usize, usize)> = ranks.iter().map(|&rank| (number(rank), rank)).collect();
        numbered.sort_unstable();
        ranks.iter_mut().zip(&numbered).for_each(|(slot, &(_, rank))| *slot = rank);
        let mut starts = vec![0];
        let mut inside = Vec::new();
        for group in numbered.chunk_by(|a, b| a.0 == b.0) {
            let (begin, end) = (starts[starts.len() - 1] as usize, starts[starts.len() - 1] as usize + group.len());
            starts.push(end as i64);
            inside.push(Regions::sort_deeper(&mut ranks[begin..end], paths, level + 1));
        }
        let divided = inside.iter().any(Option::is_some);
        let inside = inside.into_iter().zip(starts.windows(2));
        let inside = inside.map(|(regions, ends)| regions.unwrap_or_else(|| Regions::undivided(ends[1] - ends[0])));
        let inside = if divided { inside.collect() } else { Vec::new() };
        Regions::new(starts, inside)
    }

    /// Regions that start at these ranks.
    fn new(starts: Vec<i64>, inside: Vec<Regions>) -> Self {
        let sizes = || starts.windows(2).map(|ends| ends[1] - ends[0]);
        let first = sizes().next().unwrap_or(0);
        let regular =
            sizes().rev().skip(1).all(|size| size == first) && sizes().next_back().is_none_or(|last| last <= first);
        let (lanes, even) = (sizes().min().unwrap_or(0), regular.then_some(first));
        Regions { lanes, even, starts, inside }
    }

    /// The regions of a part, if any path is longer.
    fn sort_deeper(ranks: &mut [usize], paths: &[Vec<usize>], level: usize) -> Option<Self> {
        ranks.iter().any(|&rank| paths[rank].len() > level).then(|| Regions::sort(ranks, paths, level))
    }

    /// Regions of `size` ranks each; the last one has the rest.
    pub(crate) fn consecutive(ranks: i64, size: i64) -> Self {
        let mut starts: Vec<i64> = (0..ranks).step_by(size.max(1) as usize).collect();
        starts.push(ranks);
        Regions::new(starts, Vec::new())
    }

    fn undivided(ranks: i64) -> Self {
        Regions::new(vec![0, ranks], Vec::new())
    }

    /// The number of regions.
    pub fn nodes(&self) -> i64 {
        self.starts.len() as i64 - 1
    }

    /// The first rank of a region.
    #[inline]
    pub fn first(&self, region: i64) -> i64 {
        self.starts[region as usize]
    }

    /// The number of ranks in a region.
    #[inline]
    pub fn size(&self, region: i64) -> i64 {
        self.starts[region as usize + 1] - self.starts[region as usize]
    }

    /// The sizes of all regions.
    pub fn sizes(&self) -> impl Iterator<Item = usize> + '_ {
        self.starts.windows(2).map(|ends| (ends[1] - ends[0]) as usize)
    }

    /// The region of a rank.
    pub(crate) fn node_of(&self, rank: i64) -> i64 {
        match self.even {
            // A million ranks ask for theirs many times.
            Some(size) if size > 0 => rank / size,
            _ => self.starts.partition_point(|&start| start <= rank) as i64 - 1,
        }
    }

    /// The division of a region, if it is divided.
    pub fn inside(&self, region: i64) -> Option<&Regions> {
        self.inside.get(region as usize)
    }

    /// Whether any region is divided further.
    pub fn is_divided(&self) -> bool {
        !self.inside.is_empty()
    }

    /// Whether all regions have equally many ranks, except for the last, which may have fewer.
    pub fn is_regular(&self) -> bool {
        self.even.is_some()
    }

    /// What a rank knows.
    pub fn place(&self, rank: i64) -> Place<'_> {
        let node = self.node_of(rank);
        Place {
            rank,
            p: self.starts[self.starts.len() - 1],
            node,
            nodes: self.nodes(),
            local: rank - self.first(node),
            ppn: self.size(node),
            lanes: self.lanes,
            regions: Some(self),
        }
    }
}

//! Where messages go: the levels that they cross, and the links that they share.

use super::topology::{Level, Topology};
use roundel::clock::{LogGps, Wire};
use roundel_spec::Placement;

/// A placement of ranks on the groups of a network.
#[derive(Debug)]
pub struct NetworkLevels<'a> {
    placement: &'a Placement,
    /// The levels of groups; without a topology, nodes alone.
    levels: Vec<Level>,
}

/// The messages on each link of a round: for each level with links, out of each group and into it.
#[derive(Clone, Debug, Default)]
pub struct LinkLoad {
    out: Vec<Vec<u32>>,
    into: Vec<Vec<u32>>,
}

impl<'a> NetworkLevels<'a> {
    /// Ranks on nodes, and nodes in the groups of a topology.
    pub fn new(placement: &'a Placement, topology: Option<&Topology>) -> Self {
        let nodes =
            || Level { name: "node".into(), size: placement.ppn(), latency: None, byte_gap: None, uplink: None };
        let levels = topology.map_or_else(|| vec![nodes()], |topology| topology.levels.clone());
        NetworkLevels { placement, levels }
    }

    /// The names of the levels that messages may cross, the nearest first: inside each group, and beyond all groups.
    pub fn names(&self) -> Vec<String> {
        let inside = self.levels.iter().map(|level| format!("inside a {}", level.name));
        let outermost = self.levels.last().map_or("node", |level| &level.name);
        inside.chain([format!("between {}", plural(outermost))]).collect()
    }

    /// The number of levels that messages may cross.
    pub fn depth(&self) -> usize {
        self.levels.len() + 1
    }

    /// The smallest level of groups that has both ranks in one group; the number of levels if there is none.
    pub fn level(&self, a: usize, b: usize) -> u8 {
        let (mut a, mut b) = (self.placement.node(a), self.placement.node(b));
        for number in 0..self.levels.len() {
            if number > 0 {
                (a, b) = (a / self.levels[number].size, b / self.levels[number].size);
            }
            if a == b {
                return number as u8;
            }
        }
        self.levels.len() as u8
    }

    /// The number of a rank's group.
    fn group(&self, rank: usize, level: usize) -> usize {
        let upper = self.levels[1..=level].iter();
        upper.fold(self.placement.node(rank), |group, level| group / level.size)
    }

    /// After how many ranks the groups repeat, if all of them are equal: rank r is to its groups what rank r + period
    /// is to its own.
    pub fn period(&self) -> Option<usize> {
        let (p, ppn) = (self.placement.p(), self.placement.ppn());
        if ppn >= p {
            // All ranks are on one node.
            return Some(1);
        }
        let regular = self.placement.is_sorted() && self.placement.irregular().is_none();
        let outermost = self.levels[1..].iter().try_fold(ppn, |size, level| size.checked_mul(level.size))?;
        // A group that is not full differs from the others.
        (regular && p.is_multiple_of(outermost)).then_some(outermost)
    }

    /// Counts nothing, for so many ranks.
    pub fn no_load(&self, ranks: usize) -> LinkLoad {
        let groups = |number: usize| match self.levels[number].uplink {
            Some(_) => 1 + (0..ranks).map(|rank| self.group(rank, number)).max().unwrap_or(0),
            None => 0,
        };
        let empty: Vec<Vec<u32>> = (0..self.levels.len()).map(|number| vec![0; groups(number)]).collect();
        LinkLoad { out: empty.clone(), into: empty }
    }

    /// Whether messages share any links.
    pub fn has_links(&self) -> bool {
        self.levels.iter().any(|level| level.uplink.is_some())
    }

    /// Adds a message to all links that it takes: out of the groups of its sender and into those of its receiver, on
    /// all levels below the one that it crosses.
    pub fn load(&self, load: &mut LinkLoad, from: usize, to: usize, level: u8) {
        for number in (0..usize::from(level)).filter(|&number| self.levels[number].uplink.is_some()) {
            load.out[number][self.group(from, number)] += 1;
            load.into[number][self.group(to, number)] += 1;
        }
    }

    /// The way of a message: every link gives each of its messages an equal part of its bandwidth.
    pub fn wire(&self, machine: &LogGps, load: &LinkLoad, from: usize, to: usize, level: u8) -> Wire {
        let crossed = self.levels.get(usize::from(level));
        let latency = crossed.and_then(|level| level.latency).unwrap_or(machine.latency);
        let mut byte_gap = crossed.and_then(|level| level.byte_gap).unwrap_or(machine.byte_gap);
        for (number, below) in self.levels.iter().enumerate().take(usize::from(level)) {
            if let Some(bandwidth) = below.uplink {
                let sharing =
                    load.out[number][self.group(from, number)].max(load.into[number][self.group(to, number)]);
                byte_gap = byte_gap.max(f64::from(sharing) / bandwidth);
            }
        }
        Wire { latency, byte_gap }
    }
}

/// `nodes`, `switches`.
fn plural(name: &str) -> String {
    let ending = if name.ends_with(['s', 'x']) || name.ends_with("ch") { "es" } else { "s" };
    format!("{name}{ending}")
}

impl LinkLoad {
    /// Empties all links.
    pub fn clear(&mut self) {
        self.out.iter_mut().chain(&mut self.into).for_each(|level| level.fill(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(name: &str, size: usize, uplink: Option<f64>) -> Level {
        Level { name: name.into(), size, latency: None, byte_gap: None, uplink }
    }

    #[test]
    fn levels_are_the_nearest_common_groups() {
        let topology = Topology { levels: vec![level("node", 2, None), level("switch", 3, None)] };
        let placement = Placement::consecutive(12, 2);
        let network = NetworkLevels::new(&placement, Some(&topology));
        let levels: Vec<u8> = (0..12).map(|rank| network.level(1, rank)).collect();
        assert_eq!(levels, [0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
        assert_eq!(network.names(), ["inside a node", "inside a switch", "between switches"]);
        assert_eq!(network.period(), Some(6));
        let odd = Placement::consecutive(10, 2);
        assert_eq!(NetworkLevels::new(&odd, Some(&topology)).period(), None);
        assert_eq!(NetworkLevels::new(&odd, None).period(), Some(2));
        let cyclic = Placement::cyclic(10, 2);
        assert_eq!(NetworkLevels::new(&cyclic, None).period(), None);
    }

    #[test]
    fn links_are_shared_in_equal_parts() {
        let topology = Topology { levels: vec![level("node", 2, Some(4.0)), level("switch", 2, Some(0.5))] };
        let placement = Placement::consecutive(8, 2);
        let network = NetworkLevels::new(&placement, Some(&topology));
        let machine =
            LogGps { latency: 7.0, overhead: 0.0, gap: 0.0, byte_gap: 0.25, byte_overhead: 0.0, eager: u64::MAX };
        let mut load = network.no_load(8);
        // Two messages leave node 0, one of them for the other switch.
        for (from, to) in [(0, 2), (1, 6)] {
            network.load(&mut load, from, to, network.level(from, to));
        }
        let gap = |from: usize, to: usize| network.wire(&machine, &load, from, to, network.level(from, to)).byte_gap;
        assert_eq!((gap(0, 2), gap(1, 6), gap(0, 1)), (0.5, 2.0, 0.25));
        load.clear();
        assert_eq!(network.wire(&machine, &load, 0, 2, 1), Wire { latency: 7.0, byte_gap: 0.25 });
    }
}

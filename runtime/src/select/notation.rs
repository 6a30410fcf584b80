//! Factors and ports, as Table 2 of Jocksch et al. writes them: `16(-3 -3) 10(9) 16(3 3)`.

use std::fmt;

/// Nodes that exchange among themselves, and in how many ports in each round. Negative ports scatter, positive ones gather.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Group {
    /// How many nodes.
    pub factor: usize,
    /// The ports of each round.
    pub ports: Vec<i64>,
}

impl Group {
    /// A group that gathers.
    pub(crate) fn gathers(factor: usize, ports: &[i64]) -> Self {
        Group { factor, ports: ports.to_vec() }
    }

    /// The group that scatters what this one gathers.
    pub(crate) fn reversed(&self) -> Self {
        Group { factor: self.factor, ports: self.ports.iter().rev().map(|&ports| -ports).collect() }
    }

    /// Whether all of its rounds scatter.
    pub fn scatters(&self) -> bool {
        self.ports.iter().all(|&ports| ports < 0)
    }

    /// Whether some of its rounds scatter and others gather.
    pub fn is_partial(&self) -> bool {
        !self.scatters() && self.ports.iter().any(|&ports| ports < 0)
    }
}

/// What all nodes do: groups, one after the other. One node does nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Notation {
    /// The groups.
    pub groups: Vec<Group>,
}

impl Notation {
    /// One group.
    pub(crate) fn one(factor: usize, ports: &[i64]) -> Self {
        Notation { groups: vec![Group::gathers(factor, ports)] }
    }

    /// The groups that scatter, those that reduce and those that gather, of an allreduce. The last ones undo the first ones, in
    /// reverse.
    pub(crate) fn phases(&self) -> (&[Group], &[Group], &[Group]) {
        let scatters = self.groups.iter().take_while(|group| group.scatters()).count();
        let (first, rest) = self.groups.split_at(scatters);
        let (second, third) = rest.split_at(rest.len().saturating_sub(scatters));
        (first, second, third)
    }

    /// Whether everything is scattered, and gathered afterwards: then every block is reduced once, and all nodes get the same
    /// bits.
    pub fn is_complete(&self) -> bool {
        self.phases().1.is_empty()
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ports: Vec<String> = self.ports.iter().map(i64::to_string).collect();
        write!(f, "{}({})", self.factor, ports.join(" "))
    }
}

impl fmt::Display for Notation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups: Vec<String> = self.groups.iter().map(ToString::to_string).collect();
        f.pad(if groups.is_empty() { "1()".to_string() } else { groups.join(" ") }.as_str())
    }
}

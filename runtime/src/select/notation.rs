//! What the selector asks of factors and ports.

use crate::plan::ports::{DigitGroup, Ports};

impl DigitGroup {
    /// A group that gathers.
    pub(crate) fn gathers(factor: usize, ports: &[i64]) -> Self {
        DigitGroup { factor, ports: ports.to_vec() }
    }

    /// The group that scatters what this one gathers.
    pub(crate) fn reversed(&self) -> Self {
        DigitGroup { factor: self.factor, ports: self.ports.iter().rev().map(|&ports| -ports).collect() }
    }

    /// Whether all of its rounds scatter.
    pub fn scatters(&self) -> bool {
        self.ports.iter().all(|&ports| ports < 0)
    }
}

impl Ports {
    /// One group.
    pub(crate) fn one(factor: usize, ports: &[i64]) -> Self {
        Ports { groups: vec![DigitGroup::gathers(factor, ports)] }
    }

    /// The groups that scatter, those that reduce and those that gather, of an allreduce. The last ones undo the first
    /// ones, in reverse.
    pub(crate) fn thirds(&self) -> (&[DigitGroup], &[DigitGroup], &[DigitGroup]) {
        let scatters = self.groups.iter().take_while(|group| group.scatters()).count();
        let (first, rest) = self.groups.split_at(scatters);
        let (second, third) = rest.split_at(rest.len().saturating_sub(scatters));
        (first, second, third)
    }

    /// Whether everything is scattered, and gathered afterwards: then every block is reduced once, and all nodes get
    /// the same bits.
    pub fn is_complete(&self) -> bool {
        self.thirds().1.is_empty()
    }
}

//! Properties of factors and ports that distinguish plans.

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
    /// Ports with one group that gathers.
    pub(crate) fn one(factor: usize, ports: &[i64]) -> Self {
        Ports { groups: vec![DigitGroup::gathers(factor, ports)] }
    }

    /// The groups of an allreduce that scatter, those that reduce and those that gather. The last ones reverse the
    /// first ones.
    pub(crate) fn thirds(&self) -> (&[DigitGroup], &[DigitGroup], &[DigitGroup]) {
        let scatters = self.groups.iter().take_while(|group| group.scatters()).count();
        let (first, rest) = self.groups.split_at(scatters);
        let (second, third) = rest.split_at(rest.len().saturating_sub(scatters));
        (first, second, third)
    }

    /// Whether all data is scattered, and gathered afterwards: then every block is reduced once, and all nodes get
    /// bitwise equal results.
    pub fn is_complete(&self) -> bool {
        self.thirds().1.is_empty()
    }
}

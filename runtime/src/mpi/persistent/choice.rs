//! How a call is done: ports between nodes, how many ranks of a node communicate, how a node shares its memory.
//!
//! A function of what all ranks know alike, so that they choose alike without a message.

use super::Settings;
use crate::error::Error;
use crate::plan::part::Part;
use crate::plan::ports::Ports;
use crate::program::build::Scheme;
use roundel_spec::{Kind, Placement};
use std::fmt;

/// How a call is done.
pub(super) struct Choice {
    /// Between nodes, if there are several.
    pub(super) ports: Option<Ports>,
    pub(super) lanes: usize,
    pub(super) scheme: Scheme,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.ports {
            Some(ports) => write!(f, "{ports}, {} of a node communicating, {:?} inside", self.lanes, self.scheme),
            None => write!(f, "one node, {:?}", self.scheme),
        }
    }
}

impl Choice {
    /// What to do, from what all ranks know alike.
    pub(super) fn new(
        kind: Kind,
        counts: &[usize],
        size: usize,
        placement: &Placement,
        commutes: bool,
        settings: &Settings,
        owned: bool,
    ) -> Result<Self, Error> {
        let nodes = placement.regions().nodes() as usize;
        let bytes = counts.iter().sum::<usize>() * size;
        let ports = if nodes == 1 { None } else { settings.ports.clone().or(Some(Ports(nodes))) };
        let _ = (kind, commutes);
        let scheme = if bytes <= 4096 {
            Scheme::Copies
        } else if owned {
            Scheme::Direct
        } else {
            Scheme::Chunks
        };
        Ok(Choice { ports, lanes: settings.lanes.unwrap_or(1).max(1), scheme: settings.scheme.unwrap_or(scheme) })
    }

    /// What each node does.
    pub(super) fn parts(
        &self,
        kind: Kind,
        _counts: &[usize],
        placement: &Placement,
    ) -> Result<impl Fn(usize) -> Part + use<>, Error> {
        let nodes = placement.regions().nodes() as usize;
        let ports = self.ports.clone().unwrap_or(Ports(nodes));
        Ok(move |node| ports.part(kind, node).expect("temporary"))
    }
}

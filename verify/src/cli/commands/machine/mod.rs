//! Commands about a machine: its profile, the rules for it, its shared-memory plans.

pub(super) mod plan;
pub(super) mod profile;
pub(super) mod selection;
pub(super) mod tune;

//! Deliberate faults, and a second opinion on whether they matter.

pub mod mutants;
pub mod oracle;

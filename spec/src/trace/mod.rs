//! What the rounds of all ranks do: their record, and where each block and each operand comes from.

pub mod provenance;
pub mod record;
pub mod trees;

//! Proofs, and the records of what is proved.

pub(super) mod prove;
mod records;
mod verify_records;
mod write_holds;

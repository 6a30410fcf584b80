//! What a proof record adds to a declaration: the `holds` and `hint` that the prover found.
//!
//! Commands that test checks, or that say what ranks hold, use a declaration together with them. Commands that prove it
//! start from the declaration alone, and take them as the first thing to try.

use roundel::algorithms::{CRATE_ROOT, Entry};
use roundel_spec::Schedule;
use roundel_spec::proof::{FoundClause, Record};
use std::path::Path;

/// The record of a schedule in the crate that declares it, if it counts. `roundel prove --verify-records` reports one
/// that does not.
pub fn record(schedule: &Schedule, crate_root: Option<&Path>) -> Option<Record> {
    // A record belongs to the declaration, whatever its inner collectives are.
    Record::in_crate(crate_root?, &schedule.by_contract()).ok().flatten()
}

/// The clauses that were found of a schedule, according to its record.
pub fn found(schedule: &Schedule, crate_root: Option<&Path>) -> Vec<FoundClause> {
    record(schedule, crate_root).map_or_else(Vec::new, |record| record.found().to_vec())
}

/// A schedule with the clauses of its record, as if they had been written.
pub fn claimed(schedule: Schedule, crate_root: Option<&Path>) -> Schedule {
    match record(&schedule, crate_root) {
        Some(record) => record.claimed(&schedule),
        None => schedule,
    }
}

/// The schedule of a catalogue entry with the clauses of its record.
pub fn of_entry(entry: &Entry) -> Schedule {
    claimed((entry.schedule)(), Some(Path::new(CRATE_ROOT)))
}

//! Collectives as code of another language, with the proof records of the crates that declare them.

use crate::error::Error;
use roundel_spec::proof::{ProvedRange, Record};
use roundel_spec::{Schedule, c};
use std::path::Path;

/// The C file of a schedule; `root` is the crate that declares it, where its proof record lies.
pub fn emit_c(schedule: &Schedule, root: Option<&Path>) -> Result<String, Error> {
    // A record speaks of the declaration, whatever its inner collectives are.
    let declared = schedule.by_contract();
    let text = root.and_then(|root| std::fs::read_to_string(Record::path(root, &declared)).ok());
    let record = text.and_then(|text| Record::read(&text, &declared).ok());
    let checked = || ProvedRange::checked(&declared, declared.limits.p);
    let range = record.as_ref().map_or_else(checked, |record| record.range.clone());
    let inners: Vec<ProvedRange> = schedule
        .inners
        .iter()
        .filter_map(|inner| inner.schedule.as_deref())
        .map(|inner| {
            let checked = || ProvedRange::checked(inner, inner.limits.p);
            root.map_or_else(checked, |root| ProvedRange::in_crate(root, inner))
        })
        .collect();
    c::emit(schedule, c::Known { range: &range, record: record.as_ref(), inners: &inners })
        .map_err(Error::Unsupported)
}

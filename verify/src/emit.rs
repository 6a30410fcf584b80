//! Writes collectives as code of another language, with the proof records of the crates that declare them.

use crate::error::Error;
use roundel_spec::proof::{GrantedCalls, Record};
use roundel_spec::{Schedule, c, check};
use std::path::Path;

/// The C files of a schedule; `root` is the crate that declares it, which contains its proof record.
pub fn emit_c(schedule: &Schedule, root: Option<&Path>, options: &c::FileOptions) -> Result<c::EmittedFiles, Error> {
    // A record belongs to the declaration, whatever its inner collectives are.
    let (granted, record) = proved(&schedule.by_contract(), root)?;
    let inners = schedule.inners.iter().filter_map(|inner| inner.schedule.as_deref());
    let inners = inners.map(|inner| Ok(proved(inner, root)?.0.ordered)).collect::<Result<Vec<_>, Error>>()?;
    // C code asks no call whether it needs the order, so it serves those alone for which the order is proved.
    c::emit(schedule, c::KnownFacts { range: &granted.ordered, record: record.as_ref(), inners: &inners }, options)
        .map_err(Error::Unsupported)
}

/// The calls for which a collective is proved, and the record behind it. Without a record it is checked now, as in the
/// derive: only what was checked is granted.
pub fn proved(schedule: &Schedule, root: Option<&Path>) -> Result<(GrantedCalls, Option<Record>), Error> {
    let unfit = |root: &Path, unfit| Error::UnfitRecord { path: Record::path(root, schedule), unfit };
    let record =
        root.map(|root| Record::in_crate(root, schedule).map_err(|reason| unfit(root, reason))).transpose()?;
    if let Some(record) = record.flatten() {
        return Ok((record.granted(), Some(record)));
    }
    let checked = check::at_compile_time(schedule).map_err(|violation| Error::wrong(schedule, violation))?;
    Ok((GrantedCalls::fully(checked.granted(schedule)), None))
}

//! Finds the inner collectives of a declaration.
//!
//! A type parameter may have a default: a collective of the same file or of the catalogue. Any other type is out of
//! sight, and the simplest collective of its kind stands in.

use super::{Grant, granted};
use crate::error::{Diagnosed, Error};
use crate::source::{DeclaredStruct, DefaultType, Source};
use roundel::algorithms::{self, Entry};
use roundel_spec::Schedule;
use roundel_spec::schedule::Inner;
use roundel_spec::syntax::Declaration;

/// Where an inner collective comes from.
#[derive(Debug)]
pub(super) enum InnerOrigin {
    /// Nobody knows: the simplest collective of its kind stands in.
    StandIn,
    /// The catalogue.
    Entry(&'static Entry),
    /// The same file.
    File(Box<Grant>),
}

/// The schedule of a declaration with its inner collectives, and what is proved of all of them. `around` has the names
/// of the collectives around it: a type that contains itself does not exist.
pub(super) fn resolve(
    source: &Source,
    declaration: &Declaration,
    defaults: &[DefaultType],
    around: &mut Vec<String>,
) -> Result<(Schedule, Grant), Error> {
    let mut schedule = declaration.schedule.clone();
    let calls = granted(source, declaration)?;
    around.push(schedule.name.clone());
    let mut inners = Vec::new();
    for (inner, parameter) in schedule.inners.iter_mut().zip(&declaration.inner_types) {
        let named = defaults.iter().find(|default| *parameter == default.parameter);
        inners.push(match named.and_then(|default| default.named.as_deref()) {
            Some(name) => find(source, name, inner, around)?,
            None => InnerOrigin::StandIn,
        });
    }
    around.pop();
    Ok((schedule, Grant { calls, prove: format!("roundel prove {}", source.origin), inners }))
}

/// The schedule of a declaration with its inner collectives, whether it is correct or not: nothing is checked.
pub(super) fn filled(source: &Source, declaration: &Declaration, defaults: &[DefaultType], depth: usize) -> Schedule {
    let mut schedule = declaration.schedule.clone();
    for (inner, parameter) in schedule.inners.iter_mut().zip(&declaration.inner_types) {
        let default = defaults.iter().find(|default| *parameter == default.parameter);
        let Some(name) = default.and_then(|default| default.named.as_deref()) else { continue };
        let in_file = source.declarations().unwrap_or_default().into_iter().find(|declared| declared.name == name);
        let found = match in_file {
            Some(DeclaredStruct { result: Ok(declaration), defaults, .. }) if depth > 0 => {
                Some(filled(source, &declaration, &defaults, depth - 1))
            }
            Some(_) => None,
            None => {
                algorithms::catalogue().iter().find(|entry| entry.type_name == name).map(|entry| (entry.schedule)())
            }
        };
        inner.schedule = found.filter(|found| found.kind == inner.kind).map(Box::new);
    }
    schedule
}

/// Finds a collective by the name of its type, and fills in its schedule.
fn find(source: &Source, name: &str, inner: &mut Inner, around: &mut Vec<String>) -> Result<InnerOrigin, Error> {
    let in_file = source.declarations().unwrap_or_default().into_iter().find(|declared| declared.name == name);
    if let Some(DeclaredStruct { result, defaults, .. }) = in_file {
        let declaration = result.map_err(|errors| Diagnosed::malformed(source, errors))?;
        if around.iter().any(|outer| outer == name) || declaration.schedule.kind != inner.kind {
            return Ok(InnerOrigin::StandIn);
        }
        let (schedule, grant) = resolve(source, &declaration, &defaults, around)?;
        inner.schedule = Some(Box::new(schedule));
        return Ok(InnerOrigin::File(Box::new(grant)));
    }
    let entry = algorithms::catalogue().iter().find(|entry| entry.type_name == name);
    let schedule = entry.map(|entry| (entry.schedule)()).filter(|schedule| schedule.kind == inner.kind);
    match (entry, schedule) {
        (Some(entry), Some(schedule)) => {
            inner.schedule = Some(Box::new(schedule));
            Ok(InnerOrigin::Entry(entry))
        }
        _ => Ok(InnerOrigin::StandIn),
    }
}

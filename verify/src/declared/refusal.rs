//! Refusals by the evaluator, in the words of generated code. A test compares the two.

use super::Grant;
use super::inner::InnerOrigin;
use crate::catalogue;
use crate::error::Error;
use roundel::Refusal;
use roundel_spec::check::{self, Point};
use roundel_spec::eval::{self, Halt, Outside};
use roundel_spec::proof::{MAX_P, Placements};
use roundel_spec::schedule::{Domain, SchedulePart};
use roundel_spec::{Arguments, Place, Placement, Schedule, Violation};

/// Whether a call lies in the domain. The violation is a part of the declaration that has no value.
pub(super) fn admits(schedule: &Schedule, point: &Point) -> Result<Result<(), Refusal>, Box<Violation>> {
    let at = point.place(schedule, 0);
    let no_value = match eval::admits(schedule, &point.args, &at) {
        Ok(None) => return Ok(Ok(())),
        Ok(Some(outside)) => {
            let unnamed = Refusal::Requires { clause: "its domain", p: at.p };
            return Ok(Err(refusal(schedule, &point.args, at.p, &outside).unwrap_or(unnamed)));
        }
        Err(Halt::Fault(part, _)) => clause(schedule, part),
        Err(Halt::Stopped(_)) => None,
    };
    match no_value {
        Some(clause) => Ok(Err(Refusal::NoValue { clause: lasting(clause), p: at.p })),
        // The check finds the same fault, and says what it is.
        None => check::in_domain(schedule, point).map(|_| Ok(())).map_err(Box::new),
    }
}

/// A refusal for what lies outside of a domain; `None` if the schedule has no such part.
fn refusal(schedule: &Schedule, args: &Arguments, p: i64, outside: &Outside) -> Option<Refusal> {
    match outside {
        Outside::Parameter(name) => {
            let numbers = schedule.numbers.iter().zip(&args.numbers);
            let numbers = numbers.map(|(number, &value)| (&number.var.name, &number.domain, value));
            let lists = schedule.lists.iter().zip(&args.lists);
            let lists = lists.flat_map(|(list, values)| values.iter().map(|&v| (&list.var.name, &list.domain, v)));
            let is_outside = |(known, domain, value): &(&String, &Domain, i64)| {
                *known == name && (!domain.contains(*value) || *value > MAX_P)
            };
            let (_, domain, value) = numbers.chain(lists).find(is_outside)?;
            let name = lasting(name.clone());
            Some(match domain.contains(value) {
                true => Refusal::TooLarge { name, value },
                false => Refusal::Parameter { name, domain: lasting(domain.to_string()), value },
            })
        }
        Outside::Clause(part) => Some(Refusal::Requires { clause: lasting(clause(schedule, *part)?), p }),
        Outside::Divided(blocks) => {
            Some(Refusal::Divided { name: lasting(schedule.name.clone()), blocks: *blocks, p })
        }
        Outside::Inner { inner, p, outside } => {
            let schedule = schedule.inners.get(*inner)?.schedule.as_deref()?;
            refusal(schedule, args.inner.get(*inner)?, *p, outside)
        }
    }
}

/// A clause of the domain, as declared.
fn clause(schedule: &Schedule, part: SchedulePart) -> Option<String> {
    match part {
        SchedulePart::Requires(i) => schedule.requires.get(i).map(ToString::to_string),
        SchedulePart::EndsWith(n, i) => Some(format!("final {}", schedule.loops.get(n)?.ends_with.get(i)?)),
        _ => None,
    }
}

/// Whether a call is proved that the domain admits.
pub(super) fn proved(
    schedule: &Schedule,
    grant: &Grant,
    args: &Arguments,
    placement: &Placement,
) -> Result<Result<(), Refusal>, Error> {
    // The root is a rank of the communicator, and the collective would interpret it in its own numbering.
    if schedule.kind.has_root() && schedule.uses_placement() && !placement.is_sorted() {
        return Ok(Err(Refusal::Placement { range: "ranks that are numbered node by node" }));
    }
    unproved(schedule, grant, args, &placement.place(0)).map(|refusal| refusal.map_or(Ok(()), Err))
}

/// Why a call is not proved, if so.
fn unproved(schedule: &Schedule, grant: &Grant, args: &Arguments, at: &Place<'_>) -> Result<Option<Refusal>, Error> {
    let (range, p) = (&grant.calls.all, at.p);
    let words = || lasting(range.text(schedule));
    let limits = limits(schedule, grant, args, p);
    if limits.iter().any(|(_, value, _, most)| value > most) {
        return Ok(Some(Refusal::beyond(words(), &grant.prove, &limits)));
    }
    let elsewhere = match range.placements {
        Some(Placements::Regular { all_up_to }) => p > all_up_to && !at.is_regular(),
        Some(Placements::Every) | None => false,
    };
    if elsewhere {
        return Ok(Some(Refusal::Placement { range: words() }));
    }
    inners_unproved(schedule, grant, args, at)
}

/// The name of each number of a call that the proved range limits, its value, the minimum of its domain, and the limit.
fn limits(schedule: &Schedule, grant: &Grant, args: &Arguments, p: i64) -> Vec<(&'static str, i64, i64, i64)> {
    let mut limits = vec![("p", p, 1, grant.calls.all.p.unwrap_or(MAX_P))];
    for ((number, limit), &value) in schedule.numbers.iter().zip(&grant.calls.all.numbers).zip(&args.numbers) {
        // The domain already refuses a parameter that does not fit the machine.
        limits.extend(limit.map(|most| (lasting(number.var.name.clone()), value, number.domain.lo, most)));
    }
    for ((list, limit), values) in schedule.lists.iter().zip(&grant.calls.all.lists).zip(&args.lists) {
        let ((len, most), least) = (limit.unwrap_or((MAX_P, MAX_P)), list.domain.lo);
        limits.push((lasting(format!("len({})", list.var.name)), values.len() as i64, 0, len));
        let largest = values.iter().copied().max().unwrap_or(least);
        limits.push((lasting(list.var.name.clone()), largest, least, most));
    }
    limits
}

/// Why an inner collective is not proved for one of its groups, if so.
fn inners_unproved(
    schedule: &Schedule,
    grant: &Grant,
    args: &Arguments,
    at: &Place<'_>,
) -> Result<Option<Refusal>, Error> {
    let mut failed = None;
    let found = eval::ask_groups(schedule, args, at, &mut |inner, args, group| {
        let inner_schedule = schedule.inners[inner].schedule.as_deref();
        let answer = match (grant.inners.get(inner), inner_schedule) {
            (Some(InnerOrigin::Entry(entry)), _) => catalogue::unproved(entry, args, *group),
            (Some(InnerOrigin::File(grant)), Some(schedule)) => unproved(schedule, grant, args, group),
            _ => Ok(None),
        };
        Ok(answer.unwrap_or_else(|error| {
            failed = Some(error);
            None
        }))
    });
    match failed {
        Some(error) => Err(error),
        // A declaration that has no value here has no groups either; its check says so.
        None => Ok(found.unwrap_or(None)),
    }
}

/// A text that lives as long as the program, as those of generated code do. There are few: a refusal ends a command.
fn lasting(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

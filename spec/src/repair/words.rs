//! Repairs in words: what to write, instead of what.

use crate::schedule::message::{Action, Direction};
use crate::schedule::text::{USUAL_LINE, write_define, write_message, write_role, write_state};
use crate::schedule::{Bound, Field, Hold, Schedule, SchedulePart, Transfer};
use std::fmt::{self, Write};

/// A send or a receive as it is written, without `#[…]`.
pub(crate) fn clause(schedule: &Schedule, t: &Transfer) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_short_transfer(&mut text, &schedule.lines, t);
    text
}

/// A send or a receive as users write it, without `#[…]`: the line of a reduction is left out if it is the usual one.
fn write_short_transfer(f: &mut impl Write, lines: &[String], t: &Transfer) -> fmt::Result {
    write_message(f, t)?;
    match (lines, t.direction, t.site.action) {
        ([], ..) => {}
        ([only], Direction::Send, _) | ([only], Direction::Recv, Action::Copy) if only == USUAL_LINE => {}
        ([only], Direction::Recv, Action::CombineLeft { .. }) if only == USUAL_LINE => {
            f.write_str(", combine = left")?
        }
        ([only], Direction::Recv, Action::CombineRight { .. }) if only == USUAL_LINE => {
            f.write_str(", combine = right")?;
        }
        _ => write_role(f, lines, t)?,
    }
    f.write_str(")")
}

/// An attribute without `#[…]`.
fn inside(attribute: &str) -> String {
    let text = attribute.trim_end();
    text.strip_prefix("#[").and_then(|text| text.strip_suffix(']')).unwrap_or(text).into()
}

/// The change of one field of a message.
pub(super) fn field(old: &Transfer, new: &Transfer, field: Field) -> String {
    let (verb, noun, preposition) = match old.direction {
        Direction::Send => ("send", "send", "to"),
        Direction::Recv => ("receive", "receive", "from"),
    };
    match field {
        Field::Blocks => format!("{verb} `{}` instead of `{}`", new.blocks, old.blocks),
        Field::Peer => format!("{verb} {preposition} `{}` instead of `{}`", new.peer, old.peer),
        Field::When => match (&old.when, &new.when) {
            (Some(old), Some(new)) => format!("write `when = {new}` in the {noun}, instead of `when = {old}`"),
            (None, Some(new)) => format!("add `when = {new}` to the {noun}"),
            (_, None) => format!("remove `when` from the {noun}"),
        },
        Field::Each | Field::Whole => {
            let indices = |t: &Transfer| t.each.iter().map(|i| format!("`for {i}`")).collect::<Vec<_>>().join(", ");
            format!("write {} in the {noun}, instead of {}", indices(new), indices(old))
        }
    }
}

/// The change of one part of a declaration.
pub(super) fn part(old: &Schedule, new: &Schedule, spot: SchedulePart) -> Option<String> {
    if let SchedulePart::Transfer(site, which) = spot {
        let of = |schedule: &Schedule| schedule.transfers().find(|t| t.site == site).cloned();
        return Some(field(&of(old)?, &of(new)?, which));
    }
    let (old, new) = (text(old, spot)?, text(new, spot)?);
    Some(format!("write `{new}` instead of `{old}`"))
}

/// A part as it is written.
fn text(schedule: &Schedule, spot: SchedulePart) -> Option<String> {
    let mut text = String::new();
    match spot {
        SchedulePart::Define(i) => write_define(&mut text, &schedule.functions[i]).ok()?,
        SchedulePart::State(n, i) => {
            let l = &schedule.loops[n];
            write_state(&mut text, l, &l.states[i]).ok()?;
        }
        SchedulePart::Round(n) => {
            let indices = &schedule.loops[n].indices;
            return Some(indices.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
        }
        SchedulePart::Bound(i) => return Some(schedule.bounds[i].to_string()),
        SchedulePart::Hold(n, i) => {
            return Some(match &schedule.loops[n].holds[i] {
                Hold::Blocks(set) => format!("blocks = {set}"),
                Hold::Contributors { line, block, ranks } => {
                    let block = block.as_ref().map_or(String::new(), |block| format!("({})", block.name));
                    format!("{}{block} = {ranks}", schedule.lines[*line as usize])
                }
                Hold::Counter(metric, value) => format!("{metric} = {value}"),
                Hold::Fact(fact) => fact.to_string(),
            });
        }
        SchedulePart::Hint(n, i) => return Some(schedule.loops[n].hints[i].to_string()),
        SchedulePart::Blocks => return Some(format!("split({})", schedule.blocks)),
        _ => return None,
    }
    Some(inside(&text))
}

impl SchedulePart {
    /// The clause as it is written, without `#[…]`; `None` for a part that is not a clause.
    pub fn in_words(self, schedule: &Schedule) -> Option<String> {
        match self {
            SchedulePart::Transfer(site, _) => {
                let transfer = schedule.transfers().find(|t| t.site.number == site.number)?;
                Some(clause(schedule, transfer))
            }
            SchedulePart::Round(_) => text(schedule, self).map(|indices| format!("round({indices})")),
            SchedulePart::Requires(i) => Some(format!("requires({})", schedule.requires[i])),
            SchedulePart::Bound(_) => text(schedule, self).map(|bound| format!("bound({bound})")),
            SchedulePart::Hold(..) => text(schedule, self).map(|hold| format!("holds({hold})")),
            SchedulePart::Hint(..) => text(schedule, self).map(|hint| format!("hint({hint})")),
            other => text(schedule, other),
        }
    }
}

/// The change of a bound.
pub(super) fn bound(old: &Bound, new: &Bound) -> String {
    format!("write `{new}` instead of `{old}`")
}

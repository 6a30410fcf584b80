//! The domain: which calls a collective serves, and for which of these it is proved.

use super::expr::{CWriter, Free, Mode, comment};
use super::functions::{braced, function, indented};
use super::{KnownFacts, names};
use crate::check::range::Placements;
use crate::meaning::arith::MAX_P;
use crate::schedule::expr::Expr;
use crate::schedule::{Domain, Loop};

/// The text of the domain function, and its parameters.
pub(super) struct Admits {
    pub(super) text: String,
    pub(super) free: Free,
}

/// The function that decides whether a call is served; all ranks get the same answer.
pub(super) fn admits(writer: &CWriter<'_>, known: KnownFacts<'_>) -> Admits {
    let schedule = writer.schedule;
    let mut free = Free::default();
    free.add_p();
    if matches!(known.range.placements, Some(Placements::Regular { .. })) {
        free.add_nodes();
    }
    schedule.numbers.iter().for_each(|number| free.add(schedule, &Expr::Var(number.var.clone())));
    schedule.lists.iter().for_each(|list| free.add(schedule, &Expr::Length(list.var.clone())));
    schedule.requires.iter().for_each(|clause| free.add(schedule, clause));
    let mut body = refuse("p < 1");
    body += &parameters(writer);
    for clause in &schedule.requires {
        body += &note(&format!("requires {clause}"));
        body += &required(writer, clause);
    }
    for l in &schedule.loops {
        free.join(at_the_end_free(writer, l));
        body += &l.ends_with.iter().map(|clause| at_the_end(writer, l, clause)).collect::<String>();
    }
    body += &proved(writer, known);
    body += "return 1;\n";
    if may_have_no_value(writer) {
        body = format!("int fine = 1, *ok = &fine;\n\n{body}");
    }
    let title = comment(
        "Whether a call lies in the declared domain, and in what is proved of it. All ranks get the same answer.",
    );
    let text = function(&title, &format!("int {}_admits", writer.name), &free.parameters(), &indented(&body));
    Admits { text, free }
}

/// Whether some clause may have no value, so that the function needs `ok`.
fn may_have_no_value(writer: &CWriter<'_>) -> bool {
    let can_fail = |clause: &Expr| writer.can_fail(clause);
    let at_the_end = |l: &Loop| !l.indices.is_empty() && !l.ends_with.is_empty() || l.ends_with.iter().any(can_fail);
    writer.schedule.requires.iter().any(can_fail) || writer.schedule.loops.iter().any(at_the_end)
}

fn note(text: &str) -> String {
    comment(text)
}

fn refuse(condition: &str) -> String {
    format!("if ({condition})\n    return 0;\n")
}

fn parameters(writer: &CWriter<'_>) -> String {
    let numbers = writer.schedule.numbers.iter().map(|number| {
        let name = names::variable(&number.var.name);
        note(&format!("{}: {}", number.var.name, number.domain)) + &refuse(&outside(&name, &number.domain))
    });
    let lists = writer.schedule.lists.iter().map(|list| {
        let name = names::variable(&list.var.name);
        let inside = refuse(&outside(&format!("{name}.items[item]"), &list.domain));
        note(&format!("{}: {}", list.var.name, list.domain))
            + &braced(&format!("for (int64_t item = 0; item < {name}.len; item++)"), &inside)
    });
    numbers.chain(lists).collect()
}

fn outside(value: &str, domain: &Domain) -> String {
    match domain.hi {
        Some(hi) => format!("{value} < {} || {value} > {}", domain.lo, hi.min(MAX_P)),
        None => format!("{value} < {}", domain.lo),
    }
}

/// Refuses a clause without a value like a false one.
fn required(writer: &CWriter<'_>, clause: &Expr) -> String {
    let text = writer.text(clause, Mode::Checked);
    refuse(&if writer.can_fail(clause) { format!("!({text}) || !*ok") } else { format!("!({text})") })
}

fn at_the_end_free(writer: &CWriter<'_>, l: &Loop) -> Free {
    if l.ends_with.is_empty() {
        return Free::default();
    }
    let ranges = l.indices.iter().flat_map(|index| [&index.lo, &index.hi]);
    let states = l.states.iter().flat_map(|state| [&state.init, &state.next]);
    let mut free = writer.free(ranges.chain(states).chain(&l.ends_with));
    l.indices.iter().for_each(|index| free.bind(index.var.slot));
    l.states.iter().for_each(|state| free.bind(state.var.slot));
    free.add_p();
    free
}

/// A condition on the states after the last round. Steps are counted, so that no long range can block the caller.
fn at_the_end(writer: &CWriter<'_>, l: &Loop, clause: &Expr) -> String {
    let inits = l.states.iter().map(|state| {
        format!("int64_t {} = {};\n", names::variable(&state.var.name), writer.text(&state.init, Mode::Checked))
    });
    let mut body = String::new();
    for (level, index) in l.indices.iter().enumerate().rev() {
        let name = names::variable(&index.var.name);
        let (lo, hi) = (writer.text(&index.lo, Mode::Checked), writer.text(&index.hi, Mode::Checked));
        let head = format!("for (int64_t {name} = {lo}, {name}_end = {hi}; {name} < {name}_end && *ok; {name}++)");
        let count = "if (--steps < 0)\n    return 0;\n";
        body = braced(&head, &format!("{count}{body}{}", advance(writer, l, level)));
    }
    let steps = "int64_t steps = (INT64_C(1) << 20) + 64 * p * p;\n";
    let inside = format!("{steps}{}{body}{}", inits.collect::<String>(), required(writer, clause));
    format!("{}{{\n{}}}\n", note(&format!("requires final {clause}")), indented(&inside))
}

fn advance(writer: &CWriter<'_>, l: &Loop, level: usize) -> String {
    let moving: Vec<_> = l.states.iter().filter(|state| state.each == level && !state.backward).collect();
    let name = |state: &crate::schedule::State| names::variable(&state.var.name);
    let next =
        moving.iter().map(|s| format!("int64_t next_{} = {};\n", name(s), writer.text(&s.next, Mode::Checked)));
    let moved = moving.iter().map(|s| format!("{0} = next_{0};\n", name(s)));
    next.chain(moved).collect()
}

/// Refuses calls that are not proved, unless the file is compiled to allow them.
fn proved(writer: &CWriter<'_>, known: KnownFacts<'_>) -> String {
    let range = known.range;
    let limits = range.p.iter().chain(known.inners.iter().filter_map(|inner| inner.p.as_ref()));
    let mut outside: Vec<String> = limits.min().map(|limit| format!("p > {limit}")).into_iter().collect();
    for (parameter, limit) in writer.schedule.numbers.iter().zip(&range.numbers) {
        outside.extend(limit.iter().map(|limit| format!("{} > {limit}", names::variable(&parameter.var.name))));
    }
    outside.extend(range.placements.and_then(|placements| elsewhere(writer, placements)));
    let mut body: String = outside.iter().map(|condition| refuse(condition)).collect();
    for (parameter, limit) in writer.schedule.lists.iter().zip(&range.lists) {
        let (Some((len, value)), name) = (limit, names::variable(&parameter.var.name)) else { continue };
        body += &refuse(&format!("{name}.len > {len}"));
        let inside = refuse(&format!("{name}.items[item] > {value}"));
        body += &braced(&format!("for (int64_t item = 0; item < {name}.len; item++)"), &inside);
    }
    match body.as_str() {
        "" => String::new(),
        body => note("what is proved") + &braced("if (RDL_PROVED)", body),
    }
}

/// Refuses placements that are not proved.
fn elsewhere(writer: &CWriter<'_>, placements: Placements) -> Option<String> {
    match placements {
        Placements::Regular { all_up_to } => {
            let regular = writer.helper("regular");
            Some(format!("p > {all_up_to} && !{regular}(at)"))
        }
        Placements::Every => None,
    }
}

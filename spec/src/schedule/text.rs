//! Writes the clauses of a declaration, one function each.
//!
//! `declare` puts them in order.

use crate::schedule::message::Direction;
use crate::schedule::message::{Action, Line};
use crate::schedule::{
    Bound, CombineSide, Function, Group, Hold, Loop, ReverseOf, Schedule, State, Transfer, Within,
};
use std::fmt::{self, Write};

/// The line of a reduction that declares none.
pub(crate) const USUAL_LINE: &str = "acc";

pub(crate) fn write_collective(f: &mut impl Write, schedule: &Schedule) -> fmt::Result {
    write!(f, "#[collective({}", schedule.kind)?;
    schedule.numbers.iter().try_for_each(|n| write!(f, ", {}: {}", n.var.name, n.domain))?;
    schedule.lists.iter().try_for_each(|l| write!(f, ", {}: list({})", l.var.name, l.domain))?;
    schedule.inners.iter().try_for_each(|inner| write!(f, ", {}: {}", inner.name, inner.kind))?;
    writeln!(f, ")]")?;
    match schedule.reverse_of {
        None => Ok(()),
        Some(ReverseOf { kind, side: CombineSide::Left }) => writeln!(f, "#[reverse_of({kind})]"),
        Some(ReverseOf { kind, side }) => writeln!(f, "#[reverse_of({kind}, combine = {})]", side.name()),
    }
}

pub(crate) fn write_define(f: &mut impl Write, function: &Function) -> fmt::Result {
    let args: Vec<&str> = function.args.iter().map(|arg| arg.name.as_str()).collect();
    let args = if args.is_empty() { String::new() } else { format!("({})", args.join(", ")) };
    writeln!(f, "#[define({}{args} = {})]", function.name, function.body)
}

pub(crate) fn write_bound(f: &mut impl Write, bound: &Bound) -> fmt::Result {
    let clause = if bound.checked { "unproved_bound" } else { "bound" };
    writeln!(f, "#[{clause}({bound})]")
}

pub(crate) fn write_round(f: &mut impl Write, l: &Loop) -> fmt::Result {
    let indices: Vec<String> = l.indices.iter().map(|index| index.to_string()).collect();
    match indices.as_slice() {
        [] => writeln!(f, "#[round]"),
        indices => writeln!(f, "#[round({})]", indices.join(", ")),
    }
}

pub(crate) fn write_state(f: &mut impl Write, l: &Loop, state: &State) -> fmt::Result {
    let each = l.indices.get(state.each).filter(|_| state.each > 0);
    let each = each.map_or(String::new(), |index| format!(", each = {}", index.var.name));
    writeln!(f, "#[state({} = {}, next = {}{each})]", state.var.name, state.init, state.next)
}

/// The states that run backwards, in one clause, because each may mention the others.
pub(crate) fn write_backward(f: &mut impl Write, l: &Loop) -> fmt::Result {
    let all: Vec<&State> = l.states.iter().filter(|state| state.backward).collect();
    if all.is_empty() {
        return Ok(());
    }
    let last: Vec<String> = all.iter().map(|state| format!("last {} = {}", state.var.name, state.init)).collect();
    let previous: Vec<String> = all.iter().map(|state| state.next.to_string()).collect();
    writeln!(f, "#[state({}, previous = ({}))]", last.join(", "), previous.join(", "))
}

pub(crate) fn write_within(f: &mut impl Write, schedule: &Schedule, within: &Within) -> fmt::Result {
    let (inners, lines, stage) = (&schedule.inners, &schedule.lines, schedule.is_stage(within));
    let group = match &within.group {
        Group::Node => "node".into(),
        Group::Lane => "lane".into(),
        Group::All => "all".into(),
        Group::Stride { distance, count } => format!("stride({distance}, {count})"),
        Group::Ranks { first, count } => format!("ranks({first}, {count})"),
    };
    write!(f, "#[within({group}, {}", inners[within.inner].name)?;
    if let Some(when) = &within.when {
        write!(f, ", when = {when}")?;
    }
    if let Some(members) = &within.members {
        write!(f, ", members = {members}")?;
    }
    if let Some(root) = &within.root {
        write!(f, ", root = {root}")?;
    }
    if let Some(line) = lines.get(within.site.line as usize) {
        write!(f, ", line = {line}")?;
    }
    if let Some(to) = &within.to {
        write!(f, ", to = {}", to.name)?;
    }
    let usual = Within::usual_blocks(schedule.kind, inners[within.inner].kind, &within.group);
    let has_lines = !lines.is_empty();
    match stage || has_lines {
        true if within.brings == usual || within.brings.parts.is_empty() => {}
        true => write!(f, ", blocks = {}", within.brings)?,
        false => write!(f, ", brings = {}", within.brings)?,
    }
    writeln!(f, ")]")
}

/// The invariants between the rounds of a loop, the hints, and the conditions after its last round.
pub(crate) fn write_holds(f: &mut impl Write, lines: &[String], l: &Loop) -> fmt::Result {
    for hold in &l.holds {
        match hold {
            Hold::Blocks(set) => writeln!(f, "#[holds(blocks = {set})]")?,
            Hold::Contributors { line, block, ranks } => {
                let block = block.as_ref().map_or(String::new(), |block| format!("({})", block.name));
                writeln!(f, "#[holds({}{block} = {ranks})]", lines[*line as usize])?;
            }
            Hold::Counter(metric, value) => writeln!(f, "#[holds({metric} = {value})]")?,
            Hold::Fact(fact) => writeln!(f, "#[holds({fact})]")?,
        }
    }
    l.hints.iter().try_for_each(|hint| writeln!(f, "#[hint({hint})]"))?;
    l.ends_with.iter().try_for_each(|clause| writeln!(f, "#[requires(final {clause})]"))
}

pub(crate) fn write_transfer(f: &mut impl Write, lines: &[String], t: &Transfer) -> fmt::Result {
    f.write_str("#[")?;
    write_message(f, t)?;
    if !lines.is_empty() {
        write_role(f, lines, t)?;
    }
    writeln!(f, ")]")
}

/// A message without its effect and the closing parenthesis.
pub(crate) fn write_message(f: &mut impl Write, t: &Transfer) -> fmt::Result {
    let (clause, peer) = match t.direction {
        Direction::Send => ("send", "to"),
        Direction::Recv => ("recv", "from"),
    };
    write!(f, "{clause}(")?;
    t.each.iter().try_for_each(|index| write!(f, "for {index}, "))?;
    if let Some(when) = &t.when {
        write!(f, "when = {when}, ")?;
    }
    write!(f, "{peer} = {}, blocks = {}", t.peer, t.blocks)
}

/// The effect of a message of a reduction on the memory of its rank.
pub(crate) fn write_role(f: &mut impl Write, lines: &[String], t: &Transfer) -> fmt::Result {
    let (name, line) = (|line: Line| &lines[line as usize], &lines[t.site.line as usize]);
    match (t.direction, t.site.action) {
        (Direction::Send, _) => write!(f, ", line = {line}"),
        (Direction::Recv, Action::Copy) => write!(f, ", into = {line}"),
        (Direction::Recv, Action::Replace) => write!(f, ", replaces = {line}"),
        (Direction::Recv, Action::Overwrite) => write!(f, ", overwrites = {line}"),
        (Direction::Recv, Action::CombineLeft { with }) => {
            write!(f, ", into = {line}, combine = left, operand = {}", name(with))
        }
        (Direction::Recv, Action::CombineRight { with }) => {
            write!(f, ", into = {line}, combine = right, operand = {}", name(with))
        }
    }
}

/// The clauses before the rounds that only some kinds have.
pub(crate) fn write_reduction(f: &mut impl Write, schedule: &Schedule) -> fmt::Result {
    if schedule.kind.is_divided() {
        writeln!(f, "#[split({})]", schedule.blocks)?;
    }
    if schedule.lines.is_empty() {
        return Ok(());
    }
    writeln!(f, "#[lines({})]", schedule.lines.join(", "))?;
    let claims = [(schedule.order.same_tree, "same_tree"), (schedule.order.rank_order, "rank_order")];
    claims.iter().filter(|(claimed, _)| *claimed).try_for_each(|(_, name)| writeln!(f, "#[order({name})]"))
}

//! A schedule in the words of its declaration, for people.
//!
//! It lists definitions first, wherever they stood, and names what it refers to by its name; so two schedules may read
//! alike. What tells them apart is `canonical`.

use crate::record::Direction;
use crate::schedule::{Bound, Hold, Loop, Schedule, Scope, State, Transfer};
use std::fmt::{self, Write};

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#[collective({}", self.kind)?;
        self.numbers.iter().try_for_each(|n| write!(f, ", {}: {}", n.var.name, n.domain))?;
        self.lists.iter().try_for_each(|l| write!(f, ", {}: list({})", l.var.name, l.domain))?;
        writeln!(f, ")]")?;
        for function in &self.functions {
            let args: Vec<&str> = function.args.iter().map(|arg| arg.name.as_str()).collect();
            let args = if args.is_empty() { String::new() } else { format!("({})", args.join(", ")) };
            writeln!(f, "#[define({}{args} = {})]", function.name, function.body)?;
        }
        self.requires.iter().try_for_each(|clause| writeln!(f, "#[requires({clause})]"))?;
        self.layouts.iter().try_for_each(|layout| writeln!(f, "#[layout({layout})]"))?;
        for (n, l) in self.loops.iter().enumerate() {
            write_loop(f, l)?;
            self.bounds.iter().filter(|b| b.scope == Scope::PerRound(n)).try_for_each(|b| write_bound(f, b))?;
        }
        let whole = |b: &&Bound| !matches!(b.scope, Scope::PerRound(_));
        self.bounds.iter().filter(whole).try_for_each(|b| write_bound(f, b))?;
        writeln!(f, "pub struct {};", self.name)
    }
}

pub(crate) fn write_bound(f: &mut impl Write, bound: &Bound) -> fmt::Result {
    writeln!(f, "#[bound({})]", bound.to_string().replace("per round", "per_round"))
}

fn write_loop(f: &mut impl Write, l: &Loop) -> fmt::Result {
    write_round(f, l)?;
    l.states.iter().try_for_each(|state| write_state(f, l, state))?;
    l.transfers.iter().try_for_each(|t| write_transfer(f, t))?;
    write_holds(f, l)
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

/// What is true between the rounds of a loop, in each of them and after the last.
pub(crate) fn write_holds(f: &mut impl Write, l: &Loop) -> fmt::Result {
    for hold in &l.holds {
        match hold {
            Hold::Blocks(set) => writeln!(f, "#[holds(blocks = {set})]")?,
            Hold::Counter(metric, value) => writeln!(f, "#[holds({metric} = {value})]")?,
            Hold::Fact(fact) => writeln!(f, "#[holds({fact})]")?,
        }
    }
    l.hints.iter().try_for_each(|hint| writeln!(f, "#[hint({hint})]"))?;
    l.ends_with.iter().try_for_each(|clause| writeln!(f, "#[requires(final {clause})]"))
}

pub(crate) fn write_transfer(f: &mut impl Write, t: &Transfer) -> fmt::Result {
    let (clause, peer) = match t.direction {
        Direction::Send => ("send", "to"),
        Direction::Recv => ("recv", "from"),
    };
    write!(f, "#[{clause}(")?;
    t.each.iter().try_for_each(|index| write!(f, "for {index}, "))?;
    if let Some(when) = &t.when {
        write!(f, "when = {when}, ")?;
    }
    writeln!(f, "{peer} = {}, blocks = {})]", t.peer, t.blocks)
}

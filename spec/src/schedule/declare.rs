//! Writes a schedule as a declaration: for people, or so that the parser can read it back.
//!
//! [`Display`](fmt::Display) is for people. It lists definitions first, wherever they stood, and refers to everything
//! by name, so two different schedules may have the same text; the `canonical` form distinguishes them.
//!
//! [`Schedule::declaration`] is for the parser, so that a schedule that is in no source file, such as a mutant, can be
//! stored, shared and replayed. Definitions that mention variables of a round are written below that round, all others
//! above the rounds if their names are free there; unused ones are left out.

use crate::schedule::expr::Expr;
use crate::schedule::text::{
    write_backward, write_bound, write_collective, write_define, write_holds, write_reduction, write_round,
    write_state, write_transfer, write_within,
};
use crate::schedule::{BoundScope, Hold, Loop, Schedule, SchedulePart};
use std::collections::BTreeSet;
use std::fmt::{self, Write};

impl Schedule {
    /// The declaration as Rust source.
    pub fn declaration(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = write(&mut out, self);
        out
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_clauses(f, self, &DefinitionPlaces::all_above(self))?;
        writeln!(f, "pub struct {};", self.name)
    }
}

/// The position of each definition.
struct DefinitionPlaces {
    /// Above the rounds.
    above: BTreeSet<usize>,
    /// Below each round.
    below: Vec<BTreeSet<usize>>,
}

impl DefinitionPlaces {
    fn all_above(schedule: &Schedule) -> Self {
        let above = (0..schedule.functions.len()).collect();
        DefinitionPlaces { above, below: vec![BTreeSet::new(); schedule.loops.len()] }
    }

    /// Each where the parser finds it.
    fn of(schedule: &Schedule) -> Self {
        let mut above = BTreeSet::new();
        let mut below = vec![BTreeSet::new(); schedule.loops.len()];
        let sites = |n: usize| {
            let l = &schedule.loops[n];
            l.transfers.iter().map(|t| t.site).chain(l.within.iter().map(|within| within.site))
        };
        schedule.for_each_expr(&mut |spot, e| match spot {
            SchedulePart::Define(_) => {}
            SchedulePart::Transfer(site, _) => {
                let n = (0..below.len()).find(|&n| sites(n).any(|known| known == site));
                n.iter().for_each(|&n| reach(schedule, e, &mut below[n]));
            }
            SchedulePart::State(n, _)
            | SchedulePart::Hold(n, _)
            | SchedulePart::Hint(n, _)
            | SchedulePart::EndsWith(n, _) => {
                reach(schedule, e, &mut below[n]);
            }
            SchedulePart::Bound(i) => match schedule.bounds[i].scope {
                BoundScope::PerRound(n) => reach(schedule, e, &mut below[n]),
                BoundScope::Max | BoundScope::Each | BoundScope::Node => reach(schedule, e, &mut above),
            },
            SchedulePart::Requires(_)
            | SchedulePart::Round(_)
            | SchedulePart::Layout
            | SchedulePart::Blocks
            | SchedulePart::SameTree
            | SchedulePart::RankOrder
            | SchedulePart::Declaration => reach(schedule, e, &mut above),
        });
        let shared = |i: usize| below.iter().filter(|round| round.contains(&i)).count() > 1;
        let used = |i: usize| below.iter().any(|round| round.contains(&i));
        let names = names(schedule);
        let free = |i: usize| names.iter().filter(|name| **name == schedule.functions[i].name).count() == 1;
        let global = |&i: &usize| shared(i) || (used(i) && free(i) && !of_round(schedule, i));
        above.extend((0..schedule.functions.len()).filter(global).collect::<Vec<_>>());
        below.iter_mut().for_each(|round| round.retain(|i| !above.contains(i)));
        DefinitionPlaces { above, below }
    }
}

/// Whether a definition mentions a variable of a round, directly or through others.
fn of_round(schedule: &Schedule, function: usize) -> bool {
    let mut inside = BTreeSet::from([function]);
    reach(schedule, &schedule.functions[function].body, &mut inside);
    let indices = schedule.loops.iter().flat_map(|l| l.indices.iter().map(|index| index.var.slot));
    let states = schedule.loops.iter().flat_map(|l| l.states.iter().map(|state| state.var.slot));
    let slots: Vec<usize> = indices.chain(states).collect();
    inside.iter().any(|&i| slots.iter().any(|&slot| schedule.functions[i].body.mentions(slot)))
}

/// All names of definitions, rounds and block sets.
fn names(schedule: &Schedule) -> Vec<&str> {
    let mut names: Vec<&str> = schedule.functions.iter().map(|function| function.name.as_str()).collect();
    for l in &schedule.loops {
        names.extend(l.indices.iter().map(|index| index.var.name.as_str()));
        names.extend(l.states.iter().map(|state| state.var.name.as_str()));
        names.extend(l.transfers.iter().flat_map(|t| &t.each).map(|index| index.var.name.as_str()));
        let held = l.holds.iter().filter_map(|hold| match hold {
            Hold::Blocks(set) => Some(set),
            _ => None,
        });
        let brought = l.within.iter().map(|within| &within.brings);
        let sets = l.transfers.iter().map(|t| &t.blocks).chain(held).chain(brought);
        let parts = sets.flat_map(|set| &set.parts);
        names.extend(parts.flat_map(|part| &part.over).map(|index| index.var.name.as_str()));
    }
    names
}

/// Adds the definitions that an expression calls, directly or through others.
fn reach(schedule: &Schedule, e: &Expr, found: &mut BTreeSet<usize>) {
    e.walk(&mut |e| {
        if let Expr::Call(_, index, _) = e
            && found.insert(*index)
        {
            reach(schedule, &schedule.functions[*index].body, found);
        }
    });
}

fn write_clauses(out: &mut impl Write, schedule: &Schedule, places: &DefinitionPlaces) -> fmt::Result {
    write_collective(out, schedule)?;
    // What follows was declared of the forward collective.
    let forward = schedule.forward();
    let schedule = forward.as_ref().unwrap_or(schedule);
    places.above.iter().try_for_each(|&i| write_define(out, &schedule.functions[i]))?;
    write_reduction(out, schedule)?;
    schedule.requires.iter().try_for_each(|clause| writeln!(out, "#[requires({clause})]"))?;
    schedule.layouts.iter().try_for_each(|layout| writeln!(out, "#[layout({layout})]"))?;
    for (n, l) in schedule.loops.iter().enumerate() {
        write_round(out, l)?;
        write_states(out, schedule, l, &places.below[n])?;
        // In the order of their numbers, since the parser numbers them in order.
        let numbers = l.transfers.iter().map(|t| t.site.number).chain(l.within.iter().map(|w| w.site.number));
        for number in numbers.collect::<BTreeSet<_>>() {
            let transfers = l.transfers.iter().filter(|t| t.site.number == number);
            transfers.into_iter().try_for_each(|t| write_transfer(out, &schedule.lines, t))?;
            let within = l.within.iter().filter(|within| within.site.number == number);
            within.into_iter().try_for_each(|within| write_within(out, schedule, within))?;
        }
        write_holds(out, &schedule.lines, l)?;
        let own = schedule.bounds.iter().filter(|bound| bound.scope == BoundScope::PerRound(n));
        own.into_iter().try_for_each(|bound| write_bound(out, bound))?;
    }
    let whole = schedule.bounds.iter().filter(|bound| !matches!(bound.scope, BoundScope::PerRound(_)));
    whole.into_iter().try_for_each(|bound| write_bound(out, bound))
}

fn write(out: &mut String, schedule: &Schedule) -> fmt::Result {
    writeln!(out, "#[derive(Collective)]")?;
    write_clauses(out, schedule, &DefinitionPlaces::of(schedule))?;
    // A name that begins with a lower-case letter may be a keyword.
    let raw = if schedule.name.starts_with(char::is_lowercase) { "r#" } else { "" };
    let numbers = schedule.numbers.iter().map(|number| format!("pub {}: i64", number.var.name));
    let lists = schedule.lists.iter().map(|list| format!("pub {}: Vec<i64>", list.var.name));
    let inners = schedule.inners.iter().enumerate().map(|(i, inner)| format!("pub {}: I{i}", inner.name));
    let types: Vec<String> = (0..schedule.inners.len()).map(|i| format!("I{i}")).collect();
    let types = if types.is_empty() { String::new() } else { format!("<{}>", types.join(", ")) };
    match numbers.chain(lists).chain(inners).collect::<Vec<_>>() {
        none if none.is_empty() => writeln!(out, "pub struct {raw}{};", schedule.name),
        fields => writeln!(out, "pub struct {raw}{}{types} {{ {} }}", schedule.name, fields.join(", ")),
    }
}

/// The states and definitions of a round, each below what it uses: a definition as soon as the states it mentions are
/// written, a state as soon as its definitions are.
fn write_states(out: &mut impl Write, schedule: &Schedule, l: &Loop, own: &BTreeSet<usize>) -> fmt::Result {
    let mut waiting: BTreeSet<usize> = own.clone();
    for (i, state) in l.states.iter().enumerate().filter(|(i, state)| *i == 0 || !state.backward) {
        let later: BTreeSet<usize> = l.states[i..].iter().map(|state| state.var.slot).collect();
        let ready = |function: &&usize| {
            let (body, mut used) = (&schedule.functions[**function].body, BTreeSet::new());
            reach(schedule, body, &mut used);
            let inside = used.iter().map(|&i| &schedule.functions[i].body).chain([body]);
            !inside.into_iter().any(|body| later.iter().any(|&slot| body.mentions(slot)))
        };
        let now: Vec<usize> = waiting.iter().filter(ready).copied().collect();
        for function in now {
            waiting.remove(&function);
            write_define(out, &schedule.functions[function])?;
        }
        match state.backward {
            true => write_backward(out, l)?,
            false => write_state(out, l, state)?,
        }
    }
    waiting.iter().try_for_each(|&i| write_define(out, &schedule.functions[i]))
}

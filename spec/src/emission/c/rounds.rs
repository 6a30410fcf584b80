//! The function that runs through the rounds of one rank. Loops stay loops.

use super::expr::{CWriter, Free, comment};
use super::functions::{ClauseFunctions, braced, function, indented, looped, looped_backwards};
use super::groups::{Groups, InnerFunction};
use super::names;
use crate::schedule::{Loop, State};

/// The function, and its parameters besides the sink.
pub(super) struct RoundsFunction {
    pub(super) text: String,
    pub(super) free: Free,
}

/// The functions of the clauses, and the function that calls them round by round.
pub(super) fn rounds(writer: &CWriter<'_>, inners: &[InnerFunction]) -> RoundsFunction {
    let mut free = Free::default();
    let (mut functions, mut body) = (String::new(), String::new());
    let backwards = writer.schedule.reverse_of.is_some();
    for l in &writer.schedule.loops {
        let walk = RoundsWalk::new(writer, inners, l);
        functions += &walk.clauses.iter().map(ClauseFunctions::functions).collect::<String>();
        functions += &walk.groups.iter().map(Groups::functions).collect::<String>();
        body = if backwards { walk.backwards() + &body } else { body + &walk.statement() };
        free.join(walk.free());
    }
    let mut parameters = vec!["rdl_run *run".to_string()];
    parameters.extend(free.parameters());
    let title = comment("The rounds of one rank, one after the other.");
    let walk = function(&title, &format!("void {}_rounds", writer.name), &parameters, &indented(&body));
    RoundsFunction { text: functions + &walk, free }
}

struct RoundsWalk<'w, 'a> {
    writer: &'w CWriter<'a>,
    l: &'a Loop,
    clauses: Vec<ClauseFunctions<'w, 'a>>,
    groups: Vec<Groups<'w, 'a>>,
    /// The states that the rounds use; other states serve only proofs.
    states: Vec<&'a State>,
}

impl<'w, 'a> RoundsWalk<'w, 'a> {
    fn new(writer: &'w CWriter<'a>, inners: &'w [InnerFunction], l: &'a Loop) -> Self {
        let clauses: Vec<_> = l.transfers.iter().map(|transfer| ClauseFunctions::new(writer, transfer)).collect();
        let groups: Vec<_> = l.within.iter().map(|within| Groups::new(writer, inners, within)).collect();
        let mut needed = writer.free(l.indices.iter().flat_map(|index| [&index.lo, &index.hi]));
        clauses.iter().for_each(|clause| needed.join(clause.free()));
        groups.iter().for_each(|group| needed.join(group.free()));
        // A state may depend on others, in any order.
        for _ in &l.states {
            let used: Vec<&State> = l.states.iter().filter(|state| needed.has(state.var.slot)).collect();
            used.iter().for_each(|state| needed.join(writer.free([&state.init, &state.next])));
        }
        let states = l.states.iter().filter(|state| needed.has(state.var.slot)).collect();
        RoundsWalk { writer, l, clauses, groups, states }
    }

    /// The variables that the loop takes from outside.
    fn free(&self) -> Free {
        let mut free = self.writer.free(self.l.indices.iter().flat_map(|index| [&index.lo, &index.hi]));
        self.clauses.iter().for_each(|clause| free.join(clause.free()));
        self.groups.iter().for_each(|group| free.join(group.free()));
        self.states.iter().for_each(|state| free.join(self.writer.free([&state.init, &state.next])));
        self.l.indices.iter().for_each(|index| free.bind(index.var.slot));
        self.l.states.iter().for_each(|state| free.bind(state.var.slot));
        free
    }

    /// One round.
    fn round(&self) -> String {
        let mut body: String = self.clauses.iter().map(ClauseFunctions::statement).collect();
        body += "rdl_end(run);\n";
        body + &self.groups.iter().map(Groups::statement).collect::<String>()
    }

    /// The rounds from the last to the first: the collective is a reverse. States are declared forwards, so their
    /// values are computed anew for each round.
    fn backwards(&self) -> String {
        let mut body = self.round();
        for (level, index) in self.l.indices.iter().enumerate().rev() {
            let states = if level == 0 { self.states_from_the_first() } else { String::new() };
            body = looped_backwards(self.writer, index, &(states + &body));
        }
        if self.l.indices.is_empty() { format!("{{\n{}}}\n", indented(&(self.inits() + &body))) } else { body }
    }

    /// The states of the current round, computed from the first round on.
    fn states_from_the_first(&self) -> String {
        let (Some(index), false) = (self.l.indices.first(), self.states.is_empty()) else { return String::new() };
        let i = names::variable(&index.var.name);
        let used = self.writer.free(self.states.iter().map(|state| &state.next)).has(index.var.slot);
        let index = if used { format!("int64_t {i} = earlier;\n") } else { String::new() };
        let head = format!("for (int64_t earlier = {i}_begin; earlier < {i}; earlier++)");
        self.inits() + &braced(&head, &(index + &self.advance(0)))
    }

    fn inits(&self) -> String {
        let init = |state: &&State| {
            format!("int64_t {} = {};\n", names::variable(&state.var.name), self.writer.plain(&state.init))
        };
        self.states.iter().filter(|state| !state.backward).map(init).collect()
    }

    fn statement(&self) -> String {
        let mut body = self.round();
        for (level, index) in self.l.indices.iter().enumerate().rev() {
            let past = if level == 0 { self.backward() } else { String::new() };
            body = looped(self.writer, index, &(past + &body + &self.advance(level)));
        }
        let text = self.inits() + &body;
        // Opens a scope, since loops may have variables of the same name.
        let alone = self.states.is_empty() || self.writer.schedule.loops.len() == 1;
        if alone { text } else { format!("{{\n{}}}\n", indented(&text)) }
    }

    /// Computes the states that run backwards for the current round, starting from their values after the last round.
    fn backward(&self) -> String {
        let all: Vec<_> = self.states.iter().filter(|state| state.backward).collect();
        let (Some(index), false) = (self.l.indices.first(), all.is_empty()) else { return String::new() };
        let (name, i) = (|state: &State| names::variable(&state.var.name), names::variable(&index.var.name));
        let inits = all.iter().map(|s| format!("int64_t {} = {};\n", name(s), self.writer.plain(&s.init)));
        let used = self.writer.free(all.iter().map(|state| &state.next)).has(index.var.slot);
        let index = if used { format!("int64_t {i} = later;\n") } else { String::new() };
        let next = all.iter().map(|s| format!("int64_t next_{} = {};\n", name(s), self.writer.plain(&s.next)));
        let moved = all.iter().map(|s| format!("{0} = next_{0};\n", name(s)));
        let body: String = std::iter::once(index).chain(next).chain(moved).collect();
        let head = format!("for (int64_t later = {i}_end; later > {i}; later--)");
        inits.collect::<String>() + &braced(&head, &body)
    }

    /// Advances the states of one index, all at once.
    fn advance(&self, level: usize) -> String {
        let moving: Vec<_> = self.states.iter().filter(|state| state.each == level && !state.backward).collect();
        let pairs: Vec<(String, String)> =
            moving.iter().map(|state| (names::variable(&state.var.name), self.writer.plain(&state.next))).collect();
        match pairs.as_slice() {
            [] => String::new(),
            [(name, next)] => format!("{name} = {next};\n"),
            several => {
                let computed = several.iter().map(|(name, next)| format!("int64_t next_{name} = {next};\n"));
                let moved = several.iter().map(|(name, _)| format!("{name} = next_{name};\n"));
                format!("{{\n{}}}\n", indented(&computed.chain(moved).collect::<String>()))
            }
        }
    }
}

//! The function that walks through the rounds of one rank. Loops stay loops.

use super::expr::{Free, Writer, comment};
use super::functions::{Clause, function, indented, looped};
use super::names;
use crate::schedule::{Loop, State};

/// The function, and what it takes beside the sink.
pub(super) struct Rounds {
    pub(super) text: String,
    pub(super) free: Free,
}

/// The clauses' functions and the walk.
pub(super) fn rounds(writer: &Writer<'_>) -> Rounds {
    let mut free = Free::default();
    let (mut functions, mut body) = (String::new(), String::new());
    for l in &writer.schedule.loops {
        let walk = Walk::new(writer, l);
        functions += &walk.clauses.iter().map(Clause::functions).collect::<String>();
        body += &walk.statement();
        free.join(walk.free());
    }
    let mut parameters = vec!["rdl_run *run".to_string()];
    parameters.extend(free.parameters());
    let title = comment("The rounds of one rank, one after the other.");
    let walk = function(&title, &format!("void {}_rounds", writer.name), &parameters, &indented(&body));
    Rounds { text: functions + &walk, free }
}

struct Walk<'w, 'a> {
    writer: &'w Writer<'a>,
    l: &'a Loop,
    clauses: Vec<Clause<'w, 'a>>,
    /// The states that the rounds use; others serve proofs alone.
    states: Vec<&'a State>,
}

impl<'w, 'a> Walk<'w, 'a> {
    fn new(writer: &'w Writer<'a>, l: &'a Loop) -> Self {
        let clauses: Vec<_> = l.transfers.iter().map(|transfer| Clause::new(writer, transfer)).collect();
        let mut needed = writer.free(l.indices.iter().flat_map(|index| [&index.lo, &index.hi]));
        clauses.iter().for_each(|clause| needed.join(clause.free()));
        // A state may need others, in any order.
        for _ in &l.states {
            let used: Vec<&State> = l.states.iter().filter(|state| needed.has(state.var.slot)).collect();
            used.iter().for_each(|state| needed.join(writer.free([&state.init, &state.next])));
        }
        let states = l.states.iter().filter(|state| needed.has(state.var.slot)).collect();
        Walk { writer, l, clauses, states }
    }

    /// What the loop takes from outside.
    fn free(&self) -> Free {
        let mut free = self.writer.free(self.l.indices.iter().flat_map(|index| [&index.lo, &index.hi]));
        self.clauses.iter().for_each(|clause| free.join(clause.free()));
        self.states.iter().for_each(|state| free.join(self.writer.free([&state.init, &state.next])));
        self.l.indices.iter().for_each(|index| free.bind(index.var.slot));
        self.l.states.iter().for_each(|state| free.bind(state.var.slot));
        free
    }

    fn statement(&self) -> String {
        let mut body: String = self.clauses.iter().map(Clause::statement).collect();
        body += "rdl_end(run);\n";
        for (level, index) in self.l.indices.iter().enumerate().rev() {
            body = looped(self.writer, index, &(body + &self.advance(level)));
        }
        let inits = self.states.iter().map(|state| {
            format!("int64_t {} = {};\n", names::variable(&state.var.name), self.writer.plain(&state.init))
        });
        let text = inits.collect::<String>() + &body;
        // A scope of its own: loops may have variables of the same name.
        let alone = self.states.is_empty() || self.writer.schedule.loops.len() == 1;
        if alone { text } else { format!("{{\n{}}}\n", indented(&text)) }
    }

    /// Moves the states of one index on, all at once.
    fn advance(&self, level: usize) -> String {
        let moving: Vec<_> = self.states.iter().filter(|state| state.each == level).collect();
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

//! The functions of a clause: its peer, its blocks, its guard. All are pure, except that the blocks are appended to a
//! message.

use super::expr::{CWriter, Free, comment, list_or_void};
use super::names;
use crate::schedule::Transfer;
use crate::schedule::blocks::{BlockSet, Comprehension, Index};
use crate::schedule::expr::{Expr, Var};
use crate::schedule::message::Action;
use crate::schedule::message::Direction;

/// Writes the functions of one clause, and the calls to these functions.
pub(super) struct ClauseFunctions<'w, 'a> {
    writer: &'w CWriter<'a>,
    transfer: &'a Transfer,
    suffix: String,
}

impl<'w, 'a> ClauseFunctions<'w, 'a> {
    pub(super) fn new(writer: &'w CWriter<'a>, transfer: &'a Transfer) -> Self {
        let same: Vec<_> = writer.schedule.transfers().filter(|t| t.direction == transfer.direction).collect();
        let number = same.iter().position(|t| std::ptr::eq(*t, transfer));
        let suffix = match number {
            Some(number) if same.len() > 1 => format!("_{}", number + 1),
            _ => String::new(),
        };
        ClauseFunctions { writer, transfer, suffix }
    }

    fn verb(&self) -> &'static str {
        if self.transfer.direction == Direction::Send { "send" } else { "recv" }
    }

    fn name(&self, part: &str) -> String {
        format!("{}_{}_{part}{}", self.writer.name, self.verb(), self.suffix)
    }

    fn peer_name(&self) -> String {
        self.name(if self.transfer.direction == Direction::Send { "to" } else { "from" })
    }

    fn peer_free(&self) -> Free {
        let mut free = self.writer.free([&self.transfer.peer]);
        free.add_p();
        free
    }

    fn blocks_free(&self) -> Free {
        blocks_free(self.writer, &self.transfer.blocks)
    }

    fn when_free(&self) -> Free {
        self.writer.free(&self.transfer.when)
    }

    /// Everything that the clause mentions, except for its own indices.
    pub(super) fn free(&self) -> Free {
        let mut free = self.peer_free();
        free.join(self.blocks_free());
        free.join(self.when_free());
        free.join(self.writer.free(self.transfer.each.iter().flat_map(|index| [&index.lo, &index.hi])));
        self.transfer.each.iter().for_each(|index| free.bind(index.var.slot));
        free
    }

    /// The functions.
    pub(super) fn functions(&self) -> String {
        let (writer, transfer) = (self.writer, self.transfer);
        let blocks = blocks_function(writer, &self.name("blocks"), "The blocks", &transfer.blocks, &[]);
        let peer = format!("{}({}, p)", writer.helper("wrap"), writer.plain(&transfer.peer));
        let peer = function(
            &comment(&format!("The peer {}.", transfer.peer)),
            &format!("int64_t {}", self.peer_name()),
            &self.peer_free().parameters(),
            &format!("    return {peer};\n"),
        );
        let when = transfer.when.iter().map(|when| {
            let title = comment(&format!("Whether there is a message: {when}."));
            let body = format!("    return {} != 0;\n", condition(writer, when));
            let result = format!("int {}", self.name("when"));
            function(&title, &result, &self.when_free().parameters(), &body)
        });
        [peer, blocks].into_iter().chain(when).collect()
    }

    /// The statement that creates the messages of a round.
    pub(super) fn statement(&self) -> String {
        let transfer = self.transfer;
        let mut blocks = vec!["run".to_string()];
        blocks.extend(self.blocks_free().arguments());
        let peer = format!("{}({})", self.peer_name(), self.peer_free().arguments().join(", "));
        let post = match transfer.direction {
            Direction::Send => format!("rdl_send(run, {peer}, {});", transfer.site.line),
            Direction::Recv => {
                let (action, with) = action(transfer.site.action);
                format!("rdl_recv(run, {peer}, {}, {action}, {with});", transfer.site.line)
            }
        };
        let blocks = format!("{}({});\n", self.name("blocks"), blocks.join(", "));
        let mut text = format!("{blocks}if (rdl_any(run))\n    {post}\n");
        if transfer.when.is_some() {
            let call = format!("{}({})", self.name("when"), self.when_free().arguments().join(", "));
            text = braced(&format!("if ({call})"), &text);
        }
        over(self.writer, &transfer.each, text)
    }
}

/// How an arriving message changes its line, and the other operand.
pub(super) fn action(action: Action) -> (&'static str, u8) {
    match action {
        Action::Copy => ("RDL_COPY", 0),
        Action::Replace => ("RDL_REPLACE", 0),
        Action::Overwrite => ("RDL_OVERWRITE", 0),
        Action::CombineLeft { with } => ("RDL_LEFT", with),
        Action::CombineRight { with } => ("RDL_RIGHT", with),
    }
}

/// The text of a condition that is compared with zero.
fn condition(writer: &CWriter<'_>, e: &Expr) -> String {
    format!("({})", writer.plain(e))
}

/// A function with a comment.
pub(super) fn function(comment: &str, result: &str, parameters: &[String], body: &str) -> String {
    format!("{comment}static {result}({})\n{{\n{body}}}\n\n", list_or_void(parameters))
}

/// What a block set mentions, except for its indices.
pub(super) fn blocks_free(writer: &CWriter<'_>, set: &BlockSet) -> Free {
    let mut free = writer.free([&writer.schedule.blocks]);
    for part in &set.parts {
        let ranges = part.over.iter().flat_map(|index| [&index.lo, &index.hi]);
        let mut inside = writer.free(ranges.chain([&part.item]).chain(&part.filter));
        part.over.iter().for_each(|index| inside.bind(index.var.slot));
        free.join(inside);
    }
    free
}

/// The function that appends the blocks of a set to a message; `own` lists further parameters.
pub(super) fn blocks_function(writer: &CWriter<'_>, name: &str, what: &str, set: &BlockSet, own: &[&Var]) -> String {
    let mut parameters = vec!["rdl_run *run".to_string()];
    let mut free = blocks_free(writer, set);
    own.iter().for_each(|var| free.bind(var.slot));
    parameters.extend(free.parameters());
    parameters.extend(own.iter().map(|var| format!("int64_t {}", names::variable(&var.name))));
    let parts: String = set.parts.iter().map(|part| part_statement(writer, part)).collect();
    let title = comment(&format!("{what} {set}."));
    function(&title, &format!("void {name}"), &parameters, &indented(&parts))
}

fn part_statement(writer: &CWriter<'_>, part: &Comprehension) -> String {
    let (item, around) = (writer.plain(&part.item), writer.plain(&writer.schedule.blocks));
    let mut text = format!("rdl_block(run, {item}, {around});\n");
    if let Some(filter) = &part.filter {
        text = format!("if ({})\n{}", writer.plain(filter), indented(&text));
    }
    over(writer, &part.over, text)
}

/// Nested loops around a statement.
pub(super) fn over(writer: &CWriter<'_>, indices: &[Index], inside: String) -> String {
    indices.iter().rev().fold(inside, |text, index| looped(writer, index, &text))
}

/// A loop around a statement; its upper bound is computed once.
pub(super) fn looped(writer: &CWriter<'_>, index: &Index, inside: &str) -> String {
    let name = names::variable(&index.var.name);
    let (lo, hi) = (writer.plain(&index.lo), writer.plain(&index.hi));
    braced(&format!("for (int64_t {name} = {lo}, {name}_end = {hi}; {name} < {name}_end; {name}++)"), inside)
}

/// A loop over an index, from its last value to its first.
pub(super) fn looped_backwards(writer: &CWriter<'_>, index: &Index, inside: &str) -> String {
    let name = names::variable(&index.var.name);
    let (lo, hi) = (writer.plain(&index.lo), writer.plain(&index.hi));
    let head = format!("for (int64_t {name}_begin = {lo}, {name} = ({hi}) - 1; {name} >= {name}_begin; {name}--)");
    braced(&head, inside)
}

/// A statement below a head, in braces only where they are needed.
pub(super) fn braced(head: &str, inside: &str) -> String {
    match inside.lines().count() {
        1 => format!("{head}\n{}", indented(inside)),
        _ => format!("{head} {{\n{}}}\n", indented(inside)),
    }
}

/// Text, indented by one more level.
pub(super) fn indented(text: &str) -> String {
    let line = |line: &str| {
        if line.is_empty() || line.starts_with('#') { format!("{line}\n") } else { format!("    {line}\n") }
    };
    text.lines().map(line).collect()
}

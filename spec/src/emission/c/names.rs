//! Turns the names of a declaration into C identifiers without clashes.

use crate::schedule::Schedule;
use std::collections::BTreeSet;

/// Names that a variable must not have in C: keywords, and names that the emitted code itself uses.
const TAKEN: [&str; 91] = [
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "errno",
    "main",
    "NULL",
    "stdin",
    "stdout",
    "stderr",
    "int64_t",
    "size_t",
    "run",
    "ok",
    "at",
    "w",
    "error",
    "sendbuf",
    "recvbuf",
    "sendcount",
    "recvcount",
    "sendtype",
    "recvtype",
    "recvcounts",
    "sendcounts",
    "displs",
    "buffer",
    "count",
    "datatype",
    "op",
    "comm",
    "asm",
    "typeof",
    "bool",
    "true",
    "false",
    "alignas",
    "alignof",
    "constexpr",
    "nullptr",
    "static_assert",
    "thread_local",
    "steps",
    "group",
    "member",
    "log",
    "later",
    "earlier",
    "item",
    "printf",
    "argc",
    "argv",
    "last",
    "call",
    "args",
    "plan",
    "own",
    "in_place",
    "types",
    "vectors",
    "into",
];

/// A variable as a C identifier.
pub(super) fn variable(name: &str) -> String {
    let plain = ascii(name);
    let own = plain.starts_with("rdl_") || plain.starts_with("RDL_") || plain.starts_with("MPI_");
    if TAKEN.contains(&plain.as_str()) || own || plain.ends_with("_end") || plain.ends_with("_begin") {
        plain + "_"
    } else {
        plain
    }
}

/// Replaces letters that C does not allow by their code points.
fn ascii(name: &str) -> String {
    let letter = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => c.to_string(),
        other => format!("_u{:x}_", u32::from(other)),
    };
    name.chars().map(letter).collect()
}

/// `NeighborExchange` becomes `neighbor_exchange`; `RingAllreduce`, which is an allreduce, becomes `ring`.
pub(super) fn algorithm(schedule: &Schedule) -> String {
    let snake = snake(&ascii(&schedule.name));
    let kind = format!("_{}", schedule.kind.name());
    match snake.strip_suffix(&kind) {
        Some(short) if !short.is_empty() => short.into(),
        _ => snake,
    }
}

fn snake(name: &str) -> String {
    let mut out = String::new();
    for (i, c) in name.char_indices() {
        if i > 0 && c.is_uppercase() && !out.ends_with('_') {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// Function names, each used only once.
#[derive(Debug, Default)]
pub(super) struct Given {
    names: BTreeSet<String>,
}

impl Given {
    /// The name itself, or the first free one with a number appended.
    pub(super) fn fresh(&mut self, name: &str) -> String {
        let numbered = (2..).map(|n| format!("{name}_{n}"));
        let free = std::iter::once(name.to_string()).chain(numbered).find(|name| !self.names.contains(name));
        let name = free.unwrap_or_default();
        self.names.insert(name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_c_and_differ_from_its_words() {
        assert_eq!(variable("D"), "D");
        assert_eq!(variable("int"), "int_");
        assert_eq!(variable("rdl_wrap"), "rdl_wrap_");
        assert_eq!(variable("größe"), "gr_uf6__udf_e");
    }

    #[test]
    fn a_name_is_given_once() {
        let mut given = Given::default();
        assert_eq!([given.fresh("n"), given.fresh("n"), given.fresh("n")], ["n", "n_2", "n_3"]);
    }
}

//! The program for CBMC: the schedule of one rank, with what is claimed of it as assertions.
//!
//! What is claimed of a gather or an all-to-all is that every block is sent by who holds it, arrives once, and is there in the
//! end where it must be. Of a reduction, whose contributions one rank does not see, it is that peers and blocks are in range.

use super::entry::Entry;
use super::functions::indented;
use crate::contract::Kind;

impl Entry<'_, '_> {
    /// The program.
    pub(super) fn prove(&self) -> String {
        let kind = self.kind();
        let (numbers, lists) = (self.numbers(), self.lists());
        let domains = self.writer.schedule.numbers.iter().map(|number| number.domain.lo);
        let ranges: Vec<(&String, i64)> = numbers.iter().zip(domains).collect();
        // Parameters a little above the smallest; a root is any rank.
        let above = |name: &str| if kind.has_root() && name == "root" { 15 } else { 3 };
        let assume = |(name, lo): &(&String, i64)| {
            format!(
                "    int64_t {name} = rdl_any_number();\n    __CPROVER_assume({name} >= {lo} && {name} <= {});\n",
                lo + above(name)
            )
        };
        let tried = |(name, lo): &(&String, i64)| {
            format!("            for (int64_t {name} = {lo}; {name} <= {}; {name}++)\n", lo + above(name))
        };
        let listed = |name: &String| {
            format!(
                "    static const int {name}_items[] = {{1, 1, 1, 1}};\n    rdl_list {name} = {{{name}_items, 4}};\n"
            )
        };
        let follows = !kind.reduces();
        let claim =
            if follows { ", who sends a block holds it, and each arrives once and where it must be" } else { "" };
        let declared = numbers.iter().map(|name| format!(", int64_t {name}"));
        let declared: String = declared.chain(lists.iter().map(|name| format!(", rdl_list {name}"))).collect();
        let arguments: String = numbers.iter().chain(&lists).map(|name| format!(", {name}")).collect();
        let blocks = self.writer.plain(&self.writer.schedule.blocks);
        include_str!("parts/prove.c")
            .replace("@CLAIM@", claim)
            .replace("@HELD@\n", if follows { "static char rdl_held[RDL_MOST * RDL_MOST];\n\n" } else { "\n" })
            .replace("@SENDS@\n", if follows { "            assert(!m->sends || rdl_held[block]);\n" } else { "" })
            .replace("@ARRIVES@\n", &if follows { arrives(kind) } else { String::new() })
            .replace("@INITIAL@\n", &if follows { initial(kind) } else { String::new() })
            .replace("@FINAL@\n", &if follows { last(kind) } else { String::new() })
            .replace("@LISTS@\n", &lists.iter().map(listed).collect::<String>())
            .replace("@ASSUMED@\n", &ranges.iter().map(assume).collect::<String>())
            .replace("@TRIED@\n", &ranges.iter().map(tried).collect::<String>())
            .replace("@DECLARATIONS@", &declared)
            .replace("@ARGUMENTS@", &arguments)
            .replace("@ADMITS@", &self.admits.arguments().join(", "))
            .replace(
                "@ROUNDS@",
                &std::iter::once("&run".to_string()).chain(self.rounds.arguments()).collect::<Vec<_>>().join(", "),
            )
            .replace("@BLOCKS@", &blocks)
            .replace("@NAME@", &self.writer.name)
    }
}

/// Blocks that leave are gone, where messages take them along; blocks that arrive were not there.
fn arrives(kind: Kind) -> String {
    let gone = if kind.moves() { "if (m->sends)\n    rdl_held[block] = 0;\n" } else { "" };
    let inside = format!(
        "int64_t block = run->blocks[m->first + k];\n{gone}if (!m->sends) {{\n    assert(!rdl_held[block]);\n    rdl_held[block] = 1;\n}}\n"
    );
    let each = format!(
        "const rdl_message *m = &run->messages[i];\nfor (size_t k = 0; k < m->count; k++) {{\n{}}}\n",
        indented(&inside)
    );
    indented(&format!("for (size_t i = 0; i < run->messages_len; i++) {{\n{}}}\n", indented(&each)))
}

/// What a rank holds before the first round.
fn initial(kind: Kind) -> String {
    let holds = match kind {
        Kind::Alltoall => "block / p == rank",
        Kind::Broadcast | Kind::Scatter => "rank == root",
        _ => "block == rank",
    };
    format!("    for (int64_t block = 0; block < rdl_blocks; block++)\n        rdl_held[block] = {holds};\n")
}

/// What it must hold after the last.
fn last(kind: Kind) -> String {
    let must = match kind {
        Kind::Alltoall => "rdl_held[block] == (block % p == rank)",
        Kind::Scatter => "block != rank || rdl_held[block]",
        Kind::Gather => "rank != root || rdl_held[block]",
        _ => "rdl_held[block]",
    };
    format!("    for (int64_t block = 0; block < rdl_blocks; block++)\n        assert({must});\n")
}

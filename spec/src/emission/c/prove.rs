//! The program for CBMC: the schedule of all ranks, with its claims as assertions.
//!
//! All its values are constants, so that CBMC folds most of the program and leaves little to its solver, however many
//! messages there are. A gather or an all-to-all is followed block by block, a reduction contribution by contribution.

use super::entry::EntryFunction;
use super::functions::indented;
use super::names;
use crate::schedule::contract::Kind;
use crate::schedule::message::Action;
use crate::schedule::{Number, ROOT};

impl EntryFunction<'_, '_> {
    /// The program.
    pub(super) fn prove(&self) -> String {
        let (kind, schedule) = (self.kind(), self.writer.schedule);
        let (try_call, case) = match self.looks_at_nodes() {
            true => (include_str!("parts/prove_nodes.c"), ", even, odd"),
            false => (include_str!("parts/prove_flat.c"), ""),
        };
        let list = if schedule.lists.is_empty() { "" } else { include_str!("parts/prove_list.c") };
        let text = [include_str!("parts/prove.c"), list, try_call, include_str!("parts/prove_main.c")].concat();
        let text = text.replace("@EFFECTS@\n", &self.effects()).replace("@END@", self.end());
        let text = sizes(text, kind, self.looks_at_nodes(), schedule.lines_in_memory().max(1));
        let arguments: String = self.numbers().iter().chain(&self.lists()).map(|name| format!(", {name}")).collect();
        text.replace("@CLAIM@", &self.claim())
            .replace("@INITIAL@", initial(kind))
            .replace("@FINAL@", last(kind))
            .replace("@ANY_ORDER@", if self.keeps_order() { "" } else { " & ~(uint32_t)RDL_OTHER_ORDER" })
            .replace("@UNUSED@\n", &self.unused())
            .replace("@TRIED@\n", &self.tried())
            .replace("@CLOSE@\n", if schedule.lists.is_empty() { "" } else { "        }\n" })
            .replace("@CASE@", case)
            .replace("@DECLARATIONS@", &self.declared())
            .replace("@ARGUMENTS@", &arguments)
            .replace("@ADMITS@", &self.recorded(self.admits).join(", "))
            .replace(
                "@ROUNDS@",
                &std::iter::once("&run".into()).chain(self.recorded(self.rounds)).collect::<Vec<_>>().join(", "),
            )
            .replace("@BLOCKS@", &self.writer.plain(&schedule.blocks))
            .replace("@NAME@", &self.writer.name)
    }

    fn declared(&self) -> String {
        let numbers = self.numbers().into_iter().map(|name| format!(", int64_t {name}"));
        numbers.chain(self.lists().into_iter().map(|name| format!(", rdl_list {name}"))).collect()
    }

    /// Marks parameters as used, since not every schedule uses all of them.
    fn unused(&self) -> String {
        let named = self.numbers().into_iter().chain(self.lists());
        named.map(|name| format!("    (void){name};\n")).chain(["    (void)p;\n".into()]).collect()
    }

    /// The function that ends a round has another name where rounds are also recorded.
    fn end(&self) -> &'static str {
        if self.has_groups() { "rdl_exchange" } else { "rdl_end" }
    }

    fn claim(&self) -> String {
        let order = if self.keeps_order() { ", in the order of ranks" } else { "" };
        match self.kind().reduces() {
            true => format!("that no contribution counts twice and none is lost{order}"),
            false if self.replaces() => "that who sends a block holds it, that a block which arrives again replaces \
                                         no other, and that each is in the end where it must be"
                .into(),
            false => "that who sends a block holds it, and that each arrives once and is in the end where it must be"
                .into(),
        }
    }

    /// Whether blocks may arrive where they are already, because a stage of a sequence does not know it.
    fn replaces(&self) -> bool {
        let kind = self.kind();
        !kind.reduces() && self.writer.schedule.within().any(|within| within.site.action == Action::Replace)
    }

    /// The part of the program that follows blocks, or contributions.
    fn effects(&self) -> String {
        if self.kind().reduces() {
            return include_str!("parts/prove_reduces.c").into();
        }
        let (before, arrives) = match self.replaces() {
            true => (include_str!("parts/prove_again.c"), AGAIN),
            false => ("", ONCE),
        };
        before.to_string() + &include_str!("parts/prove_sets.c").replace("@ARRIVES@\n", arrives)
    }

    /// Loops around a call: nodes of many sizes, every root, parameters slightly above their minimum.
    fn tried(&self) -> String {
        // With two nodes, the second one takes the remaining ranks, whatever its size would be.
        let even = "for (int64_t even = RDL_NODE_FIRST; even <= p && even <= RDL_NODE_LAST; even++)\n";
        let nodes = format!("{even}    for (int64_t odd = even; odd <= even + (2 * even < p); odd++)\n");
        let numbers: String = self.writer.schedule.numbers.iter().map(|number| self.tried_number(number)).collect();
        let loops = format!("{}{numbers}{}", if self.looks_at_nodes() { &nodes } else { "" }, self.tried_lists());
        indented(&indented(&loops))
    }

    fn tried_number(&self, number: &Number) -> String {
        let (name, lo) = (names::variable(&number.var.name), number.domain.lo);
        let is_root = self.kind().has_root() && number.var.name == ROOT;
        let last = if is_root { "p - 1".into() } else { (lo + 1).to_string() };
        format!("for (int64_t {name} = {lo}; {name} <= {last}; {name}++)\n")
    }

    fn tried_lists(&self) -> String {
        let lists = self.writer.schedule.lists.iter().map(|list| {
            let (name, lo) = (names::variable(&list.var.name), list.domain.lo);
            format!("    int {name}_items[8];\n    rdl_list {name} = rdl_listed({name}_items, p, {lo}, shape);\n")
        });
        match lists.collect::<String>().as_str() {
            "" => String::new(),
            lists => format!("for (int shape = 0; shape < 3; shape++) {{\n{lists}"),
        }
    }
}

/// A block that arrives is neither held, nor brought by another message.
const ONCE: &str = "        assert(!((to->held[block / 64] | to->coming[block / 64]) & bit));\n";

/// The same of a block that may arrive again.
const AGAIN: &str = "        assert(!(to->coming[block / 64] & bit));\n        \
                     assert(!(to->held[block / 64] & bit) || rdl_replaces(to, i, block));\n";

/// The sizes of the program's arrays.
fn sizes(text: String, kind: Kind, nodes: bool, lines: usize) -> String {
    let (digit, words) = if kind.moves() { ("8", 4) } else { ("4", 1) };
    let room = if kind.moves() { "RDL_RANKS * RDL_RANKS / 2 + RDL_ROOM" } else { "RDL_ROOM" };
    let most = if kind.moves() { "RDL_RANKS * RDL_RANKS" } else { "RDL_RANKS" };
    let round = if kind.moves() && nodes { "2 * RDL_RANKS * RDL_RANKS" } else { "4 * RDL_RANKS" };
    let sets = format!("enum {{ RDL_WORDS = {words} }};\n\n");
    let reduced = "enum { RDL_ARRIVED = 8 * RDL_RANKS };\n\n";
    let state = if kind.reduces() {
        "    uint32_t *slots, *arrived; /* what it holds, line by line, and what has arrived in the round */"
    } else {
        "    uint64_t held[RDL_WORDS], coming[RDL_WORDS]; /* blocks, a bit each */"
    };
    let leaves = if kind.moves() { "        from->held[block / 64] &= ~bit;\n" } else { "" };
    text.replace("@SIZES@", if kind.reduces() { reduced } else { &sets })
        .replace("@STATE@", state)
        .replace("@MEMORY@\n", if kind.reduces() { include_str!("parts/prove_memory.c") } else { "" })
        .replace("@LEAVES@\n", leaves)
        .replace("@LINES@", &lines.to_string())
        .replace("@DIGIT@", digit)
        .replace("@ROOM@", room)
        .replace("@ROUND@", round)
        .replace("@MOST_BLOCKS@", most)
}

/// What a rank holds before the first round.
fn initial(kind: Kind) -> &'static str {
    match kind {
        Kind::Alltoall => "block / p == rank",
        Kind::Broadcast | Kind::Scatter => "rank == root",
        _ => "block == rank",
    }
}

/// What it must hold after the last round; for a reduction, where the result must be complete.
fn last(kind: Kind) -> &'static str {
    match kind {
        Kind::Alltoall => "held == (block % p == rank)",
        Kind::Scatter => "block != rank || held",
        Kind::Gather => "rank != root || held",
        Kind::Allgather | Kind::Broadcast => "held",
        Kind::Allreduce => "1",
        Kind::ReduceScatter => "block == rank",
        Kind::Reduce => "rank == root",
    }
}

//! Inner collectives: which ranks run one together, and on which blocks.
//!
//! The inner collective's functions in the same file first record its rounds; these are then replayed among the members
//! of the group, with the blocks that the members contribute.

use super::expr::{CWriter, Free, comment};
use super::functions::{action, blocks_free, blocks_function, braced, function, indented};
use crate::schedule::expr::{BUILTIN_VARS, Expr};
use crate::schedule::{Group, ROOT, Within};

/// The built-in variables that differ between ranks: `rank`, `node`, `local`, `ppn`.
const OF_RANK: [usize; 4] = [0, 2, 4, 5];

/// One `within` clause.
pub(super) struct Groups<'w, 'a> {
    writer: &'w CWriter<'a>,
    /// The functions of the inner collective.
    inner: &'w InnerFunction,
    within: &'a Within,
    suffix: String,
}

/// How to call the rounds function of an inner collective.
pub(super) struct InnerFunction {
    pub(super) name: String,
    pub(super) rounds: Free,
}

impl<'w, 'a> Groups<'w, 'a> {
    pub(super) fn new(writer: &'w CWriter<'a>, inners: &'w [InnerFunction], within: &'a Within) -> Self {
        let all: Vec<_> = writer.schedule.within().collect();
        let number = all.iter().position(|other| std::ptr::eq(*other, within)).unwrap_or(0);
        let suffix = if all.len() > 1 { format!("_{}", number + 1) } else { String::new() };
        Groups { writer, inner: &inners[within.inner], within, suffix }
    }

    fn name(&self, part: &str) -> String {
        format!("{}_within_{part}{}", self.writer.name, self.suffix)
    }

    fn builtin(&self, slot: usize) -> Expr {
        Expr::var(BUILTIN_VARS[slot], slot)
    }

    /// The rank's index in its group, the number of possible members, and the number of actual members.
    fn place(&self) -> (Expr, Expr, Expr) {
        let (index, size) = match &self.within.group {
            Group::Node => (self.builtin(4), self.builtin(5)),
            Group::Lane => {
                let (node, local, lanes) = (self.builtin(2), self.builtin(4), self.builtin(6));
                let inside = Expr::binary(crate::schedule::expr::Binary::Lt, local, lanes);
                (Expr::If(Box::new(inside), Box::new(node), Box::new(Expr::Int(-1))), self.builtin(3))
            }
            Group::All => (self.builtin(0), self.builtin(1)),
            Group::Stride { distance, count } => {
                let steps = Expr::binary(crate::schedule::expr::Binary::Div, self.builtin(0), distance.clone());
                (Expr::binary(crate::schedule::expr::Binary::Rem, steps, count.clone()), count.clone())
            }
            Group::Ranks { first, count } => {
                (Expr::binary(crate::schedule::expr::Binary::Sub, self.builtin(0), first.clone()), count.clone())
            }
        };
        let members = self.within.members.clone().unwrap_or_else(|| size.clone());
        (index, size, members)
    }

    /// The rank of the member `member`, which is not a variable of the declaration.
    fn member(&self) -> (String, Free) {
        let (writer, first_rank) =
            (self.writer, |node| Expr::Builtin(crate::schedule::expr::Builtin::FirstRank, vec![node]));
        let mut free = Free::default();
        let mut text = |e: Expr| {
            free.add(writer.schedule, &e);
            writer.plain(&e)
        };
        let rank = match &self.within.group {
            Group::Node => format!("{} + member", text(first_rank(self.builtin(2)))),
            Group::Lane => {
                free.join(writer.free([&first_rank(Expr::Int(0)), &self.builtin(4)]));
                format!("{}(at, member) + local", writer.helper("first_rank"))
            }
            Group::All => "member".into(),
            Group::Stride { distance, .. } => {
                let (index, distance) = (text(self.place().0), text(distance.clone()));
                let rank = text(self.builtin(0));
                free.add_p();
                format!("{}({rank} + (member - {index}) * ({distance}), p)", writer.helper("wrap"))
            }
            Group::Ranks { first, .. } => {
                let first = text(first.clone());
                free.add_p();
                format!("{}({first} + member, p)", writer.helper("wrap"))
            }
        };
        (rank, free)
    }

    fn group_free(&self) -> Free {
        let (index, size, members) = self.place();
        self.writer.free([&index, &size, &members].into_iter().chain(&self.within.when))
    }

    /// Whether the inner collective knows its blocks as one.
    fn takes_whole(&self) -> bool {
        self.writer.schedule.inners[self.within.inner].kind.takes_whole()
    }

    /// Whether it runs on all blocks.
    fn takes_all(&self) -> bool {
        self.takes_whole() && self.within.brings.parts.is_empty()
    }

    /// The variables that the blocks of a member need; for the whole vector, those of the number of blocks.
    fn brings_free(&self) -> Free {
        match self.takes_all() {
            true => self.writer.free([&self.writer.schedule.blocks]),
            false => {
                let mut free = blocks_free(self.writer, &self.within.brings);
                self.within.to.iter().for_each(|to| free.bind(to.slot));
                free
            }
        }
    }

    /// Everything that the clause mentions.
    pub(super) fn free(&self) -> Free {
        let mut free = self.group_free();
        free.join(self.member().1);
        free.join(self.writer.free(&self.within.root));
        let mut brought = self.brings_free();
        if !self.takes_whole() {
            // The variables of a member are computed from the nodes.
            OF_RANK.iter().for_each(|&slot| brought.bind(slot));
        }
        free.join(brought);
        if self.asks_who() {
            free.join(
                self.writer.free([&Expr::Builtin(crate::schedule::expr::Builtin::FirstRank, vec![Expr::Int(0)])]),
            );
        }
        free
    }

    /// Whether the node of a member must be found out. Without nodes, a member is no more than its rank.
    fn asks_who(&self) -> bool {
        !self.takes_whole()
            && self.writer.schedule.uses_placement()
            && OF_RANK.iter().any(|&slot| self.brings_free().has(slot))
    }

    /// The functions.
    pub(super) fn functions(&self) -> String {
        let (writer, within) = (self.writer, self.within);
        let (index, size, members) = self.place();
        let mut body = String::new();
        if let Some(when) = &within.when {
            body += &format!("if (!({}))\n    return 0;\n", writer.plain(when));
        }
        let texts = [&index, &size, &members].map(|e| writer.plain(e));
        body += &format!("return rdl_among(group, {});\n", texts.join(", "));
        let mut parameters = vec!["rdl_group *group".to_string()];
        parameters.extend(self.group_free().parameters());
        let title = comment("The group of this rank, if it takes part.");
        let group = function(&title, &format!("int {}", self.name("group")), &parameters, &indented(&body));
        let (rank, free) = self.member();
        let mut parameters = vec!["int64_t member".to_string()];
        parameters.extend(free.parameters());
        let title = comment("The rank of a member.");
        let result = format!("int64_t {}", self.name("member"));
        let member = function(&title, &result, &parameters, &format!("    return {rank};\n"));
        group + &member + &self.brings_function()
    }

    fn brings_function(&self) -> String {
        let (writer, name) = (self.writer, self.name("brings"));
        if !self.takes_all() {
            let own: Vec<_> = self.within.to.iter().collect();
            let what = match own.is_empty() {
                true if self.takes_whole() => "The inner collective runs on",
                true => "A rank brings",
                false => "A rank brings for a member",
            };
            return blocks_function(writer, &name, what, &self.within.brings, &own);
        }
        let mut parameters = vec!["rdl_run *run".to_string()];
        parameters.extend(self.brings_free().parameters());
        let blocks = writer.plain(&writer.schedule.blocks);
        let body = format!(
            "    for (int64_t block = 0, block_end = {blocks}; block < block_end; block++)\n        \
             rdl_block(run, block, {blocks});\n"
        );
        let title = comment("The inner collective takes the vector as a whole.");
        function(&title, &format!("void {name}"), &parameters, &body)
    }

    /// The statement that runs the inner collective.
    pub(super) fn statement(&self) -> String {
        let mut group = vec!["&group".to_string()];
        group.extend(self.group_free().arguments());
        let of_group = |name: String| match &self.within.root {
            Some(root) if name == ROOT => self.writer.plain(root),
            _ => format!("group.{name}"),
        };
        let rounds = self.inner.rounds.arguments().into_iter().map(of_group);
        let rounds: Vec<String> = std::iter::once("&log".to_string()).chain(rounds).collect();
        let (line, lines) = (self.within.site.line, self.writer.schedule.lines.len().max(1));
        let (peer, copies) = (self.member_call("m->peer"), action(self.within.site.action).0);
        let body = format!(
            "rdl_run log = {{0}};\nlog.logs = 1;\n{}_rounds({});\n{}rdl_note(run, rdl_finish(&log));\n",
            self.inner.name,
            rounds.join(", "),
            braced(
                "for (size_t r = 0, i = 0; r < log.ends_len; r++)",
                &format!(
                    "{}rdl_end(run);\n",
                    braced(
                        "for (; i < log.ends[r]; i++)",
                        &format!(
                            "const rdl_message *m = &log.messages[i];\n{}if (rdl_any(run))\n    \
                             rdl_relay(run, m, {peer}, {line}, {lines}, {copies});\n",
                            braced("for (size_t k = 0; k < m->count; k++)", &self.bring()),
                        )
                    )
                )
            )
        );
        let taken = braced(&format!("if ({}({}))", self.name("group"), group.join(", ")), &body);
        format!("{{\n{}}}\n", indented(&format!("rdl_group group;\n{taken}")))
    }

    fn member_call(&self, member: &str) -> String {
        let args: Vec<String> = std::iter::once(member.to_string()).chain(self.member().1.arguments()).collect();
        format!("{}({})", self.name("member"), args.join(", "))
    }

    /// Appends the blocks that one block of the inner collective stands for.
    fn bring(&self) -> String {
        let block = "log.blocks[m->first + k]";
        let (member, to) = match &self.within.to {
            Some(_) => (format!("{block} / group.p"), vec![format!("{block} % group.p")]),
            None => (block.to_string(), vec![]),
        };
        let here = |name: String| match name.as_str() {
            _ if self.takes_whole() => name,
            "rank" if !self.asks_who() => self.member_call(&member),
            "rank" | "node" | "local" | "ppn" => format!("who.{name}"),
            _ => name,
        };
        let args = self.brings_free().arguments().into_iter().map(here);
        let args: Vec<String> = std::iter::once("run".to_string()).chain(args).chain(to).collect();
        let call = format!("{}({});\n", self.name("brings"), args.join(", "));
        match self.asks_who() {
            true => {
                format!("rdl_place who = {}(at, {});\n{call}", self.writer.helper("of"), self.member_call(&member))
            }
            false => call,
        }
    }
}

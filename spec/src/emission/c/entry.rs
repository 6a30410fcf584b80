//! The part of a file that calls MPI: plans, what executes them, and the functions that a program calls.
//!
//! It is assembled from templates in `parts/`, in which `@…@` marks text that depends on the declaration.

use super::Calls;
use super::expr::{CWriter, Free, comment};
use super::functions::function;
use super::names;
use super::straight::is_straight;
use super::template::chosen;
use crate::schedule::ROOT;
use crate::schedule::contract::Kind;

pub(super) struct EntryFunction<'w, 'a> {
    pub(super) writer: &'w CWriter<'a>,
    /// The parameters of the rounds function.
    pub(super) rounds: &'w Free,
    /// The parameters of the domain function.
    pub(super) admits: &'w Free,
}

impl EntryFunction<'_, '_> {
    pub(super) fn kind(&self) -> Kind {
        self.writer.schedule.kind
    }

    pub(super) fn numbers(&self) -> Vec<String> {
        self.writer.schedule.numbers.iter().map(|number| names::variable(&number.var.name)).collect()
    }

    pub(super) fn lists(&self) -> Vec<String> {
        self.writer.schedule.lists.iter().map(|list| names::variable(&list.var.name)).collect()
    }

    pub(super) fn looks_at_nodes(&self) -> bool {
        self.writer.schedule.uses_placement()
    }

    pub(super) fn has_groups(&self) -> bool {
        self.writer.schedule.within().next().is_some()
    }

    /// Whether operands are reduced in the order of ranks.
    pub(super) fn keeps_order(&self) -> bool {
        self.writer.schedule.claimed_order().rank_order
    }

    /// The number of arguments of a call that are lists with one number per rank.
    fn vectors(&self) -> usize {
        match self.kind() {
            Kind::Allgather => 2,
            Kind::ReduceScatter => 1,
            Kind::Alltoall if is_straight(self.writer.schedule) => 4,
            _ => 0,
        }
    }

    /// The lines of a template that this collective needs.
    fn needed(&self, template: &str) -> String {
        let (straight, lists) = (is_straight(self.writer.schedule), !self.lists().is_empty());
        chosen(template, &|name| match name {
            "reduces" => self.kind().reduces(),
            "nodes" => self.looks_at_nodes(),
            "groups" => self.has_groups(),
            "lines" => self.kind() != Kind::Alltoall,
            "held" => self.kind() == Kind::Alltoall && !straight,
            "straight" => straight,
            "vectors" => self.vectors() > 0,
            "lists" => lists,
            "kept" => self.vectors() > 0 || lists,
            "after" => matches!(self.kind(), Kind::Scatter | Kind::ReduceScatter),
            _ => false,
        })
    }

    /// The messages of a round. With groups, the rounds are also recorded.
    pub(super) fn run(&self) -> String {
        self.writer.helper("wrap");
        if self.looks_at_nodes() {
            self.writer.helper("of");
        }
        let run = self.needed(include_str!("parts/run.c"));
        match self.has_groups() {
            true => format!("{run}static void rdl_exchange(rdl_run *run);\n\n{}", include_str!("parts/groups.c")),
            false => format!("{run}static void rdl_end(rdl_run *run);\n\n"),
        }
    }

    /// The function that ends a round has another name where rounds are also recorded.
    pub(super) fn named(&self, part: &str) -> String {
        match self.has_groups() {
            true => part.replace("static void rdl_end(rdl_run *run)", "static void rdl_exchange(rdl_run *run)"),
            false => part.into(),
        }
    }

    /// The number of blocks, if the declaration defines it.
    fn blocks(&self) -> String {
        if !matches!(self.kind(), Kind::Allreduce | Kind::Reduce | Kind::Broadcast) {
            return String::new();
        }
        let blocks = &self.writer.schedule.blocks;
        let (title, body) =
            (comment("How many blocks there are."), format!("    return {};\n", self.writer.plain(blocks)));
        let result = format!("int64_t {}_blocks_of", self.writer.name);
        // A constant takes no argument.
        function(&title, &result, &self.writer.free([blocks]).parameters(), &body)
    }

    /// Plans and the functions of MPI's kind, with only those helpers that they use.
    pub(super) fn mpi(&self, calls: Calls) -> String {
        let (nodes, straight) = (self.looks_at_nodes(), is_straight(self.writer.schedule));
        let lines = format!("enum {{ RDL_LINES = {} }};\n\n", self.writer.schedule.lines_in_memory().max(1));
        let communicate = match calls {
            Calls::Mpi => include_str!("parts/calls_mpi.c"),
            Calls::Macros => include_str!("parts/calls_macros.c"),
        };
        let spots = match self.kind() {
            Kind::Alltoall if straight => include_str!("parts/straight.c"),
            Kind::Alltoall => include_str!("parts/held.c"),
            _ => include_str!("parts/lines.c"),
        };
        let only = |part: &'static str, wanted: bool| if wanted { part } else { "" };
        let (blocks, entries) = (self.blocks(), self.entries());
        // A named part is included only if a later one calls it.
        let parts = [
            (None, communicate),
            (None, include_str!("parts/plan.c")),
            (None, only(include_str!("parts/nodes.c"), nodes)),
            (None, include_str!("parts/own.c")),
            (None, include_str!("parts/find.c")),
            (None, include_str!("parts/replay.c")),
            (Some("RDL_LINES"), lines.as_str()),
            (Some("rdl_held "), include_str!("parts/held_type.c")),
            (None, include_str!("parts/draft.c")),
            (Some("rdl_copy("), include_str!("parts/copy.c")),
            (Some("rdl_beyond("), include_str!("parts/beyond.c")),
            (Some("rdl_item("), include_str!("parts/vector.c")),
            (None, include_str!("parts/post.c")),
            (None, spots),
            (None, only(include_str!("parts/message.c"), !straight)),
            (None, only(include_str!("parts/settle.c"), self.kind().reduces())),
            (None, only(include_str!("parts/renumber.c"), nodes)),
            (None, include_str!("parts/round.c")),
            (Some("rdl_geometry("), include_str!("parts/divide.c")),
            (Some("rdl_equal("), include_str!("parts/divide_equal.c")),
            (Some("rdl_varying("), include_str!("parts/divide_varying.c")),
            (Some("rdl_divided("), include_str!("parts/divide_vector.c")),
            (Some("rdl_lines("), include_str!("parts/lines_reserve.c")),
            (None, blocks.as_str()),
            (None, self.before()),
            (None, only(self.operation(), self.kind().reduces())),
            (None, include_str!("parts/call.c")),
            (Some("rdl_sends("), include_str!("parts/entry_sends.c")),
            (None, entries.as_str()),
        ];
        let add = |text: String, (name, part): (Option<&str>, &str)| match name {
            Some(name) if !text.contains(name) => text,
            _ => format!("{}{text}", self.needed(part)),
        };
        self.filled(&self.named(&parts.into_iter().rev().fold(String::new(), add)))
    }

    /// What a call does before its first round, and after its last one.
    fn before(&self) -> &'static str {
        match self.kind() {
            Kind::Allgather => include_str!("parts/before_allgather.c"),
            Kind::Allreduce => include_str!("parts/before_allreduce.c"),
            Kind::ReduceScatter => include_str!("parts/before_reduce_scatter.c"),
            Kind::Broadcast => include_str!("parts/before_broadcast.c"),
            Kind::Reduce => include_str!("parts/before_reduce.c"),
            Kind::Gather => include_str!("parts/before_gather.c"),
            Kind::Scatter => include_str!("parts/before_scatter.c"),
            // Its blocks are placed elsewhere.
            Kind::Alltoall => "",
        }
    }

    /// The code that checks the operation.
    fn operation(&self) -> &'static str {
        match (self.keeps_order(), self.looks_at_nodes()) {
            (true, false) => include_str!("parts/operation_any.c"),
            (true, true) => include_str!("parts/operation_nodes.c"),
            (false, _) => include_str!("parts/operation_commutative.c"),
        }
    }

    /// MPI's own calls, and those with large counts where MPI has them.
    fn entries(&self) -> String {
        let straight = is_straight(self.writer.schedule);
        let template = match self.kind() {
            Kind::Allgather => include_str!("parts/entry_allgather.c"),
            Kind::Allreduce => include_str!("parts/entry_allreduce.c"),
            Kind::ReduceScatter => include_str!("parts/entry_reduce_scatter.c"),
            Kind::Broadcast => include_str!("parts/entry_broadcast.c"),
            Kind::Reduce => include_str!("parts/entry_reduce.c"),
            Kind::Gather => include_str!("parts/entry_gather.c"),
            Kind::Scatter => include_str!("parts/entry_scatter.c"),
            Kind::Alltoall if straight => {
                concat!(include_str!("parts/entry_alltoall.c"), include_str!("parts/entry_alltoallv.c"))
            }
            Kind::Alltoall => include_str!("parts/entry_alltoall.c"),
        };
        let with = |suffix: &str, count: &str, displ: &str| {
            template.replace("@C@", suffix).replace("@INT@", count).replace("@DISPL@", displ)
        };
        let (small, large) = (with("", "int", "int"), with("_c", "MPI_Count", "MPI_Aint"));
        format!("{small}#if MPI_VERSION >= 4\n{}\n#endif\n", large.trim_end())
    }

    /// Fills in what depends on the declaration.
    fn filled(&self, template: &str) -> String {
        let (numbers, lists) = (self.numbers(), self.lists());
        let own = numbers.iter().filter(|name| !(self.kind().has_root() && *name == ROOT));
        let parameters = own.map(|name| format!(", int {name}"));
        let parameters =
            parameters.chain(lists.iter().map(|name| format!(", const int *{name}_items, int {name}_len")));
        let given = numbers.iter().map(|name| format!(", .{name} = {name}"));
        let given = given.chain(lists.iter().map(|name| format!(", .{name} = {{{name}_items, {name}_len}}")));
        let fields = numbers.iter().map(|name| format!("    int64_t {name};\n"));
        let fields = fields.chain(lists.iter().map(|name| format!("    rdl_list {name};\n")));
        let others = numbers.iter().map(|name| format!(" || a->{name} != b->{name}"));
        let others = others.chain(lists.iter().map(|name| format!(" || !rdl_same_list(a->{name}, b->{name})")));
        let bytes = |name: &String| format!("(args->{name}.len > 0 ? (size_t)args->{name}.len : 0) * sizeof(int)");
        let kept = |name: &String| {
            format!("    plan->args.{name}.items = rdl_kept(&next, args->{name}.items, {});\n", bytes(name))
        };
        let with = if numbers.len() + lists.len() > usize::from(self.kind().has_root()) {
            ", with the algorithm's parameters"
        } else {
            ""
        };
        let rounds: Vec<String> = std::iter::once("&run".into()).chain(self.at(self.rounds)).collect();
        let blocks = self.at(&self.writer.free([&self.writer.schedule.blocks]));
        let renumbered = match self.kind() {
            Kind::Allreduce => "",
            Kind::Alltoall => include_str!("parts/renumber_pairs.c"),
            _ => include_str!("parts/renumber_blocks.c"),
        };
        template
            .replace("@REDUCE_VERB@", if self.kind().reduces() { ", RDL_REDUCE" } else { "" })
            .replace("@REDUCES@", if self.kind().reduces() { "; reduces" } else { "" })
            .replace("@VECTORS@", &self.vectors().to_string())
            .replace("@ARG_FIELDS@\n", &fields.collect::<String>())
            .replace("@OTHER_ARGS@", &others.collect::<String>())
            .replace(
                "@KEPT_BYTES@\n",
                &lists.iter().map(|name| format!("    bytes += {};\n", bytes(name))).collect::<String>(),
            )
            .replace("@KEPT_LISTS@\n", &lists.iter().map(kept).collect::<String>())
            .replace("@BLOCKS_ARE_RANKS@\n", renumbered)
            .replace("@ELEMENT@", self.element())
            .replace("@WITH@", with)
            .replace("@PARAMETERS@", &parameters.collect::<String>())
            .replace("@GIVEN@", &given.collect::<String>())
            .replace("@ADMITS@", &self.at(self.admits).join(", "))
            .replace("@ROUNDS@", &rounds.join(", "))
            .replace("@BLOCKS@", &format!("{}_blocks_of({})", self.writer.name, blocks.join(", ")))
            .replace("@NAME@", &self.writer.name)
    }

    /// The datatype of the elements that travel: at the root, the one of all blocks.
    fn element(&self) -> &'static str {
        match self.kind() {
            Kind::Gather => "args->types[args->types[1] == MPI_DATATYPE_NULL ? 0 : 1]",
            Kind::Scatter => "args->types[args->types[0] == MPI_DATATYPE_NULL ? 1 : 0]",
            _ => "args->types[1]",
        }
    }

    /// The arguments in code where `call` is the call that is planned.
    fn at(&self, free: &Free) -> Vec<String> {
        let (nodes, own) = (self.looks_at_nodes(), [self.numbers(), self.lists()].concat());
        let place = |name: String| match name.as_str() {
            "rank" | "node" | "local" | "ppn" if nodes => format!("call->place.{name}"),
            "nodes" => "call->at->count".into(),
            "lanes" => "call->at->lanes".into(),
            "rank" | "p" | "at" => format!("call->{name}"),
            _ if own.contains(&name) => format!("call->args->{name}"),
            _ => name,
        };
        free.arguments().into_iter().map(place).collect()
    }
}

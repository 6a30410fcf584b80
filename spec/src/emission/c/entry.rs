//! The end of a file: MPI's own calls, or the program that prints messages.
//!
//! Both are templates in `parts/`, in which `@…@` marks the places that depend on the declaration.

use super::expr::{CWriter, Free, comment};
use super::functions::{function, indented};
use super::names;
use super::straight::is_straight;
use crate::schedule::contract::Kind;
use crate::schedule::{Inner, ROOT};

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
        let schedule = self.writer.schedule;
        let of_inner = |inner: &Inner| inner.schedule.as_ref().is_some_and(|known| known.order.rank_order);
        schedule.order.rank_order && schedule.inners.iter().all(of_inner)
    }

    /// The messages of a round. With groups, the rounds are also recorded.
    pub(super) fn run(&self) -> String {
        self.writer.helper("wrap");
        if self.looks_at_nodes() {
            self.writer.helper("of");
        }
        let fields = "    int logs; /* whether rounds are written down alone, and where each ends */\n    size_t *ends;\n    size_t ends_len, ends_room;\n";
        let (fields, free) = if self.has_groups() { (fields, "    free(run->ends);\n") } else { ("", "") };
        let run = include_str!("parts/run.c").replace("@LOG_FIELDS@\n", fields).replace("@LOG_FREE@\n", free);
        match self.has_groups() {
            true => format!("{run}static void rdl_exchange(rdl_run *run);\n\n{}", include_str!("parts/groups.c")),
            false => format!("{run}static void rdl_end(rdl_run *run);\n\n"),
        }
    }

    /// The function that ends a round has another name where rounds are also recorded.
    fn named(&self, part: &str) -> String {
        match self.has_groups() {
            true => part.replace("static void rdl_end(rdl_run *run)", "static void rdl_exchange(rdl_run *run)"),
            false => part.into(),
        }
    }

    /// The number of blocks, if the declaration defines it.
    pub(super) fn blocks(&self) -> String {
        if !self.says_blocks() {
            return String::new();
        }
        let blocks = &self.writer.schedule.blocks;
        let (title, body) =
            (comment("How many blocks there are."), format!("    return {};\n", self.writer.plain(blocks)));
        let result = format!("int64_t {}_blocks_of", self.writer.name);
        // A constant takes no argument.
        let text = function(&title, &result, &self.writer.free([blocks]).parameters(), &body);
        format!("#if !defined ROUNDEL_RECORD && !defined ROUNDEL_CBMC\n{}\n#endif\n\n", text.trim_end())
    }

    fn says_blocks(&self) -> bool {
        matches!(self.kind(), Kind::Allreduce | Kind::Reduce | Kind::Broadcast)
    }

    /// The program that prints the messages of every rank.
    pub(super) fn record(&self) -> String {
        let (numbers, lists, nodes) = (self.numbers(), self.lists(), self.looks_at_nodes());
        let before = if nodes { 2 } else { 3 };
        let parameters: Vec<String> =
            numbers.iter().chain(&lists).map(|name| format!(" {}", name.to_uppercase())).collect();
        let read_number =
            |(i, name): (usize, &String)| format!("int64_t {name} = strtoll(argv[{}], NULL, 10);\n", i + before);
        let read_list = |(i, name): (usize, &String)| {
            let i = i + before + numbers.len();
            format!(
                "int {name}_items[64];\nrdl_list {name} = {{{name}_items, rdl_read(argv[{i}], {name}_items, 64)}};\n"
            )
        };
        let read: String =
            numbers.iter().enumerate().map(read_number).chain(lists.iter().enumerate().map(read_list)).collect();
        let reader = if lists.is_empty() && !nodes { "" } else { include_str!("parts/read_list.c") };
        let main = if nodes { include_str!("parts/record_nodes.c") } else { include_str!("parts/record_main.c") };
        let rounds: Vec<String> = std::iter::once("&run".into()).chain(self.recorded(self.rounds)).collect();
        let main = main
            .replace("@COUNT@", &(before + parameters.len()).to_string())
            .replace("@USAGE@", &parameters.concat())
            .replace("@READ@\n", &indented(&read))
            .replace("@ADMITS@", &self.recorded(self.admits).join(", "))
            .replace("@ROUNDS@", &rounds.join(", "))
            .replace("@NAME@", &self.writer.name);
        format!("{}{reader}{main}", self.named(include_str!("parts/record.c")))
    }

    /// Arguments in the program that prints messages.
    pub(super) fn recorded(&self, free: &Free) -> Vec<String> {
        let place = |name: String| match name.as_str() {
            "node" | "local" | "ppn" => format!("place.{name}"),
            "nodes" => "at->count".into(),
            "lanes" => "at->lanes".into(),
            _ => name,
        };
        free.arguments().into_iter().map(place).collect()
    }

    /// MPI's own calls, with only those helpers that they use.
    pub(super) fn mpi(&self) -> String {
        let sizes = format!(
            "enum {{ RDL_LINES = {}, RDL_OWNED = RDL_LINES + 4 }};\n\n",
            self.writer.schedule.lines_in_memory().max(1)
        );
        let (memory, spots) = match self.kind() {
            Kind::Alltoall => (include_str!("parts/held_memory.c"), include_str!("parts/held.c")),
            _ => (include_str!("parts/lines_memory.c"), include_str!("parts/lines.c")),
        };
        let settle = match self.kind() {
            Kind::Alltoall => "",
            kind if kind.reduces() => include_str!("parts/combine.c"),
            _ => include_str!("parts/gather.c"),
        };
        let exchange = self.named(include_str!("parts/exchange.c"));
        let nodes = self.looks_at_nodes();
        let (table, renumber) = match nodes {
            true => (include_str!("parts/nodes.c"), include_str!("parts/renumber.c")),
            false => ("", ""),
        };
        // A named part is included only if a later one calls it.
        let parts = [
            (None, sizes.as_str()),
            (None, memory),
            (None, table),
            (None, include_str!("parts/world.c")),
            (Some("rdl_alloc("), include_str!("parts/alloc.c")),
            (Some("rdl_bytes("), include_str!("parts/bytes.c")),
            (Some("rdl_copy("), include_str!("parts/copy.c")),
            (None, spots),
            (Some("rdl_line("), include_str!("parts/line.c")),
            (None, settle),
            (None, renumber),
            (None, exchange.as_str()),
            (None, include_str!("parts/begin.c")),
            (Some("rdl_geometry("), include_str!("parts/divide.c")),
            (Some("rdl_equal("), include_str!("parts/divide_equal.c")),
            (Some("rdl_varying("), include_str!("parts/divide_varying.c")),
            (Some("rdl_divided("), include_str!("parts/divide_vector.c")),
            (None, self.around()),
            (None, self.calls()),
            (None, if is_straight(self.writer.schedule) { include_str!("parts/entry_alltoallv.c") } else { "" }),
        ];
        let add = |text: String, (name, part): (Option<&str>, &str)| match name {
            Some(name) if !text.contains(name) => text,
            _ => format!("{part}{text}"),
        };
        self.filled(&parts.into_iter().rev().fold(String::new(), add))
    }

    /// The code that all calls of a kind share.
    fn around(&self) -> &'static str {
        match self.kind() {
            Kind::Allgather => include_str!("parts/helper_allgather.c"),
            Kind::Allreduce | Kind::Reduce => include_str!("parts/helper_reduction.c"),
            Kind::ReduceScatter => {
                concat!(include_str!("parts/helper_reduction.c"), include_str!("parts/helper_reduce_scatter.c"))
            }
            _ => "",
        }
    }

    fn calls(&self) -> &'static str {
        match self.kind() {
            Kind::Allgather => include_str!("parts/entry_allgather.c"),
            Kind::Allreduce => include_str!("parts/entry_allreduce.c"),
            Kind::ReduceScatter => include_str!("parts/entry_reduce_scatter.c"),
            Kind::Broadcast => include_str!("parts/entry_broadcast.c"),
            Kind::Reduce => include_str!("parts/entry_reduce.c"),
            Kind::Gather => include_str!("parts/entry_gather.c"),
            Kind::Scatter => include_str!("parts/entry_scatter.c"),
            Kind::Alltoall => include_str!("parts/entry_alltoall.c"),
        }
    }

    /// Fills in the parts of a template that depend on the declaration.
    fn filled(&self, template: &str) -> String {
        let (numbers, lists) = (self.numbers(), self.lists());
        let own = numbers.iter().filter(|name| !(self.kind().has_root() && *name == ROOT));
        let parameters = own.map(|name| format!(", int {name}"));
        let parameters =
            parameters.chain(lists.iter().map(|name| format!(", const int *{name}_items, int {name}_len")));
        let declared = numbers.iter().map(|name| format!(", int64_t {name}"));
        let declared = declared.chain(lists.iter().map(|name| format!(", rdl_list {name}")));
        let arguments = numbers.iter().chain(&lists).map(|name| format!(", {name}"));
        let opened: String =
            lists.iter().map(|name| format!("    rdl_list {name} = {{{name}_items, {name}_len}};\n")).collect();
        let taken = self.rounds.arguments();
        let unused = numbers.iter().chain(&lists).filter(|name| !taken.contains(name));
        let unused: String = unused.map(|name| format!("    (void){name};\n")).collect();
        let operation = match (self.keeps_order(), self.looks_at_nodes()) {
            (true, false) => include_str!("parts/operation_any.c"),
            (true, true) => include_str!("parts/operation_nodes.c"),
            (false, _) => include_str!("parts/operation_commutative.c"),
        };
        let with = if numbers.len() + lists.len() > usize::from(self.kind().has_root()) {
            ", with the algorithm's parameters"
        } else {
            ""
        };
        let rounds: Vec<String> = std::iter::once("&run".into()).chain(self.at(self.rounds, "w->")).collect();
        let blocks = self.at(&self.writer.free([&self.writer.schedule.blocks]), "w.");
        with_sides(self.with_nodes(template), is_straight(self.writer.schedule))
            .replace("@OPERATION@\n", operation)
            .replace("    rdl_world w;\n", &format!("    rdl_world w;\n{opened}"))
            .replace("@UNUSED@\n", &unused)
            .replace("@WITH@", with)
            .replace("@PARAMETERS@", &parameters.collect::<String>())
            .replace("@DECLARATIONS@", &declared.collect::<String>())
            .replace("@ARGUMENTS@", &arguments.collect::<String>())
            .replace("@ADMITS@", &self.at(self.admits, "w->").join(", "))
            .replace("@ROUNDS@", &rounds.join(", "))
            .replace("@BLOCKS@", &format!("{}_blocks_of({})", self.writer.name, blocks.join(", ")))
            .replace("@NAME@", &self.writer.name)
    }

    /// Fills in the parts of a template that depend on whether the collective looks at nodes.
    fn with_nodes(&self, template: &str) -> String {
        let blocks = match self.kind() {
            Kind::Allreduce => "",
            Kind::Alltoall => include_str!("parts/renumber_pairs.c"),
            _ => include_str!("parts/renumber_blocks.c"),
        };
        let parts = match self.looks_at_nodes() {
            true => [
                "    const rdl_nodes *at; /* the nodes, and where this rank sits */\n    const int *order;\n    rdl_place place;\n",
                "    if (error == MPI_SUCCESS)\n        error = rdl_survey(own->comm, &own->table);\n",
                include_str!("parts/place.c"),
                "    rdl_renumber(run);\n",
                include_str!("parts/begin_nodes.c"),
            ],
            false => ["", "", "", "", include_str!("parts/begin_flat.c")],
        };
        let marks = ["@PLACE_FIELDS@\n", "@SURVEY@\n", "@PLACE@\n", "@RENUMBER@\n", "@BEGIN@\n"];
        let filled =
            marks.iter().zip(parts).fold(template.to_string(), |text, (mark, part)| text.replace(mark, part));
        filled.replace("@BLOCKS_ARE_RANKS@\n", blocks)
    }

    /// The arguments in code where a call has its own rank and p.
    fn at(&self, free: &Free, world: &str) -> Vec<String> {
        let nodes = self.looks_at_nodes();
        let place = |name: String| match name.as_str() {
            "rank" | "node" | "local" | "ppn" if nodes => format!("{world}place.{name}"),
            "nodes" => format!("{world}at->count"),
            "lanes" => format!("{world}at->lanes"),
            "rank" | "p" | "at" => format!("{world}{name}"),
            _ => name,
        };
        free.arguments().into_iter().map(place).collect()
    }
}

/// Fills in the code for blocks of different lengths, if these are served.
fn with_sides(template: String, straight: bool) -> String {
    let parts = match straight {
        true => [
            include_str!("parts/side.c"),
            "    const rdl_side *from, *to; /* set if blocks have different lengths */\n",
            include_str!("parts/aside_straight.c"),
            "    if (memory->from != NULL)\n        return;\n",
        ],
        false => ["", "", include_str!("parts/aside_none.c"), ""],
    };
    let marks = ["@SIDE_TYPE@\n", "@SIDES@\n", "@ASIDE@\n", "@SETTLED@\n"];
    marks.iter().zip(parts).fold(template, |text, (mark, part)| text.replace(mark, part))
}

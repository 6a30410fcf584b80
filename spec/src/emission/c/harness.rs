//! The harness of a file: a program without MPI that includes it. It prints the messages of every rank, or it is for
//! CBMC.

use super::entry::EntryFunction;
use super::expr::Free;
use super::functions::indented;

impl EntryFunction<'_, '_> {
    /// The harness of the file `source`.
    pub(super) fn harness(&self, source: &str) -> String {
        let (record, prove) = (self.record(), self.prove());
        let head = include_str!("parts/harness.c").replace("@SOURCE@", source);
        format!("{head}\n#ifdef ROUNDEL_RECORD\n\n{record}\n#else\n\n{prove}\n#endif\n")
    }

    /// The program that prints the messages of every rank.
    fn record(&self) -> String {
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

    /// Arguments in a harness.
    pub(super) fn recorded(&self, free: &Free) -> Vec<String> {
        let place = |name: String| match name.as_str() {
            "node" | "local" | "ppn" => format!("place.{name}"),
            "nodes" => "at->count".into(),
            "lanes" => "at->lanes".into(),
            _ => name,
        };
        free.arguments().into_iter().map(place).collect()
    }
}

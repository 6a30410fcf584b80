//! The head of a file: what it does, what is proved about it, how to compile it.

use super::KnownFacts;
use super::straight::is_straight;
use crate::schedule::Schedule;
use crate::schedule::contract::Kind;

/// The includes of every file. A file compiled without MPI does not include its header.
pub(super) const INCLUDES: &str = "#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined ROUNDEL_RECORD || defined ROUNDEL_CBMC
#include <assert.h>
#define RDL_NO_MEMORY 1
#else
#include <mpi.h>
#define RDL_NO_MEMORY MPI_ERR_NO_MEM
#endif

/* Whether calls are refused of which nothing is proved. A model checker is to look at all calls, not only at those. */
#if defined ROUNDEL_UNPROVED || defined ROUNDEL_CBMC
enum { RDL_PROVED = 0 };
#else
enum { RDL_PROVED = 1 };
#endif

";

/// The types that expressions of the declaration need.
pub(super) fn types(schedule: &Schedule) -> String {
    let list = "/* A parameter that is a list. */\ntypedef struct {\n    const int *items;\n    int64_t len;\n} rdl_list;\n\n";
    let lists = if schedule.lists.is_empty() { "" } else { list };
    let nodes = if schedule.uses_placement() { include_str!("parts/nodes_type.c") } else { "" };
    format!("{lists}{nodes}")
}

/// The head comment.
pub(super) fn comment(schedule: &Schedule, known: KnownFacts<'_>, code: &str) -> String {
    let (name, article) = (&schedule.name, schedule.kind.with_article());
    let mut text = format!("{name}: {article}, written by `roundel emit c`.\n\nThe declaration:\n\n");
    text += &indented(&schedule.declaration());
    text += "\nWhat it costs:\n\n";
    let bounds: Vec<String> = schedule.bounds.iter().map(ToString::to_string).collect();
    text += &indented(if bounds.is_empty() { "nothing is claimed".into() } else { bounds.join("\n") }.as_str());
    text += "\nWhat is proved:\n\n";
    text += &indented(&proof(schedule, known));
    text += &format!(
        "\nCalls outside of that are refused with MPI_ERR_ARG, unless it is compiled with -DROUNDEL_UNPROVED.\n{}",
        USE
    );
    text += &indented(&prototypes(code));
    text += LIMITS;
    text += lengths(schedule);
    text += if schedule.uses_placement() { NODES } else { "" };
    let line = |line: &str| if line.is_empty() { " *\n".into() } else { format!(" * {line}\n") };
    let lines: String = text.replace("*/", "* /").replace("/*", "/ *").lines().map(line).collect();
    format!("/*\n{lines} */\n\n")
}

const USE: &str = "
Compile it with `mpicc -std=c99 -c`, and declare what it defines:

";

const LIMITS: &str = "
Arguments are those of MPI's function, MPI_IN_PLACE included; parameters of the algorithm come last. Errors go to the error
handler of the communicator. The first call on a communicator duplicates it; the duplicate goes with the communicator. It must
not be made by two threads at once.
";

/// Which calls with blocks of different lengths are missing, and why.
fn lengths(schedule: &Schedule) -> &'static str {
    match schedule.kind {
        Kind::Alltoall if !is_straight(schedule) => {
            "\nThere is no call like MPI_Alltoallv: blocks pass ranks that do not know their lengths.\n"
        }
        Kind::Gather => "\nThere is no call like MPI_Gatherv: blocks pass ranks that do not know their lengths.\n",
        Kind::Scatter => "\nThere is no call like MPI_Scatterv: blocks pass ranks that do not know their lengths.\n",
        _ => "",
    }
}

const NODES: &str = "
Ranks that share memory sit on one node, by MPI_Comm_split_type; with -D'ROUNDEL_NODE(rank)=...' the number of a rank's node is
what the macro says.
";

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

fn proof(schedule: &Schedule, known: KnownFacts<'_>) -> String {
    let range = known.range.text(schedule);
    let Some(record) = known.record else {
        return format!("{range}, by the check of the declaration (there is no proof record)");
    };
    let mut lines = vec![format!("{range}; schedule {}", record.schedule)];
    if let Some(exhaustive) = &record.exhaustive {
        let (covered, cases) = (exhaustive.range.text(schedule), exhaustive.cases);
        lines.push(format!("exactly checked ({covered}, {cases} cases): {}", exhaustive.properties.join(", ")));
    }
    if let Some(induction) = &record.induction {
        let proved = induction.obligations.iter().filter(|shown| shown.is_proved()).count();
        lines.push(format!("by induction over all p: {proved} of {} obligations", induction.obligations.len()));
        lines.extend(induction.gaps.iter().map(|gap| format!("    not shown: {}", gap.reason)));
    }
    for (what, range) in [("order", &record.order), ("bounds", &record.bounds)] {
        lines.extend(range.iter().map(|range| format!("{what}: {}", range.text(schedule))));
    }
    lines.join("\n")
}

/// The declarations of the functions that the code exports.
fn prototypes(code: &str) -> String {
    let mut lines = code.lines();
    let mut out = String::new();
    while let Some(first) = lines.find(|line| line.starts_with("int roundel_")) {
        let mut prototype = first.to_string();
        while !prototype.ends_with(')') {
            let Some(next) = lines.next() else { break };
            prototype += &format!("\n{next}");
        }
        out += &format!("{prototype};\n");
    }
    out
}

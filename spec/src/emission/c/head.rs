//! The head of a file: what it does, what is proved about it, how to compile it.

use super::KnownFacts;
use super::straight::is_straight;
use crate::schedule::Schedule;
use crate::schedule::contract::Kind;

/// The licence of emitted files.
const LICENCE: &str = "/* SPDX-License-Identifier: Apache-2.0 */\n";

/// The includes of a file. A harness includes the file without MPI.
pub(super) fn includes(header: Option<&str>) -> String {
    let own = header.map(|header| format!("#include \"{header}\"\n")).unwrap_or_default();
    format!(
        "#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef ROUNDEL_HARNESS
#define RDL_NO_MEMORY 1
#else
#include <mpi.h>
{own}#define RDL_NO_MEMORY MPI_ERR_NO_MEM
#endif

/* Whether calls are refused of which nothing is proved. */
#ifdef ROUNDEL_UNPROVED
enum {{ RDL_PROVED = 0 }};
#else
enum {{ RDL_PROVED = 1 }};
#endif

"
    )
}

/// The header: what the file defines, for C and C++.
pub(super) fn header(schedule: &Schedule, name: &str, code: &str) -> String {
    let (title, article) = (&schedule.name, schedule.kind.with_article());
    let guard = format!("ROUNDEL_{}_{}_H", schedule.kind.name(), name).to_uppercase();
    let declared = declarations(code);
    format!(
        "{LICENCE}/* {title}: {article}, written by `roundel emit c`. Parameters of the algorithm come last. */
#ifndef {guard}
#define {guard}

#include <mpi.h>

#ifdef __cplusplus
extern \"C\" {{
#endif

{declared}
#ifdef __cplusplus
}}
#endif

#endif
"
    )
}

/// The declarations of the functions that the code exports, with their comments; those with large counts where MPI has
/// them.
fn declarations(code: &str) -> String {
    let (mut comment, mut small, mut large) = ("", String::new(), String::new());
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("int roundel_") {
            let prototype = whole(line, &mut lines);
            let to = if prototype.contains("MPI_Count") { &mut large } else { &mut small };
            *to += &format!("{comment}\n{prototype};\n\n");
        }
        comment = line;
    }
    format!("{small}#if MPI_VERSION >= 4\n{}\n#endif\n", large.trim_end())
}

/// A prototype that begins on this line.
fn whole<'a>(first: &str, rest: &mut impl Iterator<Item = &'a str>) -> String {
    let mut prototype = first.to_string();
    while !prototype.ends_with(')') {
        let Some(next) = rest.next() else { break };
        prototype += &format!("\n{next}");
    }
    prototype
}

/// The types that expressions of the declaration need.
pub(super) fn types(schedule: &Schedule) -> String {
    let list = "/* A parameter that is a list. */\ntypedef struct {\n    \
                const int *items;\n    int64_t len;\n} rdl_list;\n\n";
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
    format!("{LICENCE}/*\n{lines} */\n\n")
}

const USE: &str = "
Compile it with `mpicc -std=c99 -c`, and declare what it defines:

";

const LIMITS: &str = "
Arguments are those of MPI's function, MPI_IN_PLACE included; parameters of the algorithm come last. Errors go to the error
handler of the communicator. Functions that end in _c take counts of 64 bits, where MPI has such.

The first call on a communicator makes another one with its ranks, and the first call of a kind makes a plan: peers, offsets and
datatypes of its messages. Both are cached on the communicator and freed with it. Calls like one of the last ROUNDEL_PLANS kinds (8)
allocate nothing. The first call, and the first with a datatype that is not MPI's, must not be made by two threads at once.
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

/// The prototypes of the functions that the code exports, except those with large counts.
fn prototypes(code: &str) -> String {
    let mut lines = code.lines();
    let mut out = String::new();
    while let Some(first) = lines.find(|line| line.starts_with("int roundel_")) {
        let prototype = whole(first, &mut lines);
        if !prototype.contains("MPI_Count") {
            out += &format!("{prototype};\n");
        }
    }
    out
}

//! The C back end: a schedule as one C99 file with MPI calls, which needs no Rust.
//!
//! The sibling of [`rust`](crate::rust), and as readable: loops stay loops, each clause becomes functions of rank and round
//! that take exactly what they mention. What does not depend on the declaration, such as the exchange of a round's messages,
//! stands in `parts/` as C. With `-DROUNDEL_RECORD` a file is a program without MPI that prints the messages of every rank:
//! tests hold them equal to what the Rust code does.

mod domain;
mod entry;
mod expr;
mod functions;
mod head;
mod helpers;
mod names;
mod rounds;

use crate::proof::{ProvedRange, Record};
use crate::schedule::Schedule;
use expr::Writer;
use std::fmt;

/// What the C back end cannot write yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// The collective looks at which ranks share a node.
    Nodes {
        /// The collective.
        name: String,
    },
    /// The collective runs another one inside of groups.
    Within {
        /// The collective.
        name: String,
        /// The inner one.
        inner: String,
    },
    /// A state runs backwards.
    Backward {
        /// The collective.
        name: String,
        /// The state.
        state: String,
    },
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsupported::Nodes { name } => write!(
                f,
                "{name} looks at nodes (`node`, `local`, `ppn`, …), which C files do not know yet: use it from Rust, or emit \
                 a collective that does not"
            ),
            Unsupported::Within { name, inner } => write!(
                f,
                "{name} runs `{inner}` inside of groups (`within`), which is not written as C yet: use it from Rust, or emit \
                 a collective without groups"
            ),
            Unsupported::Backward { name, state } => write!(
                f,
                "{name} has a state `{state}` that runs backwards (`last`), which is not written as C yet: use it from Rust, \
                 or declare the state forwards"
            ),
        }
    }
}

impl std::error::Error for Unsupported {}

/// What is known of a collective beside its schedule.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The calls for which it is proved.
    pub range: &'a ProvedRange,
    /// The record that says so.
    pub record: Option<&'a Record>,
}

/// The C file of a collective.
///
/// # Errors
/// A construct that the back end does not write yet.
pub fn emit(schedule: &Schedule, known: Known<'_>) -> Result<String, Unsupported> {
    supported(schedule)?;
    let writer = Writer::new(schedule);
    let rounds = rounds::rounds(&writer);
    let admits = domain::admits(&writer, known.range);
    let entry = entry::Entry { writer: &writer, rounds: &rounds.free, admits: &admits.free };
    let (blocks, record, mpi) = (entry.blocks(), entry.record(), entry.mpi());
    writer.helper("wrap");
    let definitions = writer.definitions();
    let sections = [
        head::comment(schedule, known, &mpi),
        head::INCLUDES.into(),
        head::types(schedule),
        helpers::text(&writer.helpers()),
        include_str!("parts/run.c").into(),
        "static void rdl_end(rdl_run *run);\n\n".into(),
        definitions,
        admits.text,
        blocks,
        rounds.text,
        format!("#ifdef ROUNDEL_RECORD\n\n{record}\n#else\n\n{mpi}\n#endif\n"),
    ];
    Ok(sections.concat())
}

fn supported(schedule: &Schedule) -> Result<(), Unsupported> {
    let name = || schedule.name.clone();
    if let Some(within) = schedule.within().next() {
        return Err(Unsupported::Within { name: name(), inner: schedule.inners[within.inner].name.clone() });
    }
    if let Some(state) = schedule.loops.iter().flat_map(|l| &l.states).find(|state| state.backward) {
        return Err(Unsupported::Backward { name: name(), state: state.var.name.clone() });
    }
    if schedule.uses_placement() { Err(Unsupported::Nodes { name: name() }) } else { Ok(()) }
}

//! The C back end: writes a schedule as one C99 file with MPI calls, which needs no Rust, its header, and a harness.
//!
//! It mirrors [`rust`](crate::emission::rust), and its output is as readable: loops stay loops, and each clause becomes
//! functions of rank and round that take exactly the variables they mention. They describe the rounds of a rank; a plan
//! of them is made once for each kind of call, and cached on the communicator. Code that does not depend on the
//! declaration, such as what executes a plan, is in `parts/` as C. The harness is a program without MPI that includes
//! the file: it prints the messages of every rank, which tests compare with those of the Rust code, or it is for CBMC.

mod domain;
mod entry;
mod expr;
mod functions;
mod groups;
mod harness;
mod head;
mod helpers;
mod names;
mod prove;
mod rounds;
mod straight;
mod template;

use crate::check::range::ProvedRange;
use crate::proof::Record;
use crate::schedule::Schedule;
use crate::schedule::expr::{Binary, Expr, slot};
use expr::CWriter;
use groups::InnerFunction;
use std::fmt;

/// Constructs that the C back end cannot write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnsupportedInC {
    /// Only the contract of an inner collective is known.
    UnknownInner {
        /// The collective.
        name: String,
        /// The inner one.
        inner: String,
    },
    /// An inner collective that does not serve every group: it has parameters, a domain, nodes or groups of its own.
    ParticularInner {
        /// The collective.
        name: String,
        /// The inner one.
        inner: String,
        /// The feature that the inner one has.
        has: &'static str,
    },
    /// A collective with a root that looks at nodes.
    RootAndNodes {
        /// The collective.
        name: String,
    },
}

impl fmt::Display for UnsupportedInC {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnsupportedInC::UnknownInner { name, inner } => write!(
                f,
                "{name} runs `{inner}` inside of groups (`within`), of which a declaration says no more than its \
                 kind: emit a collective of the catalogue, or declare one without groups"
            ),
            UnsupportedInC::ParticularInner { name, inner, has } => write!(
                f,
                "{name} runs `{inner}` inside of groups (`within`), and that has {has}, which is not written as C \
                 yet: use it from Rust, or take an inner collective that serves all groups"
            ),
            UnsupportedInC::RootAndNodes { name } => write!(
                f,
                "{name} has a root and looks at nodes, which is not written as C yet: use it from Rust, or declare \
                 one that does not look at nodes"
            ),
        }
    }
}

impl std::error::Error for UnsupportedInC {}

/// What is known about a collective besides its schedule.
#[derive(Clone, Copy, Debug)]
pub struct KnownFacts<'a> {
    /// The calls for which it is proved.
    pub range: &'a ProvedRange,
    /// The proof record behind this range.
    pub record: Option<&'a Record>,
    /// The calls for which its inner collectives are proved.
    pub inners: &'a [ProvedRange],
}

/// How a file communicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Calls {
    /// By MPI's own functions.
    #[default]
    Mpi,
    /// By macros that the including source tree defines.
    Macros,
}

/// How the files of a collective are written.
#[derive(Clone, Debug)]
pub struct FileOptions {
    /// How they communicate.
    pub calls: Calls,
    /// The name under which the file includes its header, if it does.
    pub header: Option<String>,
    /// The name under which the harness includes the file.
    pub source: String,
}

/// The files of a collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmittedFiles {
    /// The collective.
    pub code: String,
    /// The declarations of its functions.
    pub header: String,
    /// A program without MPI that shows what the code does: for tests, and for CBMC.
    pub harness: String,
}

/// Writes a collective as C.
///
/// # Errors
/// Returns the construct that the back end cannot write.
pub fn emit(
    schedule: &Schedule,
    known: KnownFacts<'_>,
    options: &FileOptions,
) -> Result<EmittedFiles, UnsupportedInC> {
    let writer = CWriter::new(schedule);
    let inner_writers = inner_writers(&writer)?;
    let inner_rounds: Vec<_> = inner_writers.iter().map(|inner| rounds::rounds(inner, &[])).collect();
    let called = inner_writers.iter().zip(&inner_rounds);
    let inners: Vec<_> = called
        .map(|(inner, rounds)| InnerFunction { name: inner.name.clone(), rounds: rounds.free.clone() })
        .collect();
    let rounds = rounds::rounds(&writer, &inners);
    let admits = domain::admits(&writer, known);
    let entry = entry::EntryFunction { writer: &writer, rounds: &rounds.free, admits: &admits.free };
    let (run, mpi, harness) = (entry.run(), entry.mpi(options.calls), entry.harness(&options.source));
    let inside: String =
        inner_writers.iter().zip(inner_rounds).map(|(inner, rounds)| inner.definitions() + &rounds.text).collect();
    let definitions = writer.definitions();
    let helpers = inner_writers.iter().fold(writer.helpers(), |all, inner| &all | &inner.helpers());
    let sections = [
        head::comment(schedule, known, &mpi),
        head::includes(options.header.as_deref()),
        head::types(schedule),
        helpers::text(&helpers),
        run,
        inside,
        definitions,
        admits.text,
        rounds.text,
        format!("#ifndef ROUNDEL_HARNESS\n\n{mpi}\n#endif\n"),
    ];
    Ok(EmittedFiles { code: sections.concat(), header: head::header(schedule, &writer.name, &mpi), harness })
}

/// The writers of the inner collectives, if these serve every group.
fn inner_writers<'a>(writer: &CWriter<'a>) -> Result<Vec<CWriter<'a>>, UnsupportedInC> {
    let schedule = writer.schedule;
    if schedule.kind.has_root() && schedule.uses_placement() {
        return Err(UnsupportedInC::RootAndNodes { name: schedule.name.clone() });
    }
    let write = |inner: &'a crate::schedule::Inner| {
        let (name, called) = (schedule.name.clone(), inner.name.clone());
        let Some(known) = inner.schedule.as_deref() else {
            return Err(UnsupportedInC::UnknownInner { name, inner: called });
        };
        match particular(known) {
            Some(has) => Err(UnsupportedInC::ParticularInner { name, inner: called, has }),
            None => Ok(CWriter::named(known, format!("{}_{}", writer.name, names::variable(&inner.name)))),
        }
    };
    let roots = schedule.within().filter(|within| !within.root.iter().all(|root| is_plainly_a_rank(schedule, root)));
    if let Some(within) = roots.into_iter().next() {
        let (name, inner) = (schedule.name.clone(), schedule.inners[within.inner].name.clone());
        let has = "another root than `0` or `root`";
        return Err(UnsupportedInC::ParticularInner { name, inner, has });
    }
    schedule.inners.iter().map(write).collect()
}

/// The feature that keeps a collective from serving every group.
fn particular(inner: &Schedule) -> Option<&'static str> {
    let ends = inner.loops.iter().any(|l| !l.ends_with.is_empty());
    // The outer collective chooses the root, which is a rank.
    let root = inner.root_parameter();
    let parameters = (0..inner.numbers.len()).any(|i| root != Some(i)) || !inner.lists.is_empty();
    let is_a_rank = root.map(|i| Expr::binary(Binary::Lt, number(inner, i), Expr::built_in(slot::P)));
    let kind = inner.kind;
    let divided = !kind.has_a_block_each() && !kind.moves() && inner.blocks != Expr::Int(1);
    let found = [
        (parameters, "parameters"),
        (inner.requires.iter().any(|clause| Some(clause) != is_a_rank.as_ref()) || ends, "a domain of its own"),
        (divided, "a vector that it divides"),
        (inner.uses_placement(), "an eye on nodes"),
        (!inner.inners.is_empty(), "groups of its own"),
    ];
    found.into_iter().find(|(has, _)| *has).map(|(_, what)| what)
}

fn number(schedule: &Schedule, i: usize) -> Expr {
    Expr::Var(schedule.numbers[i].var.clone())
}

/// Whether it is plain that a root is a rank, so that the emitted code need not find out.
fn is_plainly_a_rank(schedule: &Schedule, root: &Expr) -> bool {
    *root == Expr::Int(0) || schedule.root_parameter().is_some_and(|i| *root == number(schedule, i))
}

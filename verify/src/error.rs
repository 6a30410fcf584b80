//! User errors. Every message says what to do about it; all of them end with exit code 2, except for counterexamples to
//! declarations ([`Diagnosed`]).

use crate::source::{Diagnostic, Source};
use roundel::algorithms::Unknown;
use roundel_spec::check::Points;
use roundel_spec::syntax::Declaration;
use roundel_spec::{Refusal, Violation};
use std::fmt;
use std::path::PathBuf;

/// A request that cannot be served as given.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name that the catalogue does not have.
    #[error("{0}")]
    Unknown(Unknown),
    /// A kind that the catalogue does not have.
    #[error("there are no collectives `{kind}/`; {hint}")]
    NoSuchKind {
        /// What was written.
        kind: String,
        /// What to write instead.
        hint: String,
    },
    /// A value that is not a number, or below the minimum.
    #[error("`{text}` is no {what}: write a whole number of at least {least}")]
    Number {
        /// What was written.
        text: String,
        /// What was expected.
        what: &'static str,
        /// The minimum.
        least: usize,
    },
    /// A range instead of a single number.
    #[error("`{text}` is a range: write one number of ranks here; `roundel check` and `roundel prove` take ranges")]
    OneNumber {
        /// What was written.
        text: String,
    },
    /// A value of `-p` that is not a range.
    #[error("`{text}` is no range of process counts: {reason}; write `7`, `1..64` (63 is the last) or `1..=64`")]
    Range {
        /// What was written.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// An invalid value of `--rounds`.
    #[error("`{text}` is no range of rounds: {reason}; write `3`, `2..5` (4 is the last) or `2..=4`")]
    Rounds {
        /// What was written.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Rounds that do not exist.
    #[error("there are no rounds {first}..={last} here: give `--rounds` some of the {count} rounds, counted from 0")]
    NoSuchRounds {
        /// The first.
        first: usize,
        /// The last.
        last: usize,
        /// The number of rounds.
        count: usize,
    },
    /// No solver is installed.
    #[error("no SMT solver is installed: install z3, or use `--engine exhaustive`")]
    NoSolver,
    /// No solver is installed, and bounds are to be proved.
    #[error("proofs need an SMT solver: install z3, or use `--seen` for what is seen without one")]
    NoSolverForBounds,
    /// A `--solver` that does not exist.
    #[error(
        "there is no solver {}: give `--solver` a program, such as z3, or use `--engine exhaustive`",
        program.display()
    )]
    NoSuchSolver {
        /// The requested program.
        program: PathBuf,
    },
    /// A folder that cannot be created.
    #[error("{} cannot be a folder for files: {source}; give `--emit-smt` a folder, old or new", path.display())]
    NoFolder {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A number of ranks that cannot be served.
    #[error("{p} ranks are not possible here: give a number in 1..={limit}, because {reason}")]
    Ranks {
        /// The requested number.
        p: usize,
        /// The largest number served.
        limit: usize,
        /// The reason for the limit.
        reason: &'static str,
    },
    /// `--ppn 0`.
    #[error("a node needs at least one rank: give `--ppn` a number in 1..={p}, or leave it out for one node")]
    NoRanksPerNode {
        /// The number of ranks.
        p: usize,
    },
    /// A persistent request for which no rule has ports.
    #[error("no rule has ports for {call}: `roundel explain` shows what times decide")]
    NoPorts {
        /// The request.
        call: String,
    },
    /// `--placement cyclic` without `--ppn`.
    #[error("`--placement cyclic` deals ranks out to nodes: say with `--ppn` how many a node has")]
    CyclicOverWhat,
    /// A placement in a file, and `--ppn`.
    #[error("the file of `--placement` says which ranks share a node: leave out `--ppn`")]
    PlacedTwice,
    /// A placement file for another number of ranks.
    #[error(
        "{} places {found} ranks, but there are {p}: it needs a line with a node's name for each rank",
        path.display()
    )]
    OtherPlacement {
        /// The file.
        path: PathBuf,
        /// The number of ranks in the file.
        found: usize,
        /// The number of ranks of the call.
        p: usize,
    },
    /// A `--rank` that does not exist.
    #[error("rank {rank} does not exist with p = {p}: ranks are 0..={last}", last = p - 1)]
    NoSuchRank {
        /// The requested rank.
        rank: usize,
        /// The number of ranks.
        p: usize,
    },
    /// A `--set` that is not an assignment.
    #[error("`{text}` is no assignment: write `--set name=3`, or `--set name=1,2` for a list")]
    Assignment {
        /// What was written.
        text: String,
    },
    /// A range instead of a single value.
    #[error(
        "`{text}` is a range: write one value, as in `--set {name}=3`; ranges are for `roundel check` and \
         `roundel prove`"
    )]
    OneValue {
        /// What was written.
        text: String,
        /// The parameter.
        name: String,
    },
    /// A `--set` of a check without any value.
    #[error(
        "`{text}` sets nothing: {reason}; write `--set name=3`, `--set name=1..=64`, or for a list `--set name=1,2`, \
         `--set name=1..=3` (its elements) and `--set 'len(name)=0..=6'`"
    )]
    Setting {
        /// What was written.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Too many combinations to check.
    #[error("{name} would be checked with {combinations:.0} combinations of parameters at every p: narrow `--set`")]
    TooManyCombinations {
        /// The collective.
        name: String,
        /// Their number.
        combinations: f64,
    },
    /// A parameter that none of several collectives has.
    #[error("none of the collectives has a parameter `{parameter}`; `roundel list` shows which have parameters")]
    NobodysParameter {
        /// The requested parameter.
        parameter: String,
    },
    /// A parameter that the collective does not have.
    #[error("{name} has no parameter `{parameter}`: {known}")]
    NoSuchParameter {
        /// The collective.
        name: String,
        /// The requested parameter.
        parameter: String,
        /// The existing parameters.
        known: String,
    },
    /// A parameter with two values.
    #[error("parameter `{parameter}` is set twice: keep one `--set {parameter}=…`")]
    SetTwice {
        /// The parameter.
        parameter: String,
    },
    /// A list for a parameter that is a single number.
    #[error("parameter `{parameter}` is one number, but {found} were given: write `--set {parameter}={example}`")]
    NotOneNumber {
        /// The parameter.
        parameter: String,
        /// The number of values given.
        found: usize,
        /// A valid value.
        example: i64,
    },
    /// A value outside a parameter's domain.
    #[error("parameter `{parameter}` must lie in {domain}, but {value} was given")]
    OutsideParameter {
        /// The parameter.
        parameter: String,
        /// Its domain.
        domain: String,
        /// The value given.
        value: i64,
    },
    /// A list parameter without a value.
    #[error(
        "{name} needs a list `{parameter}` of numbers in {domain}: pass it with `--set {parameter}={example}` \
         (an empty list is `--set {parameter}=`)"
    )]
    ListNeeded {
        /// The collective.
        name: String,
        /// The parameter.
        parameter: String,
        /// The domain of its elements.
        domain: String,
        /// A list of the right form.
        example: String,
    },
    /// A call outside the domain of a collective.
    #[error("{name} does not serve this call: {refusal}")]
    OutsideDomain {
        /// The collective.
        name: String,
        /// The reason for the refusal.
        refusal: Refusal,
    },
    /// A layout that the collective does not declare.
    #[error("{name} declares no rotated layout; leave out `--layout`, or use `--layout in-place`")]
    NoSuchLayout {
        /// The collective.
        name: String,
    },
    /// Buffers that do not fit into memory.
    #[error("{p} ranks with {what} each need {total}: at most 4 GiB are served, so lower `--bytes`")]
    TooLarge {
        /// The number of ranks.
        p: usize,
        /// What each rank holds.
        what: String,
        /// The memory that would be needed.
        total: String,
    },
    /// A file that cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file that cannot be written.
    #[error("cannot write {}: {source}; check that its directory exists and may be written to", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A path that is not a Rust file.
    #[error(
        "{} is no Rust source: name a file that ends in `.rs`, or a collective of the catalogue (`roundel list`)",
        path.display()
    )]
    NoSource {
        /// The path.
        path: PathBuf,
    },
    /// A name that a crate cannot have.
    #[error(
        "`{name}` is no name for a crate: write lower-case letters, digits, `-` and `_`, beginning with a letter, and \
         no keyword of Rust, as in `my-collective`"
    )]
    CrateName {
        /// What was written.
        name: String,
    },
    /// A folder where a new crate should go.
    #[error("{} exists already, and is left as it is: choose another name, or remove it", path.display())]
    FolderExists {
        /// The folder.
        path: PathBuf,
    },
    /// A `--path` without Roundel.
    #[error("{} is not the source tree of Roundel: give the folder that contains `runtime/Cargo.toml`", path.display())]
    NoTree {
        /// The folder.
        path: PathBuf,
    },
    /// A `--kind` that does not exist.
    #[error("there is no kind `{kind}` of collectives: give one of {known}{hint}")]
    NoKind {
        /// What was written.
        kind: String,
        /// All kinds.
        known: String,
        /// A similar name, as a question.
        hint: String,
    },
    /// Two collectives that would have the same record file.
    #[error(
        "{} declares `{name}` twice, and both would have the record {}: give each collective of a crate a name of its \
         own, or pass `--no-record`",
        root.display(), record.display()
    )]
    SameName {
        /// The name.
        name: String,
        /// The crate.
        root: PathBuf,
        /// The record.
        record: PathBuf,
    },
    /// A source file without a declaration.
    #[error(
        "{} declares no collective: expected a struct with `#[derive(Collective)]` and `#[collective(…)]`",
        path.display()
    )]
    NothingDeclared {
        /// The file.
        path: PathBuf,
    },
    /// A `--type` that the source does not declare.
    #[error("{origin} declares no collective `{wanted}`: it declares {known}{hint}")]
    NoSuchType {
        /// The file or catalogue entry.
        origin: String,
        /// The requested type.
        wanted: String,
        /// The declared types.
        known: String,
        /// A similar name, as a question.
        hint: String,
    },
    /// Several declarations, and only one can be used.
    #[error(
        "{origin} declares several collectives: name one of {known}, as in `{origin}:{}`",
        known.split(',').next().unwrap_or_default()
    )]
    SeveralTypes {
        /// The file.
        origin: String,
        /// The declared types.
        known: String,
    },
    /// An invalid proof record.
    #[error(
        "the proof record {} does not count: {unfit}; `roundel prove` writes it again, or remove it",
        path.display()
    )]
    UnfitRecord {
        /// The record.
        path: PathBuf,
        /// The cause.
        unfit: roundel_spec::proof::RecordError,
    },
    /// A declaration that violates its contract or claims.
    #[error("{name} is wrong, so it is not written: {violation}; `roundel check` shows where")]
    WrongDeclaration {
        /// The collective.
        name: String,
        /// The violation.
        violation: Box<roundel_spec::Violation>,
    },
    /// Errors in a file, each with its place.
    #[error(transparent)]
    Diagnosed(Box<Diagnosed>),
    /// A construct that cannot be written in another language yet.
    #[error("{0}")]
    Unsupported(roundel_spec::c::UnsupportedInC),
    /// A call that the page of `roundel explore` cannot show.
    #[error("{name} is not shown: {reason}")]
    Explored {
        /// The collective.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A port on which nothing can be served.
    #[error("cannot listen on port {port} of this machine: {source}; choose another with `--port`, or 0 for any")]
    Port {
        /// The port.
        port: u16,
        /// The reason.
        source: std::io::Error,
    },
    /// Neither names nor `--all`.
    #[error("nothing to do: name a collective (`roundel list` shows them) or a FILE.rs, or pass `--all`")]
    NothingNamed,
    /// `--record` for several collectives.
    #[error(
        "`--record` names one file, but {found} collectives are to be proved: leave it out, or name one collective"
    )]
    OneRecord {
        /// The number of collectives.
        found: usize,
    },
    /// A file that is not a counterexample.
    #[error(
        "{} cannot be replayed: {reason}; `--save` of `roundel check`, `prove` and `mutants` writes such files",
        path.display()
    )]
    Counterexample {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A counterexample that a replay would not find again.
    #[error("the counterexample to {collective} cannot be saved: {reason}")]
    NotReplayable {
        /// The collective.
        collective: String,
        /// The cause.
        reason: String,
    },
    /// A collective without harnesses.
    #[error("{name} has no Kani harnesses: they follow blocks, not contributions; use `--engine exhaustive`")]
    NoHarness {
        /// The collective.
        name: String,
    },
    /// A mutant that does not exist.
    #[error("{name} has no mutant {id}: its mutants are 0..={last}", last = count.saturating_sub(1))]
    NoSuchMutant {
        /// The collective.
        name: String,
        /// The requested mutant.
        id: usize,
        /// The number of mutants.
        count: usize,
    },
    /// A picture that would be too large to read.
    #[error("a picture of {p} ranks and {rounds} rounds cannot be read: draw at most {limit} ranks")]
    PictureTooLarge {
        /// The number of ranks.
        p: usize,
        /// The number of rounds.
        rounds: usize,
        /// The largest number that is drawn.
        limit: usize,
    },
    /// A call that cannot be counted or modelled.
    #[error(transparent)]
    Choose(#[from] roundel::choice::alltoalls::Error),
    /// A kind of collective without a model.
    #[error("there is no model of `{collective}`: `roundel explain` knows {known}{hint}")]
    NoModel {
        /// The requested collective.
        collective: String,
        /// The collectives with a model.
        known: &'static str,
        /// A question that suggests one of them.
        hint: String,
    },
    /// A call for which no plan can be chosen.
    #[error(transparent)]
    Select(#[from] roundel::choice::ports::Error),
    /// A file that is not a profile, or not of this machine.
    #[error("{}: {source}", path.display())]
    Profile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and where.
        source: roundel::profile::Error,
    },
    /// A request that cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] crate::simulation::SimulationError),
    /// Invalid selection rules.
    #[error("{}: {source}", path.display())]
    Selection {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and where.
        source: roundel::selection::Error,
    },
    /// An invalid `--force`.
    #[error("`--force`: {0}")]
    Force(#[from] roundel::selection::ForceError),
    /// A collective that does not exist.
    #[error("{0}")]
    Rule(#[from] roundel::selection::RuleError),
    /// An option that belongs to the model of another collective.
    #[error("`{flag}` says nothing about {collective}: {instead}")]
    OtherModel {
        /// The option.
        flag: &'static str,
        /// The collective.
        collective: String,
        /// What to do instead.
        instead: &'static str,
    },
    /// A vector of negative length.
    #[error("{bytes} bytes do not exist: give `--bytes` a number of at least 0")]
    NegativeBytes {
        /// The requested length.
        bytes: i64,
    },
    /// Invalid numbers of nodes and ranks.
    #[error(
        "{nodes} nodes of {ppn} ranks cannot be counted: give `--nodes` and `--ppn` numbers of at least 1, at most \
         2147483647 ranks in all"
    )]
    NoSuchNodes {
        /// The number of nodes.
        nodes: i64,
        /// The number of ranks per node.
        ppn: i64,
    },
    /// A measurement with a build without MPI.
    #[error(
        "this program was built without MPI: build it with `cargo build --release -p roundel-verify --features mpi` \
         and run `mpirun … roundel tune`"
    )]
    NoMpi,
    /// MPI is already initialised.
    #[error("MPI was initialised before: run `roundel tune` as a program of its own")]
    MpiAgain,
    /// A collective call that failed.
    #[error(transparent)]
    Call(#[from] roundel::Error),
    /// Too little time, or too much.
    #[error("a measurement of {seconds} seconds makes no sense: give `--budget` a time in 0.1s..=3600s")]
    Budget {
        /// The requested time.
        seconds: f64,
    },
    /// A time or a rate that cannot be parsed.
    #[error("`{text}` is no {what}: write {examples}")]
    Quantity {
        /// What was written.
        text: String,
        /// What was expected.
        what: &'static str,
        /// How to write it.
        examples: &'static str,
    },
    /// A table with too many lines.
    #[error("{rows} lines are too many, at most {limit} are printed: {instead}")]
    TooManyLines {
        /// The number of lines.
        rows: i64,
        /// The largest number that is printed.
        limit: i64,
        /// What to do instead.
        instead: &'static str,
    },
    /// A plot with fewer than two radices.
    #[error("with p = {p} there is nothing to plot: the radices 2..=p-1 are at least two from p = 4 on")]
    NothingToPlot {
        /// The number of ranks.
        p: i64,
    },
    /// A `--ports` that cannot be parsed.
    #[error("`--ports {text}` cannot be read: {source}")]
    Ports {
        /// What was written.
        text: String,
        /// What is wrong with it.
        source: roundel::plan::ports::NoPorts,
    },
    /// A `--ports` that does not implement the collective.
    #[error("`--ports {ports}` does not fit: {source}")]
    Unfit {
        /// What was written.
        ports: roundel::plan::ports::Ports,
        /// What is wrong with it.
        source: roundel::plan::ports::GroupsError,
    },
    /// A `--ports` for another number of nodes.
    #[error(
        "`--ports {ports}` has {found} nodes, but `--nodes` says {nodes}: leave out `--nodes`, or change a factor"
    )]
    OtherNodes {
        /// What was written.
        ports: roundel::plan::ports::Ports,
        /// The product of its factors.
        found: usize,
        /// The requested number.
        nodes: usize,
    },
    /// A kind that does not support ports.
    #[error("`{name}` is no kind with ports: give allreduce, reduce_scatter or allgather, or leave out `--ports`")]
    NoPortsOf {
        /// The requested kind.
        name: String,
    },
    /// A kind without `--ports`.
    #[error(
        "there are many ways to {kind}: pass one with `--ports`, as in `8(-1 1 1 1)`, or name a collective of the \
         catalogue"
    )]
    PortsNeeded {
        /// The kind.
        kind: String,
    },
    /// `--node` and several `--ports`.
    #[error(
        "`--node` lists one way, but {found} `--ports` were given: give one, or leave out `--node` for a summary"
    )]
    OneWay {
        /// The number of `--ports`.
        found: usize,
    },
    /// `--part` or `--sizes` without `--node`.
    #[error("`{option}` is about the listing of one node: say which one with `--node`")]
    NodeNeeded {
        /// The option.
        option: &'static str,
    },
    /// Sizes that do not match the fractions.
    #[error("{found} sizes were given, but there are {nodes} fractions of the data: give one for each node")]
    Sizes {
        /// The number of sizes given.
        found: usize,
        /// The number of sizes needed.
        nodes: usize,
    },
    /// A collective of the catalogue without a number of ranks.
    #[error("a plan of {name} is made for a number of ranks: give it with `-p`")]
    RanksNeeded {
        /// The collective.
        name: String,
    },
    /// A collective that has no plan.
    #[error("{name}: {source}")]
    Unplanned {
        /// The collective.
        name: String,
        /// The cause.
        source: roundel::plan::Unplanned,
    },
    /// A line of a trace that cannot be parsed.
    #[error(
        "{}:{line}: {reason}; a job that was killed may leave half a line: delete it, or trace again",
        path.display()
    )]
    Trace {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A name without trace files.
    #[error(
        "there is neither a file {0} nor any {0}.R, where R is a rank: give what ROUNDEL_TRACE was",
        path.display()
    )]
    NoTraces {
        /// The name.
        path: PathBuf,
    },
    /// Files of different jobs.
    #[error(
        "{} and {} are not of the same job: {reason}; delete those of other jobs",
        first.display(),
        other.display()
    )]
    OtherJob {
        /// A file.
        first: PathBuf,
        /// Another one.
        other: PathBuf,
        /// The difference.
        reason: String,
    },
    /// Writing to standard output failed.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] std::io::Error),
    /// Generated code that is not valid Rust: a bug in the back end.
    #[error(
        "the generated code of {name} is not valid Rust ({source}); this is a fault of Roundel, please report it"
    )]
    Generated {
        /// The collective.
        name: String,
        /// The parser's error.
        source: syn::Error,
    },
    /// An entry whose source and type do not match: a bug in the catalogue.
    #[error("the catalogue's entry {name} cannot be used: {reason}; this is a fault of Roundel, please report it")]
    Catalogue {
        /// The entry.
        name: &'static str,
        /// The mismatch.
        reason: String,
    },
}

impl Error {
    /// The error for a wrong declaration, for which nothing is written.
    pub(crate) fn wrong(schedule: &roundel_spec::Schedule, violation: roundel_spec::Violation) -> Self {
        Error::WrongDeclaration { name: schedule.name.clone(), violation: Box::new(violation) }
    }
}

/// Errors in a file: a declaration is malformed, or it is wrong, and this is the counterexample.
#[derive(Debug)]
pub struct Diagnosed {
    /// The file.
    pub source: Source,
    /// The errors.
    pub errors: Vec<Diagnostic>,
    /// Whether it is well-formed, but wrong.
    pub is_wrong: bool,
}

impl Diagnosed {
    /// The errors of a malformed file.
    pub(crate) fn malformed(source: &Source, errors: Vec<Diagnostic>) -> Error {
        Error::Diagnosed(Box::new(Diagnosed { source: source.clone(), errors, is_wrong: false }))
    }

    /// The counterexample to a declaration, at the clause at fault.
    pub(crate) fn wrong(source: &Source, declaration: &Declaration, violation: &Violation) -> Error {
        let points = Points::within_limits(&declaration.schedule);
        let other = || declaration.place_of_other(violation);
        let errors = source.diagnose(&declaration.error(violation, &points)).into_iter();
        let errors = errors.map(|error| error.with_other(source, other())).collect();
        Error::Diagnosed(Box::new(Diagnosed { source: source.clone(), errors, is_wrong: true }))
    }
}

impl fmt::Display for Diagnosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let messages: Vec<&str> = self.errors.iter().map(|error| error.message.as_str()).collect();
        write!(f, "{}: {}", self.source.origin, messages.join("; "))
    }
}

impl std::error::Error for Diagnosed {}

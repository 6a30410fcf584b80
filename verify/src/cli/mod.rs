//! The command line: what can be asked, and how.

mod args;
pub mod commands;
pub mod number;
pub mod pictures;
pub mod placing;
pub mod range;
pub mod setting;

pub use args::{
    BoundsArgs, CallsArg, CheckArgs, CheckProfileArgs, CheckSelectionArgs, CompletionsArgs, CountsArgs, EmitCArgs,
    EmitCommand, Engine, ExpandArgs, ExplainArgs, ExplainSelectionArgs, ExploreArgs, FiguresArgs, LayoutArg,
    ListArgs, ManArgs, MutantsArgs, NewArgs, PlanArgs, ProfileCommand, ProveArgs, ReplayArgs, RunArgs,
    SelectionCommand, ShowArgs, SimulateArgs, TargetArgs, Tested, TraceCommand, TraceDiffArgs, TuneArgs,
};

use clap::{Parser, Subcommand};

/// Verified MPI collectives: show them, check them, run them.
#[derive(Debug, Parser)]
#[command(name = "roundel", version, max_term_width = 100, after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
    /// Print JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

const EXAMPLES: &str = "\
Examples:
  roundel check --all                     check the whole catalogue, and run it on threads
  roundel show sparbit -p 5               who sends which blocks to whom
  roundel show sparbit -p 5 --svg s.svg   the same as a picture
  roundel new my-collective               a crate with a collective of your own
  roundel check my_collective.rs          check a declaration without compiling it; so do show, run, prove, …

Exit codes:
  0  all is well
  1  a violation, or a run with a wrong result
  2  a request that makes no sense, or malformed input";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the catalogue: domains, rounds, and for which calls each collective is proved
    #[command(after_help = "\
Examples:
  roundel list
  roundel list allreduce/             those of a kind
  roundel list sparbit                all about one: bounds, layouts, order of reduction
  roundel list my_collective.rs       what a file declares, and what is proved of it
  roundel list --json")]
    List(ListArgs),
    /// Show the messages of every round: senders, receivers and blocks
    #[command(after_help = "\
Examples:
  roundel show sparbit -p 5
  roundel show allgather/ring -p 8 --ppn 4 --rank 3
  roundel show sparbit -p 12 --ppn 4 --svg sparbit.svg
  roundel show allgather/ring -p 8 --svg ring.svg --rounds 2..=4 --columns 4 --no-title
  roundel show locality-bruck -p 12 --ppn 4 --placement cyclic
  roundel show sparbit -p 5 --json
  roundel show my_collective.rs -p 5                all declarations of a file, without compiling it
  roundel show my_collective.rs:MyRing -p 5         one of them

Parameters are set with `--set radix=3`, lists with `--set ports=1,2`; `roundel list` names them. Rounds of the \
catalogue are those of its generated code; those of a file come from evaluating its declarations, which must be \
correct. With `--json`, several declarations are a list. Above 64 ranks, `--rank` looks at that rank alone, up to \
2^24 ranks, and checks nothing.")]
    Show(ShowArgs),
    /// Check collectives exactly, at every point of a range
    #[command(after_help = "\
Examples:
  roundel check --all                 the whole catalogue, which is also run on threads
  roundel check sparbit -p 1..=256
  roundel check allreduce/            all collectives of a kind
  roundel check allgather/k-bruck -p 1..=32 --set radix=2..=16
  roundel check my_collective.rs      every declaration of a file, without compiling it
  roundel check mine.rs:MyRing        one of them
  roundel check sparbit -p 7 --json

A range is written as in Rust: `7`, `1..64` (63 is the last), `1..=64`. Catalogue entries are \
checked by the rounds of their generated code, files by evaluating their declarations. Points \
outside a collective's domain are refused, and counted apart.")]
    Check(CheckArgs),
    /// Run a collective on threads and compare the result with its definition
    #[command(after_help = "\
Examples:
  roundel run sparbit -p 8
  roundel run sparbit -p 16 --bytes 65536 --repeat 20
  roundel run nap -p 16 --ppn 4
  roundel run bruck -p 6 --layout rotated
  roundel run my_collective.rs -p 8         all declarations of a file, without compiling it
  roundel run my_collective.rs:MyRing -p 8  one of them

A call that is not proved is refused. What is proved of a file is in the record that `roundel prove` writes into its \
crate; without one, it is what the compiler would check.")]
    Run(RunArgs),
    /// Make a crate with a collective of your own: a declaration, a test, a README and a workflow
    #[command(after_help = "\
Examples:
  roundel new my-collective                          an allgather, in the folder my-collective
  roundel new my-collective --kind allreduce
  roundel new my-collective --path ../roundel        depends on a source tree of Roundel

The declaration is checked and proved for all p as it is; change it, and `roundel check src/lib.rs` says whether it is \
still right. A folder that exists is left as it is.")]
    New(NewArgs),
    /// Print the code that a declaration expands to
    #[command(after_help = "\
Examples:
  roundel expand sparbit
  roundel expand my_collective.rs:MyCollective
  roundel expand sparbit --all        with the declaration as data, which is left out otherwise")]
    Expand(ExpandArgs),
    /// Write a collective in another language: one self-contained file, its header and a harness
    #[command(
        subcommand,
        after_help = "\
Examples:
  roundel emit c allgather/sparbit -o sparbit.c --header sparbit.h
  roundel emit c allgather/sparbit -o sparbit.c --harness sparbit_harness.c   for tests and CBMC
  roundel emit c allgather/sparbit -o sparbit.c --calls macros                for the tree of an MPI
  roundel emit c my_collective.rs:MyCollective
  mpicc -std=c99 -c sparbit.c

The file has MPI's own call, such as `roundel_allgather_sparbit`, and its head says what is proved of it."
    )]
    Emit(EmitCommand),
    /// Prove collectives for all p by induction over their rounds, and exactly for small p
    #[command(after_help = "\
Examples:
  roundel prove --all                          the whole catalogue; needs an SMT solver (z3)
  roundel prove allgather/ --require-all-p     all collectives of a kind
  roundel prove sparbit --emit-smt /tmp/smt    keep the questions put to the solver
  roundel prove src/my_collective.rs           writes proofs/NAME.json into that crate
  roundel prove sparbit --engine exhaustive -p 1..=512
  roundel prove src/pipeline.rs -p 1..=64 --set segments=1..=64

The record is what the derive embeds: calls outside its range are refused at run time. An obligation that no solver
discharges is shown with the solver's model, a counterexample to the induction, and the exit code is 1.")]
    Prove(ProveArgs),
    /// Tell what collectives cost: rounds, messages and blocks as formulas, proved for all p
    #[command(after_help = "\
Examples:
  roundel bounds sparbit
  roundel bounds allreduce/                    all collectives of a kind
  roundel bounds src/my_collective.rs          what a declaration costs; it need not declare a bound
  roundel bounds src/my_collective.rs --write-bounds
  roundel bounds allgather/ --seen             without a solver

Costs are measured exactly at small p and fitted to formulas. A formula is then proved like a declared `bound`; where \
that does not succeed, it is said for which p it was seen. A declared bound that is not tight is said to be so.")]
    Bounds(BoundsArgs),
    /// Change a declaration one detail at a time, and report whether the checks notice
    #[command(after_help = "\
Examples:
  roundel mutants --all -p 1..=16
  roundel mutants sparbit --survivors
  roundel mutants my_collective.rs
  roundel mutants sparbit --engine smt         a wrong mutant must not be proved for all p
  roundel mutants sparbit --engine harness     what the Kani harnesses claim, tried without Kani
  roundel mutants --all --order 2 --sample 200
  roundel mutants sparbit --json

Every mutant is killed by a check, or it survives. An independent simulation of the data judges \
the checker: a survivor that is wrong has ESCAPED, a kill without a fault is a FALSE ALARM. Both \
are faults of the checker, and the exit code is 1.")]
    Mutants(MutantsArgs),
    /// Show a saved counterexample again: round by round, on threads, and as a picture
    #[command(after_help = "\
Examples:
  roundel check my_collective.rs --save wrong.json
  roundel replay wrong.json
  roundel replay wrong.json --svg wrong.svg
  roundel mutants sparbit --only 17 --save mutant.json

The file holds the declaration, so it can be replayed anywhere. The exit code is 1 if the collective is still wrong \
there, and 0 if it is not. A counterexample to an induction (from `roundel prove`) is a state that need not be \
reachable: it is said whether it is.")]
    Replay(ReplayArgs),
    /// Explain which algorithm, with which radix or ports, a model predicts to be fastest
    #[command(after_help = "\
Examples:
  roundel explain alltoall -p 512 --bytes 64
  roundel explain alltoall -p 512 --bytes 64 --latency 2us --overhead 1us --bandwidth 156MB/s
  roundel explain alltoall -p 4096 --bytes 1024 --json
  roundel explain alltoall -p 64 --ppn 8 --bytes 64 --latency 500us
  roundel explain allreduce -p 160 --ppn 12 --bytes 262144       160 ranks, on 14 nodes
  roundel explain allreduce --nodes 160 --ppn 12 --bytes 262144  1920 ranks, on 160 nodes
  roundel explain allgather --nodes 16 --bytes 64 --profile machine.toml
  roundel explain src/lib.rs:MyCollective -p 64 --ppn 8          a collective of a file, beside those of the catalogue

Nothing is run. For an allreduce, a reduce_scatter or an allgather, rounds are timed by a profile of the machine, \
which `roundel tune` writes; `16(-3 -3) 10(9) 16(3 3)` are rounds among 16 nodes that scatter through 3 ports, twice, \
a round among 10 through 9 ports, and rounds that gather again. For an all-to-all, a round costs the latency, each of \
its messages the overhead, each byte its share of the bandwidth; rounds, messages and bytes are exact. The same model \
chooses in programs: `roundel::choice::alltoalls`.")]
    Explain(ExplainArgs),
    /// Simulate a collective on a machine that need not exist, with up to a million ranks
    #[command(after_help = "\
Examples:
  roundel simulate sparbit -p 1000 --ppn 50 --bytes 4096
  roundel simulate bruck -p 1000000 --ppn 100 --loggps L=2us,o=0.5us,g=0.1us,G=0.08ns,S=8192
  roundel simulate nap -p 4096 --ppn 64 --bytes 8 --profile machine.toml
  roundel simulate allreduce/ring -p 512 --loggps L=2us,o=1us,G=0.1ns --topology pods.toml --svg ring.svg
  roundel simulate my_collective.rs:MyRing -p 4096 --json
  roundel simulate allreduce --ports \"8(-1 1 1 1)\" --bytes 65536
  roundel simulate sparbit -p 64 --goal sparbit.goal      the rounds for LogGOPSim and ATLAHS

Nothing is run. The times are those of the model that docs/simulation.md describes: of rounds, by a profile, or of \
single messages, by LogGPS. If all ranks do the same relative to their own numbers, one of them stands for all; \
otherwise every rank is followed.")]
    Simulate(SimulateArgs),
    /// Look at collectives in the browser: step through rounds, edit, check, prove, compare
    #[command(after_help = "\
Examples:
  roundel explore                              the catalogue
  roundel explore sparbit -p 12 --ppn 4
  roundel explore my_collective.rs             the declarations of a file; it is read, never written
  roundel explore nap -p 16 --ppn 4 --html nap.html     one file with this call, for a web page

The page is served on this machine only, and by this program alone: nothing is loaded from elsewhere. Arrow keys step \
through the rounds.")]
    Explore(ExploreArgs),
    /// Make the modelled and counted figures of the papers, and say where they agree
    #[command(after_help = "\
Examples:
  roundel figures --out figures        SVG, CSV, and papers.md, which shows them

Messages come from the declarations, times from the simulator.")]
    Figures(FiguresArgs),
    /// Count what Bruck's all-to-all sends, for every radix or for every substep
    #[command(after_help = "\
Examples:
  roundel counts -p 6 --radix 2            the substeps: digit, value, distance, blocks
  roundel counts -p 4096                   substeps and blocks over the radix
  roundel counts -p 4096 --svg radix.svg   the same as a picture
  roundel counts -p 100 --json")]
    Counts(CountsArgs),
    /// Measure what rounds, copies and reductions cost on this machine, and write a profile
    #[command(after_help = "\
Examples:
  mpirun -n 16 roundel tune                       writes roundel-profile.toml
  mpirun -n 16 roundel tune -o machine.toml --budget 30s
  roundel explain allreduce --nodes 4 --ppn 4 --bytes 8 --profile machine.toml

Needs a build with MPI: `cargo build --release -p roundel-verify --features mpi`. Run it on at least two nodes; with \
one, messages between nodes are not measured, and the profile says so.")]
    Tune(TuneArgs),
    /// Read a profile
    #[command(
        subcommand,
        after_help = "\
Examples:
  roundel profile check machine.toml             what it says, or what is wrong, and in which line
  roundel profile check machine.toml --foreign   also if it is of another machine"
    )]
    Profile(ProfileCommand),
    /// Check or explain a file of rules that select the algorithm of a call
    #[command(
        subcommand,
        after_help = "\
Examples:
  roundel selection check rules.toml                  what each rule covers, or what is wrong, and in which line
  roundel selection explain allreduce -p 64 --ppn 4 --bytes 8 --file rules.toml
  roundel selection explain alltoall -p 64 --force alltoall:k-bruck:radix=4
  roundel selection schema                            the JSON schema of such a file, for editors

The file is named by ROUNDEL_SELECTION when a program runs; docs/selection.md describes it."
    )]
    Selection(SelectionCommand),
    /// Examine the trace of a program
    #[command(
        subcommand,
        after_help = "\
Examples:
  ROUNDEL_TRACE=run mpirun -n 8 program         every process writes run.R, where R is its rank
  roundel trace diff run                        all of them
  roundel trace diff run.0 run.1                some of them
  roundel trace diff run --json

Every message must be declared, and every declared one must be there once, at both of its ends. The exit code is 1 if \
something differs or the file of a rank is missing. docs/trace.md describes the files."
    )]
    Trace(TraceCommand),
    /// Print what one node does: a listing for numbers of ports and factors, or the plan of a collective
    #[command(after_help = "\
Examples:
  roundel plan allreduce --nodes 8 --node 5 --ports \"8(-1 1 1 1)\" --ppn 4 --sizes 8,8,8,16,8,16,8,16
  roundel plan allreduce --node 5 --ports \"2(-1) 4(1 1) 2(1)\" --part
  roundel plan allreduce --summary --ports \"39(1 1 1 1 1 1)\" --ports \"3(1 1) 13(1 1 1 1)\"
  roundel plan allreduce/ring -p 5 --node 2
  roundel plan my_collective.rs:MyRing -p 5

In `8(-1 1 1 1)`, 8 nodes take a step of reduce_scatter with one port and three steps of allgather. Groups such as \
`2(-1) 4(1 1) 2(1)` multiply. A slot of a plan is LINE.BLOCK; line 0 is the input, line 1 the output. Above 64 \
ranks, `--node` looks at that rank of a collective alone: silent rounds are left out, and it has its own lines only.")]
    Plan(PlanArgs),
    /// Print shell completions for commands, options and names of collectives
    #[command(after_help = "\
Examples:
  roundel completions bash > ~/.local/share/bash-completion/completions/roundel
  roundel completions zsh > ~/.zfunc/_roundel
  roundel completions fish > ~/.config/fish/completions/roundel.fish")]
    Completions(CompletionsArgs),
    /// Write the manual pages
    #[command(after_help = "\
Examples:
  roundel man ~/.local/share/man/man1        then `man roundel`, `man roundel-check`")]
    Man(ManArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_examples() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with("Examples:"), "{}", command.get_name());
        }
    }
}

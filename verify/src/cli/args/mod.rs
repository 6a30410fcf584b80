//! The arguments of the commands.

mod declarations;
mod machine;
mod proofs;
mod shell;
mod targets;

pub use declarations::{
    CallsArg, CheckArgs, CountsArgs, EmitCArgs, EmitCommand, ExpandArgs, ExploreArgs, FiguresArgs, LayoutArg,
    ListArgs, NewArgs, PlanArgs, ReplayArgs, RunArgs, ShowArgs, SimulateArgs,
};
pub use machine::{
    CheckProfileArgs, CheckSelectionArgs, ExplainArgs, ExplainSelectionArgs, ProfileCommand, SelectionCommand,
    TraceCommand, TraceDiffArgs, TuneArgs,
};
pub use proofs::{BoundsArgs, Engine, MutantsArgs, ProveArgs, Tested};
pub use shell::{CompletionsArgs, ManArgs};
pub use targets::TargetArgs;

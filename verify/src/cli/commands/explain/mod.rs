//! `roundel explain`: which algorithm is chosen on a network, and why.

mod alltoall;
mod ports;

use super::CommandOutcome;
use crate::cli::ExplainArgs;
use crate::error::Error;
use roundel_spec::Kind;

/// The collectives that have a model.
const KNOWN: &str = "alltoall, allreduce, reduce_scatter and allgather";

/// Explains a choice.
pub(super) fn explain(args: &ExplainArgs, json: bool) -> Result<CommandOutcome, Error> {
    // Folders of the catalogue are named with a hyphen.
    let name = args.collective.trim_end_matches('/').replace('-', "_");
    match name.parse() {
        Ok(Kind::Alltoall) => alltoall::explain(args, json),
        Ok(kind @ (Kind::Allreduce | Kind::ReduceScatter | Kind::Allgather)) => ports::explain(args, kind, json),
        _ => Err(Error::NoModel { collective: args.collective.clone(), known: KNOWN }),
    }
}

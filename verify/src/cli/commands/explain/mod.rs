//! `roundel explain`: which algorithm is chosen on a network, and why.

mod alltoall;
mod named;
mod ports;

use super::CommandOutcome;
use crate::cli::ExplainArgs;
use crate::error::Error;
use roundel_spec::Kind;
use roundel_spec::similar::similar;

/// The collectives that have a model.
const KNOWN: &str = "alltoall, allreduce, reduce_scatter and allgather";

/// Explains a choice.
pub(super) fn explain(args: &ExplainArgs, json: bool) -> Result<CommandOutcome, Error> {
    // Folders of the catalogue are named with a hyphen.
    let name = args.collective.trim_end_matches('/').replace('-', "_");
    match name.parse() {
        Ok(Kind::Alltoall) => alltoall::explain(args, json),
        Ok(kind @ (Kind::Allreduce | Kind::ReduceScatter | Kind::Allgather)) => ports::explain(args, kind, json),
        Err(()) if named::is_named(&args.collective) => named::explain(args, json),
        _ => {
            let kinds = [Kind::Alltoall, Kind::Allreduce, Kind::ReduceScatter, Kind::Allgather].map(Kind::name);
            let hint = similar(&name, kinds).map_or(String::new(), |close| format!("; did you mean `{close}`?"));
            Err(Error::NoModel { collective: args.collective.clone(), known: KNOWN, hint })
        }
    }
}

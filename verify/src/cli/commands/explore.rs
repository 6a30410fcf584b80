//! `roundel explore`: a page about collectives in the browser, or as one file.

use super::{CommandOutcome, print, print_json};
use crate::cli::ExploreArgs;
use crate::cli::placing::{Placing, RankSpread};
use crate::error::Error;
use crate::explore::ask::ExploredCall;
use crate::explore::server::{Server, open};
use crate::explore::{Explorer, Refusal, page};
use std::path::Path;

/// The collective that is shown if none is named.
const FIRST: &str = "allgather/sparbit";

/// Serves the page, or writes it to a file.
pub(super) fn explore(args: &ExploreArgs, json: bool) -> Result<CommandOutcome, Error> {
    let file = args.name.as_deref().map(file_of).filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let explorer = Explorer::new(file)?;
    let call = call(args, &explorer)?;
    if let Some(path) = &args.html {
        let text = page::whole(&explorer, &call).map_err(unwrapped)?;
        std::fs::write(path, text).map_err(|source| Error::Write { path: path.clone(), source })?;
        match json {
            true => print_json(&serde_json::json!({ "ok": true, "page": path }))?,
            false => print(&format!("the page is in {}\n", path.display()))?,
        }
        return Ok(CommandOutcome::Fine);
    }
    let server = Server::new(explorer, args.port).map_err(|source| Error::Port { port: args.port, source })?;
    let address = format!("http://localhost:{}/#{}", server.port(), call.address());
    match json {
        true => print_json(&serde_json::json!({ "address": address, "port": server.port() }))?,
        false => print(&format!("{address}\nPress Ctrl-C to end.\n"))?,
    }
    if !args.no_open {
        open(&address);
    }
    server.serve();
    Ok(CommandOutcome::Fine)
}

/// The file of `FILE.rs` or `FILE.rs:Type`.
fn file_of(text: &str) -> &Path {
    match text.rsplit_once(':') {
        Some((file, _)) if file.ends_with(".rs") => Path::new(file),
        _ => Path::new(text),
    }
}

fn call(args: &ExploreArgs, explorer: &Explorer) -> Result<ExploredCall, Error> {
    let name = match (&args.name, explorer.first_of_file()) {
        (Some(name), Some(_)) if !name.ends_with(".rs") => name.clone(),
        (_, Some(first)) => first.to_string(),
        (Some(name), None) => crate::catalogue::find(name)?.name.into(),
        (None, None) => FIRST.into(),
    };
    let limit = crate::simulation::MAX_P;
    if !(1..=limit).contains(&args.p) {
        return Err(Error::Ranks { p: args.p, limit, reason: "every rank may have to be followed" });
    }
    let Placing { ppn, placement } = &args.placing;
    if let Some(RankSpread::File(_)) = placement {
        let placed = args.placing.of(args.p)?;
        let nodes = (0..args.p).map(|rank| placed.path(rank)).collect();
        return Ok(ExploredCall {
            collective: name,
            p: args.p,
            nodes,
            set: args.set.clone(),
            ..ExploredCall::default()
        });
    }
    let cyclic = placement == &Some(RankSpread::Cyclic);
    Ok(ExploredCall {
        collective: name,
        p: args.p,
        ppn: *ppn,
        cyclic,
        set: args.set.clone(),
        ..ExploredCall::default()
    })
}

/// An error in the words of the command line.
fn unwrapped(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Asked(error) => error,
        other => Error::Explored { name: "the page".into(), reason: other.to_string() },
    }
}

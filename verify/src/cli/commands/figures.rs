//! `roundel figures`: the modelled and counted figures of the papers, and whether they agree.

use super::{CommandOutcome, print, print_json};
use crate::cli::FiguresArgs;
use crate::error::Error;
use crate::figures::{self, Figure};
use crate::report::table::{Align, Cell, GOOD, NOTICE, Table};
use std::path::Path;

/// Runs the command.
pub(super) fn figures(args: &FiguresArgs, json: bool) -> Result<CommandOutcome, Error> {
    let all = figures::figures(&args.figures)?;
    let folder = args.out.join("papers");
    std::fs::create_dir_all(&folder).map_err(|source| Error::Write { path: folder.clone(), source })?;
    for figure in &all {
        write(&folder, &format!("{}.svg", figure.name), &figure.picture.svg())?;
        if args.tikz {
            write(&folder, &format!("{}.tex", figure.name), &figure.picture.tikz())?;
        }
        write(&folder, &format!("{}.csv", figure.name), &figure.csv())?;
    }
    if args.figures.is_empty() {
        write(&args.out, "papers.md", &figures::page(&all, "papers/"))?;
    }
    if json {
        print_json(&summary(&all))?
    } else {
        print(&text(&all, &folder))?
    }
    Ok(CommandOutcome::Fine)
}

fn write(folder: &Path, name: &str, text: &str) -> Result<(), Error> {
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(|source| Error::Write { path, source })
}

fn summary(all: &[Figure]) -> serde_json::Value {
    let claims = all.iter().flat_map(|figure| figure.claims.iter().map(move |claim| (figure.name, claim)));
    let claim = |(name, claim): (&str, &figures::Claim)| {
        let figures::Claim { paper, found, agrees } = claim;
        serde_json::json!({ "figure": name, "paper": paper, "found": found, "agrees": agrees })
    };
    claims.map(claim).collect()
}

fn text(all: &[Figure], folder: &Path) -> String {
    let heads = ["figure", "the paper says", "found here", ""].map(|head| (head, Align::Left));
    let mut table = Table::new(heads).wrapped(&[16, 44, 44]);
    for figure in all {
        for claim in &figure.claims {
            let verdict = if claim.agrees { Cell::styled("agrees", GOOD) } else { Cell::styled("differs", NOTICE) };
            table.row([figure.name.into(), claim.paper.into(), claim.found.clone().into(), verdict]);
        }
    }
    format!("{table}\npictures and data are in {}\n", folder.display())
}

//! `roundel new`: makes a crate with a collective of one's own.

use super::{CommandOutcome, print, print_json};
use crate::cli::NewArgs;
use crate::error::Error;
use crate::report::table::HEADING;
use crate::scaffold::Scaffold;
use roundel_spec::Kind;
use roundel_spec::similar::similar;
use serde::Serialize;
use std::path::PathBuf;

/// A new crate, for JSON output.
#[derive(Serialize)]
struct NewReport {
    folder: PathBuf,
    #[serde(rename = "type")]
    type_name: String,
    kind: &'static str,
    files: Vec<&'static str>,
}

/// Makes a crate.
pub(super) fn new(args: &NewArgs, json: bool) -> Result<CommandOutcome, Error> {
    let kind = kind(&args.kind)?;
    let scaffold = Scaffold::new(&args.folder, kind, args.path.as_deref())?;
    scaffold.write()?;
    let report = NewReport {
        folder: args.folder.clone(),
        type_name: scaffold.type_name(),
        kind: kind.name(),
        files: scaffold.files().into_iter().map(|(path, _)| path).collect(),
    };
    if json {
        print_json(&report)?
    } else {
        print(&text(&report, args.path.is_some()))?
    }
    Ok(CommandOutcome::Fine)
}

/// The kind with this name, as declarations or the catalogue write it.
fn kind(text: &str) -> Result<Kind, Error> {
    let name = text.trim_end_matches('/').replace('-', "_");
    name.parse().map_err(|_| {
        let names = Kind::ALL.map(Kind::name);
        let hint = similar(&name, names).map_or(String::new(), |close| format!("; did you mean `{close}`?"));
        Error::NoKind { kind: text.into(), known: names.join(", "), hint }
    })
}

fn text(report: &NewReport, of_tree: bool) -> String {
    let folder = report.folder.display();
    let source = match of_tree {
        true => "",
        false => {
            "\nCargo takes roundel from its registry; `--path PATH/TO/roundel` makes a crate that takes a checkout\n"
        }
    };
    format!(
        "{HEADING}{}{HEADING:#}, declared in {folder}/src/lib.rs\n\n  cd {folder}\n  roundel check src/lib.rs\n  \
         roundel show src/lib.rs -p 5\n  roundel prove src/lib.rs\n  cargo test\n\n{folder}/README.md has more\n\
         {source}",
        report.type_name
    )
}

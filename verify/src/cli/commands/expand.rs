//! `roundel expand`: prints the code generated from a declaration.

use super::target::{Target, all_or_errors, declaration_of, malformed, no_such_type};
use super::{CommandOutcome, print, print_json};
use crate::cli::ExpandArgs;
use crate::declared::crate_of;
use crate::emit::proved;
use crate::error::Error;
use crate::source::Source;
use roundel::algorithms;
use roundel_spec::proof::GrantedCalls;
use roundel_spec::rust;
use roundel_spec::syntax::Declaration;
use serde::Serialize;
use std::path::{Path, PathBuf};
use syn::{Expr, ImplItem, Item, Stmt};

/// Generated code, for JSON output.
#[derive(Serialize)]
struct Expanded {
    name: String,
    code: String,
    omitted: Vec<&'static str>,
}

/// Prints the code of a declaration.
pub(super) fn expand(args: &ExpandArgs, json: bool) -> Result<CommandOutcome, Error> {
    let (source, declarations, root) = match Target::find(&args.target)? {
        Target::Entry(entry) => {
            let (source, declaration) = declaration_of(entry)?;
            (source, vec![declaration], Some(PathBuf::from(algorithms::CRATE_ROOT)))
        }
        Target::File(source, declared) => match all_or_errors(declared) {
            Ok(declarations) => {
                let root = crate_of(Path::new(&source.origin));
                (source, declarations, root)
            }
            Err(errors) => return malformed(&source, &errors, json),
        },
    };
    let chosen = choose(&source, &declarations, args.wanted.as_deref())?;
    let expanded = chosen.iter().map(|d| generate(d, root.as_deref(), args.all)).collect::<Result<Vec<_>, _>>()?;
    if json {
        print_json(&expanded)?;
    } else {
        let texts: Vec<String> = expanded.iter().map(text).collect();
        print(&texts.join("\n"))?;
    }
    Ok(CommandOutcome::Fine)
}

fn choose<'a>(
    source: &Source,
    declarations: &'a [Declaration],
    wanted: Option<&str>,
) -> Result<Vec<&'a Declaration>, Error> {
    let Some(wanted) = wanted else { return Ok(declarations.iter().collect()) };
    let chosen: Vec<&Declaration> = declarations.iter().filter(|d| d.schedule.name == wanted).collect();
    if chosen.is_empty() {
        return Err(no_such_type(source, wanted, declarations.iter().map(|d| d.schedule.name.as_str())));
    }
    Ok(chosen)
}

/// The formatted code; without the declaration as data and the tests, unless `everything` is set.
fn generate(declaration: &Declaration, root: Option<&Path>, everything: bool) -> Result<Expanded, Error> {
    let (schedule, name) = (&declaration.schedule, declaration.schedule.name.clone());
    // A wrong declaration has code too, for debugging: it serves no call.
    let (granted, record) = match proved(schedule, root) {
        Ok(known) => known,
        Err(Error::WrongDeclaration { .. }) => (GrantedCalls::nothing(schedule), None),
        Err(error) => return Err(error),
    };
    let claimed = record.map_or_else(|| schedule.clone(), |record| record.claimed(schedule));
    let tokens = match everything {
        true => rust::expand(declaration, &granted, &claimed),
        false => rust::code(declaration, &granted),
    };
    let mut file: syn::File =
        syn::parse2(tokens).map_err(|source| Error::Generated { name: name.clone(), source })?;
    let mut omitted = Vec::new();
    if !everything {
        file.items.iter_mut().for_each(drop_schedule);
        omitted.extend(["fn schedule", "tests"]);
    }
    Ok(Expanded { name, code: prettyplease::unparse(&file), omitted })
}

/// Drops the method `schedule` from every implementation, also inside `const _: () = { … }`.
fn drop_schedule(item: &mut Item) {
    match item {
        Item::Impl(block) => {
            block.items.retain(|item| !matches!(item, ImplItem::Fn(function) if function.sig.ident == "schedule"));
        }
        Item::Const(constant) => {
            if let Expr::Block(block) = &mut *constant.expr {
                for statement in &mut block.block.stmts {
                    if let Stmt::Item(item) = statement {
                        drop_schedule(item);
                    }
                }
            }
        }
        _ => {}
    }
}

fn text(expanded: &Expanded) -> String {
    let note = match expanded.omitted.as_slice() {
        [] => String::new(),
        _ => {
            "// Left out: `fn schedule()`, the declaration as data, and the tests; `--all` prints them too.\n".into()
        }
    };
    format!("// Generated for `{}`.\n{note}{}", expanded.name, expanded.code)
}

//! The pipeline: parse, check, emit.

use proc_macro2::TokenStream;
use quote::quote;
use roundel_spec::check::{Checked, Points};
use roundel_spec::proof::{GrantedCalls, Record};
use roundel_spec::syntax::Declaration;
use roundel_spec::{check, rust, syntax};
use std::path::{Path, PathBuf};
use syn::{DeriveInput, Error, Result};

/// The implementation for one declaration, or all of its errors.
///
/// A wrong declaration gets an implementation as well as the error, so that rustc does not also complain about every
/// use of the type.
pub(crate) fn derive(input: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let declaration = match syntax::parse(&input) {
        Ok(declaration) => declaration,
        Err(error) => return Ok(beside(error, rust::stub(&input))),
    };
    let schedule = &declaration.schedule;
    Ok(match check::at_compile_time(schedule) {
        Ok(checked) => {
            let crate_root = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
            let (granted, tracked) = granted_calls(&declaration, &checked, crate_root.as_deref());
            let code = rust::expand(&declaration, granted.as_ref().unwrap_or(&GrantedCalls::nothing(schedule)));
            let error = granted.err().map(Error::into_compile_error);
            quote!(#error #code #tracked)
        }
        Err(violation) => {
            let nothing = GrantedCalls::nothing(schedule);
            let points = Points::within_limits(schedule);
            beside(declaration.error(&violation, &points), rust::code(&declaration, &nothing))
        }
    })
}

/// The calls of the crate's proof record, or, without a record, those just checked; an inconsistent record is an error.
/// The tokens make rustc recompile when the record changes.
fn granted_calls(
    declaration: &Declaration,
    checked: &Checked,
    crate_root: Option<&Path>,
) -> (Result<GrantedCalls>, TokenStream) {
    let schedule = &declaration.schedule;
    let from_check = || GrantedCalls::fully(checked.granted(schedule));
    let Some(crate_root) = crate_root else { return (Ok(from_check()), quote!()) };
    let file = Record::path(crate_root, schedule);
    let tracked = file.is_file().then(|| {
        let file = file.to_string_lossy().into_owned();
        quote!(
            const _: &str = include_str!(#file);
        )
    });
    let granted = match Record::in_crate(crate_root, schedule) {
        Ok(record) => Ok(record.map_or_else(from_check, |record| record.granted())),
        Err(unfit) => Err(Error::new_spanned(
            &declaration.ident,
            format!(
                "the proof record proofs/{}.json does not count: {unfit}; `roundel prove` on this file writes it \
                 again, or remove it",
                schedule.name
            ),
        )),
    };
    (granted, quote!(#tracked))
}

fn beside(error: Error, code: TokenStream) -> TokenStream {
    let error = error.into_compile_error();
    quote!(#error #code)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use roundel_spec::check::Points;
    use roundel_spec::proof::Exhaustive;

    /// The largest p that the derive grants for a record with this text, or its error.
    fn granted(name: &str, text: impl Fn(&str) -> String) -> std::result::Result<Option<i64>, String> {
        let clauses = "#[collective(allgather)]\n#[check(p <= 8)]\n#[round(s in 0..p - 1)]\n\
                       #[send(to = rank + 1, blocks = [rank - s])]\n#[recv(from = rank - 1, blocks = [rank - 1 - s])]";
        let input = syn::parse_str(&format!("{clauses}\nstruct {name};")).unwrap();
        let declaration = syntax::parse(&input).unwrap();
        let schedule = &declaration.schedule;
        let checked = check::at_compile_time(schedule).unwrap();
        let points = Points::new(schedule, 1..=30);
        let exhaustive = Exhaustive::new(schedule, &points.checked(schedule, 30));
        let record = Record::new(schedule, exhaustive, None).unwrap().to_json().unwrap();
        let root = std::env::temp_dir().join(format!("roundel-{name}-{}", std::process::id()));
        std::fs::create_dir_all(root.join("proofs")).unwrap();
        std::fs::write(Record::path(&root, schedule), text(&record)).unwrap();
        let (granted, _) = granted_calls(&declaration, &checked, Some(&root));
        std::fs::remove_dir_all(&root).unwrap();
        granted.map(|granted| granted.all.p).map_err(|error| error.to_string())
    }

    #[test]
    fn a_record_that_counts_is_embedded_and_one_that_was_edited_is_an_error() {
        assert_eq!(granted("Whole", |text| text.into()), Ok(Some(30)));
        for (name, old, new) in [
            ("Wide", "\"p\": 30", "\"p\": null"),
            ("Cases", "\"cases\": 30", "\"cases\": 31"),
            ("None", "\"exhaustive\": {", "\"else\": {"),
            ("Cut", "}\n", ""),
        ] {
            let error = granted(name, |text| text.replace(old, new)).unwrap_err();
            assert!(error.contains(&format!("the proof record proofs/{name}.json does not count: ")), "{error}");
        }
    }

    #[test]
    fn a_record_that_has_lapsed_counts_for_nothing() {
        assert_eq!(granted("Other", |text| text.replace("\"Other\"", "\"Another\"")), Ok(Some(8)));
        assert_eq!(granted("Older", |_| "{\"prover\": \"4\", \"range\": {\"p\": null}}".into()), Ok(Some(8)));
    }
}

//! The pipeline: parse, check, emit.

use proc_macro2::TokenStream;
use quote::quote;
use roundel_spec::check::Points;
use roundel_spec::proof::{GrantedCalls, Record, RecordError};
use roundel_spec::syntax::Declaration;
use roundel_spec::{Schedule, check, rust, syntax};
use std::path::{Path, PathBuf};
use syn::{DeriveInput, Error};

/// The implementation for one declaration, or all of its errors.
///
/// A wrong declaration gets an implementation as well as the error, so that rustc does not also complain about every
/// use of the type.
pub(crate) fn derive(input: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let declaration = match syntax::parse(&input) {
        Ok(declaration) => declaration,
        Err(error) => return Ok(beside(error, rust::stub(&input))),
    };
    let crate_root = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let (record, tracked) = recorded(&declaration.schedule, crate_root.as_deref());
    let Examined { claimed, granted, error, is_correct } = Examined::of(&declaration, record);
    let code = match is_correct {
        true => rust::expand(&declaration, &granted, &claimed),
        false => rust::code(&declaration, &granted),
    };
    let error = error.map(Error::into_compile_error);
    Ok(quote!(#error #code #tracked))
}

/// What the check and the record say about a declaration.
struct Examined {
    /// Its schedule with what its record says was found. That is checked and used like what is written.
    claimed: Schedule,
    /// The calls that it serves: those of the record, or, without one, those just checked.
    granted: GrantedCalls,
    /// A violation, or why the record does not count.
    error: Option<Error>,
    /// Whether everything that is written or found is true at compile time.
    is_correct: bool,
}

impl Examined {
    fn of(declaration: &Declaration, record: Result<Option<Record>, RecordError>) -> Self {
        let schedule = &declaration.schedule;
        let kept = record.as_ref().ok().and_then(Option::as_ref);
        let claimed = kept.map_or_else(|| schedule.clone(), |record| record.claimed(schedule));
        let checked = check::at_compile_time(&claimed);
        let is_correct = checked.is_ok();
        let granted = match (checked, record) {
            (Ok(checked), Ok(None)) => Ok(GrantedCalls::fully(checked.granted(schedule))),
            (Ok(_), Ok(Some(record))) => Ok(record.granted()),
            (Ok(_), Err(unfit)) => Err(record_error(declaration, &unfit.to_string())),
            (Err(violation), _) if schedule.states(violation.spot) => {
                Err(declaration.error(&violation, &Points::within_limits(schedule)))
            }
            (Err(violation), _) => Err(record_error(declaration, &format!("what was found is wrong: {violation}"))),
        };
        let (granted, error) = match granted {
            Ok(granted) => (granted, None),
            Err(error) => (GrantedCalls::nothing(schedule), Some(error)),
        };
        Examined { claimed, granted, error, is_correct }
    }
}

/// The record in the crate that declares a collective, if it is about this declaration. The tokens make rustc recompile
/// when the record changes.
fn recorded(schedule: &Schedule, crate_root: Option<&Path>) -> (Result<Option<Record>, RecordError>, TokenStream) {
    let Some(crate_root) = crate_root else { return (Ok(None), quote!()) };
    let file = Record::path(crate_root, schedule);
    let tracked = file.is_file().then(|| {
        let file = file.to_string_lossy().into_owned();
        quote!(
            const _: &str = include_str!(#file);
        )
    });
    (Record::in_crate(crate_root, schedule), quote!(#tracked))
}

/// The error for a record that does not count.
fn record_error(declaration: &Declaration, reason: &str) -> Error {
    let message = format!(
        "the proof record proofs/{}.json does not count: {reason}; `roundel prove` on this file writes it again, or \
         remove it",
        declaration.schedule.name
    );
    Error::new_spanned(&declaration.ident, message)
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
    use roundel_spec::proof::{Answered, Exhaustive, FoundClause, Induction};

    /// The largest p that the derive grants for a record with this text, or its error.
    fn granted(name: &str, text: impl Fn(&str) -> String) -> Result<Option<i64>, String> {
        let clauses = "#[collective(allgather)]\n#[check(p <= 8)]\n#[round(s in 0..p - 1)]\n\
                       #[send(to = rank + 1, blocks = [rank - s])]\n#[recv(from = rank - 1, blocks = [rank - 1 - s])]";
        let input = syn::parse_str(&format!("{clauses}\nstruct {name};")).unwrap();
        let declaration = syntax::parse(&input).unwrap();
        let schedule = &declaration.schedule;
        let points = Points::new(schedule, 1..=30);
        let exhaustive = Exhaustive::new(schedule, &points.checked(schedule, 30));
        let record = Record::new(schedule, exhaustive, None).unwrap().to_json().unwrap();
        let root = std::env::temp_dir().join(format!("roundel-{name}-{}", std::process::id()));
        std::fs::create_dir_all(root.join("proofs")).unwrap();
        std::fs::write(Record::path(&root, schedule), text(&record)).unwrap();
        let examined = Examined::of(&declaration, recorded(schedule, Some(&root)).0);
        std::fs::remove_dir_all(&root).unwrap();
        assert!(examined.is_correct);
        examined.error.map_or(Ok(examined.granted.all.p), |error| Err(error.to_string()))
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

    /// A ring that does not say what ranks hold, and a record that says it.
    fn found(clause: &str) -> Examined {
        let clauses = "#[collective(allgather)]\n#[round(s in 0..p - 1)]\n\
                       #[send(to = rank + 1, blocks = [rank - s])]\n#[recv(from = rank - 1, blocks = [rank - 1 - s])]";
        let declaration = syntax::parse(&syn::parse_str(&format!("{clauses}\nstruct Found;")).unwrap()).unwrap();
        let schedule = &declaration.schedule;
        let lemma = Answered::try_from("lemma 0 proved z3".to_string()).unwrap();
        let induction = Induction {
            found: vec![FoundClause { round: 0, clause: clause.into() }],
            obligations: Vec::new(),
            gaps: Vec::new(),
            lemmas: vec![lemma],
        };
        let points = Points::within_limits(schedule);
        let exhaustive = Exhaustive::new(schedule, &points.checked(schedule, 40));
        let record = Record::new(schedule, exhaustive, Some(induction)).unwrap();
        Examined::of(&declaration, Record::read(&record.to_json().unwrap(), schedule).map(Some))
    }

    #[test]
    fn what_a_record_says_was_found_is_checked_like_what_is_written() {
        let right = found("holds(blocks = [rank - k; k in 0..s + 1], s >= 0)");
        assert!(right.is_correct && right.error.is_none());
        assert_eq!(right.claimed.loops[0].holds.len(), 2);
        // Not what the record says, but only where p is larger than some number.
        for wrong in ["holds(blocks = [rank - k; k in 0..s + 2])", "holds(s < 30)", "hint(p < 39)"] {
            let examined = found(wrong);
            assert!(!examined.is_correct && examined.granted.all.p == Some(0), "{wrong}");
            let error = examined.error.unwrap().to_string();
            assert!(error.contains("proofs/Found.json does not count: what was found is wrong: "), "{error}");
        }
    }
}

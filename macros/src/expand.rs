//! The pipeline: parse, check, emit.

use proc_macro2::TokenStream;
use quote::quote;
use roundel_spec::proof::{ProvedRange, Record};
use roundel_spec::{Schedule, check, rust, syntax};
use std::path::Path;
use syn::{DeriveInput, Error, Result};

/// The implementation for one declaration, or all that is wrong with it.
///
/// A wrong declaration gets an implementation beside the error, so that rustc does not go on to complain about every
/// use of the type.
pub(crate) fn derive(input: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let declaration = match syntax::parse(&input) {
        Ok(declaration) => declaration,
        Err(error) => return Ok(beside(error, rust::stub(&input))),
    };
    let schedule = &declaration.schedule;
    Ok(match check::at_compile_time(schedule) {
        Ok(_) => {
            let (range, tracked) = proved_range(schedule);
            let code = rust::expand(&declaration, &range);
            quote!(#code #tracked)
        }
        Err(violation) => {
            let nothing = ProvedRange::checked(schedule, 0);
            beside(declaration.error(&violation), rust::code(&declaration, &nothing))
        }
    })
}

/// The range that the crate's proof record states if it is current, else what was just checked. The tokens make
/// rustc look again when the record changes.
fn proved_range(schedule: &Schedule) -> (ProvedRange, TokenStream) {
    let checked = ProvedRange::checked(schedule, schedule.limits.p);
    let Some(crate_root) = std::env::var_os("CARGO_MANIFEST_DIR") else { return (checked, quote!()) };
    let path = Path::new(&crate_root).join("proofs").join(format!("{}.json", schedule.name));
    let Ok(text) = std::fs::read_to_string(&path) else { return (checked, quote!()) };
    let file = path.to_string_lossy().into_owned();
    let tracked = quote!(
        const _: &str = include_str!(#file);
    );
    (Record::read(&text, schedule).map_or(checked, |record| record.range), tracked)
}

fn beside(error: Error, code: TokenStream) -> TokenStream {
    let error = error.into_compile_error();
    quote!(#error #code)
}

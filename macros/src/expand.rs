//! The pipeline: parse, check, emit.

use proc_macro2::TokenStream;
use quote::quote;
use roundel_spec::check::Checked;
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
        Ok(checked) => {
            let (range, tracked) = proved_range(schedule, &checked);
            let code = rust::expand(&declaration, &range);
            quote!(#code #tracked)
        }
        Err(violation) => {
            let nothing = ProvedRange::nothing(schedule);
            beside(declaration.error(&violation), rust::code(&declaration, &nothing))
        }
    })
}

/// The range that the crate's proof record states if it is current, else what was just checked. The tokens make
/// rustc look again when the record changes.
fn proved_range(schedule: &Schedule, checked: &Checked) -> (ProvedRange, TokenStream) {
    let Some(crate_root) = std::env::var_os("CARGO_MANIFEST_DIR") else {
        return (ProvedRange::of(schedule, checked), quote!());
    };
    let crate_root = Path::new(&crate_root);
    let file = Record::path(crate_root, schedule);
    let tracked = if file.is_file() {
        let file = file.to_string_lossy().into_owned();
        quote!(
            const _: &str = include_str!(#file);
        )
    } else {
        quote!()
    };
    (ProvedRange::in_crate(crate_root, schedule, checked), tracked)
}

fn beside(error: Error, code: TokenStream) -> TokenStream {
    let error = error.into_compile_error();
    quote!(#error #code)
}

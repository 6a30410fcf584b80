//! The pipeline: parse, check, emit.

use proc_macro2::TokenStream;
use quote::quote;
use roundel_spec::{check, rust, syntax};
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
    Ok(match check::at_compile_time(&declaration.schedule) {
        Ok(_) => rust::expand(&declaration),
        Err(violation) => beside(declaration.error(&violation), rust::code(&declaration)),
    })
}

fn beside(error: Error, code: TokenStream) -> TokenStream {
    let error = error.into_compile_error();
    quote!(#error #code)
}

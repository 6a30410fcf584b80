//! The pipeline: parse, check, emit.

use proc_macro2::TokenStream;
use quote::quote;
use roundel_spec::{check, rust, syntax};
use syn::{DeriveInput, Result};

/// The implementation for one declaration, or all that is wrong with it.
///
/// A declaration that parses and fails its check gets its implementation beside the error, so that rustc does not
/// go on to complain about every use of the type.
pub(crate) fn derive(input: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let declaration = syntax::parse(&input)?;
    Ok(match check::at_compile_time(&declaration.schedule) {
        Ok(_) => rust::expand(&declaration),
        Err(violation) => {
            let (error, code) = (declaration.error(&violation).into_compile_error(), rust::code(&declaration));
            quote!(#error #code)
        }
    })
}

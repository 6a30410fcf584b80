//! Kani's attributes. They change nothing, but the paths that they name must resolve.

extern crate proc_macro;
use proc_macro::TokenStream;

/// `#[kani::proof]`: a function that only Kani calls.
#[proc_macro_attribute]
pub fn proof(arguments: TokenStream, function: TokenStream) -> TokenStream {
    assert!(arguments.is_empty(), "`kani::proof` takes nothing here");
    let mut all: TokenStream = "#[allow(dead_code)]".parse().expect("an attribute");
    all.extend(function);
    all
}

/// `#[kani::unwind(n)]`: n is a number.
#[proc_macro_attribute]
pub fn unwind(arguments: TokenStream, function: TokenStream) -> TokenStream {
    let limit = arguments.to_string();
    assert!(limit.parse::<u32>().is_ok(), "`kani::unwind` takes a number, not `{limit}`");
    function
}

/// `#[kani::stub(original, stand_in)]`: both exist and have the same signature.
#[proc_macro_attribute]
pub fn stub(pair: TokenStream, function: TokenStream) -> TokenStream {
    let checked = format!("const _: () = {{ let _same_signature = [{pair}]; }};");
    let mut all: TokenStream = checked.parse().expect("two paths");
    all.extend(function);
    all
}

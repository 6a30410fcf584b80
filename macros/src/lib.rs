//! `#[derive(Collective)]`: from a declared schedule to checked, generated code.
//!
//! The work is done in `roundel-spec`, which the command line uses, too; this crate is the entry point that rustc
//! calls.

mod expand;

use proc_macro::TokenStream;

/// Implements `Collective` for a struct whose attributes declare a schedule.
///
/// The declaration is parsed, checked exactly for every p up to its limit (40 by default), and turned into code. A
/// wrong declaration does not compile: the error points at the clause at fault and names the smallest case that shows
/// it.
///
#[doc = include_str!("../language.md")]
#[proc_macro_derive(
    Collective,
    attributes(
        collective,
        reverse_of,
        split,
        lines,
        order,
        requires,
        define,
        round,
        state,
        send,
        recv,
        exchange,
        within,
        holds,
        hint,
        bound,
        unproved_bound,
        checked,
        layout,
        check
    )
)]
pub fn derive_collective(input: TokenStream) -> TokenStream {
    expand::derive(input.into()).unwrap_or_else(|error| error.into_compile_error()).into()
}

//! Protects the variable names of generated code.
//!
//! In Rust, a name in a pattern is a new variable unless a constant, a static or a unit struct of that name is in
//! scope. The module around a declaration may well have a `const s`. A function of that name, in the inner scope of the
//! generated code, shadows it without conflicting with variables.

/// Ensures that these names denote only variables in this scope.
#[macro_export]
#[doc(hidden)]
macro_rules! __roundel_own_names {
    ($($name:ident),*) => {
        $(
            #[allow(dead_code, non_snake_case, non_camel_case_types)]
            fn $name() {}
        )*
    };
}
pub use crate::__roundel_own_names as own_names;

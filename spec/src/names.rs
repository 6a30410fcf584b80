//! Names that generated code keeps to itself.
//!
//! In Rust, a name in a pattern is a new variable unless a constant, a static or a unit struct of that name is in
//! scope. The surrounding module of a declaration may well have a `const s`. A function of the name, in the nearer
//! scope of the generated code, hides it and stands in the way of no variable.

/// Declares that these names mean nothing but variables in the scope.
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

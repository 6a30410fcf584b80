//! The part of the crate `kani` that the harnesses use, for an ordinary compiler. It proves nothing.

pub use kani_macros::{proof, stub, unwind};

/// Any value of the type.
pub fn any<T: Default>() -> T {
    T::default()
}

/// Continues only if `condition` is true.
pub fn assume(condition: bool) {
    if !condition {
        std::process::abort();
    }
}

/// A condition that must be reachable.
#[macro_export]
macro_rules! cover {
    ($condition:expr, $text:literal) => {
        let _: (bool, &str) = ($condition, $text);
    };
}

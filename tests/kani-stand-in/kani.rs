//! What the harnesses use of the crate `kani`, for a compiler that is not Kani's. Nothing is proved with it.

pub use kani_macros::{proof, stub, unwind};

/// Any value of the type.
pub fn any<T: Default>() -> T {
    T::default()
}

/// Goes on only where `condition` is true.
pub fn assume(condition: bool) {
    if !condition {
        std::process::abort();
    }
}

/// Something that must be reachable.
#[macro_export]
macro_rules! cover {
    ($condition:expr, $text:literal) => {
        let _: (bool, &str) = ($condition, $text);
    };
}

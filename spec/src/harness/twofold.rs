//! What differs under Kani, in macros.
//!
//! A `cfg` in generated code, or inside of a macro, is the user's: rustc would warn in their crate that it does not know the
//! condition `kani`. So the macros themselves come twice, and generated code has no condition.

/// Whether Kani compiles this.
pub const KANI: bool = cfg!(kani);

#[cfg(kani)]
mod exported {
    #[macro_export]
    #[doc(hidden)]
    macro_rules! __roundel_claim {
        ($condition:expr, $text:literal) => {
            assert!($condition, $text)
        };
    }

    #[macro_export]
    #[doc(hidden)]
    macro_rules! __roundel_cover {
        ($condition:expr, $text:literal) => {
            kani::cover!($condition, $text)
        };
    }
}

#[cfg(not(kani))]
mod exported {
    #[macro_export]
    #[doc(hidden)]
    macro_rules! __roundel_claim {
        ($condition:expr, $text:literal) => {
            if !$condition {
                return Err($crate::harness::Stop::Wrong($text));
            }
        };
    }

    #[macro_export]
    #[doc(hidden)]
    macro_rules! __roundel_cover {
        ($condition:expr, $text:literal) => {
            if $condition {
                $crate::harness::shim::covered();
            }
        };
    }
}

/// A claim: an assertion under Kani, the end of the run elsewhere.
pub use crate::__roundel_claim as claim;
/// Something that must be reachable, so that no harness is vacuous.
pub use crate::__roundel_cover as cover;

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

    #[macro_export]
    #[doc(hidden)]
    macro_rules! __roundel_proof {
        ([$($attribute:meta),*] $($function:tt)*) => {
            #[kani::proof]
            $(#[$attribute])*
            $($function)*
        };
    }

    #[macro_export]
    #[doc(hidden)]
    macro_rules! __roundel_beside {
        ($($item:item)*) => {
            $($item)*
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

    #[macro_export]
    #[doc(hidden)]
    macro_rules! __roundel_proof {
        ([$($attribute:meta),*] $($function:tt)*) => {
            #[cfg(test)]
            #[test]
            #[allow(unnameable_test_items)]
            $($function)*
        };
    }

    #[macro_export]
    #[doc(hidden)]
    macro_rules! __roundel_beside {
        ($($item:item)*) => {
            $(#[cfg(test)] $item)*
        };
    }
}

/// Items for harnesses: there under Kani, and in tests.
pub use crate::__roundel_beside as beside;
/// A claim: an assertion under Kani, the end of the run elsewhere.
pub use crate::__roundel_claim as claim;
/// Something that must be reachable, so that no harness is vacuous.
pub use crate::__roundel_cover as cover;
/// A function without arguments: a proof with these attributes under Kani, a test elsewhere.
pub use crate::__roundel_proof as proof;

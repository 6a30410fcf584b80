//! Names of collectives, as users write them.

use roundel_spec::Kind;

/// The collective with a name; `reduce-scatter` is `reduce_scatter`.
pub(super) fn kind(name: &str) -> Option<Kind> {
    name.replace('-', "_").parse().ok()
}

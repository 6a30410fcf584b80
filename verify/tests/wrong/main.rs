//! Wrong declarations, none of which may be proved.

#![allow(clippy::unwrap_used)]

mod beyond;
#[path = "../common/mod.rs"]
mod common;
mod moves;
mod nodes;
mod reductions;
mod roots;
mod sequences;
mod several;

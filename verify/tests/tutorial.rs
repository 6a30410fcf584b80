//! The tutorial without MPI. What cargo builds is built with `ROUNDEL_ALL=1`: a crate of its own builds everything once
//! more.

#![allow(clippy::unwrap_used)]

mod common;
#[path = "../../tests/tutorial/mod.rs"]
mod tutorial;

use common::everything;
use std::path::Path;
use tutorial::{Commands, Folder, commands};

#[test]
fn the_tutorial_without_mpi() {
    if common::z3().is_none() {
        return;
    }
    let all = commands();
    let is_run = |block: &&Commands| !block.needs_mpi && (everything() || !block.text.contains("cargo"));
    let blocks: Vec<&Commands> = all.iter().filter(is_run).collect();
    assert!(blocks.len() >= 9 && blocks.iter().filter(|block| block.fails).count() == 2, "{blocks:?}");
    Folder::new("tutorial", Path::new(env!("CARGO_BIN_EXE_roundel"))).run(&blocks);
}

//! The tutorial without MPI. What cargo builds is built with `ROUNDEL_ALL=1`: a crate of its own builds everything once
//! more.

#[path = "../../../tests/tutorial/mod.rs"]
mod blocks;

use crate::common::{everything, z3};
use blocks::{Commands, Folder, commands};
use std::path::Path;

#[test]
fn the_tutorial_without_mpi() {
    if z3().is_none() {
        return;
    }
    let all = commands();
    let is_run = |block: &&Commands| !block.needs_mpi && (everything() || !block.text.contains("cargo"));
    let blocks: Vec<&Commands> = all.iter().filter(is_run).collect();
    assert!(blocks.len() >= 9 && blocks.iter().filter(|block| block.fails).count() == 2, "{blocks:?}");
    Folder::new("tutorial", Path::new(env!("CARGO_BIN_EXE_roundel"))).run(&blocks);
}

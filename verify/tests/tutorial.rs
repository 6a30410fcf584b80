//! The tutorial without MPI.

#![allow(clippy::unwrap_used)]

mod common;
#[path = "../../tests/tutorial/mod.rs"]
mod tutorial;

use std::path::Path;
use tutorial::{Commands, Folder, commands};

#[test]
fn the_tutorial_without_mpi() {
    if common::z3().is_none() {
        return;
    }
    let all = commands();
    let blocks: Vec<&Commands> = all.iter().filter(|block| !block.needs_mpi).collect();
    assert!(blocks.len() >= 10 && blocks.iter().filter(|block| block.fails).count() == 2, "{blocks:?}");
    Folder::new("tutorial", Path::new(env!("CARGO_BIN_EXE_roundel"))).run(&blocks);
}

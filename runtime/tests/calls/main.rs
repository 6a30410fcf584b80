//! Calls on threads, against the plain definition of each collective. One program has them all, so that what they use
//! of generic code is compiled once.

#![allow(clippy::unwrap_used)]

mod alltoall;
mod domain;
mod in_place;
mod names;
mod nodes;
mod own;
mod reductions;
mod requests;
mod reverses;
mod rooted;
mod sequences;
mod shapes;
#[path = "../shuffles/mod.rs"]
mod shuffles;
mod threads;

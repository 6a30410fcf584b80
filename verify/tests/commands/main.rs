//! The command line, one subcommand in each file. One program has them all, because linking each takes as long as
//! compiling it.

#![allow(clippy::unwrap_used)]

mod bounds;
mod browser;
mod cli;
mod command;
#[path = "../common/mod.rs"]
mod common;
mod counts;
mod explain;
mod explore;
mod figures;
mod mistakes;
mod new;
mod plan;
mod ports;
mod replay;
mod selection;
mod simulate;
mod trace;
mod tutorial;

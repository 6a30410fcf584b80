//! Compares what a program did with `ROUNDEL_TRACE` set with what was declared.
//!
//! - [`mod@file`]: one process's file, read line by line
//! - [`job`]: the files of all processes, and the calls they contain
//! - [`promise`]: the messages that a schedule declares, from its declaration alone
//! - [`diff`]: the differences between the two

pub mod diff;
pub mod file;
pub mod job;
pub mod promise;

//! What a program did with `ROUNDEL_TRACE` set, held against what was declared.
//!
//! - [`mod@file`]: one process's file, read line by line
//! - [`job`]: the files of all processes, and which calls they tell of
//! - [`promise`]: the messages that a schedule declares, by the evaluation of its declaration alone
//! - [`diff`]: where the two differ

pub mod diff;
pub mod file;
pub mod job;
pub mod promise;

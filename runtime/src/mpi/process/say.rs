//! Prints messages for the user who runs the job.

use std::fmt::Display;
use std::io::{Write, stderr};

/// Writes a line to standard error in one piece, so that the lines of several ranks do not mix. If the write fails,
/// the line is lost: there is no other place to report it.
pub fn say(what: impl Display) {
    let line = format!("roundel: {what}\n");
    let _ = stderr().write_all(line.as_bytes());
}

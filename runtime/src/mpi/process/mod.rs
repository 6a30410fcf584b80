//! What a process has once, whatever its communicators are: return codes as errors, locks, processors, how long to
//! poll, progress, messages to the user, and how a job is ended.

pub(crate) mod code;
pub(crate) mod ending;
pub(crate) mod keyval;
pub(crate) mod lock;
pub(crate) mod poll_budget;
pub(crate) mod processors;
pub(crate) mod progress;
pub(crate) mod say;

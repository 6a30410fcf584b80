//! What went wrong, as a file that can be replayed and drawn; what a program did, compared with the declaration.

pub mod counterexample;
pub mod reach;
pub mod recorded_run;
pub mod trace;

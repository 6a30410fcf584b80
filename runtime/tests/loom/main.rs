//! Processes of one node on loom, which explores the orders of events that the memory model allows. Replays show that
//! all necessary waits are there; these tests show that counters synchronise as waits require.

mod programs;
mod slots;

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Whether an exploration finds a run with unordered accesses to memory. Any other failure does not count.
fn refuted(explore: impl FnOnce() -> usize) -> bool {
    let Err(panic) = catch_unwind(AssertUnwindSafe(explore)) else { return false };
    panic.downcast_ref::<String>().is_some_and(|message| message.contains("Causality violation"))
}

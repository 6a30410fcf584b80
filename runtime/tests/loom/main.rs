//! Processes of one node on loom, which explores the orders of events that the memory model allows. Replays show that
//! all necessary waits are there; these tests show that counters synchronise as waits require.

mod programs;
mod slots;

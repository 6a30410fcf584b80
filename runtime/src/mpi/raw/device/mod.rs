//! Buffers that the host cannot access: GPU memory.
//!
//! If a GPU runtime is loaded in any process of a communicator when its ranks agree, MPI serves all calls on it. But
//! a program may load one later, and ranks do not see each other's buffers: a rank with device memory then takes part
//! like all others, and the runtime's own function copies its buffers through host memory (`stage`). That needs no
//! communication.
//!
//! Runtimes are found by the names of their functions; nothing is linked. A call only checks whether a library was
//! loaded since the last one, which takes a few instructions (`libraries`).

mod libraries;
mod runtime;
mod stage;

pub use self::libraries::{library_unloads, watch_libraries};

pub(super) use self::runtime::{is_loaded, is_news, may_be_used};
pub(super) use self::stage::{Staged, explain, staged};

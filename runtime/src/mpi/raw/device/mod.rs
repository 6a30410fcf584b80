//! Buffers that the processor cannot read: memory of GPUs.
//!
//! Where a GPU runtime is loaded in any process of a communicator when its ranks agree, all calls on it are the
//! library's. But a program may load one later, and ranks do not see each other's buffers: a rank that has device
//! memory then takes part as all others do, and its buffers are copied through host memory by the runtime's own
//! function (`stage`). Nobody waits for anybody because of it.
//!
//! Runtimes are found by the names of their functions; nothing is linked. A call asks only whether a library was loaded
//! since the last one, which takes a few instructions (`libraries`).

mod libraries;
mod runtime;
mod stage;

pub use self::libraries::{library_unloads, watch_libraries};

pub(super) use self::runtime::is_loaded;
pub(super) use self::stage::{Staged, explain, staged};

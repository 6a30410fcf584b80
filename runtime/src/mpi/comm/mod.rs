//! The process and its communicators before any call: return codes, our duplicate, nodes, agreement.

pub(crate) mod agree;
pub(crate) mod code;
pub(crate) mod ending;
pub(crate) mod keyval;
pub(crate) mod lock;
pub(crate) mod node_members;
pub(crate) mod nodes;
pub(crate) mod own;
pub(crate) mod processors;
pub(crate) mod profile;
pub(crate) mod progress;
pub(crate) mod say;
pub(crate) mod shared_window;
pub(crate) mod window;
pub(crate) mod world;

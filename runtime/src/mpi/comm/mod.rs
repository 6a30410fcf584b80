//! What is known of a communicator before any call: our duplicate, nodes, the memory its nodes share, agreement.

pub(crate) mod agree;
pub(crate) mod node_members;
pub(crate) mod nodes;
pub(crate) mod own;
pub(crate) mod peer_processes;
pub(crate) mod profile;
pub(crate) mod shared_window;
pub(crate) mod window;
pub(crate) mod world;

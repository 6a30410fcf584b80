//! The tests are in `ui.rs`.
